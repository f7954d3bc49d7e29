//! A conversation, as people read it.

use evaltest::engine::text::{excerpt, unquoted};
use serde_json::Value;

use super::truncate;

/// The messages of a conversation that never ended. An attempt goes on with those of earlier ones, or starts over.
pub(super) fn until_failure(attempts: &[Value]) -> Vec<Value> {
    let of_turn = |event: &&Value| event["kind"] == "turn";
    let rank = |event: &Value| {
        ["user", "agent", "tool"]
            .iter()
            .position(|by| event["by"] == *by)
    };
    let place = |event: &Value| (event["turn"].as_u64(), event["step"].as_u64(), rank(event));
    let mut messages: Vec<&Value> = Vec::new();
    for event in attempts.iter().filter(of_turn) {
        // A reply may have the results of several calls.
        let is_later = |other: &&Value| match event["by"].as_str() {
            Some("tool") => place(other) > place(event),
            _ => place(other) >= place(event),
        };
        while messages.last().is_some_and(is_later) {
            messages.pop();
        }
        messages.push(event);
    }
    let messages = messages.iter().map(|event| event["message"].clone());
    messages.collect()
}

/// A conversation as people read it: who said what, and each call of a tool with its result on one line.
pub(super) fn chat(messages: &[Value]) -> String {
    let content = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(parts) if parts.iter().all(|part| part["text"].is_string()) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    };
    let result = |id: &Value| {
        let is_result =
            |message: &&Value| message["role"] == "tool" && message["tool_call_id"] == *id;
        let found = messages.iter().find(is_result).filter(|_| !id.is_null());
        found.map_or_else(
            || "(no result)".to_owned(),
            |message| excerpt(&content(message)),
        )
    };
    let mut lines = Vec::new();
    let mut turn = 0;
    for message in messages {
        let who = match message["role"].as_str() {
            Some("user") => {
                turn += 1;
                format!("user, turn {turn}")
            }
            Some("assistant") => "agent".to_owned(),
            // They stand beside their calls.
            Some("tool") | None => continue,
            Some(other) => other.to_owned(),
        };
        let text = content(message);
        if !text.is_empty() {
            lines.push(format!("{who}: {}", truncate(&text)));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = call.get("function").unwrap_or(call);
            let arguments = unquoted(&function["arguments"]);
            let name = function["name"].as_str().unwrap_or_default();
            let result = result(&call["id"]);
            lines.push(format!(
                "{who} calls {name}({}): {result}",
                excerpt(&arguments)
            ));
        }
    }
    lines.join("\n")
}
