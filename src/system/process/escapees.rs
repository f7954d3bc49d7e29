//! Processes that left the group of a stopped program, for example by `setsid`.
//!
//! They inherited the program's environment, which contains a variable with a unique value (an agent's scratch
//! folder). The search reads all processes, so it only runs when a program is stopped, not when it ends by itself.
//! Processes that also changed their environment are not found.

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

    /// Kills every process except this one whose environment has this value of the variable.
    pub(crate) fn kill(variable: &str, value: &OsStr);
}
