//! An agent's answer in the format of result files.

use serde_json::Value as Json;

use super::layout;
use crate::agent::conversation::IN_WORDS;
use crate::bfcl::checker::native_calls;
use crate::calls::{JsonValue as _, Value};
use crate::data::{Output, Record};

/// The `result` of a line.
pub(super) struct ResultField {
    /// A text; native calls, `[{name: arguments as JSON text}]`; or turns of steps, each a text or native calls.
    pub(super) result: Value,
    /// Whether it contains native calls.
    pub(super) is_native: bool,
}

impl ResultField {
    /// The answer of a record with an output. Without calls and text it is empty, which the official program reads as
    /// no calls in both modes.
    ///
    /// The text is the one that was scored, which is the prediction after extraction.
    pub(super) fn of(record: &Record, category: &str) -> Option<Self> {
        let output = record.result.output.as_ref()?;
        let mode = record.metadata.get("mode").and_then(Json::as_str);
        let has_calls = !output.tool_calls.is_empty();
        let is_native = match mode {
            Some("fc") => true,
            Some("prompt") => false,
            _ => has_calls,
        };
        let result = match record.result.prediction.as_deref() {
            _ if layout::has_steps(category) => turns(output),
            _ if is_native && has_calls => native_calls(&output.tool_calls),
            None if is_native => Value::List(Vec::new()),
            text => Value::from(text.unwrap_or_default()),
        };
        Some(Self { result, is_native })
    }
}

/// Role of a message that contains a whole result.
pub(crate) const RESULT: &str = "result";

/// A conversation: a user message starts a turn, and each assistant message is a step of it. Without messages the text
/// is the only step.
pub(crate) fn turns(output: &Output) -> Value {
    let mut turns: Vec<Vec<Value>> = Vec::new();
    for message in &output.messages {
        match message.get("role").and_then(Json::as_str) {
            // An imported result that is not a conversation, such as an error message.
            Some(RESULT) => {
                return Value::from_serde(message.get("content").unwrap_or(&Json::Null));
            }
            Some("user") => turns.push(Vec::new()),
            Some("assistant") => {
                if turns.is_empty() {
                    turns.push(Vec::new());
                }
                if let Some(turn) = turns.last_mut() {
                    turn.push(step(message));
                }
            }
            _ => {}
        }
    }
    if turns.is_empty() {
        turns.push(
            output
                .text
                .iter()
                .map(|text| text.as_str().into())
                .collect(),
        );
    }
    Value::List(turns.into_iter().map(Value::List).collect())
}

/// What a reply is in an official result file: its native calls, or else its text.
pub(crate) fn step(reply: &Json) -> Value {
    let calls = reply.get("tool_calls").and_then(Json::as_array);
    // Calls in words are a part of the text.
    let is_native = |call: &Json| call.get(IN_WORDS).is_none();
    match calls.filter(|calls| calls.first().is_some_and(is_native)) {
        Some(calls) => native_calls(calls),
        None => Value::from_serde(reply.get("content").unwrap_or(&Json::Null)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::Status;
    use crate::verdict::summary::tests::record;

    fn check(output: Json, category: &str, mode: Option<&str>, expect: &str) {
        let mut record = record("a", Status::Scored, true, "1");
        let output: Output = serde_json::from_value(output).unwrap();
        record.result.prediction.clone_from(&output.text);
        record.result.output = Some(output);
        if let Some(mode) = mode {
            record.metadata.insert("mode".to_owned(), mode.into());
        }
        let answer = ResultField::of(&record, category).unwrap();
        assert_eq!(answer.result.to_json_text(), expect);
    }

    #[test]
    fn a_text_is_a_text_and_calls_are_all_there() {
        let calls = json!([
            {"type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}},
            {"name": "g", "arguments": {"b": [2]}},
            {"name": "h"},
        ]);
        check(
            json!({"text": "[f(a=1)]\n"}),
            "multiple",
            None,
            r#""[f(a=1)]\n""#,
        );
        check(
            json!({"text": "I call f and g.", "tool_calls": calls}),
            "parallel",
            None,
            r#"[{"f": "{\"a\": 1}"}, {"g": "{\"b\":[2]}"}, {"h": "{}"}]"#,
        );
        check(json!({}), "irrelevance", None, r#""""#);
        check(json!({}), "irrelevance", Some("fc"), "[]");
    }

    #[test]
    fn a_conversation_is_turns_of_steps() {
        let messages = json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": null, "tool_calls": [{"name": "go", "arguments": "{}"}]},
            {"role": "tool", "content": "gone"},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "Nothing."},
            {"role": "user", "content": "Stop."},
            {"role": "assistant", "content": "[stop()]"},
        ]);
        check(
            json!({"text": "[stop()]", "messages": messages}),
            "multi_turn_base",
            None,
            r#"[[[{"go": "{}"}], "Done."], [], ["[stop()]"]]"#,
        );
        check(json!({"text": "Rome"}), "memory_kv", None, r#"[["Rome"]]"#);
        let failed = json!([{"role": "result", "content": "No answer."}]);
        check(
            json!({"text": "No answer.", "messages": failed}),
            "multi_turn_base",
            None,
            r#""No answer.""#,
        );
        check(json!({}), "web_search_base", None, "[[]]");
    }
}
