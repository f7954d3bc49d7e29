//! The `worker` agent: long-running programs that answer lines with lines.
//!
#![doc = include_str!("worker.md")]
//!
//! The keys of a spec are described on the page of the kind `worker` in the registry.
//!
//! # How it works
//!
//! A caller gets a slot from the `pool`; each process has its own thread, the `driver`, that talks with it to its end
//! (`talk`). A request is the line that the agent `command` writes for `input: json`; output is decoded by `message`.
//!
//! Invariants:
//! - No process outlives the agent, the run that closes it, or its own end: neither its group nor those that left the
//!   group.
//! - Memory use is bounded by `max_output_bytes` per process and a few KiB per request.
//! - An answer goes only to the request whose id it names.
//! - A sample that crashes the program fails alone.

pub(super) mod cell;
mod driver;
pub(super) mod fallen;
mod message;
mod orders;
pub(super) mod pool;
pub(super) mod talk;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use super::Agent;
use super::command::{Input, absolute, cancelled, time_left};
use super::program::{
    Confinement, Program, confines, forward_pool, forward_program, passes_variables,
};
use crate::data::task::Live;
use crate::data::{AgentError, FailureKind, Output, Task};
use crate::error::Result;
use crate::system::cancel::Cancel;
use crate::system::process::FileHashes;
use crate::system::sandbox::{Sandbox, Ulimits};
use crate::system::{clock, lock};
use driver::{Driver, ServerConfig};
use pool::{Key, Pool, Pooled, WorkerRefusal};
use serde_json::Value;
use talk::Setup;

/// An agent that is a long-running program which answers many tasks.
///
/// ```
/// use evaltest::agent::Worker;
///
/// let agent = Worker::new(["python3", "worker.py"], "evals")
///     .processes(2)
///     .in_flight(8)
///     .env(["MY_API_KEY"]);
/// ```
pub struct Worker {
    program: Program,
    processes: usize,
    setup: Setup,
    scratch: bool,
    /// Known hashes of the files in `argv`.
    named: FileHashes,
    confinement: Confinement,
    pool: Pool<Driver>,
    /// Where the conversations are that it remembers.
    sessions: Mutex<HashMap<String, HeldSession>>,
    /// Whether its tasks come with a server of tools.
    expects_server: AtomicBool,
}

/// The process that remembers a conversation.
#[derive(Clone)]
struct HeldSession {
    place: usize,
    driver: Weak<Driver>,
}

impl HeldSession {
    fn is_of(&self, driver: &Arc<Driver>) -> bool {
        std::ptr::eq(self.driver.as_ptr(), Arc::as_ptr(driver))
    }
}

/// A line for a program, and what belongs to it.
pub(in crate::agent) struct Exchange<'a> {
    /// The id in the line.
    pub(in crate::agent) id: String,
    /// Who is to blame if the program ends.
    pub(in crate::agent) key: Key,
    pub(in crate::agent) line: Vec<u8>,
    /// The conversation it is of.
    pub(in crate::agent) session: Option<&'a str>,
    /// Whether it begins the conversation.
    pub(in crate::agent) is_first: bool,
    /// Whether the members of the reply are wanted as they are, in `metadata`, and not an answer.
    pub(in crate::agent) takes_members: bool,
    pub(in crate::agent) deadline: Option<Instant>,
    pub(in crate::agent) cancel: &'a Cancel,
    pub(in crate::agent) live: Option<&'a Live>,
    pub(in crate::agent) progress: Option<&'a Live>,
    /// Paths that a sandbox hides.
    pub(in crate::agent) hidden: &'a [PathBuf],
    /// The task, if it has files.
    pub(in crate::agent) task: Option<&'a Task>,
}

pub(super) fn is_of_agent(message: &Value) -> bool {
    message.get("role").is_some_and(|role| role == "assistant")
}

impl Worker {
    /// A program with its arguments, and the folder in which it runs (the spec's).
    ///
    /// A program with a `/` is looked up from that folder, a bare name in `PATH`. The process environment is read now,
    /// once.
    pub fn new(
        argv: impl IntoIterator<Item = impl Into<String>>,
        folder: impl Into<PathBuf>,
    ) -> Self {
        Self {
            program: Program::new(argv, folder),
            processes: 1,
            setup: Setup {
                in_flight: 1,
                handshake: None,
                max_output_bytes: 1024 * 1024,
                close_grace: Duration::from_secs(2),
                term_grace: Duration::from_secs(1),
            },
            scratch: false,
            named: FileHashes::default(),
            confinement: Confinement::default(),
            pool: Pool::new(1, 1),
            sessions: Mutex::default(),
            expects_server: AtomicBool::new(false),
        }
    }

    /// How many processes run at once; by default one. They are started on demand.
    #[must_use]
    pub fn processes(mut self, processes: usize) -> Self {
        self.processes = processes.max(1);
        self.pool = Pool::new(self.processes, self.setup.in_flight);
        self
    }

    /// How many tasks a process may have at once; by default one.
    #[must_use]
    pub fn in_flight(mut self, tasks: usize) -> Self {
        self.setup.in_flight = tasks.max(1);
        self.pool = Pool::new(self.processes, self.setup.in_flight);
        self
    }

