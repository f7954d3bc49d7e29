//! By pidfd and `/proc`.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Where a process's `stat` tells its flags, counted from its state, and the flag of one that is ending.
const FLAGS: usize = 6;
const EXITING: u64 = 4;
/// Where it tells when the process began, in ticks since the machine did.
const BEGUN: usize = 19;

/// A descriptor that turns readable when the process ends; `None` where no more can be had.
pub(crate) fn end_of(pid: Pid) -> Option<OwnedFd> {
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Whether a process is ending, of which closing its pipes is a part.
pub(crate) fn is_exiting(pid: Pid) -> bool {
    let flags = field(pid, FLAGS).and_then(|flags| flags.parse().ok());
    flags.is_some_and(|flags: u64| flags & EXITING != 0)
}

/// When a process began, as far as that can be told: no other with its number began then.
pub(crate) fn begun(pid: Pid) -> Option<String> {
    field(pid, BEGUN)
}

/// What a process's `stat` tells, counted from its state.
fn field(pid: Pid, number: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    // The name may hold anything.
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
