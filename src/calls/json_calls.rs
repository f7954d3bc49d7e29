//! Calls as JSON: `[{"function": "f", "parameters": {"a": 1}}]`.

use super::json::JsonFault;
use super::{DecodeFault, DecodeResult};
use super::{Dict, JsonValue as _, Value};
use crate::text::is_py_space;

/// The calls in a text. A text that is not JSON holds none, which is no fault.
pub(super) fn calls(text: &str) -> DecodeResult<Value> {
    let text = array(text);
    let json = match Value::from_encoded_json(text) {
        Ok(json) => json,
        Err(JsonFault::Syntax) => return Ok(Value::List(Vec::new())),
        Err(JsonFault::TooManyDigits | JsonFault::TooDeep) => {
            return Err(DecodeFault::new("the JSON is beyond Python's limits"));
        }
    };
    let items = match &json {
        Value::List(items) => &**items,
        // Python iterates over the characters or keys, which are no calls.
        Value::Str(_) | Value::Dict(_) => &[],
        other => {
            let class = other.type_name();
            return Err(DecodeFault::new(format!(
                "'{class}' object is not iterable"
            )));
        }
    };
    let mut calls = Vec::new();
    for call in items.iter().filter_map(Value::as_dict) {
        let entry = |key: &str| {
            call.get_str(key)
                .ok_or_else(|| DecodeFault::new(format!("'{key}'")))
        };
        let (name, arguments) = (entry("function")?, entry("parameters")?);
        if !name.is_hashable() {
            let class = name.type_name();
            return Err(DecodeFault::new(format!("unhashable type: '{class}'")));
        }
        calls.push(Value::Dict(Dict::of(name.clone(), arguments.clone())));
    }
    Ok(Value::List(calls))
}

/// The part to parse: from the first `[` to the last `]`, and in it from the first `[ {` to the next `} ]`, as matched
/// by the two regular expressions of the official program.
fn array(text: &str) -> &str {
    let outer = match (text.find('['), text.rfind(']')) {
        (Some(start), Some(end)) if start < end => &text[start..=end],
        _ => text,
    };
    inner(outer).unwrap_or(outer)
}

fn inner(text: &str) -> Option<&str> {
    let start = followed_by(text, '[', '{')?.0;
    let end = followed_by(&text[start..], '}', ']')?.1;
    Some(&text[start..start + end])
}

/// The start of the first `a` followed by `b` (with white space between them), and the end of that `b`.
fn followed_by(text: &str, a: char, b: char) -> Option<(usize, usize)> {
    text.match_indices(a).find_map(|(place, _)| {
        let rest = &text[place + 1..];
        let next = rest.trim_start_matches(is_py_space);
        next.starts_with(b)
            .then(|| (place, text.len() - next.len() + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::tests::check_calls;

    #[test]
    fn calls_in_texts() {
        fn check(text: &str, expect: Option<&str>) {
            check_calls(text, &calls(text), expect);
        }
        let one = Some("[{'f': {'a': 1}}]");
        check(r#"[{"function": "f", "parameters": {"a": 1}}]"#, one);
        check(
            r#"[So: [ {"function": "f", "parameters": {"a": 1}} ] ok]"#,
            one,
        );
        check(
            r#"[{"function": "f", "parameters": {"a": 1}}], 2, "x"]"#,
            one,
        );
        check(
            r#"[1, {"function": "f", "parameters": {"a": 1}}, "x"]"#,
            one,
        );
        check(
            r#"[{"function": "f", "parameters": {"a": [{"b": 1}]}}]"#,
            Some("[]"),
        );
        check("[f(a=1)]", Some("[]"));
        check("[]", Some("[]"));
        check(r#"{"function": "f"}"#, Some("[]"));
        check("\"f\"", Some("[]"));
        check("7", None);
        check(r#"[{"function": "f"}]"#, None);
        check(r#"[{"function": [], "parameters": {}}]"#, None);
        check(
            r#"[{"function": null, "parameters": 1}]"#,
            Some("[{None: 1}]"),
        );
        check(&format!("[{}]", "9".repeat(5000)), None);
    }
}
