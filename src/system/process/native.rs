//! What Linux tells of a single process, and what other systems do instead.

use std::os::fd::OwnedFd;

use rustix::process::Pid;

use crate::system::platform::by_platform;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(target_os = "linux"), debug_assertions))]
mod portable;

by_platform! {
    linux, portable;

    /// A descriptor that turns readable when the process ends, if there is one: who waits looks from time to time otherwise.
    pub(crate) fn end_of(pid: Pid) -> Option<OwnedFd>;

    /// Whether a process is ending, of which closing its pipes is a part.
    pub(crate) fn is_exiting(pid: Pid) -> bool;

    /// When a process began, as far as that can be told: no other with its number began then.
    pub(crate) fn begun(pid: Pid) -> Option<String>;

    /// Whether this process was started with a signal ignored.
    pub(crate) fn is_ignored(signal: i32) -> bool;
}
