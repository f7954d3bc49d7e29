//! What was said in a span, by any of the conventions: new attributes, numbered ones, events, those of `OpenInference`.

use serde_json::{Map, Value, json};

use super::message::{messages, parsed, plain_text};
use super::span::{Span, SpanEvent};

/// The messages of an input.
pub(super) fn input(span: &Span) -> Vec<Value> {
    let mut found = Vec::new();
    if let Some(system) = span.attributes.get("gen_ai.system_instructions") {
        found.extend(system_message(system));
    }
    let value = |name: &str| {
        span.attributes
            .get(name)
            .map(|value| messages(value, "user"))
            .unwrap_or_default()
    };
    let mut transcript = value("gen_ai.input.messages");
    for read in [
        &|| numbered(span, "gen_ai.prompt", "user") as Vec<Value>,
        &|| {
            events(
                span,
                &[
                    "gen_ai.system.message",
                    "gen_ai.user.message",
                    "gen_ai.assistant.message",
                    "gen_ai.tool.message",
                ],
            )
        },
        &|| numbered(span, "llm.input_messages", "user"),
        &|| value("gen_ai.prompt"),
        &|| event_value(span, "gen_ai.content.prompt", "gen_ai.prompt", "user"),
        &|| value("input.value"),
    ] as [&dyn Fn() -> Vec<Value>; 6]
    {
        if transcript.is_empty() {
            transcript = read();
        }
    }
    let has_system = transcript
        .first()
        .is_some_and(|message| message["role"] == "system");
    if has_system {
        found.clear();
    }
    found.extend(transcript);
    found
}

/// The messages of an output.
pub(super) fn output(span: &Span) -> Vec<Value> {
    let value = |name: &str| {
        span.attributes
            .get(name)
            .map(|value| messages(value, "assistant"))
            .unwrap_or_default()
    };
    let mut transcript = value("gen_ai.output.messages");
    for read in [
        &|| numbered(span, "gen_ai.completion", "assistant") as Vec<Value>,
        &|| events(span, &["gen_ai.choice"]),
        &|| numbered(span, "llm.output_messages", "assistant"),
        &|| value("gen_ai.completion"),
        &|| {
            event_value(
                span,
                "gen_ai.content.completion",
                "gen_ai.completion",
                "assistant",
            )
        },
        &|| value("output.value"),
    ] as [&dyn Fn() -> Vec<Value>; 6]
    {
        if transcript.is_empty() {
            transcript = read();
        }
    }
    transcript
}

fn system_message(instructions: &Value) -> Option<Value> {
    let parsed = instructions.as_str().and_then(parsed);
    let instructions = parsed.as_ref().unwrap_or(instructions);
    let text = match instructions {
        Value::Array(parts) => {
            let text = |part: &Value| {
                ["content", "text"]
                    .iter()
                    .find_map(|key| part.get(*key)?.as_str().map(str::to_owned))
            };
            parts.iter().filter_map(text).collect::<Vec<_>>().join("\n")
        }
        other => plain_text(other),
    };
    (!text.is_empty()).then(|| json!({ "role": "system", "content": text }))
}

/// Messages with an attribute for each member: `gen_ai.prompt.0.content`, `llm.input_messages.0.message.content`.
fn numbered(span: &Span, prefix: &str, role: &str) -> Vec<Value> {
    let mut found = Vec::new();
    for place in 0.. {
        let flat = format!("{prefix}.{place}.");
        if !span.attributes.keys().any(|key| key.starts_with(&flat)) {
            break;
        }
        let of = |name: &str| {
            let nested = span.attributes.get(&format!("{flat}message.{name}"));
            nested.or_else(|| span.attributes.get(&format!("{flat}{name}")))
        };
        let mut message = Map::from_iter([(
            "role".to_owned(),
            of("role").cloned().unwrap_or_else(|| role.into()),
        )]);
        let mut parts = Vec::new();
        for part in 0.. {
            let text = of(&format!("contents.{part}.message_content.text"));
            let image = of(&format!("contents.{part}.message_content.image.image.url"));
            match (text, image) {
                (Some(text), _) => parts.push(json!({ "type": "text", "text": text })),
                (None, Some(url)) => {
                    parts.push(json!({ "type": "image_url", "image_url": { "url": url } }));
                }
                (None, None) => break,
            }
        }
        let content = of("content").cloned().unwrap_or_else(|| parts.into());
        message.insert("content".to_owned(), content);
        if let Some(id) = of("tool_call_id") {
            message.insert("tool_call_id".to_owned(), id.clone());
        }
        let mut calls = Vec::new();
        for number in 0.. {
            let of = |names: &[&str]| {
                names
                    .iter()
                    .find_map(|name| of(&format!("tool_calls.{number}.{name}")))
                    .cloned()
            };
            let Some(name) = of(&["tool_call.function.name", "function.name", "name"]) else {
                break;
            };
            let id = of(&["tool_call.id", "id"]);
            let arguments = of(&[
                "tool_call.function.arguments",
                "function.arguments",
                "arguments",
            ]);
            calls.push(json!({ "id": id, "name": name, "arguments": arguments }));
        }
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), calls.into());
        }
        found.extend(messages(&Value::Object(message), role));
    }
    found
}

/// Messages that are events, with the role in the name: `gen_ai.user.message`. Their content stands in attributes, or in
/// the body of a log record.
fn events(span: &Span, names: &[&str]) -> Vec<Value> {
    let wanted = span
        .events
        .iter()
        .filter(|event| names.contains(&&*event.name));
    let message = |event: &SpanEvent| {
        let role = match &*event.name {
            "gen_ai.system.message" => "system",
            "gen_ai.user.message" => "user",
            "gen_ai.tool.message" => "tool",
            _ => "assistant",
        };
        let value = |name: &str| {
            let given = event
                .body
                .get(name)
                .or_else(|| event.attributes.get(name))?;
            given
                .as_str()
                .and_then(parsed)
                .or_else(|| Some(given.clone()))
        };
        let choice = value("message").filter(Value::is_object);
        let member = |name: &str| {
            choice
                .as_ref()
                .and_then(|choice| choice.get(name).cloned())
                .or_else(|| value(name))
        };
        let content = match &choice {
            Some(choice) => choice.get("content").cloned(),
            // A text that is JSON stays a text.
            None => event
                .body
                .get("content")
                .or_else(|| event.attributes.get("content"))
                .cloned(),
        };
        let content = content.or_else(|| value("message").filter(|_| choice.is_none()));
        let mut message = json!({ "role": role, "content": content });
        if let Some(calls) = member("tool_calls") {
            message["tool_calls"] = calls;
        }
        if let Some(id) = member("id")
            .or_else(|| member("tool_call_id"))
            .filter(|_| role == "tool")
        {
            message["tool_call_id"] = id;
        }
        messages(&message, role)
    };
    wanted.flat_map(message).collect()
}

fn event_value(span: &Span, event: &str, attribute: &str, role: &str) -> Vec<Value> {
    let event = span.events.iter().find(|one| one.name == event);
    let value = event.and_then(|event| event.attributes.get(attribute));
    value.map(|value| messages(value, role)).unwrap_or_default()
}
