//! One process, and the messages with it.
//!
//! A message is sent and its reply awaited on the caller's thread, one caller at a time; meanwhile the agent's own
//! requests are answered and its updates go to the turn. Another thread only starts the process and stays: a sandbox
//! ends with the thread that made it.

use std::collections::HashMap;
use std::io;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Permissions;
use super::turn::Turn;
use crate::agent::command::StreamKind;
use crate::agent::command::lines::LiveLines;
use crate::agent::program::not_started;
use crate::agent::worker::cell::{Begin, Cell};
use crate::agent::worker::fallen::ended;
use crate::agent::worker::pool::Pooled;
use crate::agent::worker::talk::Incoming;
use crate::data::{AgentError, FailureKind, Task};
use crate::system::cancel::Cancel;
use crate::system::process::excerpt::beginning;
use crate::system::process::launch::NotStarted;
use crate::system::process::worker::WorkerProcess;
use crate::system::{clock, lock};
use crate::text::json_rpc::{RpcError, RpcMessage};

/// How long to wait for the end of a program that closed its stdout.
const END: Duration = Duration::from_millis(200);
/// How long an agent may take to give up a turn, and to end.
const GRACE: Duration = Duration::from_secs(1);
/// The longest line, if `limits.max_output_bytes` is less: greetings list models and commands.
const LONGEST_LINE: usize = 1024 * 1024;
/// How many bytes of an agent's own error are shown.
const ERROR_BYTES: usize = 1000;

/// A started process.
pub(super) struct Connection {
    talk: Mutex<Talk>,
    /// Sessions that are over, to be closed.
    closing: Mutex<Vec<String>>,
    over: AtomicBool,
    holder: Mutex<Holder>,
    /// Its sandbox folder, if any.
    pub(super) cell: Option<Cell>,
}

/// The thread that started the process.
#[derive(Default)]
struct Holder {
    /// Dropped, the thread ends.
    release: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.release = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The messages with a process.
pub(super) struct Talk {
    worker: WorkerProcess,
    incoming: Incoming,
    outgoing: Vec<u8>,
    /// The id of the last request.
    last_id: u64,
    /// Whether the agent can close sessions.
    can_close: bool,
    permissions: Permissions,
    max_output_bytes: usize,
    /// What each session has cost so far.
    pub(super) costs: HashMap<String, f64>,
}

/// How long to wait for a reply, and what shows meanwhile.
pub(super) struct Wait<'a> {
    pub(super) until: Option<Instant>,
    pub(super) cancel: &'a Cancel,
    pub(super) task: Option<&'a Task>,
}

/// Why a request has no reply.
pub(super) enum Fault {
    /// The agent replied with an error.
    Refused(RpcError),
    /// There is no answer, for a reason that leaves the process usable.
    Failed(AgentError),
    TimedOut,
    Cancelled,
    /// A line, or what the turn stores, is too large. Has its beginning.
    TooLarge(Vec<u8>),
    Ended(Option<ExitStatus>),
    Lost(io::Error),
}

impl Connection {
    /// Starts a process.
    pub(super) fn start(
        begin: Begin,
        cell: Option<Cell>,
        permissions: Permissions,
        max_output_bytes: usize,
    ) -> Result<Self, AgentError> {
        let (give, started) = channel();
        let (release, held) = channel::<()>();
        let hold = move || {
            let _ = give.send(begin());
            // Until it is released.
            let _ = held.recv();
        };
        let thread = std::thread::Builder::new()
            .name("evaltest-acp".to_owned())
            .spawn(hold)
            .map_err(|reason| {
                let message = format!("cannot start a thread for it: {reason}");
                AgentError::of(FailureKind::Shortage, message)
            })?;
        let lost = || NotStarted::new("its thread ended".to_owned());
        let started = started.recv().unwrap_or_else(|_| Err(lost()));
        Ok(Self {
            talk: Mutex::new(Talk {
                worker: started.map_err(not_started)?,
                incoming: Incoming::default(),
                outgoing: Vec::new(),
                last_id: 0,
                can_close: false,
                permissions,
                max_output_bytes,
                costs: HashMap::new(),
            }),
            closing: Mutex::default(),
            over: AtomicBool::new(false),
            holder: Mutex::new(Holder {
                release: Some(release),
                thread: Some(thread),
            }),
            cell,
        })
    }

