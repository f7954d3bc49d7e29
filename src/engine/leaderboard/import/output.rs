//! Converts an answer in a result file to an agent's output.

use serde_json::{Value as Json, json};

use crate::bfcl::data::Category;
use crate::bfcl::export::{RESULT, has_steps};
use crate::calls::{JsonValue as _, Value, half};
use crate::data::Output;

/// How the official program starts a result without an answer.
pub(super) const FAILURE: &str = "Error during inference";

pub(super) fn is_failure(result: &Value) -> bool {
    result
        .as_str()
        .is_some_and(|text| text.starts_with(FAILURE))
}

/// Whether an answer contains native calls.
pub(super) fn has_calls(category: &Category, result: &Value) -> bool {
    match result.as_list() {
        Some(items) if has_steps(&category.name) => {
            let mut steps = items.iter().filter_map(Value::as_list).flatten();
            steps.any(|step| calls(step).is_some_and(|calls| !calls.is_empty()))
        }
        Some(_) => calls(result).is_some_and(|calls| !calls.is_empty()),
        None => false,
    }
}

/// Native calls: a list of `{name: arguments as JSON text}`.
fn calls(result: &Value) -> Option<Vec<Json>> {
    let call = |item: &Value| {
        let (name, arguments) = item.as_dict()?.iter().next()?;
        let (name, arguments) = (name.as_str()?, arguments.as_str()?);
        let function = json!({ "name": name, "arguments": arguments });
        Some(json!({ "type": "function", "function": function }))
    };
    result.as_list()?.iter().map(call).collect()
}

/// The answer of one turn. A result that is neither text nor calls is stored as JSON text, which is no call either.
pub(super) fn answer(result: Value, is_native: bool) -> Output {
    if is_native && let Some(tool_calls) = calls(&result) {
        return Output {
            tool_calls,
            ..Output::default()
        };
    }
    Output::text(match result {
        Value::Str(text) => half::readable(&text).into_owned(),
        other => other.to_json_text(),
    })
}

/// Turns of steps as messages; the last text is the answer.
pub(super) fn conversation(result: &Value) -> Output {
    let mut messages = Vec::new();
    let Some(turns) = result.as_list() else {
        let text = result
            .as_str()
            .map(|text| half::readable(text).into_owned());
        return Output {
            text: Some(text.unwrap_or_else(|| result.to_json_text())),
            messages: vec![json!({ "role": RESULT, "content": result.to_json() })],
            ..Output::default()
        };
    };
    let mut text = None;
    for turn in turns {
        messages.push(json!({ "role": "user", "content": "" }));
        for step in turn.as_list().unwrap_or_default() {
            messages.push(match calls(step) {
                Some(calls) if !calls.is_empty() => {
                    json!({ "role": "assistant", "content": null, "tool_calls": calls })
                }
                _ => json!({ "role": "assistant", "content": step.to_json() }),
            });
            text = step.as_str().map(str::to_owned).or(text);
        }
    }
    Output {
        text,
        messages,
        ..Output::default()
    }
}
