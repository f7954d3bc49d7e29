//! Converts what was said in a trace to messages of Chat Completions.

use serde_json::{Map, Value, json};

/// Names that programs give to the one text of an input or output.
const TEXTS: &[&str] = &[
    "input", "question", "query", "output", "answer", "response", "content", "text", "message",
    "prompt", "result",
];

/// The messages of a value: of a list of messages, of a request or reply of Chat Completions, of a text. A value of
/// another form is one message of `role`, with its text.
pub(super) fn messages(value: &Value, role: &str) -> Vec<Value> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => match parsed(text) {
            Some(inside) if holds_messages(&inside) => messages(&inside, role),
            _ => text_message(role, text).into_iter().collect(),
        },
        Value::Array(items) if items.iter().any(is_message) => {
            items.iter().flat_map(|item| message(item, role)).collect()
        }
        Value::Object(object) => {
            if let Some(inside) = object.get("messages").filter(|inside| inside.is_array()) {
                return messages(inside, role);
            }
            if let Some(Value::Array(choices)) = object.get("choices") {
                let replies = choices
                    .iter()
                    .take(1)
                    .filter_map(|choice| choice.get("message"));
                return replies.flat_map(|reply| message(reply, role)).collect();
            }
            if is_message(value) {
                return message(value, role);
            }
            text_message(role, &plain_text(value)).into_iter().collect()
        }
        other => text_message(role, &plain_text(other)).into_iter().collect(),
    }
}

/// JSON that stands in a text.
pub(super) fn parsed(text: &str) -> Option<Value> {
    let text = text.trim();
    text.starts_with(['{', '['])
        .then(|| serde_json::from_str(text).ok())?
}

/// Whether a value has messages, rather than being a text or data of its own.
fn holds_messages(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(is_message),
        Value::Object(object) => {
            is_message(value)
                || object.get("messages").is_some_and(Value::is_array)
                || object.get("choices").is_some_and(Value::is_array)
        }
        _ => false,
    }
}

fn is_message(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    value.get("role").is_some_and(Value::is_string)
        && (has("content") || has("parts") || has("tool_calls"))
}

/// The text of a value that has no messages: a text as it is, else its only text, else its JSON.
pub(super) fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => match parsed(text) {
            Some(inside @ Value::Object(_)) => only_text(&inside).unwrap_or(text).to_owned(),
            _ => text.clone(),
        },
        Value::Null => String::new(),
        other => only_text(other).map_or_else(|| other.to_string(), str::to_owned),
    }
}

fn only_text(value: &Value) -> Option<&str> {
    let object = value.as_object()?;
    let named = TEXTS.iter().find_map(|name| object.get(*name)?.as_str());
    let only = || {
        object
            .values()
            .next()
            .filter(|_| object.len() == 1)?
            .as_str()
    };
    named.or_else(only)
}

fn text_message(role: &str, text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({ "role": role, "content": text }))
}

/// A message in the form of Chat Completions or in that of OpenTelemetry, with `parts`. What tools replied are
/// messages of their own.
fn message(value: &Value, role: &str) -> Vec<Value> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let role = match text("role") {
        Some("model" | "ai" | "agent") => "assistant",
        Some("human") => "user",
        Some(role) => role,
        None => role,
    };
    let parts = match value.get("parts").or_else(|| value.get("content")) {
        Some(Value::Array(parts)) => parts.clone(),
        Some(Value::Null) | None => Vec::new(),
        Some(other) => vec![json!({ "type": "text", "content": plain_content(other) })],
    };
    let (mut content, mut calls, mut replies) = (Vec::new(), Vec::new(), Vec::new());
    for part in &parts {
        match part.get("type").and_then(Value::as_str).unwrap_or("text") {
            "tool_call" | "tool_use" => calls.push(tool_call(part)),
            "tool_call_response" | "tool_result" => {
                let id = ["id", "tool_use_id"].iter().find_map(|key| part.get(*key));
                let reply = ["response", "result", "content"]
                    .iter()
                    .find_map(|key| part.get(*key));
                replies.push(tool_reply(id, reply));
            }
            "reasoning" | "thinking" => {}
            _ => content.push(part),
        }
    }
    let more = value.get("tool_calls").and_then(Value::as_array);
    calls.extend(more.into_iter().flatten().map(tool_call));
    if role == "tool" && replies.is_empty() {
        let id = ["tool_call_id", "id"]
            .iter()
            .find_map(|key| value.get(*key));
        return vec![tool_reply(id, Some(&content_of(&content)))];
    }
    let mut found = Map::from_iter([("role".to_owned(), Value::from(role))]);
    if content.is_empty() && calls.is_empty() {
        return replies;
    }
    found.insert("content".to_owned(), content_of(&content));
    if !calls.is_empty() {
        found.insert("tool_calls".to_owned(), calls.into());
    }
    replies.insert(0, Value::Object(found));
    replies
}

