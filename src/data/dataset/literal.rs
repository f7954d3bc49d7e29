//! Numbers as a file writes them.
//!
//! `serde_json` reads `1.10` as 1.1 and rounds integers beyond 64 bits. A ground truth becomes a text anyway, so it is
//! taken from the line itself ([`keep`]); such integers are a text in every column ([`keep_integers`]). Numbers inside
//! objects stay numbers, for they may be arguments of tool calls.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Field, jsonl};

/// Which numbers of a column become the text that the file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// All that are no 64-bit integers.
    Always,
    /// Only those without an exponent: the benchmark reads digits alone.
    WithoutExponent,
}

/// Replaces numbers in these columns of a row by the text of its line.
pub(super) fn keep(fields: &mut Map<String, Value>, line: &str, columns: &[(Field, Written)]) {
    let mut wanted = columns.iter().filter(|(field, _)| {
        let value = fields.get(field.column());
        value.is_some_and(|value| has_number(value, &|number| number.is_f64()))
    });
    let Some(first) = wanted.next() else {
        return;
    };
    let wanted: Vec<_> = std::iter::once(first).chain(wanted).collect();
    with_members(line, |raw| {
        for (field, written) in &wanted {
            let member = (fields.get_mut(field.column()), raw.get(field.column()));
            if let (Some(value), Some(raw)) = member {
                write(value, raw.get(), field.members(), &|text| {
                    *written == Written::Always || !text.contains(['e', 'E'])
                });
            }
        }
    });
}

/// Replaces integers beyond 64 bits in a row by their digits.
pub(super) fn keep_integers(fields: &mut Map<String, Value>, line: &str) {
    if !fields.values().any(|value| has_number(value, &is_beyond)) {
        return;
    }
    with_members(line, |raw| {
        for (name, value) in fields.iter_mut() {
            if let Some(raw) = raw.get(name) {
                write(value, raw.get(), &[], &is_integer);
            }
        }
    });
}

/// Replaces an integer beyond 64 bits, or those in an array, by their digits. `json` is the text of the value.
pub fn exact_integers(value: &mut Value, json: &str) {
    if has_number(value, &is_beyond) {
        write(value, json.trim(), &[], &is_integer);
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.len() > 18 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_beyond(number: &serde_json::Number) -> bool {
    number.is_f64() && number.as_f64().is_some_and(|number| number.abs() >= 9e18)
}

fn has_number(value: &Value, is: &dyn Fn(&serde_json::Number) -> bool) -> bool {
    match value {
        Value::Number(number) => is(number),
        Value::Array(items) => items.iter().any(|item| has_number(item, is)),
        Value::Object(map) => map.values().any(|value| has_number(value, is)),
        _ => false,
    }
}

/// Calls `take` with the texts of a row's members.
fn with_members(line: &str, take: impl FnOnce(&HashMap<String, &RawValue>)) {
    if let Ok(raw) = serde_json::from_str(line) {
        take(&raw);
    } else if let Some(fixed) = jsonl::without_python_numbers(line)
        && let Ok(raw) = serde_json::from_str(&fixed)
    {
        take(&raw);
    }
}

/// Replaces the numbers at a path, in arrays too, by their text in `raw`.
fn write(value: &mut Value, raw: &str, path: &[String], wants: &dyn Fn(&str) -> bool) {
    match (value, path.split_first()) {
        (value @ Value::Number(_), None) if value.is_f64() && wants(raw) => {
            *value = Value::from(raw);
        }
        (Value::Array(items), first) => {
            let Ok(raw) = serde_json::from_str::<Vec<&RawValue>>(raw) else {
                return;
            };
            let place = first.and_then(|(name, rest)| Some((name.parse::<usize>().ok()?, rest)));
            for (number, (item, raw)) in items.iter_mut().zip(raw).enumerate() {
                match place {
                    Some((wanted, _)) if wanted != number => {}
                    Some((_, rest)) => write(item, raw.get(), rest, wants),
                    None => write(item, raw.get(), path, wants),
                }
            }
        }
        (Value::Object(map), Some((name, rest))) => {
            let Ok(raw) = serde_json::from_str::<HashMap<String, &RawValue>>(raw) else {
                return;
            };
            if let (Some(value), Some(raw)) = (map.get_mut(name), raw.get(name)) {
                write(value, raw.get(), rest, wants);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::read;
    use super::*;

    #[test]
    fn the_ground_truth_is_what_the_file_has() {
        let check = |name: &str, written, line: &str, expect: Value| {
            let mut fields = read("a.jsonl", line).unwrap().rows.remove(0).fields;
            let [whole, nested] = Field::named(name);
            let field = if fields.contains_key(name) {
                whole
            } else {
                nested
            };
            keep(&mut fields, line, &[(field, written)]);
            assert_eq!(fields["a"], expect, "{line}");
        };
        check("a", Written::Always, r#"{"a": 1.10}"#, json!("1.10"));
        check(
            "a",
            Written::Always,
            r#"{"a": 1e6, "b": NaN}"#,
            json!("1e6"),
        );
        check("a", Written::WithoutExponent, r#"{"a": 1e6}"#, json!(1e6));
        check(
            "a",
            Written::WithoutExponent,
            r#"{"a": 0.50}"#,
            json!("0.50"),
        );
        check("a", Written::Always, r#"{"a": 7, "b": 1.10}"#, json!(7));
        check(
            "a",
            Written::Always,
            r#"{"a": [1.0, 2, "x"]}"#,
            json!(["1.0", 2, "x"]),
        );
        check(
            "a.x",
            Written::Always,
            r#"{"a": {"x": 2.50, "y": 2.50}}"#,
            json!({"x": "2.50", "y": 2.5}),
        );
        check(
            "a.1",
            Written::Always,
            r#"{"a": [1.0, 2.0]}"#,
            json!([1.0, "2.0"]),
        );
        let calls = r#"{"a": [{"name": "f", "arguments": {"x": 1.10}}]}"#;
        check(
            "a",
            Written::Always,
            calls,
            json!([{"name": "f", "arguments": {"x": 1.1}}]),
        );
    }

    #[test]
    fn integers_keep_every_digit() {
        let line = r#"{"a": 123456789012345678901234567890, "b": [-99999999999999999999], "c": 1e30, "d": 18446744073709551615}"#;
        let fields = read("a.jsonl", line).unwrap().rows.remove(0).fields;
        assert_eq!(fields["a"], "123456789012345678901234567890");
        assert_eq!(fields["b"], json!(["-99999999999999999999"]));
        assert_eq!(fields["c"], json!(1e30));
        assert_eq!(fields["d"], json!(u64::MAX));
        let mut value = json!(1e29);
        exact_integers(&mut value, " 100000000000000000000000000001");
        assert_eq!(value, "100000000000000000000000000001");
    }
}
