//! Native calls of an agent: those of its last answer, and those of its whole run.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::{Call, Pattern, TooComplex, json};
use crate::calls::{JsonValue as _, Value};
use crate::data::Output;

/// Calls made at the same time.
pub(crate) type ParallelCalls = Vec<Call>;

/// The calls in `tool_calls`. One that cannot be read has no name, and matches nothing.
pub(crate) fn native(output: &Output) -> Vec<Call> {
    output.tool_calls.iter().map(call).collect()
}

fn call(value: &Json) -> Call {
    let value = Value::from_serde(value);
    let Some(dict) = value.as_dict() else {
        return Call::default();
    };
    let inner = ["function", "functionCall", "toolUse"]
        .iter()
        .find_map(|key| dict.get_str(key)?.as_dict());
    json::one(inner.unwrap_or(dict)).unwrap_or_default()
}

/// The calls of a whole run, step by step: the calls of each message, followed by those of `tool_calls` that are in no
/// message. Without messages each of `tool_calls` is a step. With a pattern, calls in the texts of messages count too.
pub(crate) fn trajectory(
    output: &Output,
    pattern: Option<&Pattern>,
) -> Result<Vec<ParallelCalls>, TooComplex> {
    let mut steps: Vec<ParallelCalls> = Vec::new();
    let mut ids: HashSet<&str> = HashSet::new();
    for message in &output.messages {
        let calls = of_message(message);
        ids.extend(calls.iter().filter_map(|call| id(call)));
        let mut step: ParallelCalls = calls.into_iter().map(self::call).collect();
        if let Some(pattern) = pattern {
            for text in texts(message) {
                step.extend(pattern.find(text)?);
            }
        }
        if !step.is_empty() {
            steps.push(step);
        }
    }
    if steps.is_empty() {
        let calls = native(output).into_iter();
        return Ok(calls.map(|call| vec![call]).collect());
    }
    let rest = output.tool_calls.iter();
    let rest = rest.filter(|call| id(call).is_none_or(|id| !ids.contains(id)));
    let rest: Vec<&Json> = rest.collect();
    let has_ids = rest.iter().any(|call| id(call).is_some());
    let rest: ParallelCalls = rest.into_iter().map(call).collect();
    // Calls without ids usually are those of the last messages.
    let all: Vec<&Call> = steps.iter().flatten().collect();
    let is_known = !has_ids
        && rest.len() <= all.len()
        && rest
            .iter()
            .eq(all[all.len() - rest.len()..].iter().copied());
    if !is_known && !rest.is_empty() {
        steps.push(rest);
    }
    Ok(steps)
}

fn id(call: &Json) -> Option<&str> {
    call.get("id")
        .and_then(Json::as_str)
        .filter(|id| !id.is_empty())
}

fn is_of_agent(message: &Json) -> bool {
    let role = message.get("role").and_then(Json::as_str);
    role.is_none_or(|role| matches!(role, "assistant" | "model"))
}

/// The texts that the agent wrote.
fn texts(message: &Json) -> Vec<&str> {
    let content = ["content", "parts"].iter().find_map(|key| message.get(key));
    match content {
        Some(content) if is_of_agent(message) => match content {
            Json::String(text) => vec![text],
            Json::Array(parts) => {
                let texts = parts.iter().map(|part| part.get("text").unwrap_or(part));
                texts.filter_map(Json::as_str).collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Chat Completions have a separate list, others put calls among the parts of the content.
fn of_message(message: &Json) -> Vec<&Json> {
    if !is_of_agent(message) {
        return Vec::new();
    }
    let list = |key| {
        message
            .get(key)
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
    };
    let is_call = |part: &&Json| {
        part.get("type").and_then(Json::as_str) == Some("tool_use")
            || part.get("functionCall").is_some()
            || part.get("toolUse").is_some()
    };
    list("tool_calls")
        .chain(message.get("function_call").filter(|call| call.is_object()))
        .chain(list("content").chain(list("parts")).filter(is_call))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_trajectory_is_the_calls_of_all_messages() {
        let check = |messages: Json, tool_calls: Json, expect: &[&[&str]]| {
            let output = Output {
                messages: serde_json::from_value(messages).unwrap(),
                tool_calls: serde_json::from_value(tool_calls).unwrap(),
                ..Output::default()
            };
            let steps = trajectory(&output, None).unwrap();
            let names: Vec<Vec<&str>> = steps
                .iter()
                .map(|step| step.iter().map(|call| call.name.as_str()).collect())
                .collect();
            assert_eq!(names, expect, "{output:?}");
        };
        let call =
            |id: &str, name: &str| json!({"id": id, "function": {"name": name, "arguments": "{}"}});
        let two = json!([
            {"role": "user", "content": "?", "tool_calls": [call("9", "x")]},
            {"role": "assistant", "tool_calls": [call("1", "a"), call("2", "b")]},
            {"role": "tool", "content": "…"},
            {"role": "assistant", "tool_calls": [call("3", "c")]},
        ]);
        check(
            json!([]),
            json!([call("1", "a"), {"name": "b"}]),
            &[&["a"], &["b"]],
        );
        check(two.clone(), json!([]), &[&["a", "b"], &["c"]]);
        check(two.clone(), json!([call("3", "c")]), &[&["a", "b"], &["c"]]);
        check(
            two.clone(),
            json!([call("4", "c")]),
            &[&["a", "b"], &["c"], &["c"]],
        );
        check(
            two,
            json!([{"name": "c", "arguments": {}}]),
            &[&["a", "b"], &["c"]],
        );
        check(
            json!([{"role": "assistant", "content": [{"type": "text"}, {"type": "tool_use", "name": "a", "input": {}}]},
                {"role": "model", "parts": [{"functionCall": {"name": "b", "args": {}}}]},
                {"role": "assistant", "function_call": {"name": "c", "arguments": "{}"}}]),
            json!([]),
            &[&["a"], &["b"], &["c"]],
        );
        check(json!([7, null, {"tool_calls": [7]}]), json!([]), &[&[""]]);
    }
}
