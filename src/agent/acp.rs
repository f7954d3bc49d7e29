//! The `acp` agent: coding agents that speak the Agent Client Protocol, version 1, on stdio.
//!
//! A process stays and has a session of its own for each sample and epoch, or each conversation. The `connection` sends
//! JSON-RPC, answers what the agent asks, and passes its updates to the `turn`, which makes the answer of them. Pool,
//! confinement and blame for a process that ends are those of the agent `worker`.

mod connection;
mod turn;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use serde_json::{Value, json};

use super::Agent;
use super::command::{Cwd, absolute, cancelled, time_left};
use super::conversation::SERVER;
use super::program::{
    Confinement, Program, confines, forward_pool, forward_program, passes_variables,
};
use super::worker::fallen::{session_lost, timed_out};
use super::worker::pool::{Key, Pool, Pooled, WorkerRefusal};
use crate::data::{AgentError, FailureKind, Output, Task};
use crate::error::Result;
use crate::system::cancel::Cancel;
use crate::system::process::FileHashes;
use crate::system::sandbox::{Sandbox, Ulimits};
use crate::system::{clock, lock};
use connection::{Connection, Fault, Talk, Wait};
use turn::{Turn, prompt};

/// The version of the protocol.
const PROTOCOL: u64 = 1;
/// The error of a request that needs `authenticate` first.
const AUTH_REQUIRED: i64 = -32000;
/// The signal of `kill -9`, which is also the one of a machine without memory.
const SIGKILL: i32 = 9;
/// By default, for a process to become ready.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// An agent that speaks the Agent Client Protocol, such as a coding agent with its adapter.
///
/// ```
/// use evaltest::agent::{Acp, Permissions};
///
/// let agent = Acp::new(["gemini", "--acp"], "evals")
///     .env(["GEMINI_API_KEY"])
///     .auth("gemini-api-key")
///     .permissions(Permissions::Allow);
/// ```
pub struct Acp {
    program: Program,
    processes: usize,
    auth: Option<String>,
    mode: Option<String>,
    permissions: Permissions,
    cwd: Cwd,
    start_timeout: Duration,
    max_output_bytes: usize,
    /// Known hashes of the files in `argv`.
    named: FileHashes,
    confinement: Confinement,
    pool: Pool<Connection>,
    /// The conversations that its processes remember.
    sessions: Mutex<HashMap<String, HeldSession>>,
}

/// What the agent hears when it asks whether it may call a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Permissions {
    /// It may, this time.
    #[default]
    Allow,
    /// It may not, this time.
    Reject,
}

/// The session of a conversation.
#[derive(Clone)]
struct HeldSession {
    place: usize,
    process: Weak<Connection>,
    /// The agent's own name of it.
    id: String,
}

