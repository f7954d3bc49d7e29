//! Implementation with programs that every Unix has.

use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::process::Pid;

/// There are no pidfds, so callers poll.
pub(crate) fn end_of(_: Pid) -> Option<OwnedFd> {
    None
}

/// Whether a process is exiting, which includes closing its pipes.
pub(crate) fn is_exiting(pid: Pid) -> bool {
    let pid = pid.as_raw_pid().to_string();
    let state = output_of("ps", &["-o", "stat=", "-p", &pid]);
    // `Z` is a zombie. The BSDs and macOS add an `E` to a process that is exiting.
    state.contains(&b'Z') || state.contains(&b'E')
}

/// The start time of a process, as precisely as known: unique among processes with the same pid.
pub(crate) fn start_time(pid: Pid) -> Option<String> {
    let pid = pid.as_raw_pid().to_string();
    let output_of = output_of("ps", &["-o", "lstart=", "-p", &pid]);
    let output_of = String::from_utf8_lossy(&output_of).trim().replace(' ', "_");
    (!output_of.is_empty()).then_some(output_of)
}

/// Whether this process was started with a signal ignored. Child processes inherit that, so a shell tests it on
/// itself.
pub(crate) fn is_ignored(signal: i32) -> bool {
    !output_of(
        "/bin/sh",
        &["-c", &format!("kill -{signal} $$; echo alive")],
    )
    .is_empty()
}

/// The output of a program; empty if it cannot be started.
fn output_of(program: &str, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    output.map(|output| output.stdout).unwrap_or_default()
}
