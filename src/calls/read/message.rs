//! The calls in a message of an agent, or in an item of the Responses API.
//!
//! Chat Completions have a list of their own, others put calls among the parts of the content, and an item is a call
//! itself. Anything else that looks like a call is found wherever it is in the message, so that no call is passed over
//! because its program is not known.

use std::collections::HashMap;

use serde_json::{Map, Value as Json};

use super::json::{ARGUMENTS, AROUND, NAMES};
use super::native::call;

/// Roles of others than the agent, and types of their messages.
const OTHERS: &[&str] = &[
    "developer",
    "environment",
    "function",
    "functionmessage",
    "human",
    "humanmessage",
    "observation",
    "system",
    "systemmessage",
    "tool",
    "toolmessage",
    "user",
    "usermessage",
];

/// Members that describe tools, or tell of the request.
const ABOUT: &[&str] = &[
    "available_tools",
    "functions",
    "response_format",
    "schema",
    "text",
    "tool_choice",
    "tool_definitions",
    "tools",
    "usage",
];

/// The calls of a message.
pub(super) fn of_message(message: &Json) -> Vec<&Json> {
    let mut calls = Found::default();
    calls.walk(message, true);
    calls.calls
}

/// The ids of a call.
pub(super) fn ids(call: &Json) -> impl Iterator<Item = &str> {
    let ids = ["id", "call_id", "toolCallId"].into_iter();
    let ids = ids.filter_map(|key| call.get(key)?.as_str());
    ids.filter(|id| !id.is_empty())
}

/// The texts that the agent wrote.
pub(super) fn spoken(message: &Json) -> Vec<&str> {
    let mut contents = ["content", "parts", "value"].iter();
    match contents.find_map(|key| message.get(key)) {
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

/// Whether the role of a message says that its text is a call.
pub(super) fn is_call_by_role(message: &Json) -> bool {
    is_of_agent(message) && role(message).is_some_and(|role| role.contains("call"))
}

fn role(message: &Json) -> Option<String> {
    let role = message.get("role").or_else(|| message.get("from"))?;
    role.as_str().map(str::to_lowercase)
}

/// Whether the agent wrote it: a role that is not known may be the agent's.
pub(super) fn is_of_agent(message: &Json) -> bool {
    let kind = || message.get("type")?.as_str().map(str::to_lowercase);
    let role = role(message).or_else(kind);
    role.is_none_or(|role| {
        let ends = ["output", "response", "result"];
        let is_output = ends.iter().any(|end| role.ends_with(end));
        // `{"type": "function", "function": {…}}` is a call.
        let is_call = || role == "function" && message.get("function").is_some_and(Json::is_object);
        (!OTHERS.contains(&&*role) || is_call()) && !is_output
    })
}

/// Whether a message is an item that waits for its output, as the calls beside it do.
pub(super) fn is_pending_item(message: &Json) -> bool {
    let kind = message.get("type").and_then(Json::as_str);
    matches!(kind, Some("function_call" | "custom_tool_call")) && message.get("role").is_none()
}

/// What the `type` of an object says of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A call, or something around calls.
    Call,
    /// Words, or what came of a call.
    None,
    Unknown,
}

impl Kind {
    fn of(map: &Map<String, Json>) -> Self {
        let Some(kind) = map.get("type").and_then(Json::as_str) else {
            return Self::Unknown;
        };
        let kind = kind.to_lowercase().replace('-', "_");
        let ends = [
            "output",
            "outputs",
            "response",
            "result",
            "results",
            "list_tools",
            "summary",
        ];
        let starts = ["reasoning", "thinking", "redacted_thinking", "mcp_approval"];
        let is_none = ends.iter().any(|end| kind.ends_with(end))
            || starts.iter().any(|start| kind.starts_with(start))
            || kind.contains("text")
            || kind.contains("execution");
        let is_call = kind == "tool"
            || kind.contains("call")
            || kind.contains("tool_use")
            || kind.contains("tooluse");
        match () {
            () if is_none => Self::None,
            () if is_call => Self::Call,
            () => Self::Unknown,
        }
    }
}

/// The calls found so far.
#[derive(Default)]
struct Found<'a> {
    calls: Vec<&'a Json>,
    by_id: HashMap<&'a str, &'a Json>,
}

