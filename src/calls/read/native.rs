//! Native calls of an agent: those of its last answer, and those of its whole run.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value as Json;

use super::message::{self, ids, of_message, spoken};
use super::{Call, Pattern, TooComplex, json, text};
use crate::calls::{JsonValue as _, Value};
use crate::data::Output;

/// Calls made at the same time.
pub(crate) type ParallelCalls = Vec<Call>;

/// The calls in `tool_calls`. One that cannot be read has no name, and matches nothing.
pub(crate) fn native(output: &Output) -> Vec<Call> {
    output.tool_calls.iter().map(call).collect()
}

/// Objects around the name and the arguments.
const AROUND: [&str; 7] = [
    "function",
    "functionCall",
    "function_call",
    "toolUse",
    "tool_use",
    "toolCall",
    "tool_call",
];

pub(super) fn call(value: &Json) -> Call {
    let own = Value::from_serde(value);
    let Some(dict) = own.as_dict() else {
        return Call::default();
    };
    let inner = AROUND.iter().find_map(|key| dict.get_str(key)?.as_dict());
    let read = json::one(inner.unwrap_or(dict));
    read.or_else(|| built_in(value)).unwrap_or_default()
}

/// The call of a tool that has no name but its type: `web_search_call`.
fn built_in(value: &Json) -> Option<Call> {
    let name = value.get("type")?.as_str()?.strip_suffix("_call")?;
    let is_general = matches!(name, "function" | "tool" | "custom_tool" | "mcp");
    (!is_general).then(|| Call {
        name: name.to_owned(),
        ..Call::default()
    })
}

/// The calls of a whole run, step by step: the calls of each message, followed by those of `tool_calls` that are in no
/// message. Without messages each of `tool_calls` is a step. With a pattern, calls in the texts of messages count too.
///
/// What may be a call and cannot be read is one without a name.
pub(crate) fn trajectory(
    output: &Output,
    pattern: Option<&Pattern>,
) -> Result<Vec<ParallelCalls>, TooComplex> {
    let mut steps: Vec<ParallelCalls> = Vec::new();
    let mut ids: HashSet<String> = HashSet::new();
    // Whether the last step is made of items without an output so far.
    let mut is_pending = false;
    for message in &output.messages {
        let message = &*inside(message);
        let calls = of_message(message);
        let known = calls.iter().flat_map(|call| self::ids(call));
        ids.extend(known.map(str::to_owned));
        let mut step: ParallelCalls = calls.iter().map(|call| self::call(call)).collect();
        if let Some(pattern) = pattern {
            for text in spoken(message) {
                step.extend(pattern.find(text)?);
            }
        }
        if step.is_empty() {
            step = by_role(message)?;
        }
        let is_item = message::is_pending_item(message);
        match steps.last_mut() {
            _ if step.is_empty() => is_pending &= message::is_of_agent(message),
            Some(last) if is_item && is_pending => last.append(&mut step),
            _ => {
                steps.push(step);
                is_pending = is_item;
            }
        }
    }
    if steps.is_empty() {
        let calls = native(output).into_iter();
        return Ok(calls.map(|call| vec![call]).collect());
    }
    let rest = output.tool_calls.iter();
    let rest = rest.filter(|call| !self::ids(call).any(|id| ids.contains(id)));
    let rest: Vec<&Json> = rest.collect();
    let has_ids = rest.iter().any(|call| self::ids(call).next().is_some());
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

/// A message, also if it is JSON in a text.
fn inside(message: &Json) -> Cow<'_, Json> {
    let text = message
        .as_str()
        .filter(|text| text.trim_start().starts_with(['{', '[']));
    let read = text.and_then(|text| serde_json::from_str(text).ok());
    read.map_or(Cow::Borrowed(message), Cow::Owned)
}

/// The calls in the texts of a message whose role says that it is one.
fn by_role(message: &Json) -> Result<ParallelCalls, TooComplex> {
    if !message::is_call_by_role(message) {
        return Ok(Vec::new());
    }
    let mut calls = Vec::new();
    for text in spoken(message) {
        calls.extend(text::find(text)?.into_iter().flat_map(|found| found.calls));
    }
    if calls.is_empty() {
        calls.push(Call::default());
    }
    Ok(calls)
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
        // Items of one response are one step, until an output follows.
        let item = |id: &str, name: &str| json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": "{}"});
        let items = json!([
            {"role": "user", "content": "?"}, {"type": "reasoning", "summary": []}, item("1", "a"), item("2", "b"),
            {"type": "function_call_output", "call_id": "1", "output": "x"}, item("3", "c"),
            {"type": "web_search_call", "id": "ws_1"}, item("4", "d"),
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
        ]);
        let steps: &[&[&str]] = &[&["a", "b"], &["c"], &["web_search"], &["d"]];
        check(items.clone(), json!([]), steps);
        check(items, json!([call("4", "d")]), steps);
        // JSON in a text, and a role that says what the text is.
        check(
            json!([item("1", "a").to_string(), "[1"]),
            json!([]),
            &[&["a"]],
        );
        check(
            json!([{"role": "tool_call", "content": "{\"name\": \"a\", \"arguments\": {}}"}, {"from": "function_call", "value": "?"}]),
            json!([]),
            &[&["a"], &[""]],
        );
    }
}