    /// The messages, for one caller at a time. Sessions that are over are closed first.
    pub(super) fn talk(&self) -> MutexGuard<'_, Talk> {
        let mut talk = lock(&self.talk);
        self.close_sessions(&mut talk);
        talk
    }

    /// The session is over.
    pub(super) fn end_session(&self, session: String) {
        lock(&self.closing).push(session);
        if let Ok(mut talk) = self.talk.try_lock() {
            self.close_sessions(&mut talk);
        }
    }

    /// Nobody waits for the replies.
    fn close_sessions(&self, talk: &mut Talk) {
        for session in std::mem::take(&mut *lock(&self.closing)) {
            talk.costs.remove(&session);
            if talk.can_close {
                talk.send_request("session/close", json!({"sessionId": session}));
            }
        }
        talk.feed();
    }

    /// It must not be used any more, as it is out of step.
    pub(super) fn give_up(&self, talk: &mut Talk) {
        self.over.store(true, Ordering::SeqCst);
        talk.worker.terminate();
        talk.worker.ends_in(GRACE);
        talk.worker.kill();
    }
}

impl Pooled for Connection {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
            || (self.talk.try_lock()).is_ok_and(|mut talk| talk.worker.has_ended())
    }

    fn close(&self) {
        lock(&self.talk).worker.dismiss();
        self.over.store(true, Ordering::SeqCst);
    }

    fn join(&self) {
        let mut talk = lock(&self.talk);
        if !talk.worker.ends_in(GRACE) {
            talk.worker.terminate();
            talk.worker.ends_in(GRACE);
        }
        talk.worker.kill();
        drop(talk);
        // A sandbox is gone with the process.
        drop(std::mem::take(&mut *lock(&self.holder)));
    }
}

impl Talk {
    /// The agent can close sessions.
    pub(super) fn closes_sessions(&mut self) {
        self.can_close = true;
    }

    /// Sends a request and waits for its reply.
    pub(super) fn call(
        &mut self,
        method: &str,
        params: Value,
        wait: &Wait<'_>,
        turn: &mut Turn,
    ) -> Result<Value, Fault> {
        let id = self.send_request(method, params);
        self.receive(id, wait, turn, false)
    }

    /// Cancels a request that was sent last, and waits a moment for its reply. Whether the process can be used on.
    pub(super) fn cancel(&mut self, session: &str) -> bool {
        let cancel = RpcMessage::Notification {
            method: "session/cancel".to_owned(),
            params: json!({"sessionId": session}),
        };
        self.outgoing.extend(cancel.line());
        let wait = Wait {
            until: clock::now().checked_add(GRACE),
            cancel: &Cancel::new(),
            task: None,
        };
        let mut turn = Turn::default();
        let reply = self.receive(self.last_id, &wait, &mut turn, true);
        matches!(reply, Ok(_) | Err(Fault::Refused(_)))
    }

    /// How many bytes it has written to stderr, and what it wrote after so many.
    pub(super) fn stderr_size(&self) -> u64 {
        self.worker.stderr().pushed()
    }

    pub(super) fn stderr_since(&self, before: u64) -> Option<String> {
        self.worker.stderr().since(before)
    }

    fn send_request(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let request = RpcMessage::Request {
            id: self.last_id.into(),
            method: method.to_owned(),
            params,
        };
        self.outgoing.extend(request.line());
        self.last_id
    }

    fn feed(&mut self) {
        let mut unsent = &self.outgoing[..];
        self.worker.feed(&mut unsent);
        let sent = self.outgoing.len() - unsent.len();
        self.outgoing.drain(..sent);
    }

    /// Reads until the reply to a request is there.
    fn receive(
        &mut self,
        id: u64,
        wait: &Wait<'_>,
        turn: &mut Turn,
        is_cancelled: bool,
    ) -> Result<Value, Fault> {
        let live = wait.task.and_then(|task| task.live.clone());
        let stderr = live.map(LiveLines::new);
        let longest = self.max_output_bytes.max(LONGEST_LINE);
        loop {
            self.feed();
            let is_open = self
                .worker
                .read(self.incoming.buffer())
                .map_err(Fault::Lost)?;
            self.worker.show_stderr(|piece| {
                if let Some(stderr) = &stderr {
                    stderr.piece(StreamKind::Stderr, piece);
                }
            });
            while let Some(line) = self.incoming.next_line() {
                if line.len() > longest {
                    return Err(Fault::TooLarge(line));
                }
                if let Some(reply) = self.take(&line, id, turn, wait.task, is_cancelled) {
                    return reply.map_err(Fault::Refused);
                }
                if turn.size() > self.max_output_bytes {
                    return Err(Fault::TooLarge(line));
                }
            }
            if self.incoming.pending() > longest {
                return Err(Fault::TooLarge(self.incoming.rest()));
            }
            if !is_open {
                self.worker.dismiss();
                let has_ended = self.worker.ends_closed(END);
                return Err(Fault::Ended(self.worker.kill().filter(|_| has_ended)));
            }
            if wait.cancel.is_cancelled() {
                return Err(Fault::Cancelled);
            }
            if wait.until.is_some_and(|until| clock::now() >= until) {
                return Err(Fault::TimedOut);
            }
            let others = wait.cancel.wake_fd().into_iter().collect();
            self.worker
                .wait(!self.outgoing.is_empty(), wait.until, others)
                .map_err(Fault::Lost)?;
        }
    }

