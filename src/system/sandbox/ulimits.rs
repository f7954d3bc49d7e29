//! Kernel resource limits for a process and its children.
//!
//! A shell sets them and then becomes the program, so that no code of this process runs between `fork` and `exec`.

use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::system::process::excerpt::ending;
use crate::system::process::group::how_it_ended;

/// Resource limits of an agent's program. Limits that are not set are inherited from `evaltest`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ulimits {
    /// Maximum number of processes and threads. Without a sandbox all processes of the user count, and root is not
    /// limited.
    pub processes: Option<u64>,
    /// Address space of one process in bytes. Programs such as Node and Java reserve far more than they use.
    pub memory_bytes: Option<u64>,
    /// Maximum number of open files of one process.
    pub files: Option<u64>,
    /// Maximum size of a written file in bytes.
    pub file_bytes: Option<u64>,
    /// CPU time of one process in seconds.
    pub cpu_s: Option<u64>,
}

impl Ulimits {
    /// Whether there are no limits.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These limits, with defaults for those not set.
    pub(super) fn or(self, default: Self) -> Self {
        Self {
            processes: self.processes.or(default.processes),
            memory_bytes: self.memory_bytes.or(default.memory_bytes),
            files: self.files.or(default.files),
            file_bytes: self.file_bytes.or(default.file_bytes),
            cpu_s: self.cpu_s.or(default.cpu_s),
        }
    }

    /// Returns an error if programs cannot run with these limits: one exceeds the user's own, or is too low for any
    /// program.
    pub(crate) fn check(&self) -> Result<()> {
        let Some((shell, args)) = self
            .wrapper()
            .split_first()
            .map(|(a, b)| (a.clone(), b.to_vec()))
        else {
            return Ok(());
        };
        let output = Command::new(shell)
            .args(args)
            .args(["/bin/sh", "-c", "exit 0"])
            .stdin(Stdio::null())
            .output();
        let output = output.map_err(|error| {
            Error::infrastructure(format!("`ulimits`: `/bin/sh` cannot be started: {error}"))
        })?;
        // The user may have fewer processes when samples are requested.
        if output.status.success()
            || (self.processes.is_some() && self.without_processes().check().is_ok())
        {
            return Ok(());
        }
        let reason = ending(&String::from_utf8_lossy(&output.stderr), 300);
        let reason = if reason.trim().is_empty() {
            how_it_ended(output.status)
        } else {
            reason
        };
        Err(Error::usage(format!(
            "`ulimits`: no program runs here within these limits: {reason}"
        ))
        .hint("`sh -c 'ulimit -H -a'` shows the most that you may have; too little memory lets no program start"))
    }

    fn without_processes(self) -> Self {
        Self {
            processes: None,
            ..self
        }
    }

    /// The prefix of a command line that sets the limits.
    pub(crate) fn wrapper(&self) -> Vec<String> {
        if self.is_empty() {
            return Vec::new();
        }
        // `-u` is `-p` in dash. File sizes are in units of 512 bytes, memory in KiB.
        let lines = [
            self.processes
                .map(|limit| format!("{{ ulimit -u {limit} 2>/dev/null || ulimit -p {limit}; }}")),
            self.memory_bytes
                .map(|bytes| format!("ulimit -v {}", bytes.div_ceil(1024))),
            self.files.map(|limit| format!("ulimit -n {limit}")),
            self.file_bytes
                .map(|bytes| format!("ulimit -f {}", bytes.div_ceil(512))),
            self.cpu_s.map(|seconds| format!("ulimit -t {seconds}")),
        ];
        let lines: Vec<String> = lines.into_iter().flatten().collect();
        let script = format!("{} && exec \"$@\"", lines.join(" && "));
        ["/bin/sh", "-c", &script, "sh"].map(str::to_owned).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_runs_within_its_limits() {
        let limits = Ulimits {
            processes: Some(700),
            memory_bytes: Some(1 << 30),
            files: Some(99),
            file_bytes: Some(512 * 1024),
            cpu_s: Some(77),
        };
        let args = limits.wrapper();
        let output = Command::new(&args[0])
            .args(&args[1..])
            .args(["cat", "/proc/self/limits"])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for (name, value) in [
            ("Max processes", "700"),
            ("Max address space", "1073741824"),
            ("Max open files", "99"),
            ("Max file size", "524288"),
            ("Max cpu time", "77"),
        ] {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            let words: Vec<&str> = line[name.len()..].split_whitespace().collect();
            assert_eq!(words[0], value, "{line}");
        }
    }

    #[test]
    fn arguments_reach_the_program_as_they_are() {
        let limits = Ulimits {
            files: Some(64),
            ..Ulimits::default()
        };
        let args = limits.wrapper();
        let odd = ["$HOME", "a b", "", "'\"`;", "-n"];
        let output = Command::new(&args[0])
            .args(&args[1..])
            .arg("printf")
            .arg("%s|")
            .args(odd)
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8(output.stdout).unwrap(),
            odd.join("|") + "|"
        );
    }

    #[test]
    fn unusable_limits_are_reported() {
        let check = |limits: Ulimits| limits.check().map_err(|error| error.to_string());
        let memory = |bytes| Ulimits {
            memory_bytes: Some(bytes),
            ..Ulimits::default()
        };
        assert_eq!(check(memory(1 << 30)), Ok(()));
        assert_eq!(check(Ulimits::default()), Ok(()));
        let error = check(memory(1 << 20)).unwrap_err();
        assert!(
            error.starts_with("`ulimits`: no program runs here"),
            "{error}"
        );
        let files = Ulimits {
            files: Some(u64::MAX / 2),
            ..Ulimits::default()
        };
        let error = check(files).unwrap_err();
        assert!(error.contains("ulimit"), "{error}");
    }

    #[test]
    fn without_limits_there_is_no_shell() {
        assert!(Ulimits::default().wrapper().is_empty());
    }

    #[test]
    fn a_limit_that_cannot_be_set_keeps_the_program_from_running() {
        let limits = Ulimits {
            files: Some(u64::MAX / 2),
            ..Ulimits::default()
        };
        let args = limits.wrapper();
        let output = Command::new(&args[0])
            .args(&args[1..])
            .args(["echo", "ran"])
            .output()
            .unwrap();
        assert!(!output.status.success());
        assert!(output.stdout.is_empty());
    }
}
