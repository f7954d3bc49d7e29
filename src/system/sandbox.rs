//! Keeping an agent that is a program away from what it must not see, and within limits.
//!
//! # What an agent can reach
//!
//! | | without a sandbox | `sandbox: bwrap` | `sandbox: landlock` |
//! |---|---|---|---|
//! | dataset, spec, snapshots, run directories | whatever the user who runs the eval can read, the answers among them | nothing: they are not there | cannot read or list them; can tell that a path is there and how large it is |
//! | home, the repository and its `.env` and history | the same | nothing, but for the agent's own program and what `read` names | the same as with bubblewrap; a folder in which something hidden lies cannot be listed |
//! | scratch folders of other attempts | can read and change them | not there | cannot read or change them |
//! | other processes, `/proc` of the parent | can see and signal those of the same user; reads their environment | sees its own alone | sees them with their command lines; cannot signal them, nor read their environment, memory or files |
//! | its own environment | the short list, and what `env` names | the same; `HOME` is the scratch folder | the same as with bubblewrap; `TMPDIR`, too |
//! | the system's programs and `/etc` | what the user may do | can read what everybody may | can read what the user may; of `/etc` what everybody may, where that is root |
//! | `/tmp`, `/dev/shm` | everybody's | its own, in memory | none |
//! | disk | can fill it | `disk_mb` in memory, for the scratch folder and for `/tmp` and `/dev/shm` each, and a file for each 4 KiB | can fill it in its scratch folder; `ulimits: { file_mb: … }` limits each file |
//! | owners and permissions of files | can change its own | its own, in memory | `chmod` and `chown` do nothing, and say that they did |
//! | processes | as many as the user may have | `processes` | as many as the user may have, or `ulimits: { processes: … }` of the user in all |
//! | processes that are left behind | killed by group, and those that left it by a mark in their environment; who drops the mark as well is killed at the end of `cargo evaltest`, and stays under `cargo test` | none: they end with the attempt | as without a sandbox |
//! | when the run itself is killed (`kill -9`) | a watch kills whatever bears the run's mark, under `cargo test` as well; where there is no `/proc`, as on macOS, that of `cargo test` finds nobody | none stays; what `worker`s had of their files is removed by the watch | the program itself ends, its children as without a sandbox |
//! | files that whoever started the run left open in it (`exec 9<file` in a shell) | can read them | closed | closed |
//! | network | everything | `network: on` everything, `off` nothing, `{ loopback: [PORT] }` these ports of this machine | `on` everything, `off` nothing, `{ loopback: [PORT] }` these TCP ports of any machine |
//! | sockets of files (`docker.sock`) and abstract ones | can connect | those of files are not there; abstract ones with `network: on` | none can be made |
//! | tracing, mounts, namespaces, keys, `bpf`, `io_uring` | what the user may do | the calls fail as on a kernel that has them not | the same as with bubblewrap |
//!
//! Memory and CPU time are limited only where `ulimits` says so. With `network: on` an agent reaches servers on this
//! machine too.
//!
//! # How
//!
//! [bubblewrap](https://github.com/containers/bubblewrap) gives the program a file system of its own: system folders
//! read-only, the program's own files, an empty `/tmp`, the scratch folder in memory with the attachments. It ends with
//! `evaltest`, also by SIGKILL. When `evaltest` is run by root, the agent gets a user id of its own in the sandbox, for
//! the limit on processes does not hold for root; its files must be readable for everybody.
//!
//! [Landlock](https://landlock.io) needs no program, no namespaces and no rights, but Linux 6.12. The agent stays the same
//! user, without capabilities.
//!
//! For both a shim, which is `cargo evaltest` itself, closes what was left open, sets a filter of system calls, and becomes
//! the program. A program that runs evals itself and finds no `cargo-evaltest` in `PATH` starts bubblewrap without it, and
//! says so: then no call is filtered, nothing is closed, and files in memory are not counted. Landlock needs the shim.
//! `sandbox: auto` takes bubblewrap where it works, else Landlock; `auto?` goes without where neither works.
//! The manifest of a run says which one it was.

mod ulimits;
mod view;

mod relay;
mod shim;

mod bwrap;
mod choice;
mod landlock;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use once_cell::sync::OnceCell;

use crate::error::Result;
use crate::system::temporary_folder::TemporaryFolder;
use relay::Relay;
use view::Wishes;

