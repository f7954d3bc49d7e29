//! By programs that every Unix has.

use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::process::Pid;

/// A descriptor that turns readable when the process ends: there is none, and who waits looks from time to time.
pub(crate) fn end_of(_: Pid) -> Option<OwnedFd> {
    None
}

/// Whether a process is ending, of which closing its pipes is a part.
pub(crate) fn is_exiting(pid: Pid) -> bool {
    let pid = pid.as_raw_pid().to_string();
    let state = said("ps", &["-o", "stat=", "-p", &pid]);
    // `Z`: it has ended and waits for us. The BSDs and macOS add an `E` to one that tries to.
    state.contains(&b'Z') || state.contains(&b'E')
}

/// When a process began, as far as that can be told: no other with its number began then.
pub(crate) fn begun(pid: Pid) -> Option<String> {
    let pid = pid.as_raw_pid().to_string();
    let said = said("ps", &["-o", "lstart=", "-p", &pid]);
    let said = String::from_utf8_lossy(&said).trim().replace(' ', "_");
    (!said.is_empty()).then_some(said)
}

/// Whether this process was started with a signal ignored. What it starts inherits that, so a shell tries it on itself.
pub(crate) fn is_ignored(signal: i32) -> bool {
    !said(
        "/bin/sh",
        &["-c", &format!("kill -{signal} $$; echo alive")],
    )
    .is_empty()
}

/// What a program prints; nothing where it cannot be started.
fn said(program: &str, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    output.map(|output| output.stdout).unwrap_or_default()
}
