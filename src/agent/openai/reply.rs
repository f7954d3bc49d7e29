//! Decodes the endpoint's reply.

use serde_json::{Map, Value, json};

use super::OpenAi;
use super::api::Api;
use crate::agent::endpoint::WITHHELD;
use crate::agent::reply::{Marks, ReportedFigures, read};
use crate::data::conversation::ITEMS;
use crate::data::{AgentError, FailureKind, Finish, Output, Usage};
use crate::system::http::HttpReply;
use crate::system::process::excerpt::beginning;
use crate::text::unquoted;

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
                "did not answer with a valid {} ({reason}): `{begins}`",
                self.api.reply()
            ))
        };
        let json = read(&reply.body).map_err(|error| bad(&packed(reply, &error)))?;
        let Value::Object(mut json) = json else {
            return Err(bad("it is not an object"));
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
        let message = match self.api {
            Api::Chat => from_choices(json.remove("choices")),
            Api::Responses => from_items(json.remove("output")),
            Api::Messages => from_blocks(json.remove("content")),
        };
        let message = message.map_err(bad)?;
        let is_empty =
            message.text.as_deref().unwrap_or_default().is_empty() && message.tool_calls.is_empty();
        if is_filtered && is_empty && message.refusal.is_none() {
            let error = AgentError::of(FailureKind::Refused, WITHHELD);
            return Err(self.endpoint.with_address(error));
        }
        let text = message
            .text
            .filter(|text| !text.is_empty() || message.refusal.is_none());
        let figures = self.figures(&json);
        let usage = figures.reported();
        figures.note(&mut metadata);
        // Some servers say `completed` at the limit.
        let written = usage.and_then(|usage| usage.output_tokens);
        let is_full = self.api == Api::Responses && written.is_some() && written >= self.limit();
        if is_full && self.limit().is_some() && !metadata.contains_key("finish_reason") {
            metadata.insert("finish_reason".to_owned(), "length".into());
        }
        Ok(Output {
            text: text.or(message.refusal),
            messages: message.messages,
            tool_calls: message.tool_calls,
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

/// What a model replied.
#[derive(Default)]
struct ModelReply {
    text: Option<String>,
    /// The words in which it refused.
    refusal: Option<String>,
    /// In the form of Chat Completions.
    tool_calls: Vec<Value>,
    /// A message with more than text and calls, such as the model's reasoning, is stored whole.
    messages: Vec<Value>,
}

fn from_choices(choices: Option<Value>) -> Result<ModelReply, &'static str> {
    let Some(Value::Array(mut choices)) = choices else {
        return Err("it has no `choices`");
    };
    if choices.is_empty() {
        return Err("its `choices` are empty");
    }
    let mut choice = choices.swap_remove(0);
    let Some(Value::Object(message)) = choice.get_mut("message").map(Value::take) else {
        return Err("its choice has no `message`");
    };
    let is_known = |key: &str| matches!(key, "role" | "content" | "tool_calls");
    let is_nothing = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    let is_plain = message
        .iter()
        .all(|(key, value)| is_known(key) || is_nothing(value));
    Ok(ModelReply {
        text: content(message.get("content"))?,
        refusal: refusal(&message).map(str::to_owned),
        tool_calls: tool_calls(&message)?,
        messages: (!is_plain).then(|| message.into()).into_iter().collect(),
    })
}

/// The `output` of a response.
fn from_items(items: Option<Value>) -> Result<ModelReply, &'static str> {
    let Some(Value::Array(items)) = items else {
        return Err("it has no `output`");
    };
    let mut message = ModelReply::default();
    for item in &items {
        match item["type"].as_str() {
            Some("message") => {
                let Value::Array(parts) = &item["content"] else {
                    return Err("a message of its `output` has no `content`");
                };
                for part in parts {
                    message.add(&part["text"]);
                    let refusal = part["refusal"].as_str().filter(|text| !text.is_empty());
                    message.refusal = message.refusal.or_else(|| refusal.map(str::to_owned));
                }
            }
            Some("function_call") => {
                message.call(&item["call_id"], &item["name"], &item["arguments"]);
            }
            _ => {}
        }
    }
    Ok(message.of(items))
}

/// The `content` of a message.
fn from_blocks(blocks: Option<Value>) -> Result<ModelReply, &'static str> {
    let Some(Value::Array(blocks)) = blocks else {
        return Err("it has no `content`");
    };
    let mut message = ModelReply::default();
    for block in &blocks {
        match block["type"].as_str() {
            Some("text") => message.add(&block["text"]),
            Some("tool_use") => message.call(&block["id"], &block["name"], &block["input"]),
            _ => {}
        }
    }
    Ok(message.of(blocks))
}

impl ModelReply {
    /// Adds a text, if it is one.
    fn add(&mut self, text: &Value) {
        if let Some(text) = text.as_str() {
            self.text.get_or_insert_default().push_str(text);
        }
    }

    fn call(&mut self, id: &Value, name: &Value, arguments: &Value) {
        let arguments = unquoted(arguments);
        self.tool_calls.push(json!({"id": id, "type": "function",
            "function": {"name": name, "arguments": arguments}}));
    }

    /// With the items that it is made of, which go back in the next request.
    fn of(mut self, items: Vec<Value>) -> Self {
        let mut message = json!({"role": "assistant", "content": self.text});
        if !self.tool_calls.is_empty() {
            message["tool_calls"] = self.tool_calls.clone().into();
        }
        message[ITEMS] = items.into();
        self.messages.push(message);
        self
    }
}

/// A reply that was paused, with the one that goes on.
pub(super) fn joined(paused: Output, next: Output) -> Output {
    let mut message = ModelReply::default();
    for text in [&paused.text, &next.text].into_iter().flatten() {
        message.text.get_or_insert_default().push_str(text);
    }
    message.tool_calls = [paused.tool_calls, next.tool_calls].concat();
    let items = |messages: Vec<Value>| match messages.into_iter().last() {
        Some(Value::Object(mut last)) => last.remove(ITEMS),
        _ => None,
    };
    let items = [paused.messages, next.messages].map(items);
    let items = items.into_iter().flatten().flat_map(|items| match items {
        Value::Array(items) => items,
        _ => Vec::new(),
    });
    let message = message.of(items.collect());
    Output {
        text: message.text,
        messages: message.messages,
        tool_calls: message.tool_calls,
        usage: Usage::sum([paused.usage, next.usage]),
        ..next
    }
}

/// Whether all items of a reply are its text and its calls, which need not be stored twice.
pub(super) fn is_plain(messages: &[Value]) -> bool {
    let items = messages.last().and_then(|last| last[ITEMS].as_array());
    let is_known = |item: &Value| {
        let kind = item["type"].as_str().unwrap_or_default();
        matches!(kind, "message" | "function_call" | "text" | "tool_use")
    };
    items.is_some_and(|items| items.iter().all(is_known))
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
                    _ => return Err("a part of the `content` of its message is not a text"),
                }
            }
            Ok(Some(text))
        }
        Some(_) => Err("the `content` of its message is not a text"),
    }
}

fn tool_calls(message: &Map<String, Value>) -> Result<Vec<Value>, &'static str> {
    match message.get("tool_calls") {
        Some(Value::Array(calls)) => return Ok(calls.clone()),
        None | Some(Value::Null) => {}
        Some(_) => return Err("the `tool_calls` of its message are not a list"),
    }
    // The older form, with a single call.
    match message.get("function_call") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(call @ Value::Object(_)) => Ok(vec![json!({"type": "function", "function": call})]),
        Some(_) => Err("the `function_call` of its message is not an object"),
    }
}