/// A content that is no list of parts.
fn plain_content(content: &Value) -> Value {
    match content {
        Value::String(_) => content.clone(),
        other => other.to_string().into(),
    }
}

/// Parts as one text; as parts where one of them is no text.
fn content_of(parts: &[&Value]) -> Value {
    let text = |part: &&Value| {
        let text = ["content", "text"]
            .iter()
            .find_map(|key| part.get(*key)?.as_str());
        text.or_else(|| part.as_str()).map(str::to_owned)
    };
    let texts: Option<Vec<String>> = parts.iter().map(text).collect();
    match texts {
        Some(texts) if texts.is_empty() => Value::Null,
        Some(texts) => texts.join("\n").into(),
        None => parts
            .iter()
            .map(|part| match text(part) {
                Some(text) => json!({ "type": "text", "text": text }),
                None => (*part).clone(),
            })
            .collect(),
    }
}

/// A call of a tool as Chat Completions has it.
pub(super) fn tool_call(call: &Value) -> Value {
    let of = |key: &str| {
        call.get("function")
            .and_then(|inside| inside.get(key))
            .or_else(|| call.get(key))
    };
    let arguments = ["arguments", "input", "args"]
        .iter()
        .find_map(|key| of(key));
    let id = call.get("id").or_else(|| call.get("tool_call_id"));
    json!({
        "id": id,
        "type": "function",
        "function": { "name": of("name").or_else(|| call.get("function_name")), "arguments": arguments_text(arguments) },
    })
}

/// Arguments as JSON text; `arguments` may be an object or a text.
fn arguments_text(arguments: Option<&Value>) -> String {
    match arguments {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) if text.trim().is_empty() => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// What a tool replied.
pub(super) fn tool_reply(id: Option<&Value>, reply: Option<&Value>) -> Value {
    let content = match reply {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => match content_of(&parts.iter().collect::<Vec<_>>()) {
            Value::String(text) => text,
            other => other.to_string(),
        },
        Some(other) => other.to_string(),
    };
    json!({ "role": "tool", "tool_call_id": id, "content": content })
}

/// The text of a message.
pub(super) fn text_of(message: &Value) -> Option<String> {
    crate::data::conversation::content_text(&message["content"])
}

/// The calls of the messages, as `{id, name, arguments}` with arguments as a value where they are JSON.
pub(super) fn calls(messages: &[Value]) -> Vec<Value> {
    let calls = messages
        .iter()
        .filter_map(|message| message.get("tool_calls")?.as_array());
    let plain = |call: &Value| {
        let function = &call["function"];
        let arguments = function["arguments"].as_str().unwrap_or_default();
        let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments));
        let mut found = Map::new();
        if let Some(id) = call.get("id").filter(|id| !id.is_null()) {
            found.insert("id".to_owned(), id.clone());
        }
        found.insert("name".to_owned(), function["name"].clone());
        found.insert("arguments".to_owned(), arguments);
        Value::Object(found)
    };
    calls.flatten().map(plain).collect()
}
