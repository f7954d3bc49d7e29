//! `Environment`: executes calls of tools, and has a state.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::data::AgentError;
use crate::data::conversation::Script;
use crate::error::Result;
use crate::system::cancel::Cancel;
use crate::text::unquoted;

/// Executes calls of tools in conversations.
///
/// Every conversation has a session of its own, also those that are held at the same time. An error of a method is an
/// outage: the sample has the status `environment_failed`, and is never a wrong answer. What the agent is to hear of a
/// call that went wrong is a [`ToolReply::Error`].
///
/// ```
/// use evaltest::AgentError;
/// use evaltest::agent::{Environment, Session, ToolReply};
/// use serde_json::{Value, json};
///
/// /// One tool, which says what it was given.
/// struct Parrot;
///
/// impl Environment for Parrot {
///     fn open(&self, _: &Session<'_>, _: Option<&Value>) -> Result<Vec<Value>, AgentError> {
///         Ok(vec![json!({"name": "say", "parameters": {"type": "object"}})])
///     }
///
///     fn call(&self, _: &Session<'_>, _: &str, arguments: &Value) -> Result<ToolReply, AgentError> {
///         Ok(ToolReply::Result(arguments.clone()))
///     }
/// }
/// ```
pub trait Environment: Send + Sync {
    /// Opens a session, which begins with the sample's `initial_state`; returns the tools that the agent has, as
    /// functions with `name`, `description` and `parameters`, or in the form of Chat Completions.
    fn open(
        &self,
        session: &Session<'_>,
        initial_state: Option<&Value>,
    ) -> Result<Vec<Value>, AgentError>;

    /// A turn begins. Returns the tools from now on, if they change.
    fn turn(&self, session: &Session<'_>) -> Result<Option<Vec<Value>>, AgentError> {
        let _ = session;
        Ok(None)
    }

    /// Executes a call.
    fn call(
        &self,
        session: &Session<'_>,
        name: &str,
        arguments: &Value,
    ) -> Result<ToolReply, AgentError>;

    /// The state at the end, which the scorer `state` compares with `expected_state`; `None` if it has none.
    fn state(&self, session: &Session<'_>) -> Result<Option<Value>, AgentError> {
        let _ = session;
        Ok(None)
    }

    /// The session is over.
    fn close(&self, session: &Session<'_>) {
        let _ = session;
    }

    /// The names of all its tools, if they are known before a session.
    fn tool_names(&self) -> Option<Vec<String>> {
        None
    }

    /// Checks before the first sample that it can be used. An error prevents the run.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Whether the same calls in a new session have the same results, so that a conversation that was interrupted can
    /// go on: its calls are made again. If they act for real, it starts over instead.
    fn is_replayable(&self) -> bool {
        true
    }

    /// A text that changes whenever results may; see [`Agent::fingerprint`](crate::Agent::fingerprint).
    fn fingerprint(&self) -> Option<String> {
        None
    }

    /// The run is over. It may be used again later.
    fn end(&self) {}
}

/// A conversation, for its environment.
#[derive(Clone, Copy, Debug)]
pub struct Session<'a> {
    pub(super) id: &'a str,
    pub(super) sample_id: &'a str,
    pub(super) turn: u32,
    pub(super) timeout: Duration,
    pub(super) cancel: &'a Cancel,
    /// Paths that a sandbox hides.
    pub(super) hidden: &'a [PathBuf],
}

impl Session<'_> {
    /// The name of the session, which no other has at the same time.
    pub fn id(&self) -> &str {
        self.id
    }

    /// The sample's id.
    pub fn sample_id(&self) -> &str {
        self.sample_id
    }

    /// The turn, from 1; 0 before the first.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// The time for one call.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Whether the run was interrupted.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

/// What the agent hears of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolReply {
    /// The result; a text is passed on as it is, anything else as JSON.
    Result(Value),
    /// Why there is none.
    Error(Value),
}

impl ToolReply {
    /// The text for the agent.
    pub(super) fn text(&self) -> String {
        let (Self::Result(value) | Self::Error(value)) = self;
        unquoted(value)
    }
}

/// How agents call the tools of a benchmark that has rules of its own for that.
pub(crate) trait CallRules: Send + Sync {
    /// The calls in a reply; without any, the turn is over. Their names are those by which the environment knows them.
    fn calls(&self, reply: &Value, in_words: bool) -> Vec<ToolCall>;

    /// The first message for an agent without native calls.
    fn system_in_words(&self, script: &Script) -> Option<String>;

    /// What the user says in a turn to an agent without native calls, if it is something else.
    fn user_in_words(&self, script: &Script, turn: u32) -> Option<String>;

    /// All messages so far for an agent without native calls.
    fn messages_in_words(&self, messages: &[Value]) -> Vec<Value>;
}

/// The tools of a benchmark, and how they are called.
#[doc(hidden)]
pub struct BenchmarkTools {
    pub(crate) environment: Arc<dyn Environment>,
    pub(crate) rules: Arc<dyn CallRules>,
}

/// A tool in the form of Chat Completions.
pub(super) fn as_function(tool: Value) -> Value {
    if tool.get("function").is_some_and(Value::is_object) {
        return tool;
    }
    serde_json::json!({"type": "function", "function": tool})
}

/// The name of a tool of either form.
pub(super) fn tool_name(tool: &Value) -> Option<&str> {
    let named = tool.get("function").unwrap_or(tool);
    named.get("name")?.as_str()
}

/// The mark of a call that the agent wrote in words, in its message.
pub(crate) const IN_WORDS: &str = "in_words";

/// A call of a tool, whichever way the agent writes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The object of arguments; a text where it cannot be read.
    pub(crate) arguments: Value,
    /// The same as the agent wrote it.
    pub(crate) written: String,
}

impl ToolCall {
    /// Reads a call; `id` is for one that has none.
    pub(super) fn read(call: &Value, id: impl FnOnce() -> String) -> Option<Self> {
        let inner = call.get("function").filter(|inner| inner.is_object());
        let named = inner.unwrap_or(call);
        let name = named.get("name")?.as_str()?.to_owned();
        let (arguments, written) = match named.get("arguments").or_else(|| named.get("input")) {
            None | Some(Value::Null) => (Map::new().into(), "{}".to_owned()),
            Some(Value::String(text)) if text.trim().is_empty() => {
                (Map::new().into(), text.clone())
            }
            Some(Value::String(text)) => {
                let read = serde_json::from_str(text);
                (read.unwrap_or_else(|_| text.as_str().into()), text.clone())
            }
            Some(other) => (other.clone(), other.to_string()),
        };
        let own = ["id", "call_id"]
            .iter()
            .find_map(|key| call.get(*key)?.as_str());
        let own = own.filter(|own| !own.is_empty()).map(str::to_owned);
        Some(Self {
            id: own.unwrap_or_else(id),
            name,
            arguments,
            written,
        })
    }

    /// A call in words: in the form of Chat Completions, with a mark.
    pub(super) fn in_words(&self) -> Value {
        let name = self.name.split('(').next().unwrap_or_default();
        let mut call = self.message();
        call["function"]["name"] = name.into();
        call[IN_WORDS] = true.into();
        call
    }

    /// The call in the form of Chat Completions.
    pub(super) fn message(&self) -> Value {
        serde_json::json!({
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.written},
        })
    }
}
