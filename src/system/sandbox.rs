//! Keeping an agent that is a program away from what it must not see, and within limits.
//!
//! # What an agent can reach
//!
//! | | without a sandbox | `sandbox: bwrap` |
//! |---|---|---|
//! | dataset, spec, snapshots, run directories | whatever the user who runs the eval can read, the answers among them | nothing: they are not there |
//! | home, the repository and its `.env` and history | the same | nothing, but for the agent's own program and what `read` names |
//! | scratch folders of other attempts | can read and change them | not there |
//! | other processes, `/proc` of the parent | can see and signal those of the same user; reads their environment | sees its own alone |
//! | its own environment | the short list, and what `env` names | the same; `HOME` is the scratch folder |
//! | the system's programs and `/etc` | what the user may do | can read what everybody may |
//! | disk | can fill it | `disk_mb` in memory, for the scratch folder and for `/tmp` each |
//! | processes | as many as the user may have | `processes` |
//! | processes that are left behind | killed by group, and those that left it by a mark in their environment; who drops the mark as well is killed at the end of `cargo evaltest`, and stays under `cargo test` | none: they end with the attempt |
//! | when the run itself is killed (`kill -9`) | `cargo evaltest` has a watch that kills whatever bears the run's mark; under `cargo test` agents that hang stay | none stays; what `worker`s had of their files is removed by the watch |
//! | files that whoever started the run left open in it (`exec 9<file` in a shell) | can read them | can read them too: close them before |
//! | network | everything | `network: on` everything, `off` nothing, `{ loopback: [PORT] }` these ports of this machine |
//!
//! Memory and CPU time are limited only where `ulimits` says so. With `network: on` an agent reaches servers on this
//! machine too, those that listen on abstract sockets among them.
//!
//! # How
//!
//! [bubblewrap](https://github.com/containers/bubblewrap) gives the program a file system of its own: system folders
//! read-only, the program's own files, an empty `/tmp`, the scratch folder in memory with the attachments. It ends with
//! `evaltest`, also by SIGKILL. When `evaltest` is run by root, the agent gets a user id of its own in the sandbox, for
//! the limit on processes does not hold for root; its files must be readable for everybody.

mod bwrap;
mod relay;
mod ulimits;
mod view;

use std::path::PathBuf;
use std::sync::Arc;

use once_cell::sync::OnceCell;

pub use relay::serve_if_asked;
pub use ulimits::Ulimits;

pub(crate) use bwrap::Inmate;
use relay::Relay;

/// How much a sandboxed agent may write unless told otherwise.
const DISK_BYTES: u64 = 256 * 1024 * 1024;
/// How many processes and threads it may have unless told otherwise.
const PROCESSES: u64 = 512;

/// A file system, a set of processes and a network of an agent's own.
#[derive(Clone, Debug)]
pub struct Sandbox {
    network: Network,
    read: Vec<PathBuf>,
    disk_bytes: u64,
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

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    /// What the spec says of it.
    pub(crate) fn described(&self) -> String {
        format!("{:?} {:?} {}", self.network, self.read, self.disk_bytes)
    }

    /// Bubblewrap, with the network on.
    pub fn new() -> Self {
        Self {
            network: Network::On,
            read: Vec::new(),
            disk_bytes: DISK_BYTES,
            relay: Arc::default(),
        }
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
    /// gone after the attempt.
    #[must_use]
    pub fn disk_bytes(mut self, bytes: u64) -> Self {
        self.disk_bytes = bytes;
        self
    }
}
