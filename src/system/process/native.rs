//! Information on a single process, on Linux and on other systems.

use std::os::fd::OwnedFd;

use rustix::process::Pid;

use crate::system::platform::by_platform;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(target_os = "linux"), debug_assertions))]
mod portable;

by_platform! {
    linux, portable;

    /// A descriptor that becomes readable when the process ends, if available; otherwise callers poll.
    pub(crate) fn end_of(pid: Pid) -> Option<OwnedFd>;

    /// Whether a process is exiting, which includes closing its pipes.
    pub(crate) fn is_exiting(pid: Pid) -> bool;

    /// The start time of a process, as precisely as known: unique among processes with the same pid.
    pub(crate) fn start_time(pid: Pid) -> Option<String>;

    /// Whether this process was started with a signal ignored.
    pub(crate) fn is_ignored(signal: i32) -> bool;
}