impl<'a> Found<'a> {
    /// Adds a call, unless it is the same again.
    fn add(&mut self, found: &'a Json) {
        let mut known = ids(found).filter_map(|id| self.by_id.get(id));
        let is_known = known.any(|known| call(known) == call(found));
        if !is_known {
            self.by_id.extend(ids(found).map(|id| (id, found)));
            self.calls.push(found);
        }
    }

    /// Finds the calls in a value. `is_whole` says whether it is the message itself.
    fn walk(&mut self, value: &'a Json, is_whole: bool) {
        match value {
            Json::Array(items) => items.iter().for_each(|item| self.walk(item, false)),
            Json::Object(map) => self.object(value, map, is_whole),
            _ => {}
        }
    }

    fn object(&mut self, value: &'a Json, map: &'a Map<String, Json>, is_whole: bool) {
        let is_message = is_whole || map.contains_key("role");
        if is_message && !is_of_agent(value) {
            return;
        }
        let kind = Kind::of(map);
        if kind == Kind::None {
            return;
        }
        let has_name = NAMES
            .iter()
            .any(|key| map.get(*key).is_some_and(Json::is_string));
        let has_arguments = || ARGUMENTS.iter().any(|key| map.contains_key(*key));
        let holds_one = ["function", "functionCall", "toolUse"]
            .iter()
            .any(|key| map.get(*key).is_some_and(Json::is_object));
        if has_name && (kind == Kind::Call || has_arguments()) || holds_one {
            self.add(value);
            return;
        }
        let before = self.calls.len();
        // Calls that are listed may stand among the parts and in further members again.
        for (key, inner) in map.iter().filter(|(key, _)| AROUND.contains(&key.as_str())) {
            self.listed(inner, key);
        }
        let parts = map
            .iter()
            .filter(|(key, _)| matches!(key.as_str(), "content" | "parts"));
        parts.for_each(|(_, inner)| self.walk(inner, false));
        if self.calls.len() == before {
            for (key, inner) in map {
                let is_about = ABOUT.contains(&key.as_str()) || AROUND.contains(&key.as_str());
                if !is_about && !matches!(key.as_str(), "content" | "parts") {
                    self.walk(inner, false);
                }
            }
        }
        if self.calls.len() == before && kind == Kind::Call {
            self.add(value);
        }
    }

