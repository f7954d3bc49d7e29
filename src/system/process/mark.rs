//! `ProcessMark`: identifies a process, to check later whether it still exists.

use std::fmt;

use rustix::io::Errno;
use rustix::process::{Pid, getppid, test_kill_process};

use super::native::start_time;

/// A process of this machine: its pid and start time, because pids are reused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessMark {
    pid: Pid,
    start_time: Option<String>,
}

impl ProcessMark {
    /// The parent process; `None` if it has ended.
    pub(crate) fn of_parent() -> Option<Self> {
        // Orphans are children of the init process.
        let pid = getppid().filter(|pid| pid.as_raw_pid() > 1)?;
        Some(Self {
            pid,
            start_time: start_time(pid),
        })
    }

    /// Parses the output of [`fmt::Display`].
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (pid, start_time) = text.trim().split_once(' ')?;
        Some(Self {
            pid: Pid::from_raw(pid.parse().ok().filter(|pid| *pid > 0)?)?,
            start_time: (start_time != "-").then(|| start_time.to_owned()),
        })
    }

    /// Whether the process still exists.
    pub(crate) fn is_alive(&self) -> bool {
        let is_there = match test_kill_process(self.pid) {
            Ok(()) | Err(Errno::PERM) => true,
            Err(_) => false,
        };
        is_there && (self.start_time.is_none() || start_time(self.pid) == self.start_time)
    }
}

impl fmt::Display for ProcessMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start_time = self.start_time.as_deref().unwrap_or("-");
        write!(f, "{} {start_time}", self.pid.as_raw_pid())
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_known_until_it_ends() {
        let parent = ProcessMark::of_parent().unwrap();
        assert!(parent.is_alive());
        let again = ProcessMark::parse(&format!("{parent}\n")).unwrap();
        assert_eq!(again, parent);
        for text in ["", "1", "x -", "0 -", "-4 -"] {
            assert_eq!(ProcessMark::parse(text), None, "{text}");
        }
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_child(&child);
        let mark = ProcessMark {
            pid,
            start_time: start_time(pid),
        };
        assert!(mark.is_alive());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!mark.is_alive());
        // The pid belongs to another process now.
        let other = ProcessMark {
            start_time: parent
                .start_time
                .as_ref()
                .map(|start_time| format!("{start_time}0")),
            ..parent
        };
        assert_eq!(other.is_alive(), other.start_time.is_none());
    }
}
