//! Calls as data, in the forms that programs write.

use super::{Call, arguments, is_name};
use crate::calls::plain_calls;
use crate::calls::{Dict, JsonValue as _, Value, half};

/// Keys that hold the name of a tool.
pub(super) const NAMES: [&str; 6] = [
    "name",
    "function",
    "tool",
    "tool_name",
    "function_name",
    "toolName",
];

/// Keys that hold the arguments.
pub(super) const ARGUMENTS: [&str; 7] = [
    "arguments",
    "parameters",
    "args",
    "params",
    "input",
    "kwargs",
    "tool_input",
];

/// Keys that wrap one or more calls.
pub(super) const AROUND: [&str; 8] = [
    "tool_calls",
    "function_calls",
    "calls",
    "tool_call",
    "function_call",
    "functionCall",
    "tool_use",
    "toolUse",
];

/// The maximum nesting of lists, or of wrappers around a call.
const DEPTH: usize = 4;

/// The calls in a value; `None` if it is something else.
///
/// | form | who writes it |
/// |---|---|
/// | `{"name": "f", "arguments": {…}}` | most; `parameters`, `args`, `params`, `input`, `kwargs` as well, and the arguments may be JSON in a text |
/// | `{"type": "function", "function": {"name": …, "arguments": "…"}}` | Chat Completions |
/// | `{"function": "f", "parameters": {…}}` | the leaderboard's JSON format; also `tool`, `tool_name` |
/// | `{"f": {…}}` | the leaderboard; several keys are several calls; in a list also `{"f": "{…}"}` |
/// | `"f(a=1)"` in a list | call text |
/// | a list of these, or `{"tool_calls": […]}` around | |
pub(crate) fn calls(value: &Value) -> Option<Vec<Call>> {
    let mut found = Vec::new();
    collect(value, 0, &mut found)?;
    Some(found)
}

/// The calls in a value, or what it is instead.
pub(crate) fn calls_or_reason(value: &Value) -> Result<Vec<Call>, String> {
    match value {
        Value::None => Ok(Vec::new()),
        Value::Str(text) => match Value::from_encoded_json(text) {
            Ok(value @ (Value::List(_) | Value::Dict(_))) => calls_or_reason(&value),
            _ => plain_calls(&half::readable(text))
                .map(|calls| calls.into_iter().map(Call::from).collect())
                .map_err(|fault| format!("is not a text of calls: {}", fault.message())),
        },
        Value::List(items) => {
            let mut found = Vec::new();
            for (place, item) in items.iter().enumerate() {
                let read = match item {
                    Value::Dict(dict) if is_only_a_name(dict) => {
                        one(dict).map(|call| found.push(call))
                    }
                    item => collect(item, 1, &mut found),
                };
                read.ok_or_else(|| format!("has no call in place {}", place + 1))?;
            }
            Ok(found)
        }
        Value::Dict(dict) if is_only_a_name(dict) => Ok(one(dict).into_iter().collect()),
        other => calls(other).ok_or_else(|| "is no call".to_owned()),
    }
}

/// A call without arguments: among other data it cannot be recognised as one.
fn is_only_a_name(dict: &Dict) -> bool {
    dict.len() == 1 && name(dict).is_some()
}

fn collect(value: &Value, depth: usize, found: &mut Vec<Call>) -> Option<()> {
    if depth > DEPTH {
        return None;
    }
    match value {
        Value::List(items) => items
            .iter()
            .try_for_each(|item| collect(item, depth + 1, found)),
        Value::Str(text) if depth > 0 => {
            found.extend(
                plain_calls(&half::readable(text))
                    .ok()?
                    .into_iter()
                    .map(Call::from),
            );
            Some(())
        }
        Value::Dict(dict) => {
            if has_arguments(dict) {
                found.push(one(dict)?);
                return Some(());
            }
            if let Some(Value::Dict(inner)) = dict.get_str("function") {
                found.push(one(inner)?);
                return Some(());
            }
            let around = AROUND.iter().find_map(|key| dict.get_str(key));
            if let Some(inner @ (Value::List(_) | Value::Dict(_))) = around {
                return collect(inner, depth + 1, found);
            }
            keyed(dict, depth, found)
        }
        _ => None,
    }
}