    /// Greets the program and waits this long for its greeting; the time of a task counts only from then on. Without
    /// it, tasks are sent at once.
    #[must_use]
    pub fn handshake(mut self, timeout: Duration) -> Self {
        self.setup.handshake = Some(timeout);
        self
    }

    /// Gives every task a scratch folder, in its key `scratch`.
    #[must_use]
    pub fn scratch(mut self) -> Self {
        self.scratch = true;
        self
    }

    confines! {
        /// Runs each process in its own sandbox, see [`Sandbox`]. It sees only the files of its own tasks; its home is in
        /// memory. A folder of [`Worker::scratch`] is outside and not visible.
    }

    passes_variables!();

    /// The longest line, and the most output for one task; by default 1 MiB.
    #[must_use]
    pub fn max_output_bytes(mut self, bytes: u64) -> Self {
        self.setup.max_output_bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self
    }

    /// How long a process may take to end after its stdin is closed; by default two seconds. `SIGTERM` follows, and a
    /// second later `SIGKILL`.
    #[must_use]
    pub fn close_grace(mut self, grace: Duration) -> Self {
        self.setup.close_grace = grace;
        self
    }

    /// How many tasks are answered at once.
    pub fn capacity(&self) -> usize {
        self.processes.saturating_mul(self.setup.in_flight)
    }

    /// One attempt, without the hint on variables.
    fn attempt(&self, task: &Task) -> Result<Output, AgentError> {
        let line = Input::Json.encode(task)?;
        self.exchange(&Exchange {
            id: task.id().to_owned(),
            key: (task.id().to_owned(), task.epoch()),
            line,
            session: task.session(),
            is_first: !task.messages().iter().any(is_of_agent),
            takes_members: false,
            deadline: task.deadline,
            cancel: &task.cancel,
            live: task.live.as_ref(),
            progress: task.progress.as_ref(),
            hidden: &task.hidden,
            task: Some(task),
        })
    }

    /// Sends a line to a process and waits for the reply. All lines of a session go to the same process; when that is
    /// gone, the session is lost.
    pub(in crate::agent) fn exchange(&self, exchange: &Exchange<'_>) -> Result<Output, AgentError> {
        let allowed = time_left(exchange.deadline, clock::now())?;
        let line = Arc::new(exchange.line.clone());
        let key = exchange.key.clone();
        let known = exchange.session.filter(|_| !exchange.is_first);
        let known = known.and_then(|session| lock(&self.sessions).get(session).cloned());
        let at = known.as_ref().map(|known| known.place);
        let lease = self.pool.lease(&key, at, exchange.cancel)?;
        let mut starts = 0;
        loop {
            let refusal = match lease.driver(|| self.start(exchange.hidden)) {
                Ok(driver) => {
                    if known.as_ref().is_some_and(|known| !known.is_of(&driver)) {
                        return Err(fallen::session_lost());
                    }
                    if let Some(session) = exchange.session.filter(|_| known.is_none()) {
                        let held = HeldSession {
                            place: lease.place(),
                            driver: Arc::downgrade(&driver),
                        };
                        lock(&self.sessions).insert(session.to_owned(), held);
                    }
                    let (_files, line) = match (driver.cell(), exchange.task) {
                        (Some(cell), Some(task)) => cell.line(task, &line)?,
                        _ => (None, Arc::clone(&line)),
                    };
                    if let Some(server) = exchange.task.and_then(Task::server) {
                        driver.offer(&server.config)?;
                    }
                    let (reply, answer) = channel();
                    let is_sent = driver.ask(WorkerRequest {
                        id: exchange.id.clone(),
                        line,
                        allowed,
                        cancel: exchange.cancel.clone(),
                        live: exchange.live.cloned(),
                        progress: exchange.progress.cloned(),
                        takes_members: exchange.takes_members,
                        reply,
                    });
                    match answer.recv() {
                        Ok(Ok(output)) => {
                            self.pool.answered(&key);
                            return Ok(output);
                        }
                        Ok(Err(refusal)) => refusal,
                        Err(_) if !is_sent => WorkerRefusal::Unsent,
                        Err(_) => WorkerRefusal::Own(AgentError::of(
                            FailureKind::Failed,
                            "lost track of the process",
                        )),
                    }
                }
                Err(failure) => WorkerRefusal::NotReady(failure),
            };
            let refusal = match refusal {
                WorkerRefusal::Guilty(failure) if exchange.takes_members => {
                    WorkerRefusal::Own(failure)
                }
                // The process had nobody else's request.
                WorkerRefusal::Fell(failure) | WorkerRefusal::Killed(failure)
                    if exchange.takes_members && self.setup.in_flight == 1 =>
                {
                    WorkerRefusal::Own(failure)
                }
                other => other,
            };
            if let Some(failure) = self.after(refusal, &key, &mut starts) {
                return Err(failure);
            }
            if exchange.cancel.is_cancelled() {
                return Err(cancelled());
            }
        }
    }

