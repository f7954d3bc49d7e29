//! Converts messages of a log to those of Chat Completions.

use serde_json::{Map, Value, json};

/// Prefix of a reference to a text stored as an attachment.
const ATTACHMENT: &str = "attachment://";

/// Converts a message; attachment references are resolved.
pub(super) fn message(value: &Value, attachments: &Map<String, Value>) -> Value {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let mut object = Map::new();
    object.insert("role".to_owned(), text("role").unwrap_or("user").into());
    object.insert(
        "content".to_owned(),
        content(value.get("content"), attachments),
    );
    let calls = tool_calls(value);
    if !calls.is_empty() {
        object.insert("tool_calls".to_owned(), calls.into());
    }
    for (key, name) in [("tool_call_id", "tool_call_id"), ("function", "name")] {
        if let Some(text) = text(key) {
            object.insert(name.to_owned(), text.into());
        }
    }
    Value::Object(object)
}

/// The tool calls of a message.
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

/// All text of a content, as people read it.
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

/// A text, with an attachment reference resolved.
pub(super) fn apart(text: &str, attachments: &Map<String, Value>) -> String {
    let name = text.strip_prefix(ATTACHMENT);
    let attachment = name.and_then(|name| attachments.get(name)?.as_str());
    attachment.unwrap_or(text).to_owned()
}

fn content(value: Option<&Value>, attachments: &Map<String, Value>) -> Value {
    let part = |part: &Value| {
        let text = |key: &str| part.get(key).and_then(Value::as_str);
        match (text("type"), text("text"), text("image")) {
            (Some("text"), Some(text), _) => {
                json!({ "type": "text", "text": apart(text, attachments) })
            }
            // An attached image stays a reference: it is large, and useless to a scorer.
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
