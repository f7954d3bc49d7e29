//! Values of records in words.

use serde_json::{Number, Value};

/// `f1 0.5, excellent no, gold "clock"`: what is within another value stands in brackets.
pub(super) fn in_words(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => rounded(number),
        Value::String(_) => value.to_string(),
        Value::Array(items) => format!("[{}]", joined(items.iter().map(nested))),
        Value::Object(members) => joined(
            members
                .iter()
                .filter(|(_, value)| value.as_object().is_none_or(|members| !members.is_empty()))
                .map(|(name, value)| format!("{name} {}", nested(value))),
        ),
    }
}

fn nested(value: &Value) -> String {
    match value {
        Value::Object(_) => format!("({})", in_words(value)),
        value => in_words(value),
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// With at most four decimals, unless that would leave nothing.
fn rounded(number: &Number) -> String {
    let is_rounded = |value: &f64| *value == 0.0 || (1e-4..1e9).contains(&value.abs());
    let text = match number.as_f64().filter(is_rounded) {
        Some(value) if number.is_f64() => ((value * 1e4).round() / 1e4 + 0.0).to_string(),
        _ => number.to_string(),
    };
    match text.strip_prefix('-') {
        Some(amount) => format!("−{amount}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_words() {
        fn check(value: &Value, expect: &str) {
            assert_eq!(in_words(value), expect);
        }
        let details = json!({"f1": 0.0, "em": 0.333_333_3, "gold": "a \"clock\"", "ok": false});
        check(&details, r#"f1 0, em 0.3333, gold "a \"clock\"", ok no"#);
        check(
            &json!({"parts": {"a": {"value": 1}}, "items": [1, {"b": null}]}),
            "parts (a (value 1)), items [1, (b none)]",
        );
        check(&json!(0.000_001), "1e-6");
        check(&json!(-0.5), "−0.5");
        check(&json!(12), "12");
    }
}
