//! Sandboxes: hide files from an agent that is a program, and limit its resources.
//!
//! # What an agent can reach
//!
//! | | without a sandbox | `sandbox: bwrap` | `sandbox: landlock` |
//! |---|---|---|---|
//! | dataset, spec, snapshots, run directories | everything that the user who runs the eval can read, including answers | nothing: they do not exist | cannot read or list them; can see that a path exists, and its size |
//! | home, the repository with its `.env` and history | the same | nothing, except the agent's own program and the paths in `read` | the same as with bubblewrap; a folder that contains hidden paths cannot be listed |
//! | scratch folders of other attempts | can read and change them | do not exist | cannot read or change them |
//! | other processes, `/proc` of the parent | can see and signal the user's processes, and read their environment | sees only its own | sees them with their command lines; cannot signal them, or read their environment, memory or files |
//! | its own environment | the short list, and the variables in `env` | the same; `HOME` is the scratch folder | the same as with bubblewrap; also `TMPDIR` |
//! | system programs and `/etc` | as the user | can read what is readable for everyone | can read what the user can; in `/etc` only what is readable for everyone, if the user is root |
//! | `/tmp`, `/dev/shm` | shared | its own, in memory | none |
//! | disk | can fill it | `disk_mb` in memory, each for the scratch folder and for `/tmp` and `/dev/shm`, with one file per 4 KiB | can fill it in its scratch folder; `ulimits: { file_mb: … }` limits each file |
//! | owners and permissions of files | can change its own | its own, in memory | `chmod` and `chown` do nothing and report success |
//! | processes | the user's limit | `processes` | the user's limit, or `ulimits: { processes: … }` for all processes of the user |
//! | processes that are left behind | killed by group, and those that left it by a mark in their environment; those that removed the mark are killed at the end of `cargo evaltest`, and stay under `cargo test` | none: they end with the attempt | as without a sandbox |
//! | when the run itself is killed (`kill -9`) | a watchdog kills all processes with the run's mark, under `cargo test` as well; without `/proc`, as on macOS, that of `cargo test` finds none | none stay; the watchdog removes the files of `worker`s | the program itself ends, its children as without a sandbox |
//! | files inherited from the caller (`exec 9<file` in a shell) | can read them | closed | closed |
//! | network | everything | `network: on` everything, `off` nothing, `{ loopback: [PORT] }` these ports of this machine | `on` everything, `off` nothing, `{ loopback: [PORT] }` these TCP ports of any machine |
//! | Unix sockets (`docker.sock`), also abstract ones | can connect | those in the file system do not exist; abstract ones with `network: on` | none can be created |
//! | tracing, mounts, namespaces, keys, `bpf`, `io_uring` | as the user | the calls fail as on a kernel without them | the same as with bubblewrap |
//!
//! Memory and CPU time are limited only by `ulimits`. With `network: on` an agent also reaches servers on this
//! machine.
//!
//! # Implementation
//!
//! [bubblewrap](https://github.com/containers/bubblewrap) gives the program its own file system: read-only system
//! folders, the program's own files, an empty `/tmp`, and the scratch folder in memory with the attachments. It ends
//! with `evaltest`, even on SIGKILL. If root runs `evaltest`, the agent gets its own user id in the sandbox, because
//! the limit on processes does not apply to root; its files must then be readable for everyone.
//!
//! [Landlock](https://landlock.io) needs no program, no namespaces and no privileges, but Linux 6.12. The agent runs
//! as the same user, without capabilities.
//!
//! With both, a shim (`cargo evaltest` itself) closes inherited files, sets a system call filter, and becomes the
//! program. If a program that runs evals itself finds no `cargo-evaltest` in `PATH`, it starts bubblewrap without the
//! shim, with a notice: then no call is filtered, no file is closed, and the number of in-memory files is not limited.
//! Landlock requires the shim. `sandbox: auto` uses bubblewrap if it works, or else Landlock; `auto?` runs without a
//! sandbox if neither works. The manifest of a run has the sandbox that was used.

