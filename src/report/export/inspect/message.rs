//! Converts Chat Completions messages to those of a log.

use serde_json::{Map, Value, json};

use crate::text::hash::Hasher;
use crate::text::unquoted;

/// Converts a message. An invalid one becomes a user message, so that nothing is lost.
pub(super) fn message(value: &Value, id: &str) -> Value {
    let role = value.get("role").and_then(Value::as_str);
    let role = match role.unwrap_or("user") {
        "developer" => "system",
        "function" => "tool",
        known @ ("system" | "user" | "assistant" | "tool") => known,
        _ => "user",
    };
    let mut object = Map::new();
    object.insert("id".to_owned(), id.into());
    object.insert("role".to_owned(), role.into());
    object.insert("content".to_owned(), content(value.get("content")));
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    match role {
        "assistant" => {
            let calls = value.get("tool_calls").and_then(Value::as_array);
            let calls = calls.map(Vec::as_slice).unwrap_or_default();
            if !calls.is_empty() {
                object.insert("tool_calls".to_owned(), tool_calls(calls));
            }
        }
        "tool" => {
            for (key, name) in [
                ("tool_call_id", text("tool_call_id")),
                ("function", text("name")),
            ] {
                if let Some(name) = name {
                    object.insert(key.to_owned(), name.into());
                }
            }
        }
        _ => {}
    }
    Value::Object(object)
}

/// The agent's final message.
pub(super) fn answer(text: &str, calls: &[Value], model: &str, id: &str) -> Value {
    let mut object = json!({
        "id": id,
        "role": "assistant",
        "content": text,
        "source": "generate",
        "model": model,
    });
    if !calls.is_empty() {
        object["tool_calls"] = tool_calls(calls);
    }
    object
}

/// The id of the message at this index.
pub(super) fn id(of_sample: &str, place: usize) -> String {
    let mut id = Hasher::default()
        .part(of_sample)
        .part(place.to_string())
        .hex();
    id.truncate(22);
    id
}

fn content(value: Option<&Value>) -> Value {
    match value {
        None | Some(Value::Null) => "".into(),
        Some(Value::String(text)) => text.as_str().into(),
        Some(Value::Array(parts)) => parts.iter().map(part).collect(),
        Some(other) => other.to_string().into(),
    }
}

/// Converts a part of a message: texts and images are supported, others become JSON text.
fn part(part: &Value) -> Value {
    let text = |key: &str| part.get(key).and_then(Value::as_str);
    let kind = text("type").unwrap_or_default();
    let url = part.pointer("/image_url/url").and_then(Value::as_str);
    match (kind, text("text"), url) {
        ("text" | "input_text" | "output_text", Some(text), _) => {
            json!({ "type": "text", "text": text })
        }
        ("image_url", _, Some(url)) => {
            json!({ "type": "image", "image": url, "detail": "auto" })
        }
        _ => json!({ "type": "text", "text": part.to_string() }),
    }
}

fn tool_calls(calls: &[Value]) -> Value {
    let call = |(place, call): (usize, &Value)| {
        let function = call.get("function").unwrap_or(call);
        let name = function.get("name").and_then(Value::as_str);
        let id = call.get("id").and_then(Value::as_str);
        let mut object = json!({
            "id": id.map_or_else(|| format!("call_{place}"), str::to_owned),
            "function": name.unwrap_or_default(),
            "arguments": {},
            "type": "function",
        });
        let given = function.get("arguments").cloned().unwrap_or_default();
        let parsed = match &given {
            Value::String(text) => serde_json::from_str(text).ok(),
            other => Some(other.clone()),
        };
        match parsed {
            Some(Value::Object(arguments)) => object["arguments"] = arguments.into(),
            Some(Value::Null) => {}
            _ => {
                let text = unquoted(&given);
                object["parse_error"] = format!("the arguments are not an object: {text}").into();
            }
        }
        object
    };
    calls.iter().enumerate().map(call).collect()
}