/// `{name: {arguments}}`.
fn keyed(dict: &Dict, depth: usize, found: &mut Vec<Call>) -> Option<()> {
    if dict.is_empty() {
        return None;
    }
    for (name, inner) in dict {
        let name = name.as_str().filter(|name| is_name(name))?;
        let inner = match inner {
            Value::Dict(_) => inner.clone(),
            // The leaderboard's result files contain native calls in this form, in a list.
            Value::Str(text) if depth > 0 => Value::from_encoded_json(text).ok()?,
            _ => return None,
        };
        inner.as_dict()?;
        let mut call = Call {
            name: name.to_owned(),
            ..Call::default()
        };
        arguments::put(&mut call, inner);
        found.push(call);
    }
    Some(())
}

fn name(dict: &Dict) -> Option<&str> {
    NAMES.iter().find_map(|key| dict.get_str(key)?.as_str())
}

fn has_arguments(dict: &Dict) -> bool {
    name(dict).is_some() && ARGUMENTS.iter().any(|key| dict.get_str(key).is_some())
}

/// The call of an object with a name; without an arguments key it has no arguments.
pub(super) fn one(dict: &Dict) -> Option<Call> {
    let mut call = Call {
        name: name(dict)?.to_owned(),
        ..Call::default()
    };
    match ARGUMENTS.iter().find_map(|key| dict.get_str(key)) {
        Some(Value::Str(text)) => Some(arguments::call(&call.name, &half::readable(text))),
        Some(value) => {
            arguments::put(&mut call, value.clone());
            Some(call)
        }
        None => Some(call),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(calls: &[Call]) -> String {
        let rendered = calls.iter().map(|call| {
            let positional = call.positional.iter().map(|value| value.repr().unwrap());
            let named = call.named.iter();
            let named = named.map(|(name, value)| format!("{name}={}", value.repr().unwrap()));
            let arguments: Vec<String> = positional.chain(named).collect();
            format!("{}({})", call.name, arguments.join(", "))
        });
        rendered.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn forms_of_calls() {
        let check = |json: &str, expect: Option<&str>| {
            let found = calls(&Value::from_json(json).unwrap());
            assert_eq!(
                found.map(|calls| rendered(&calls)).as_deref(),
                expect,
                "{json}"
            );
        };
        check(r#"{"name": "f", "arguments": {"a": 1}}"#, Some("f(a=1)"));
        check(
            r#"[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]"#,
            Some("f(a=1)"),
        );
        check(
            r#"{"function": "f", "parameters": {"a": 1}}"#,
            Some("f(a=1)"),
        );
        check(
            r#"{"type": "tool_use", "id": "x", "name": "f", "input": {}}"#,
            Some("f()"),
        );
        check(
            r#"{"functionCall": {"name": "f", "args": {"a": 1}}}"#,
            Some("f(a=1)"),
        );
        check(
            r#"{"thought": "…", "tool_calls": [{"name": "f", "args": null}, {"g.h": {}}]}"#,
            Some("f(); g.h()"),
        );
        check(r#"{"f": {"a": 1}, "g": {}}"#, Some("f(a=1); g()"));
        check(
            r#"["f(a=2*3)", {"name": "g", "arguments": "a=1, b='x'"}]"#,
            Some("f(a=6); g(a=1, b='x')"),
        );
        check(r#"[{"f": "{\"a\": 1}"}]"#, Some("f(a=1)"));
        check("[]", Some(""));
        for other in [
            "{}",
            "1",
            r#""f(a=1)""#,
            "[1]",
            r#"{"name": "Bob"}"#,
            r#"{"a b": {}}"#,
            r#"{"f": 1}"#,
            "null",
            "[[[[[[]]]]]]",
        ] {
            check(other, None);
        }
    }

    #[test]
    fn a_ground_truth_is_read_with_a_reason() {
        let check = |json: &str, expect: Result<&str, &str>| {
            let found =
                calls_or_reason(&Value::from_json(json).unwrap()).map(|calls| rendered(&calls));
            assert_eq!(found.as_deref().map_err(String::as_str), expect, "{json}");
        };
        check(r#""f(a=1)""#, Ok("f(a=1)"));
        check(r#""[{\"name\": \"f\", \"arguments\": {}}]""#, Ok("f()"));
        check(r#"[{"name": "now"}, "f(1)"]"#, Ok("now(); f(1)"));
        check(r#"{"name": "now"}"#, Ok("now()"));
        check("null", Ok(""));
        check("[]", Ok(""));
        check(r#"[{"name": "f"}, 3]"#, Err("has no call in place 2"));
        check("3", Err("is no call"));
        check(r#""f(""#, Err("is not a text of calls: invalid syntax"));
    }
}