impl Acp {
    /// A program with its arguments, and the folder that it belongs to (the spec's).
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
            auth: None,
            mode: None,
            permissions: Permissions::Allow,
            cwd: Cwd::Scratch,
            start_timeout: START_TIMEOUT,
            max_output_bytes: 1024 * 1024,
            named: FileHashes::default(),
            confinement: Confinement::default(),
            pool: Pool::new(1, 1),
            sessions: Mutex::default(),
        }
    }

    /// How many processes run at once; by default one. Each answers one task at a time.
    #[must_use]
    pub fn processes(mut self, processes: usize) -> Self {
        self.processes = processes.max(1);
        self.pool = Pool::new(self.processes, 1);
        self
    }

    /// The method by which the agent authenticates, one of those that it offers; by default it is not asked to.
    #[must_use]
    pub fn auth(mut self, method: impl Into<String>) -> Self {
        self.auth = Some(method.into());
        self
    }

    /// The mode of each session, one of those that the agent offers; by default its own.
    #[must_use]
    pub fn mode(mut self, mode: impl Into<String>) -> Self {
        self.mode = Some(mode.into());
        self
    }

    /// Whether the agent may call tools for which it asks; by default it may.
    #[must_use]
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = permissions;
        self
    }

    /// The folder in which each session works; by default the scratch folder of the attempt. In a sandbox that is the
    /// home of the process.
    #[must_use]
    pub fn cwd(mut self, cwd: Cwd) -> Self {
        self.cwd = cwd;
        self
    }

    /// How long a process may take to become ready; by default a minute. It is no task's time.
    #[must_use]
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.start_timeout = timeout;
        self
    }

    confines! {
        /// Runs each process in its own sandbox, see [`Sandbox`]. It sees only the files of its own tasks; its home is in
        /// memory.
    }

    passes_variables!();

    /// The longest answer, with the calls that led to it; by default 1 MiB.
    #[must_use]
    pub fn max_output_bytes(mut self, bytes: u64) -> Self {
        self.max_output_bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self
    }

    /// How many tasks are answered at once.
    pub fn capacity(&self) -> usize {
        self.processes
    }

    /// One attempt, without the hint on variables.
    fn attempt(&self, task: &Task) -> Result<Output, AgentError> {
        let allowed = time_left(task.deadline, clock::now())?;
        let is_first = !task.messages().iter().any(super::worker::is_of_agent);
        let known = task.session().filter(|_| !is_first);
        let known = known.and_then(|session| lock(&self.sessions).get(session).cloned());
        let key: Key = (task.id().to_owned(), task.epoch());
        let at = known.as_ref().map(|known| known.place);
        let lease = self.pool.lease(&key, at, &task.cancel)?;
        let mut starts = 0;
        loop {
            let refusal = match lease.driver(|| self.start(&task.hidden, &task.cancel)) {
                Ok(process) => {
                    let is_same = |known: &HeldSession| {
                        std::ptr::eq(known.process.as_ptr(), Arc::as_ptr(&process))
                    };
                    if known.as_ref().is_some_and(|known| !is_same(known)) {
                        return Err(session_lost());
                    }
                    let known = known.as_ref().map(|known| &*known.id);
                    match self.ask(&process, task, known, lease.place(), allowed) {
                        Ok(output) => {
                            self.pool.answered(&key);
                            return Ok(output);
                        }
                        Err(refusal) => refusal,
                    }
                }
                Err(failure) if failure.kind == FailureKind::Misconfigured => {
                    WorkerRefusal::Foreign(failure)
                }
                Err(failure) if failure.kind == FailureKind::Cancelled => return Err(failure),
                Err(failure) => WorkerRefusal::NotReady(failure),
            };
            if let Some(failure) = self.pool.after(refusal, &key, &mut starts) {
                return Err(failure);
            }
            if task.cancel.is_cancelled() {
                return Err(cancelled());
            }
        }
    }

    /// Asks a process, in a new session or in a known one.
    fn ask(
        &self,
        process: &Arc<Connection>,
        task: &Task,
        known: Option<&str>,
        place: usize,
        allowed: Option<Duration>,
    ) -> Result<Output, WorkerRefusal> {
        let mut talk = process.talk();
        let wait = Wait {
            until: allowed.and_then(|allowed| clock::now().checked_add(allowed)),
            cancel: &task.cancel,
            task: Some(task),
        };
        let stderr_before = talk.stderr_size();
        let mut session = known.map(str::to_owned);
        let is_first = session.is_none();
        let mut replied = self.open_and_prompt(process, &mut talk, &mut session, &wait);
        if let (Err(Fault::TimedOut | Fault::Cancelled), Some(id)) = (&replied, &session)
            && talk.cancel(id)
        {
            // It gave the turn up, so that the process can be used on.
            replied = replied.map_err(|fault| fault.error(self.max_output_bytes).into());
        }
        let refusal = match replied {
            Ok(output) => {
                drop(talk);
                if let Some(id) = session.filter(|_| is_first) {
                    self.hold(process, task, place, id);
                }
                return Ok(output);
            }
            Err(fault) => {
                let is_usable = matches!(fault, Fault::Refused(_) | Fault::Failed(_));
                let is_stopped = matches!(fault, Fault::TimedOut | Fault::Cancelled);
                let mut failure = fault.error(self.max_output_bytes);
                if failure.kind == FailureKind::TimedOut {
                    failure = timed_out(allowed.unwrap_or_default());
                }
                failure.stderr_tail = talk.stderr_since(stderr_before);
                if !is_usable {
                    process.give_up(&mut talk);
                }
                match failure.kind {
                    FailureKind::Misconfigured => WorkerRefusal::Foreign(failure),
                    _ if is_usable || is_stopped => WorkerRefusal::Own(failure),
                    _ if failure.signal == Some(SIGKILL) => WorkerRefusal::Killed(failure),
                    _ => WorkerRefusal::Guilty(failure),
                }
            }
        };
        drop(talk);
        if let Some(id) = session.filter(|_| is_first) {
            process.end_session(id);
        }
        Err(refusal)
    }

    /// Sends a prompt, in a new session if none is known.
    fn open_and_prompt(
        &self,
        process: &Connection,
        talk: &mut Talk,
        session: &mut Option<String>,
        wait: &Wait<'_>,
    ) -> Result<Output, Fault> {
        let Some(task) = wait.task else {
            return Err(AgentError::new("there is no task").into());
        };
        let is_first = session.is_none();
        let (_delivery, task) = match &process.cell {
            Some(cell) if is_first && !task.files().is_empty() => {
                let (delivery, task) = cell.deliver(task)?;
                (Some(delivery), task)
            }
            _ => (None, task.clone()),
        };
        let id = match session {
            Some(id) => id.clone(),
            None => session
                .insert(self.open(talk, process, &task, wait)?)
                .clone(),
        };
        let params = json!({"sessionId": id, "prompt": prompt(&task, is_first)});
        let mut turn = Turn::of(&id);
        let result = talk.call("session/prompt", params, wait, &mut turn)?;
        let cost_before = talk.costs.get(&id).copied().unwrap_or_default();
        if let Some(cost) = turn.cost() {
            talk.costs.insert(id, cost);
        }
        Ok(turn.finish(&result, cost_before)?)
    }

    /// Remembers the session of a conversation; that of a single question is over.
    fn hold(&self, process: &Arc<Connection>, task: &Task, place: usize, id: String) {
        match task.session() {
            None => process.end_session(id),
            Some(session) => {
                let held = HeldSession {
                    place,
                    process: Arc::downgrade(process),
                    id,
                };
                lock(&self.sessions).insert(session.to_owned(), held);
            }
        }
    }

    /// Opens a session; returns its id.
    fn open(
        &self,
        talk: &mut Talk,
        process: &Connection,
        task: &Task,
        wait: &Wait<'_>,
    ) -> Result<String, Fault> {
        let cwd = match (&self.cwd, &process.cell) {
            (Cwd::Folder(cwd), _) => absolute(&self.program.folder)?.join(cwd),
            (Cwd::Scratch, Some(cell)) => cell.home(),
            (Cwd::Scratch, None) => {
                let scratch = task.scratch().ok_or_else(|| {
                    let message = "`cwd: scratch` needs a scratch folder and the attempt has none";
                    AgentError::of(FailureKind::NotStarted, message)
                })?;
                absolute(scratch)?
            }
        };
        let cwd = cwd.into_os_string().into_string().map_err(|path| {
            let message = format!("the path `{}` is not UTF-8", path.display());
            AgentError::of(FailureKind::NotStarted, message)
        })?;
        let mut turn = Turn::default();
        let servers = task.server().map(|server| {
            let (program, args) = server.command.split_first()?;
            Some(json!({"name": SERVER, "command": program, "args": args, "env": []}))
        });
        let servers: Vec<Value> = servers.flatten().into_iter().collect();
        let params = json!({"cwd": cwd, "mcpServers": servers});
        let opened = match talk.call("session/new", params, wait, &mut turn) {
            Ok(opened) => opened,
            Err(Fault::Refused(error)) if error.code == AUTH_REQUIRED => {
                let message = "asks for authentication; hint: log in once with the agent itself, or write `auth: \
                               METHOD` with one of its methods and pass its key in `env`";
                return Err(AgentError::of(FailureKind::Misconfigured, message).into());
            }
            Err(fault) => return Err(fault),
        };
        let Some(session) = opened["sessionId"].as_str() else {
            let message = "the reply to `session/new` has no `sessionId`";
            return Err(AgentError::of(FailureKind::BadOutput, message).into());
        };
        if let Some(mode) = &self.mode {
            let modes = &opened["modes"]["availableModes"];
            check_choice("mode", mode, modes)?;
            let params = json!({"sessionId": session, "modeId": mode});
            talk.call("session/set_mode", params, wait, &mut turn)?;
        }
        Ok(session.to_owned())
    }

    /// Starts a process and greets it; its sandbox hides these paths.
    fn start(&self, hidden: &[PathBuf], cancel: &Cancel) -> Result<Connection, AgentError> {
        let (begin, cell) = self
            .confinement
            .begin(&self.program, hidden, BTreeMap::new())?;
        let process = Connection::start(begin, cell, self.permissions, self.max_output_bytes)?;
        let mut talk = process.talk();
        let greeted = self.greet(&mut talk, cancel);
        if greeted.is_err() {
            process.give_up(&mut talk);
        }
        let stderr_tail = talk.stderr_since(0);
        drop(talk);
        greeted.map_err(|failure| AgentError {
            stderr_tail,
            ..failure
        })?;
        Ok(process)
    }

    fn greet(&self, talk: &mut Talk, cancel: &Cancel) -> Result<(), AgentError> {
        let wait = Wait {
            until: clock::now().checked_add(self.start_timeout),
            cancel,
            task: None,
        };
        let failed = |method: &str, fault: Fault| {
            let failure = match fault {
                Fault::TimedOut => {
                    let timeout = super::command::in_seconds(self.start_timeout);
                    let message = format!(
                        "did not reply to `{method}` in {timeout}; hint: raise `start_timeout_s`"
                    );
                    AgentError::of(FailureKind::NotStarted, message)
                }
                Fault::Cancelled => return super::command::cancelled(),
                other => {
                    let failure = other.error(self.max_output_bytes);
                    let message = format!("{}, during `{method}`", failure.message);
                    AgentError { message, ..failure }
                }
            };
            AgentError {
                kind: FailureKind::NotStarted,
                ..failure
            }
        };
        let params = json!({
            "protocolVersion": PROTOCOL,
            "clientCapabilities": {
                "fs": {"readTextFile": false, "writeTextFile": false},
                "terminal": false,
            },
            "clientInfo": {"name": "evaltest", "version": env!("CARGO_PKG_VERSION")},
        });
        let mut turn = Turn::default();
        let greeting = talk
            .call("initialize", params, &wait, &mut turn)
            .map_err(|fault| failed("initialize", fault))?;
        if greeting["protocolVersion"] != PROTOCOL {
            let message = format!(
                "speaks version {} of the Agent Client Protocol, but this evaltest speaks version {PROTOCOL}",
                greeting["protocolVersion"]
            );
            return Err(AgentError::of(FailureKind::Misconfigured, message));
        }
        if greeting["agentCapabilities"]["sessionCapabilities"]["close"].is_object() {
            talk.closes_sessions();
        }
        if let Some(method) = &self.auth {
            check_choice("auth", method, &greeting["authMethods"])?;
            let params = json!({"methodId": method});
            if let Err(fault) = talk.call("authenticate", params, &wait, &mut turn) {
                let failure = failed("authenticate", fault);
                let is_refused = failure.message.starts_with("replied with error");
                return Err(AgentError {
                    kind: if is_refused {
                        FailureKind::Misconfigured
                    } else {
                        failure.kind
                    },
                    ..failure
                });
            }
        }
        Ok(())
    }

    /// Whether the program is ready.
    fn try_out(&self) -> Result<(), AgentError> {
        // The paths to hide are known only with the first task.
        if self.confinement.sandbox.is_some() {
            return Ok(());
        }
        let (key, cancel) = (Key::default(), Cancel::new());
        let lease = self.pool.lease(&key, None, &cancel)?;
        let mut starts = 0;
        loop {
            let refusal = match lease.driver(|| self.start(&[], &cancel)) {
                Ok(_) => return Ok(()),
                Err(failure) if failure.kind == FailureKind::Misconfigured => {
                    WorkerRefusal::Foreign(failure)
                }
                Err(failure) => WorkerRefusal::NotReady(failure),
            };
            if let Some(failure) = self.pool.after(refusal, &key, &mut starts) {
                return Err(failure);
            }
        }
    }
}