mod view;

mod launcher;
mod relay;

mod bwrap;
mod landlock;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};

use once_cell::sync::OnceCell;

use crate::error::{Error, Result};
use crate::system::file::TemporaryFolder;
use crate::system::process::excerpt::ending;
use crate::system::process::group::how_it_ended;
use bwrap::Strength;
use relay::Relay;
use view::Wishes;

pub(in crate::system) use launcher::own_or_installed;
pub use launcher::serve_if_requested;

/// Default limit of bytes that a sandboxed agent may write.
const DISK_BYTES: u64 = 256 * 1024 * 1024;
/// Default limit of processes and threads.
const PROCESSES: u64 = 512;

/// The relay of these ports.
type KnownRelay = (Vec<u16>, Arc<Relay>);

/// Confines an agent.
#[derive(Clone, Debug)]
pub struct Sandbox {
    kind: SandboxKind,
    network: Network,
    /// A port of ours that is let through, if it is not 0.
    own_port: Arc<AtomicU16>,
    read: Vec<PathBuf>,
    disk_bytes: Option<u64>,
    /// The sandbox in use, once determined.
    used: Arc<OnceCell<Used>>,
    /// Mount point of in-memory folders, each time in its own namespace.
    memory: Arc<OnceCell<TemporaryFolder>>,
    /// Serves `Network::Loopback` for these ports, started with the first attempt.
    relay: Arc<Mutex<Option<KnownRelay>>>,
}

/// The network access of a sandboxed agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Network {
    /// Full access.
    #[default]
    On,
    /// Only a separate loopback device.
    Off,
    /// These TCP ports of this machine's loopback device at `127.0.0.1`, for example of a local model.
    Loopback(Vec<u16>),
}

