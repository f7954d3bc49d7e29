//! Decodes the endpoint's reply.

use serde_json::{Map, Value};

use super::OpenAi;
use crate::agent::figures::{self, ReportedFigures};
use crate::data::{AgentError, FailureKind, Output, Usage};
use crate::system::http::HttpReply;
use crate::system::process::excerpt::beginning;

/// How many bytes of an unreadable reply are shown.
const EXCERPT_BYTES: usize = 200;
/// Parts of a reply that are recorded unchanged.
const METADATA: [&str; 3] = ["model", "system_fingerprint", "id"];

impl OpenAi {
    /// Decodes a success reply.
    pub(super) fn read(&self, reply: &HttpReply) -> Result<Output, AgentError> {
        let bad = |reason: &str| {
            let begins = beginning(reply.body.trim_ascii_start(), EXCERPT_BYTES);
            self.endpoint.garbled(&format!(
                "answered with what is no chat completion ({reason}): `{begins}`"
            ))
        };
        let mut json: Map<String, Value> =
            match figures::read(reply.text()).map_err(|error| bad(&error.to_string()))? {
                Value::Object(json) => json,
                _ => return Err(bad("it is no object")),
            };
        let Some(Value::Array(mut choices)) = json.remove("choices") else {
            // Proxies report upstream errors in the body.
            if json.get("error").is_some_and(|error| !error.is_null()) {
                return Err(self.endpoint.refused_within(&json["error"], reply));
            }
            return Err(bad("it has no `choices`"));
        };
        if choices.is_empty() {
            return Err(bad("its `choices` are empty"));
        }
        let mut choice = choices.swap_remove(0);
        let Some(Value::Object(message)) = choice.get_mut("message").map(Value::take) else {
            return Err(bad("its choice has no `message`"));
        };
        let refusal = message.get("refusal").and_then(Value::as_str);
        let text = content(message.get("content")).map_err(bad)?;
        let tool_calls = tool_calls(&message).map_err(bad)?;
        let finish = choice.get("finish_reason").and_then(Value::as_str);
        let is_empty = text.as_deref().unwrap_or_default().is_empty() && tool_calls.is_empty();
        if finish == Some("content_filter") && is_empty && refusal.is_none() {
            let mut error = self
                .endpoint
                .garbled("withheld its answer: its content filter forbids it");
            error.kind = FailureKind::Refused;
            return Err(error);
        }
        let mut metadata = Map::new();
        for key in METADATA {
            if let Some(value) = json.get(key).filter(|value| value.is_string()) {
                metadata.insert(key.to_owned(), value.clone());
            }
        }
        if let Some(finish) = finish {
            metadata.insert("finish_reason".to_owned(), finish.into());
        }
        if refusal.is_some() {
            metadata.insert("refused".to_owned(), true.into());
        }
        let text = text.or_else(|| refusal.map(str::to_owned));
        // A message with more than text is stored whole, such as the model's reasoning.
        let is_known = |key: &str| matches!(key, "role" | "content" | "tool_calls");
        let is_nothing =
            |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        let is_plain = message
            .iter()
            .all(|(key, value)| is_known(key) || is_nothing(value));
        let figures = self.figures(json.get("usage"));
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
            metadata,
        })
    }

    fn figures(&self, usage: Option<&Value>) -> ReportedFigures {
        let mut figures = ReportedFigures::default();
        let Some(usage) = usage.and_then(Value::as_object) else {
            return figures;
        };
        let input = figures.tokens(usage, ["prompt_tokens", "input_tokens"]);
        let output = figures.tokens(usage, ["completion_tokens", "output_tokens"]);
        let details = usage.get("prompt_tokens_details");
        let cached = details.and_then(|details| details.get("cached_tokens")?.as_u64());
        // Missing figures do not mean free.
        let known = self.price.zip(input.zip(output));
        let priced = known
            .map(|(price, (input, output))| price.of(input, cached.unwrap_or_default(), output));
        figures.usage = Usage {
            input_tokens: input,
            output_tokens: output,
            cost_usd: priced.or_else(|| figures.cost("usage.cost", usage.get("cost"))),
        };
        figures
    }
}

/// The text of a message: a string, or the texts of its parts.
fn content(content: Option<&Value>) -> Result<Option<String>, &'static str> {
    match content {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| match part {
                Value::String(text) => Some(text.as_str()),
                part => part.get("text")?.as_str(),
            });
            Ok(Some(texts.collect()))
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
    let one = message.get("function_call").filter(|call| call.is_object());
    Ok(one
        .map(|call| serde_json::json!({"type": "function", "function": call}))
        .into_iter()
        .collect())
}
