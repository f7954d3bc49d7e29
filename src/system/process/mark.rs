//! `ProcessMark`: identifies a process, to check later whether it still exists.

use std::fmt;

use rustix::io::Errno;
use rustix::process::{Pid, getppid, test_kill_process};

use super::native::begun;

/// A process of this machine: its pid and start time, because pids are reused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessMark {
    pid: Pid,
    begun: Option<String>,
}

impl ProcessMark {
    /// The parent process; `None` if it has ended.
    pub(crate) fn of_parent() -> Option<Self> {
        // Orphans are children of the init process.
        let pid = getppid().filter(|pid| pid.as_raw_pid() > 1)?;
        Some(Self {
            pid,
            begun: begun(pid),
        })
    }

    /// Parses the output of [`fmt::Display`].
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (pid, begun) = text.trim().split_once(' ')?;
        Some(Self {
            pid: Pid::from_raw(pid.parse().ok().filter(|pid| *pid > 0)?)?,
            begun: (begun != "-").then(|| begun.to_owned()),
        })
    }

    /// Whether the process still exists.
    pub(crate) fn is_alive(&self) -> bool {
        let is_there = match test_kill_process(self.pid) {
            Ok(()) | Err(Errno::PERM) => true,
            Err(_) => false,
        };
        is_there && (self.begun.is_none() || begun(self.pid) == self.begun)
    }
}

impl fmt::Display for ProcessMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begun = self.begun.as_deref().unwrap_or("-");
        write!(f, "{} {begun}", self.pid.as_raw_pid())
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
            begun: begun(pid),
        };
        assert!(mark.is_alive());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!mark.is_alive());
        // The pid belongs to another process now.
        let other = ProcessMark {
            begun: parent.begun.as_ref().map(|begun| format!("{begun}0")),
            ..parent
        };
        assert_eq!(other.is_alive(), other.begun.is_none());
    }
}
