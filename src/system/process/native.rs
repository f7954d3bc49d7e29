//! What Linux tells of a single process, and what other systems do instead.
//!
//! `--cfg evaltest_portable` takes the other systems' way on Linux, too, so that it is tested: `.ci/portable`.

#[cfg(all(target_os = "linux", not(evaltest_portable)))]
mod linux;
#[cfg(not(all(target_os = "linux", not(evaltest_portable))))]
mod portable;

#[cfg(all(target_os = "linux", not(evaltest_portable)))]
pub(crate) use linux::{begun, end_of, is_exiting, is_ignored};
#[cfg(not(all(target_os = "linux", not(evaltest_portable))))]
pub(crate) use portable::{begun, end_of, is_exiting, is_ignored};