    /// Adds what stands under the name of a list of calls, whatever it is.
    fn listed(&mut self, value: &'a Json, key: &str) {
        match value {
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
            Json::String(text) if text.trim().is_empty() => {}
            Json::Object(map) if map.is_empty() => {}
            Json::Array(items) => items.iter().for_each(|item| self.add(item)),
            Json::Object(_) if key.ends_with('s') => {
                let before = self.calls.len();
                self.walk(value, false);
                if self.calls.len() == before {
                    self.add(value);
                }
            }
            other => self.add(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Borrow;

    use serde_json::json;

    use super::*;

    fn check(message: impl Borrow<Json>, expect: &[&str]) {
        let message = message.borrow();
        let calls = of_message(message);
        let names: Vec<String> = calls.iter().map(|found| call(found).name).collect();
        assert_eq!(names, expect, "{message}");
    }

    #[test]
    fn calls_of_messages() {
        let function = json!({"name": "f", "arguments": "{}"});
        let chat = json!({"id": "1", "type": "function", "function": function});
        let item = json!({"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"});
        check(
            json!({"role": "assistant", "tool_calls": [chat, {"name": "g"}]}),
            &["f", "g"],
        );
        check(
            json!({"role": "assistant", "function_call": function}),
            &["f"],
        );
        check(json!({"role": "agent", "tool_calls": [chat]}), &["f"]);
        check(chat.clone(), &["f"]);
        check(item.clone(), &["f"]);
        check(
            json!({"type": "custom_tool_call", "name": "f", "input": "x"}),
            &["f"],
        );
        check(
            json!({"type": "mcp_call", "name": "f", "arguments": "{}", "output": "x"}),
            &["f"],
        );
        check(
            json!({"type": "web_search_call", "id": "1", "action": {"query": "x"}}),
            &["web_search"],
        );
        check(json!({"type": "response_item", "payload": item}), &["f"]);
        check(
            json!({"object": "response", "output": [item, {"type": "message", "content": []}], "tools": [function]}),
            &["f"],
        );
        check(
            json!({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}),
            &["f"],
        );
        check(
            json!({"content": {"role": "model", "parts": [{"function_call": {"name": "f", "args": {}}}]}}),
            &["f"],
        );
        check(
            json!({"role": "assistant", "content": [{"toolUse": {"name": "f", "input": {}}}]}),
            &["f"],
        );
        check(
            json!({"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "1", "toolName": "f", "args": {}}]}),
            &["f"],
        );
        check(
            json!({"role": "assistant", "parts": [{"type": "tool", "tool": "f", "state": {}}]}),
            &["f"],
        );
        check(
            json!({"type": "ai", "data": {"content": "", "tool_calls": [{"name": "f", "args": {}}]}}),
            &["f"],
        );
        check(
            json!({"type": "ai", "additional_kwargs": {"function_call": function}}),
            &["f"],
        );
        check(
            json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", "name": "f", "input": {}}]}}),
            &["f"],
        );
        check(
            json!({"type": "ToolCallRequestEvent", "content": [{"id": "1", "name": "f", "arguments": "{}"}]}),
            &["f"],
        );
        check(
            json!({"choices": [{"message": {"role": "assistant", "tool_calls": [chat]}}]}),
            &["f"],
        );
        check(
            json!({"call": [{"step": {"action": {"tool": "f", "tool_input": {}}}}]}),
            &["f"],
        );
    }

    #[test]
    fn the_same_call_counts_once() {
        let listed = json!({"id": "1", "name": "f", "args": {"a": 1}});
        let part = json!({"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}});
        let other = json!({"type": "tool_use", "id": "1", "name": "g", "input": {}});
        check(
            json!({"role": "assistant", "tool_calls": [listed], "content": [part]}),
            &["f"],
        );
        check(
            json!({"role": "assistant", "tool_calls": [listed], "content": [other]}),
            &["f", "g"],
        );
    }

    #[test]
    fn messages_without_a_call() {
        for message in [
            json!(null),
            json!(7),
            json!("f()"),
            json!({"role": "user", "tool_calls": [{"name": "f"}]}),
            json!({"role": "tool", "content": [{"name": "f", "arguments": {}}]}),
            json!({"type": "human", "data": {"content": "f()"}}),
            json!({"type": "function_call_output", "call_id": "1", "output": "391"}),
            json!({"type": "custom_tool_call_output", "call_id": "1", "output": {"name": "f", "args": 1}}),
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "f()", "annotations": []}]}),
            json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "f()"}]}),
            json!({"type": "mcp_list_tools", "tools": [{"name": "f", "input_schema": {}}]}),
            json!({"type": "system", "tools": [{"name": "f", "parameters": {}}]}),
            json!({"role": "assistant", "content": "f()", "tool_calls": null, "function_call": null, "refusal": null}),
            json!({"role": "assistant", "content": "x", "tool_calls": []}),
            json!({"role": "assistant", "name": "Bob", "content": "f()"}),
            json!({"role": "assistant", "content": [{"type": "tool_result", "content": {"name": "f", "args": {}}}]}),
            json!({"type": "ToolCallExecutionEvent", "content": [{"name": "f", "call_id": "1", "content": "x"}]}),
        ] {
            check(message, &[]);
        }
    }

    #[test]
    fn what_may_be_a_call_and_cannot_be_read_has_no_name() {
        for message in [
            json!({"role": "assistant", "tool_calls": [7]}),
            json!({"role": "assistant", "tool_calls": "f()"}),
            json!({"role": "assistant", "tool_calls": {"x": 1}}),
            json!({"role": "assistant", "function_call": "f"}),
            json!({"role": "assistant", "content": [{"type": "tool_use", "tool_id": 3}]}),
            json!({"type": "function_call", "call_id": "1", "arguments": "{}"}),
            json!({"type": "tool_call", "what": "f"}),
        ] {
            check(message, &[""]);
        }
    }
}