/// Checks that the agent offers what a key chooses; `offered` are maps with an `id`.
fn check_choice(key: &str, chosen: &str, offered: &Value) -> Result<(), AgentError> {
    let offered = offered.as_array();
    let ids = offered.into_iter().flatten();
    let ids: Vec<&str> = ids.filter_map(|item| item["id"].as_str()).collect();
    if ids.contains(&chosen) {
        return Ok(());
    }
    let hint = if ids.is_empty() {
        format!("it offers none, so remove `{key}`")
    } else {
        format!("it offers `{}`", ids.join("`, `"))
    };
    let message = format!("does not offer `{key}: {chosen}`; hint: {hint}");
    Err(AgentError::of(FailureKind::Misconfigured, message))
}

impl Agent for Acp {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        let answer = self.attempt(task);
        answer.map_err(|failure| self.program.advised(failure))
    }

    forward_program!(self);
    forward_pool!(self, "acp");

    fn needs_scratch(&self) -> bool {
        self.cwd == Cwd::Scratch && self.confinement.sandbox.is_none()
    }

    fn fingerprint(&self) -> Option<String> {
        let folder = absolute(&self.program.folder).ok()?;
        let Confinement { sandbox, ulimits } = &self.confinement;
        let sandbox = sandbox.as_ref().and_then(Sandbox::described);
        let keys = self
            .program
            .launch(&folder, &folder)
            .fingerprint("acp", &self.named)
            .part("auth", format_args!("{:?}", self.auth))
            .part("mode", format_args!("{:?}", self.mode))
            .part("permissions", format_args!("{:?}", self.permissions))
            .part("cwd", format_args!("{:?}", self.cwd))
            .part("sandbox", format_args!("{sandbox:?}"))
            .part("ulimits", format_args!("{ulimits:?}"));
        Some(keys.hex())
    }

    fn executes_calls(&self) -> bool {
        true
    }

    fn end_session(&self, session: &str) {
        let held = lock(&self.sessions).remove(session);
        if let Some(held) = held
            && let Some(process) = held.process.upgrade().filter(|process| !process.is_over())
        {
            process.end_session(held.id);
        }
    }

    fn takes_base_urls(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