    /// The error for a refusal; `None` if the task is to be sent again.
    fn after(&self, refusal: WorkerRefusal, key: &Key, starts: &mut u32) -> Option<AgentError> {
        let refusal = match refusal {
            WorkerRefusal::Foreign(mut failure) => {
                failure.message = format!("`{}` {}", self.program.argv.join(" "), failure.message);
                WorkerRefusal::Foreign(failure)
            }
            other => other,
        };
        self.pool.after(refusal, key, starts)
    }

    /// Forgets a session; returns the process that has it, if that still runs.
    fn forget(&self, session: &str) -> Option<Arc<Driver>> {
        let held = lock(&self.sessions).remove(session)?;
        held.driver.upgrade().filter(|driver| !driver.is_over())
    }

    /// Whether the process of a session still runs.
    pub(in crate::agent) fn holds_session(&self, session: &str) -> bool {
        let held = lock(&self.sessions).get(session).cloned();
        let driver = held.and_then(|held| held.driver.upgrade());
        driver.is_some_and(|driver| !driver.is_over())
    }

    /// Forgets a session.
    pub(in crate::agent) fn forget_session(&self, session: &str) {
        self.forget(session);
    }

    /// Starts a process; its sandbox hides these paths.
    fn start(&self, hidden: &[PathBuf]) -> Result<Driver, AgentError> {
        let is_served = self.setup.in_flight == 1 && self.expects_server.load(Ordering::Relaxed);
        let config = is_served.then(ServerConfig::new).transpose()?;
        let variable = config.iter().map(ServerConfig::variable);
        let (begin, cell) = self
            .confinement
            .begin(&self.program, hidden, variable.collect())?;
        Driver::start(begin, cell, config, self.setup)
    }

    fn absolute_folder(&self) -> Result<PathBuf, AgentError> {
        absolute(&self.program.folder)
    }

    /// Whether the program, if it greets, is ready.
    fn try_out(&self) -> Result<(), AgentError> {
        // The paths to hide are known only with the first task.
        if self.setup.handshake.is_none() || self.confinement.sandbox.is_some() {
            return Ok(());
        }
        let key = Key::default();
        let lease = self.pool.lease(&key, None, &Cancel::new())?;
        let mut starts = 0;
        loop {
            let refusal = match lease.driver(|| self.start(&[])) {
                Ok(driver) => match driver.ready() {
                    Ok(()) => return Ok(()),
                    Err(refusal) => refusal,
                },
                Err(failure) => WorkerRefusal::NotReady(failure),
            };
            if let Some(failure) = self.after(refusal, &key, &mut starts) {
                return Err(failure);
            }
        }
    }
}

impl Agent for Worker {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        let answer = self.attempt(task);
        answer.map_err(|failure| self.program.advised(failure))
    }

    forward_program!(self);
    forward_pool!(self, "worker");

    fn needs_scratch(&self) -> bool {
        self.scratch
    }

    fn fingerprint(&self) -> Option<String> {
        let folder = self.absolute_folder().ok()?;
        let Confinement { sandbox, ulimits } = &self.confinement;
        let sandbox = sandbox.as_ref().and_then(Sandbox::described);
        let keys = self
            .program
            .launch(&folder, &folder)
            .fingerprint("worker", &self.named)
            .part("sandbox", format_args!("{sandbox:?}"))
            .part("ulimits", format_args!("{ulimits:?}"))
            .part("handshake", self.setup.handshake.is_some())
            .part("scratch", self.scratch);
        Some(keys.hex())
    }

    fn expect_server(&self) {
        self.expects_server.store(true, Ordering::Relaxed);
    }

    fn end_session(&self, session: &str) {
        if let Some(driver) = self.forget(session) {
            driver.send(message::end(session));
        }
    }
}

/// A task to be sent to a process.
#[derive(Clone)]
struct WorkerRequest {
    id: String,
    /// The task as a line.
    line: Arc<Vec<u8>>,
    /// The time for the answer, from the moment the line is sent.
    allowed: Option<Duration>,
    cancel: Cancel,
    live: Option<Live>,
    /// Records its progress messages.
    progress: Option<Live>,
    /// Whether the members of the reply are wanted as they are, and not an answer.
    takes_members: bool,
    reply: Sender<WorkerReply>,
}

type WorkerReply = Result<Output, WorkerRefusal>;

/// A request that was sent.
struct Open {
    request: WorkerRequest,
    deadline: Option<Instant>,
    /// Since when its time is over and the program knows.
    overdue: Option<Instant>,
    /// How many bytes the process had written to stderr before.
    stderr_before: u64,
    /// The bytes of its progress messages.
    chatter: usize,
}

impl Open {
    fn new(request: WorkerRequest, stderr_before: u64) -> Self {
        let now = clock::now();
        Self {
            deadline: request.allowed.and_then(|allowed| now.checked_add(allowed)),
            request,
            overdue: None,
            stderr_before,
            chatter: 0,
        }
    }

    /// Ends it with a reply. The caller may be gone.
    fn end(self, reply: WorkerReply) {
        let _ = self.request.reply.send(reply);
    }
}
