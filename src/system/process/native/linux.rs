//! Implementation with pidfds and `/proc`.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Index of the flags in a process's `stat`, counted from the state, and the flag of an exiting process.
const FLAGS: usize = 6;
const EXITING: u64 = 4;
/// Index of the start time, in clock ticks since boot.
const START_TIME: usize = 19;

/// A pidfd; `None` if no descriptor is available.
pub(crate) fn end_of(pid: Pid) -> Option<OwnedFd> {
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Whether a process is exiting, which includes closing its pipes.
pub(crate) fn is_exiting(pid: Pid) -> bool {
    let flags = field(pid, FLAGS).and_then(|flags| flags.parse().ok());
    flags.is_some_and(|flags: u64| flags & EXITING != 0)
}

/// The start time of a process, as precisely as known: unique among processes with the same pid.
pub(crate) fn start_time(pid: Pid) -> Option<String> {
    field(pid, START_TIME)
}

/// A field of a process's `stat`, counted from the state.
fn field(pid: Pid, number: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    // The process name may contain any character.
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(number).map(str::to_owned)
}

/// Whether this process was started with a signal ignored.
pub(crate) fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
