//! Finds the answer in a reply.

use serde_json::{Map, Value};

use crate::agent::figures::{self, ReportedFigures};
use crate::data::{AgentError, FailureKind, Output};
use crate::system::process::excerpt::beginning;

/// How many bytes of an unreadable reply are shown.
const EXCERPT_BYTES: usize = 200;
/// How many bytes of an agent's own error are shown.
const ERROR_BYTES: usize = 1000;

/// JSON pointers into a reply. Only the answer is required.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// The answer: a text, a number, `true`, `false`, or anything else as JSON; `null` is no answer. `None`: the reply
    /// is the answer, as text.
    pub answer: Option<String>,
    /// The conversation, a list.
    pub messages: String,
    /// Tool calls, a list.
    pub tool_calls: String,
    /// An object with `input_tokens` or `prompt_tokens`, `output_tokens` or `completion_tokens`, and `cost_usd`.
    pub usage: String,
    /// A text that says why there is no answer; the attempt then fails.
    pub error: String,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            answer: Some("/answer".to_owned()),
            messages: "/messages".to_owned(),
            tool_calls: "/tool_calls".to_owned(),
            usage: "/usage".to_owned(),
            error: "/error".to_owned(),
        }
    }
}

impl Places {
    /// Reads a reply.
    pub(super) fn read(&self, body: &[u8]) -> Result<Output, AgentError> {
        let begins = || beginning(body.trim_ascii_start(), EXCERPT_BYTES);
        let bad = |reason: String| {
            AgentError::of(FailureKind::BadOutput, format!("{reason}: `{}`", begins()))
        };
        let Some(answer) = &self.answer else {
            if body.trim_ascii().is_empty() {
                return Err(AgentError::of(
                    FailureKind::NoOutput,
                    "answered with nothing",
                ));
            }
            return Ok(Output::text(String::from_utf8_lossy(body)));
        };
        let reply = figures::read(body)
            .map_err(|error| bad(format!("answered with what is no JSON ({error})")))?;
        let list = |place: &str| match reply.pointer(place) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(list)) => Ok(list.clone()),
            Some(_) => Err(bad(format!("answered with no list at `{place}`"))),
        };
        let (messages, tool_calls) = (list(&self.messages)?, list(&self.tool_calls)?);
        let text = match reply.pointer(answer) {
            None | Some(Value::Null) if self.error(&reply).is_some() => {
                let message = self.error(&reply).unwrap_or_default().trim();
                return Err(AgentError::new(match message {
                    "" => "the agent replied with an empty error".to_owned(),
                    message => beginning(message.as_bytes(), ERROR_BYTES),
                }));
            }
            None if messages.is_empty() && tool_calls.is_empty() => {
                return Err(bad(format!("answered with nothing at `{answer}`")));
            }
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(value) => Some(value.to_string()),
        };
        let reported = reply.pointer(&self.usage).cloned().unwrap_or_default();
        let cost = reply.get("cost_usd").cloned().unwrap_or_default();
        let steps = reply.get("steps").cloned().unwrap_or_default();
        let reported = [("usage", reported), ("cost_usd", cost), ("steps", steps)];
        let reported = reported.map(|(key, value)| (key.to_owned(), value));
        let reported = Map::from_iter(reported);
        let figures = ReportedFigures::of(&reported);
        let mut output = Output {
            text,
            messages,
            tool_calls,
            usage: figures.reported(),
            steps: figures.steps,
            metadata: Map::new(),
        };
        figures.note(&mut output.metadata);
        Ok(output)
    }

    fn error<'a>(&self, reply: &'a Value) -> Option<&'a str> {
        let error = reply.pointer(&self.error)?;
        error.as_str().or_else(|| error.get("message")?.as_str())
    }
}
