//! The thread that talks with one process, and the handle to it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::WorkerRequest;
use super::cell::Cell;
use super::orders::Orders;
use super::pool::{Pooled, WorkerRefusal};
use super::talk::{Setup, Talk};
use crate::agent::command::MCP;
use crate::agent::program::not_started;
use crate::data::{AgentError, FailureKind, Output};
use crate::system::file::TemporaryFolder;
use crate::system::lock;
use crate::system::process::launch::NotStarted;
use crate::system::process::worker::WorkerProcess;
use crate::system::shortage::Shortage;

/// A started process.
pub(super) struct Driver {
    orders: Arc<Orders>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Its sandbox folder, if any.
    cell: Option<Cell>,
    config: Option<ServerConfig>,
}

/// A file that names the server of tools of a process's current task.
pub(super) struct ServerConfig(TemporaryFolder);

impl ServerConfig {
    pub(super) fn new() -> Result<Self, AgentError> {
        let folder = TemporaryFolder::new().map_err(|reason| unnamed(&reason))?;
        Ok(Self(folder))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("mcp.json")
    }

    /// The variable with its path.
    pub(super) fn variable(&self) -> (OsString, OsString) {
        (MCP.into(), self.path().into())
    }
}

/// The failure where the server of tools cannot be named.
fn unnamed(reason: &io::Error) -> AgentError {
    let message = format!("the file of `${MCP}` cannot be written: {reason}");
    AgentError::of(FailureKind::NotStarted, message)
}

impl Driver {
    /// Starts a process and runs it on its own thread: a sandbox ends with the thread that made it.
    pub(super) fn start(
        begin: impl FnOnce() -> Result<WorkerProcess, NotStarted> + Send + 'static,
        cell: Option<Cell>,
        config: Option<ServerConfig>,
        setup: Setup,
    ) -> Result<Self, AgentError> {
        let no_thread = |reason: io::Error| {
            let what = "cannot start a thread for it";
            match Shortage::of(&reason) {
                Some(shortage) => {
                    AgentError::of(FailureKind::Shortage, format!("{what}: {shortage}"))
                }
                None => AgentError::of(FailureKind::NotStarted, format!("{what}: {reason}")),
            }
        };
        let orders = Arc::new(Orders::new().map_err(no_thread)?);
        let own = Arc::clone(&orders);
        let (notify, started) = channel();
        let follow = move || {
            let worker = match begin() {
                Ok(worker) => worker,
                Err(reason) => {
                    let _ = notify.send(Err(reason));
                    return;
                }
            };
            let _ = notify.send(Ok(()));
            // If it ends at once, the first caller gets the reason.
            own.wait_for_one();
            let fallen = Talk::new(worker, &own, setup).run();
            let late = own.end();
            // The process is gone before callers ask elsewhere.
            fallen.notify(&late);
        };
        let thread = std::thread::Builder::new()
            .name("evaltest-worker".to_owned())
            .spawn(follow)
            .map_err(no_thread)?;
        let lost = || NotStarted::new("its thread ended".to_owned());
        let started = started.recv().unwrap_or_else(|_| Err(lost()));
        started.map_err(not_started)?;
        Ok(Self {
            orders,
            thread: Mutex::new(Some(thread)),
            cell,
            config,
        })
    }

    /// Names the server of tools of the next task, if the process has only one at a time.
    pub(super) fn offer(&self, server: &Path) -> Result<(), AgentError> {
        let Some(config) = &self.config else {
            return Ok(());
        };
        let fresh = config.0.path().join("new");
        fs::copy(server, &fresh)
            .and_then(|_| fs::rename(&fresh, config.path()))
            .map_err(|reason| unnamed(&reason))
    }

    /// Its sandbox folder, if any.
    pub(super) fn cell(&self) -> Option<&Cell> {
        self.cell.as_ref()
    }

    /// Sends a request; `false` if the process is gone.
    pub(super) fn ask(&self, request: WorkerRequest) -> bool {
        self.orders.give(|inbox| inbox.requests.push(request))
    }

    /// Sends a line that no reply follows.
    pub(super) fn send(&self, line: Vec<u8>) {
        self.orders.give(|inbox| inbox.lines.push(line));
    }

    /// Waits until the process is ready.
    pub(super) fn ready(&self) -> Result<(), WorkerRefusal> {
        let (probe, reply) = channel();
        if !self.orders.give(|inbox| inbox.probes.push(probe)) {
            return Err(WorkerRefusal::Unsent);
        }
        reply
            .recv()
            .unwrap_or(Err(WorkerRefusal::Unsent))
            .map(|_: Output| ())
    }
}

impl Pooled for Driver {
    fn is_over(&self) -> bool {
        self.orders.inbox().over
    }

    fn close(&self) {
        self.orders.give(|inbox| inbox.close = true);
    }

    fn join(&self) {
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}