/// A program to run in a sandbox.
pub(crate) struct Inmate<'a> {
    /// Path of the program.
    pub(crate) program: &'a Path,
    /// Its arguments, without the program.
    pub(crate) args: &'a [String],
    /// The working directory.
    pub(crate) cwd: &'a Path,
    /// The base folder of its relative paths.
    pub(crate) folder: &'a Path,
    /// Its writable in-memory folder.
    pub(crate) scratch: &'a Path,
    /// Files and folders created for it, such as attachments.
    pub(crate) files: &'a [&'a Path],
    /// Paths that it must not see.
    pub(crate) hidden: &'a [PathBuf],
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    /// Bubblewrap, with the network on.
    pub fn new() -> Self {
        Self {
            kind: SandboxKind::Bwrap,
            network: Network::On,
            own_port: Arc::default(),
            read: Vec::new(),
            disk_bytes: None,
            used: Arc::default(),
            memory: Arc::default(),
            relay: Arc::default(),
        }
    }

    /// The kind of sandbox; bubblewrap by default.
    #[must_use]
    pub fn kind(mut self, kind: SandboxKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the network access.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Additional files and folders that it may read; relative ones start from the agent's folder. The dataset, the
    /// spec, snapshots and run directories inside them stay hidden.
    #[must_use]
    pub fn read(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.read.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Maximum number of bytes in its scratch folder, and in `/tmp`; 256 MiB by default. Both are in memory and
    /// removed after the attempt. Not supported by Landlock.
    #[must_use]
    pub fn disk_bytes(mut self, bytes: u64) -> Self {
        self.disk_bytes = Some(bytes);
        self
    }
}

impl Sandbox {
    /// Returns an error if no sandbox is available.
    pub(crate) fn check(&self) -> Result<()> {
        self.used().map(drop)
    }

    /// The sandbox in use.
    pub(crate) fn used(&self) -> Result<&Used> {
        self.used.get_or_try_init(|| choose(self))
    }

    /// Lets a port of ours through, whatever network was asked for. Must precede the first attempt.
    pub(crate) fn let_through(&self, port: u16) {
        self.own_port.store(port, Ordering::Relaxed);
    }

    /// The network access, with the port of ours.
    fn reachable(&self) -> Network {
        let own = Some(self.own_port.load(Ordering::Relaxed)).filter(|port| *port != 0);
        match (&self.network, own) {
            (network, None) => network.clone(),
            (Network::On, _) => Network::On,
            (Network::Off, Some(port)) => Network::Loopback(vec![port]),
            (Network::Loopback(ports), Some(port)) => {
                let others = ports.iter().copied().filter(|other| *other != port);
                Network::Loopback(others.chain([port]).collect())
            }
        }
    }

    /// The command line that runs a program in a new sandbox.
    pub(crate) fn wrap(&self, inmate: &Inmate<'_>, limits: Ulimits) -> Result<Vec<String>> {
        match self.used()? {
            Used::Bwrap(strength) => self.by_bwrap(inmate, limits, *strength),
            Used::Landlock => self.by_landlock(inmate, limits),
            Used::Nothing => {
                let mut line = limits.wrapper();
                line.push(landlock::text(inmate.program)?);
                line.extend_from_slice(inmate.args);
                Ok(line)
            }
        }
    }

    /// Its folder of temporary files, if it is confined and its home is the scratch folder.
    pub(crate) fn temporary(&self, scratch: &Path) -> Option<PathBuf> {
        match self.used().ok()? {
            Used::Bwrap(_) => Some(PathBuf::from("/tmp")),
            Used::Landlock => Some(scratch.to_owned()),
            Used::Nothing => None,
        }
    }

    /// A description of everything that affects the agent; `None` without a sandbox.
    pub(crate) fn described(&self) -> Option<String> {
        let rest = format!("{:?} {:?} {}", self.network, self.read, self.most_bytes());
        match self.used() {
            Ok(Used::Nothing) => None,
            Ok(Used::Landlock) => Some(format!("landlock {rest}")),
            Ok(Used::Bwrap(_)) | Err(_) => Some(rest),
        }
    }

    /// Notes for the user on the sandbox, as far as known.
    pub(crate) fn notices(&self) -> Vec<String> {
        let Ok(used) = self.used() else {
            return Vec::new();
        };
        let mut notices = Vec::new();
        let is_auto = self.kind != SandboxKind::Landlock;
        match used {
            Used::Nothing => notices.push(
                "`sandbox: auto?`: no sandbox works here, so the agent runs without and can read the answers".to_owned(),
            ),
            Used::Bwrap(strength) => notices.extend(strength.notices()),
            Used::Landlock => {
                if is_auto {
                    notices.push(
                        "bubblewrap does not work here, so Landlock confines the agent: it sees other processes, and \
                         nothing limits what it writes to its scratch folder"
                            .to_owned(),
                    );
                }
                if self.disk_bytes.is_some() {
                    notices.push("Landlock does not enforce `disk_mb`".to_owned());
                }
                if matches!(self.reachable(), Network::Loopback(_)) {
                    notices.push(
                        "Landlock filters ports, not addresses: the ports of `loopback` are open on every machine"
                            .to_owned(),
                    );
                }
            }
        }
        notices
    }

    /// The additional readable files and folders; `folder` is the agent's.
    pub(crate) fn reads(&self, folder: &Path) -> Vec<PathBuf> {
        self.read.iter().map(|path| folder.join(path)).collect()
    }

    fn most_bytes(&self) -> u64 {
        self.disk_bytes.unwrap_or(DISK_BYTES)
    }

    fn wishes<'a>(&self, inmate: &Inmate<'a>) -> Wishes<'a> {
        let named = |path: &PathBuf| inmate.folder.join(path);
        Wishes {
            program: inmate.program,
            arguments: inmate.args.iter().map(|arg| inmate.cwd.join(arg)).collect(),
            read: self.read.iter().map(named).collect(),
            hidden: inmate.hidden,
            private: view::private(),
        }
    }
}