pub use choice::SandboxKind;
pub use shim::serve_if_asked;
pub use ulimits::Ulimits;

pub(crate) use choice::Used;

/// How much a sandboxed agent may write unless told otherwise.
const DISK_BYTES: u64 = 256 * 1024 * 1024;
/// How many processes and threads it may have unless told otherwise.
const PROCESSES: u64 = 512;

/// What keeps an agent from what it must not see.
#[derive(Clone, Debug)]
pub struct Sandbox {
    kind: SandboxKind,
    network: Network,
    read: Vec<PathBuf>,
    disk_bytes: Option<u64>,
    /// What works here, once it is known.
    used: Arc<OnceCell<Used>>,
    /// Where folders in memory are mounted, each time in a namespace of its own.
    memory: Arc<OnceCell<TemporaryFolder>>,
    /// What serves `Network::Loopback`, from the first attempt on.
    relay: Arc<OnceCell<Relay>>,
}

/// What of the network a sandboxed agent reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Network {
    /// All of it.
    #[default]
    On,
    /// Nothing but a loopback of its own.
    Off,
    /// These TCP ports of this machine's loopback, such as that of a local model, at `127.0.0.1`.
    Loopback(Vec<u16>),
}

/// A program that is to run in a sandbox.
pub(crate) struct Inmate<'a> {
    /// The program's file.
    pub(crate) program: &'a Path,
    /// Its arguments, without the program.
    pub(crate) args: &'a [String],
    /// The folder in which it runs.
    pub(crate) cwd: &'a Path,
    /// The folder from which its relative paths count.
    pub(crate) folder: &'a Path,
    /// Where it has a folder in memory to write to.
    pub(crate) scratch: &'a Path,
    /// Files and folders that were made for it, such as attachments.
    pub(crate) files: &'a [&'a Path],
    /// What it must not see.
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
            read: Vec::new(),
            disk_bytes: None,
            used: Arc::default(),
            memory: Arc::default(),
            relay: Arc::default(),
        }
    }

    /// What is to confine the agent; by default bubblewrap.
    #[must_use]
    pub fn kind(mut self, kind: SandboxKind) -> Self {
        self.kind = kind;
        self
    }

    /// What of the network it reaches.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Further files and folders that it may read; relative ones count from the agent's folder. The dataset, the spec,
    /// snapshots and run directories stay hidden, also inside of them.
    #[must_use]
    pub fn read(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.read.extend(paths.into_iter().map(Into::into));
        self
    }

    /// How many bytes it may write to its scratch folder, and to `/tmp`; by default 256 MiB. Both are in memory and
    /// gone after the attempt. Landlock knows no such limit.
    #[must_use]
    pub fn disk_bytes(mut self, bytes: u64) -> Self {
        self.disk_bytes = Some(bytes);
        self
    }
}

impl Sandbox {
    /// Says why no sandbox can be made here.
    pub(crate) fn check(&self) -> Result<()> {
        self.used().map(drop)
    }

    /// What confines the agent here.
    pub(crate) fn used(&self) -> Result<&Used> {
        self.used.get_or_try_init(|| choice::choose(self))
    }

    /// The arguments that run a program in a sandbox of its own.
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

    /// Where its temporary files are, if it is confined and its home is the scratch folder.
    pub(crate) fn temporary(&self, scratch: &Path) -> Option<PathBuf> {
        match self.used().ok()? {
            Used::Bwrap(_) => Some(PathBuf::from("/tmp")),
            Used::Landlock => Some(scratch.to_owned()),
            Used::Nothing => None,
        }
    }

    /// What decides on what the agent can do; nothing where nothing confines it.
    pub(crate) fn described(&self) -> Option<String> {
        let rest = format!("{:?} {:?} {}", self.network, self.read, self.most_bytes());
        match self.used() {
            Ok(Used::Nothing) => None,
            Ok(Used::Landlock) => Some(format!("landlock {rest}")),
            Ok(Used::Bwrap(_)) | Err(_) => Some(rest),
        }
    }

    /// What people should know of how it is here, as far as that is known.
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
                    notices.push("Landlock does not keep `disk_mb`".to_owned());
                }
                if matches!(self.network, Network::Loopback(_)) {
                    notices.push(
                        "Landlock knows ports and no addresses: those of `loopback` are open on every machine"
                            .to_owned(),
                    );
                }
            }
        }
        notices
    }

    /// The files and folders that it may read besides; `folder` is the agent's.
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
