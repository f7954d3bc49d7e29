//! Searches with `ps`, which every Unix has.
//!
//! It sees arguments and environment as one text, so a process with the mark in its arguments matches as well. macOS
//! hides the environment of its own programs, such as `/bin/sh`; they are found as children of others.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process};

/// Arguments to list all processes with their environments.
const ALL: &str = if cfg!(target_os = "linux") {
    "axeww"
} else if cfg!(target_os = "macos") {
    "-AEww"
} else {
    "-axeww"
};
/// Maximum number of checks until all killed processes are gone.
const MAX_CHECKS: u32 = 500;
/// Maximum number of consecutive rounds without a match: a process that starts another and ends is easily missed.
const MOST_ROUNDS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(5);

struct Process {
    pid: Pid,
    parent: Option<Pid>,
    /// Arguments and environment, each preceded by a blank.
    text: Vec<u8>,
}

/// Kills every process except this one whose environment has this value of the variable, and their children. Finds
/// none if there is no `ps`.
pub(crate) fn kill(variable: &str, value: &OsStr) {
    let mark = [b" ", variable.as_bytes(), b"=", value.as_encoded_bytes()].concat();
    // Most programs leave no processes behind.
    let mut rounds = MOST_ROUNDS - 1;
    for _ in 0..MAX_CHECKS {
        let found = bearing(&mark, &processes());
        rounds = if found.is_empty() { rounds + 1 } else { 0 };
        if rounds > MOST_ROUNDS {
            return;
        }
        for pid in found {
            // It may have ended in the meantime.
            let _ = kill_process(pid, Signal::KILL);
        }
        if rounds == 0 {
            thread::sleep(PAUSE);
        }
    }
}

/// Processes with the mark, and their descendants.
fn bearing(mark: &[u8], processes: &[Process]) -> HashSet<Pid> {
    let bears = |process: &&Process| has(&process.text, mark);
    let mut found: HashSet<Pid> = processes
        .iter()
        .filter(bears)
        .map(|process| process.pid)
        .collect();
    found.remove(&getpid());
    loop {
        let is_child = |process: &&Process| {
            let parent = process.parent.filter(|parent| found.contains(parent));
            parent.is_some() && !found.contains(&process.pid) && process.pid != getpid()
        };
        let children: Vec<_> = processes
            .iter()
            .filter(is_child)
            .map(|process| process.pid)
            .collect();
        if children.is_empty() {
            return found;
        }
        found.extend(children);
    }
}

/// Whether a text contains the mark as a whole word.
fn has(text: &[u8], mark: &[u8]) -> bool {
    let ends = |at: usize| text.get(at + mark.len()).is_none_or(|&next| next == b' ');
    let mut places = text.windows(mark.len()).enumerate();
    places.any(|(at, part)| part == mark && ends(at))
}

/// Processes listed by `ps`, without zombies.
fn processes() -> Vec<Process> {
    let listed = Command::new("ps")
        .args([ALL, "-o", "pid=,ppid=,args="])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let text = listed.map(|listed| listed.stdout).unwrap_or_default();
    text.split(|&byte| byte == b'\n')
        .filter_map(process)
        .collect()
}

/// Parses a line: two numbers, and the rest.
fn process(line: &[u8]) -> Option<Process> {
    let (pid, rest) = number(line)?;
    let (parent, rest) = number(rest)?;
    Some(Process {
        pid: Pid::from_raw(pid)?,
        parent: Pid::from_raw(parent),
        text: rest.to_vec(),
    })
}

fn number(text: &[u8]) -> Option<(i32, &[u8])> {
    let text = text.trim_ascii_start();
    let end = text.iter().position(|byte| !byte.is_ascii_digit())?;
    let (digits, rest) = text.split_at(end);
    Some((str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pids(pids: &[i32]) -> HashSet<Pid> {
        pids.iter().filter_map(|&pid| Pid::from_raw(pid)).collect()
    }

    #[test]
    fn who_bears_the_mark_is_found_with_its_children() {
        let text = "    7     1 sleep 5 HOME=/ MARK=/tmp/a b PATH=/bin\n  \
            8 7 /bin/sh -c x\n\
            9 8 /bin/sleep\n\
            10 1 sleep MARK=/tmp/a bc\n\
            11 1 sleep NO_MARK=/tmp/a b\n\
            12 1 sleep MARK=/tmp/a b\nno line\n";
        let processes: Vec<_> = text.bytes().collect();
        let processes: Vec<_> = processes
            .split(|&byte| byte == b'\n')
            .filter_map(process)
            .collect();
        assert_eq!(processes.len(), 6);
        assert_eq!(bearing(b" MARK=/tmp/a b", &processes), pids(&[7, 8, 9, 12]));
        assert_eq!(bearing(b" MARK=/tmp/c", &processes), pids(&[]));
    }
}