    /// Takes a line; returns the reply if it is the one.
    fn take(
        &mut self,
        line: &[u8],
        awaited: u64,
        turn: &mut Turn,
        task: Option<&Task>,
        is_cancelled: bool,
    ) -> Option<Result<Value, RpcError>> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        let reply = match RpcMessage::read(line) {
            Ok(RpcMessage::Response { id, result }) if id == awaited => return Some(result),
            // Nobody waits for it any more.
            Ok(RpcMessage::Response { .. }) => return None,
            Ok(RpcMessage::Notification { method, params }) => {
                if method == "session/update"
                    && let Some(title) = turn.update(&params)
                    && let Some(task) = task
                {
                    task.progress(&title);
                }
                return None;
            }
            Ok(RpcMessage::Request { id, method, params }) => RpcMessage::Response {
                id,
                result: match method.as_str() {
                    "session/request_permission" => {
                        turn.asks_permission(&params);
                        Ok(self.permission(&params, is_cancelled))
                    }
                    _ => Err(RpcError::unknown(&method)),
                },
            },
            Err(error) => RpcMessage::Response {
                id: Value::Null,
                result: Err(error),
            },
        };
        self.outgoing.extend(reply.line());
        None
    }

    /// The option of the kind that is wanted, wherever it stands.
    fn permission(&self, params: &Value, is_cancelled: bool) -> Value {
        let wanted = match self.permissions {
            Permissions::Allow => "allow_once",
            Permissions::Reject => "reject_once",
        };
        let options = params["options"].as_array();
        let mut options = options.into_iter().flatten();
        let option = options.find(|option| option["kind"] == wanted);
        let id = option.and_then(|option| option["optionId"].as_str());
        match id.filter(|_| !is_cancelled) {
            Some(id) => json!({"outcome": {"outcome": "selected", "optionId": id}}),
            None => json!({"outcome": {"outcome": "cancelled"}}),
        }
    }
}

impl From<AgentError> for Fault {
    fn from(failure: AgentError) -> Self {
        Self::Failed(failure)
    }
}

impl Fault {
    /// The error for people.
    pub(super) fn error(self, max_output_bytes: usize) -> AgentError {
        match self {
            Self::Refused(error) => {
                let details = match &error.data {
                    Value::Null => String::new(),
                    Value::String(text) => format!(": {text}"),
                    data => match data["details"].as_str().or(data["message"].as_str()) {
                        Some(text) => format!(": {text}"),
                        None => format!(": {data}"),
                    },
                };
                let text = format!("{}{details}", error.message);
                let text = beginning(text.as_bytes(), ERROR_BYTES);
                let kind = match error.code {
                    429 => FailureKind::RateLimited,
                    _ => FailureKind::Failed,
                };
                AgentError::of(kind, format!("replied with error {}: {text}", error.code))
            }
            Self::Failed(failure) => failure,
            Self::TimedOut => AgentError::of(FailureKind::TimedOut, "did not reply in time"),
            Self::Cancelled => crate::agent::command::cancelled(),
            Self::TooLarge(begins) => {
                let message = format!(
                    "sent more than {max_output_bytes} bytes for one answer; the last part begins with `{}`; hint: \
                     raise `limits.max_output_bytes`",
                    beginning(&begins, 200)
                );
                AgentError::of(FailureKind::OutputTooLarge, message)
            }
            Self::Ended(status) => ended(status),
            Self::Lost(reason) => {
                let message = format!("lost track of the process: {reason}");
                AgentError::of(FailureKind::Failed, message)
            }
        }
    }
}
