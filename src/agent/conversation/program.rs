//! `WorkerEnvironment`: a program that executes calls of tools, a JSON line each way.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(feature = "bfcl")]
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::environment::{Environment, Session, ToolReply};
use crate::agent::Agent;
use crate::agent::worker::{Exchange, Worker};
use crate::data::{AgentError, FailureKind};
use crate::error::Result;
#[cfg(feature = "bfcl")]
use crate::system::cancel::Cancel;
use crate::system::clock;
use crate::text::hash::Fingerprint;
use crate::text::{escape_line_ends, unquoted};

/// An environment that is a long-running program, in any language.
///
/// It reads a JSON line for each operation and prints a line with the same `id`:
///
/// ```json
/// {"id": "1", "op": "open", "session": "s", "sample": {"id": "book-a-flight", "initial_state": {}}}
/// {"id": "1", "tools": [{"name": "search", "description": "…", "parameters": {}}]}
/// {"id": "2", "op": "call", "session": "s", "turn": 1, "name": "search", "arguments": {"to": "Oslo"}}
/// {"id": "2", "result": ["SK 12"]}
/// ```
///
/// `turn` begins a turn, and its reply may have other `tools` from now on; `state` asks for the `state` at the end, and
/// `close` ends the session. A call that fails is answered with `error`, which the agent hears.
pub struct WorkerEnvironment {
    worker: Arc<Worker>,
    replayable: bool,
    /// Whether its sandbox hides the dataset from it.
    hides_data: bool,
    /// The number of the next line.
    next: AtomicU64,
}

impl WorkerEnvironment {
    /// An environment of this program.
    pub fn new(worker: Worker) -> Self {
        Self::of(Arc::new(worker))
    }

    pub(crate) fn of(worker: Arc<Worker>) -> Self {
        Self {
            worker,
            replayable: true,
            hides_data: true,
            next: AtomicU64::new(1),
        }
    }

    /// Its calls act for real: a conversation that was interrupted starts over, as its calls cannot be made again.
    #[must_use]
    pub fn not_replayable(mut self) -> Self {
        self.replayable = false;
        self
    }

    /// It is no program of the agent's, and part of what its sandbox would hide.
    #[cfg(feature = "bfcl")]
    pub(crate) fn sees_data(mut self) -> Self {
        self.hides_data = false;
        self
    }

    fn ask(
        &self,
        session: &Session<'_>,
        op: &str,
        more: Value,
    ) -> Result<Map<String, Value>, AgentError> {
        let mut line = json!({"op": op, "session": session.id});
        if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
            line.extend(more);
        }
        self.exchange(line, session, Some(session.id))
    }

    /// Asks for something that belongs to no conversation.
    #[cfg(feature = "bfcl")]
    pub(crate) fn ask_alone(
        &self,
        line: Value,
        timeout: Duration,
    ) -> Result<Map<String, Value>, AgentError> {
        let session = Session {
            id: "",
            sample_id: "",
            turn: 0,
            timeout,
            cancel: &Cancel::new(),
            hidden: &[],
        };
        self.exchange(line, &session, None)
    }

    /// Notes on the program that its user should see.
    #[cfg(feature = "bfcl")]
    pub(crate) fn notices(&self) -> Vec<String> {
        self.worker.notices()
    }

    fn exchange(
        &self,
        more: Value,
        session: &Session<'_>,
        of: Option<&str>,
    ) -> Result<Map<String, Value>, AgentError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        let is_first = more["op"] == "open";
        let mut line = json!({"id": id});
        if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
            line.extend(more);
        }
        let mut line = line.to_string().into_bytes();
        escape_line_ends(&mut line, 0);
        line.push(b'\n');
        let reply = self.worker.exchange(&Exchange {
            key: (of.unwrap_or(&id).to_owned(), 0),
            id,
            line,
            session: of,
            is_first,
            takes_members: true,
            deadline: clock::now().checked_add(session.timeout),
            cancel: session.cancel,
            live: None,
            progress: None,
            hidden: if self.hides_data { session.hidden } else { &[] },
            task: None,
        })?;
        Ok(reply.metadata)
    }

    /// The same for an operation of which no error may come.
    fn ask_well(
        &self,
        session: &Session<'_>,
        op: &str,
        more: Value,
    ) -> Result<Map<String, Value>, AgentError> {
        let reply = self.ask(session, op, more)?;
        match reply.get("error") {
            None | Some(Value::Null) => Ok(reply),
            Some(error) => {
                let error = unquoted(error);
                Err(AgentError::of(FailureKind::Failed, error))
            }
        }
    }
}

/// The tools in a reply.
fn tools(reply: &mut Map<String, Value>) -> Result<Option<Vec<Value>>, AgentError> {
    match reply.remove("tools") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(tools)) => Ok(Some(tools)),
        Some(other) => Err(AgentError::of(
            FailureKind::BadOutput,
            format!("`tools` is {other}, not a list"),
        )),
    }
}

impl Environment for WorkerEnvironment {
    fn open(
        &self,
        session: &Session<'_>,
        initial_state: Option<&Value>,
    ) -> Result<Vec<Value>, AgentError> {
        let sample = json!({"id": session.sample_id, "initial_state": initial_state});
        let mut reply = self.ask_well(session, "open", json!({"sample": sample}))?;
        let tools = tools(&mut reply)?;
        tools.ok_or_else(|| {
            AgentError::of(FailureKind::BadOutput, "the reply to `open` has no `tools`")
        })
    }

    fn turn(&self, session: &Session<'_>) -> Result<Option<Vec<Value>>, AgentError> {
        let mut reply = self.ask_well(session, "turn", json!({"turn": session.turn}))?;
        tools(&mut reply)
    }

    fn call(
        &self,
        session: &Session<'_>,
        name: &str,
        arguments: &Value,
    ) -> Result<ToolReply, AgentError> {
        let call = json!({"turn": session.turn, "name": name, "arguments": arguments});
        let mut reply = self.ask(session, "call", call)?;
        match (reply.remove("error"), reply.remove("result")) {
            (Some(error), _) if !error.is_null() => Ok(ToolReply::Error(error)),
            (_, Some(result)) => Ok(ToolReply::Result(result)),
            _ => {
                let message = "the reply to `call` has neither `result` nor `error`";
                Err(AgentError::of(FailureKind::BadOutput, message))
            }
        }
    }

    fn state(&self, session: &Session<'_>) -> Result<Option<Value>, AgentError> {
        let mut reply = self.ask_well(session, "state", json!({}))?;
        Ok(reply.remove("state").filter(|state| !state.is_null()))
    }

    fn close(&self, session: &Session<'_>) {
        if self.worker.holds_session(session.id) {
            // The conversation is over all the same.
            let _ = self.ask(session, "close", json!({}));
        }
        self.worker.forget_session(session.id);
    }

    fn check(&self) -> Result<()> {
        self.worker.check()
    }

    fn is_replayable(&self) -> bool {
        self.replayable
    }

    fn fingerprint(&self) -> Option<String> {
        let worker = self.worker.fingerprint()?;
        Some(Fingerprint::of("environment").part("worker", worker).hex())
    }

    fn end(&self) {
        self.worker.close();
    }
}