/// The kind of sandbox for an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxKind {
    /// Bubblewrap, or an error.
    #[default]
    Bwrap,
    /// Landlock, or an error.
    Landlock,
    /// Bubblewrap if it works, or else Landlock, or else an error.
    Auto,
    /// Bubblewrap if it works, or else Landlock, or else none, with a notice.
    AutoOrNone,
}

/// The sandbox in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Used {
    Bwrap(Strength),
    Landlock,
    Nothing,
}

impl Used {
    /// Its name in a run's manifest.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Bwrap(_) => "bwrap",
            Self::Landlock => "landlock",
            Self::Nothing => "none",
        }
    }
}

/// Determines which sandbox works.
fn choose(sandbox: &Sandbox) -> Result<Used> {
    let (bwrap, landlock) = (|| sandbox.strength(), || sandbox.try_landlock());
    first_of(sandbox.kind, bwrap, landlock)
}

/// The first requested one that works.
fn first_of(
    kind: SandboxKind,
    bwrap: impl FnOnce() -> Result<Strength>,
    landlock: impl FnOnce() -> Result<()>,
) -> Result<Used> {
    let or_none = match kind {
        SandboxKind::Bwrap => return bwrap().map(Used::Bwrap),
        SandboxKind::Landlock => return landlock().map(|()| Used::Landlock),
        SandboxKind::Auto => false,
        SandboxKind::AutoOrNone => true,
    };
    let no_bwrap = match bwrap() {
        Ok(strength) => return Ok(Used::Bwrap(strength)),
        Err(error) => error,
    };
    match landlock() {
        Ok(()) => Ok(Used::Landlock),
        Err(_) if or_none => Ok(Used::Nothing),
        Err(no_landlock) => {
            let reasons = [no_bwrap.message(), no_landlock.message()].join("; ");
            let hint = no_bwrap.hint_text().unwrap_or_default();
            let message = format!("`sandbox: auto`: no sandbox works here: {reasons}");
            Err(Error::usage(message).hint(format!(
                "{hint}; or write `sandbox: auto?` to run without where none works"
            )))
        }
    }
}

// Kernel resource limits for a process and its children.
//
// A shell sets them and then becomes the program, so that no code of this process runs between `fork` and `exec`.

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
    fn or(self, default: Self) -> Self {
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
    fn the_first_that_works_is_used() {
        let strength = Strength::default();
        let used = |kind, bwrap: bool, landlock: bool| {
            let no = |name: &str| Error::usage(format!("no {name}")).hint("install it");
            let used = first_of(
                kind,
                || bwrap.then_some(strength).ok_or_else(|| no("bwrap")),
                || landlock.then_some(()).ok_or_else(|| no("landlock")),
            );
            used.map(|used| used.name())
                .map_err(|error| error.to_string())
        };
        for kind in [SandboxKind::Auto, SandboxKind::AutoOrNone] {
            assert_eq!(used(kind, true, true).as_deref(), Ok("bwrap"));
            assert_eq!(used(kind, false, true).as_deref(), Ok("landlock"));
        }
        assert_eq!(
            used(SandboxKind::AutoOrNone, false, false).as_deref(),
            Ok("none")
        );
        let error = used(SandboxKind::Auto, false, false).unwrap_err();
        for part in [
            "no bwrap; no landlock",
            "install it; or write `sandbox: auto?`",
        ] {
            assert!(error.contains(part), "{error}");
        }
        // An explicit kind has no fallback.
        assert!(used(SandboxKind::Bwrap, false, true).is_err());
        assert_eq!(
            used(SandboxKind::Landlock, true, true).as_deref(),
            Ok("landlock")
        );
        assert!(used(SandboxKind::Landlock, true, false).is_err());
    }
}

#[cfg(test)]
mod ulimits_tests {
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
