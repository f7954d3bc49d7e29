//! Processes that left the group of a program that is stopped, as `setsid` does.
//!
//! They inherited the program's environment, in which one variable has a value of its own (an agent's: its
//! scratch folder). The search looks at all processes, so it is made only when a program is stopped, not when
//! it ends by itself.
//! A process that also changed its environment is not found.

use std::ffi::OsStr;

use crate::system::platform::by_platform;

#[cfg(target_os = "linux")]
mod proc;
#[cfg(any(not(target_os = "linux"), debug_assertions))]
mod ps;

#[cfg(target_os = "linux")]
pub(crate) use proc::value_of;

by_platform! {
    proc, ps;

    /// Kills every process in whose environment the variable has this value, except this one.
    pub(crate) fn kill(variable: &str, value: &OsStr);
}
