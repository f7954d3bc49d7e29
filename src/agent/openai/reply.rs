//! Decodes the endpoint's reply.

use serde_json::{Map, Value, json};

use super::OpenAi;
use crate::agent::endpoint::WITHHELD;
use crate::agent::reply::{Marks, ReportedFigures, read};
use crate::data::{AgentError, FailureKind, Finish, Output};
use crate::system::http::HttpReply;
use crate::system::process::excerpt::beginning;

/// How many bytes of an unreadable reply are shown.
const EXCERPT_BYTES: usize = 200;
/// Parts of a reply that are recorded unchanged.
const METADATA: [&str; 3] = ["model", "system_fingerprint", "id"];

impl OpenAi {
    /// Decodes a success reply.
    pub(in crate::agent) fn read(&self, reply: &HttpReply) -> Result<Output, AgentError> {
        let bad = |reason: &str| {
            let begins = beginning(reply.body.trim_ascii_start(), EXCERPT_BYTES);
            self.endpoint.garbled(&format!(
                "answered with what is no chat completion ({reason}): `{begins}`"
            ))
        };
        let json = read(&reply.body).map_err(|error| bad(&packed(reply, &error)))?;
        let Value::Object(mut json) = json else {
            return Err(bad("it is no object"));
        };
        let marks = Marks::of(&json);
        if let Some(found) = marks.outage().filter(|found| found.place != "/choices") {
            return Err(self.endpoint.refused_within(&found.error(), reply));
        }
        let mut metadata = Map::new();
        for key in METADATA {
            if let Some(value) = json.get(key).filter(|value| value.is_string()) {
                metadata.insert(key.to_owned(), value.clone());
            }
        }
        let is_filtered = marks.word.map(Finish::of) == Some(Finish::Refused);
        marks.note(&mut metadata);
        let Some(Value::Array(mut choices)) = json.remove("choices") else {
            return Err(bad("it has no `choices`"));
        };
        if choices.is_empty() {
            return Err(bad("its `choices` are empty"));
        }
        let mut choice = choices.swap_remove(0);
        let Some(Value::Object(message)) = choice.get_mut("message").map(Value::take) else {
            return Err(bad("its choice has no `message`"));
        };
        let text = content(message.get("content")).map_err(bad)?;
        let refusal = refusal(&message);
        let tool_calls = tool_calls(&message).map_err(bad)?;
        let is_empty = text.as_deref().unwrap_or_default().is_empty() && tool_calls.is_empty();
        if is_filtered && is_empty && refusal.is_none() {
            let error = AgentError::of(FailureKind::Refused, WITHHELD);
            return Err(self.endpoint.with_address(error));
        }
        let text = text.filter(|text| !text.is_empty() || refusal.is_none());
        let text = text.or_else(|| refusal.map(str::to_owned));
        // A message with more than text is stored whole, such as the model's reasoning.
        let is_known = |key: &str| matches!(key, "role" | "content" | "tool_calls");
        let is_nothing =
            |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        let is_plain = message
            .iter()
            .all(|(key, value)| is_known(key) || is_nothing(value));
        let figures = self.figures(&json);
        let usage = figures.reported();
        figures.note(&mut metadata);
        Ok(Output {
            text,
            messages: if is_plain {
                Vec::new()
            } else {
                vec![message.into()]
            },
            tool_calls,
            usage,
            steps: None,
            conversation: None,
            metadata,
        })
    }

    fn figures(&self, reply: &Map<String, Value>) -> ReportedFigures {
        let mut figures = ReportedFigures::of(reply);
        let usage = &mut figures.usage;
        // Missing figures do not mean free.
        if let (Some(price), Some(input), Some(output)) =
            (self.price, usage.input_tokens, usage.output_tokens)
        {
            usage.cost_usd = Some(price.of(input, figures.cached_tokens, output));
        }
        figures
    }
}

/// Why a body is no JSON; if it is packed, with what.
fn packed(reply: &HttpReply, error: &serde_json::Error) -> String {
    match reply.encoding() {
        Some(encoding) => format!("it is packed with `Content-Encoding: {encoding}`"),
        None => error.to_string(),
    }
}

/// The words in which the model refused, in the message or in a part of its content.
fn refusal(message: &Map<String, Value>) -> Option<&str> {
    let parts = message.get("content").and_then(Value::as_array);
    let parts = parts.into_iter().flatten();
    let refusals = parts.map(|part| part.get("refusal"));
    let refusals = std::iter::once(message.get("refusal")).chain(refusals);
    let mut texts = refusals.filter_map(|refusal| refusal?.as_str());
    texts.find(|text| !text.is_empty())
}

/// The text of a message: a string, or the texts of its parts.
fn content(content: Option<&Value>) -> Result<Option<String>, &'static str> {
    match content {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Array(parts)) => {
            let mut text = String::new();
            for part in parts {
                match (part, part.get("text")) {
                    (Value::String(part), _) | (_, Some(Value::String(part))) => text += part,
                    (Value::Object(_), None | Some(Value::Null)) => {}
                    _ => return Err("a part of the `content` of its message is no text"),
                }
            }
            Ok(Some(text))
        }
        Some(_) => Err("the `content` of its message is no text"),
    }
}

fn tool_calls(message: &Map<String, Value>) -> Result<Vec<Value>, &'static str> {
    match message.get("tool_calls") {
        Some(Value::Array(calls)) => return Ok(calls.clone()),
        None | Some(Value::Null) => {}
        Some(_) => return Err("the `tool_calls` of its message are no list"),
    }
    // The older form, with a single call.
    match message.get("function_call") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(call @ Value::Object(_)) => Ok(vec![json!({"type": "function", "function": call})]),
        Some(_) => Err("the `function_call` of its message is no object"),
    }
}
