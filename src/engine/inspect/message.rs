//! Messages of a log as those of Chat Completions.

use serde_json::{Map, Value, json};

/// What stands in place of a text that is kept apart.
const ATTACHMENT: &str = "attachment://";

/// A message; texts that are kept apart are put in their place.
pub(super) fn message(value: &Value, attachments: &Map<String, Value>) -> Value {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let mut told = Map::new();
    told.insert("role".to_owned(), text("role").unwrap_or("user").into());
    told.insert(
        "content".to_owned(),
        content(value.get("content"), attachments),
    );
    let calls = tool_calls(value);
    if !calls.is_empty() {
        told.insert("tool_calls".to_owned(), calls.into());
    }
    for (key, name) in [("tool_call_id", "tool_call_id"), ("function", "name")] {
        if let Some(text) = text(key) {
            told.insert(name.to_owned(), text.into());
        }
    }
    Value::Object(told)
}

/// The calls of tools that a message has.
pub(super) fn tool_calls(message: &Value) -> Vec<Value> {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let call = |call: &Value| {
        let arguments = call.get("arguments").cloned().unwrap_or_else(|| json!({}));
        json!({
            "id": call.get("id"),
            "type": "function",
            "function": {
                "name": call.get("function"),
                "arguments": arguments.to_string(),
            },
        })
    };
    calls.into_iter().flatten().map(call).collect()
}

/// All text of a content: what a person reads.
pub(super) fn text_of(content: Option<&Value>, attachments: &Map<String, Value>) -> String {
    match content {
        Some(Value::String(text)) => apart(text, attachments),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            let texts: Vec<_> = texts.map(|text| apart(text, attachments)).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// A text, from where it is kept if it is kept apart.
pub(super) fn apart(text: &str, attachments: &Map<String, Value>) -> String {
    let name = text.strip_prefix(ATTACHMENT);
    let kept = name.and_then(|name| attachments.get(name)?.as_str());
    kept.unwrap_or(text).to_owned()
}

fn content(value: Option<&Value>, attachments: &Map<String, Value>) -> Value {
    let part = |part: &Value| {
        let text = |key: &str| part.get(key).and_then(Value::as_str);
        match (text("type"), text("text"), text("image")) {
            (Some("text"), Some(text), _) => {
                json!({ "type": "text", "text": apart(text, attachments) })
            }
            // An image that is kept apart stays there: it is of no use to a scorer, and large.
            (Some("image"), _, Some(url)) => {
                json!({ "type": "image_url", "image_url": { "url": url } })
            }
            _ => part.clone(),
        }
    };
    match value {
        Some(Value::String(text)) => apart(text, attachments).into(),
        Some(Value::Array(parts)) => parts.iter().map(part).collect(),
        Some(other) => other.clone(),
        None => Value::Null,
    }
}
