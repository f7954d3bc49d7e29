//! A canonical text for values that count as equal.

use std::fmt::Write as _;

use crate::calls::literal_eval;
use crate::calls::{Dict, Int, Value, repr_str};
use crate::text::py_repr_float;

/// How strictly the types of values are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Types {
    /// `1` is neither `1.0` nor `"1"`.
    Strict,
    /// Numbers are compared by value: `1` is `1.0`, but not `"1"`.
    #[default]
    Numeric,
    /// A string also equals the number, boolean or null that it spells: `1` is `1.0` and `"1"`.
    Lenient,
}

impl Types {
    /// A text that is the same for equal values, and different for others.
    pub(super) fn canonical(self, value: &Value) -> String {
        let mut out = String::new();
        self.write(value, &mut out);
        out
    }

    fn write(self, value: &Value, out: &mut String) {
        match value {
            Value::None => out.push_str("None"),
            Value::Bool(value) => out.push_str(if *value { "True" } else { "False" }),
            Value::Int(value) => self.write_int(value, out),
            Value::Float(value) => self.write_float(*value, out),
            Value::Complex(re, im) => {
                let (re, im) = (py_repr_float(re + 0.0), py_repr_float(im + 0.0));
                let _ = write!(out, "complex({re}, {im})");
            }
            Value::Str(text) => match spelled(text).filter(|_| self == Self::Lenient) {
                Some(value) => self.write(&value, out),
                None => out.push_str(&repr_str(text)),
            },
            Value::Bytes(_) | Value::Ellipsis => out.push_str(&value.repr().unwrap_or_default()),
            // JSON has no tuples.
            Value::List(items) | Value::Tuple(items) => {
                out.push('[');
                for (place, item) in items.iter().enumerate() {
                    out.push_str(if place > 0 { ", " } else { "" });
                    self.write(item, out);
                }
                out.push(']');
            }
            Value::Set(items) => {
                let mut items: Vec<String> =
                    items.iter().map(|item| self.canonical(item)).collect();
                items.sort_unstable();
                items.dedup();
                let _ = write!(out, "{{{}}}", items.join(", "));
            }
            Value::Dict(dict) => self.write_dict(dict, out),
        }
    }

    /// The order of keys is ignored.
    fn write_dict(self, dict: &Dict, out: &mut String) {
        let entries = dict.iter().map(|(key, value)| (self.canonical(key), value));
        let mut entries: Vec<(String, &Value)> = entries.collect();
        // A stable sort: if keys become equal, the last one counts.
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        out.push('{');
        let mut is_first = true;
        for (place, (key, value)) in entries.iter().enumerate() {
            if entries.get(place + 1).is_some_and(|next| next.0 == *key) {
                continue;
            }
            out.push_str(if is_first { "" } else { ", " });
            is_first = false;
            out.push_str(key);
            out.push_str(": ");
            self.write(value, out);
        }
        out.push('}');
    }

    fn write_int(self, value: &Int, out: &mut String) {
        match value.to_i64().filter(|small| small.unsigned_abs() <= EXACT) {
            Some(small) => {
                let _ = write!(out, "{small}");
            }
            // Beyond 2⁵³ use the float's text, if it is the same number.
            None if self != Self::Strict && value.equals_f64(value.nearest_f64()) => {
                out.push_str(&py_repr_float(value.nearest_f64()));
            }
            None => match value.to_text() {
                Some(text) => out.push_str(&text),
                None => out.push_str(&value.to_hex()),
            },
        }
    }

    fn write_float(self, value: f64, out: &mut String) {
        // Minus zero is zero.
        let value = value + 0.0;
        let whole = Int::from_f64(value).and_then(|whole| whole.to_i64());
        let whole = whole.filter(|whole| value.fract() == 0.0 && whole.unsigned_abs() <= EXACT);
        match whole {
            Some(whole) if self != Self::Strict => {
                let _ = write!(out, "{whole}");
            }
            _ => out.push_str(&py_repr_float(value)),
        }
    }
}

/// Up to here every integer is a double.
const EXACT: u64 = 1 << 53;

/// The maximum length of a text that is parsed as a number, in bytes.
const LONGEST_NUMBER: usize = 400;

/// The constant that a text spells.
fn spelled(text: &str) -> Option<Value> {
    let text = text.trim();
    let first = text.chars().next()?;
    match text.to_ascii_lowercase().as_str() {
        _ if text.len() > LONGEST_NUMBER => None,
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        "null" | "none" => Some(Value::None),
        _ if !(first.is_ascii_digit() || "+-.".contains(first)) => None,
        _ => literal_eval(text)
            .ok()
            .filter(|value| matches!(value, Value::Int(_) | Value::Float(_))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Value {
        let text = format!("f({text})");
        let mut calls = crate::calls::plain_calls(&text).unwrap();
        calls.remove(0).positional.remove(0)
    }

    /// Whether strict, numeric and lenient treat them as equal.
    #[track_caller]
    fn check(a: &str, b: &str, expect: [bool; 3]) {
        let got = [Types::Strict, Types::Numeric, Types::Lenient]
            .map(|types| types.canonical(&read(a)) == types.canonical(&read(b)));
        assert_eq!(got, expect, "{a} {b}");
    }

    #[test]
    fn what_is_equal() {
        let (always, never) = ([true; 3], [false; 3]);
        check("1", "1", always);
        check("1", "2-1", always);
        check("1", "1.0", [false, true, true]);
        check("1", "'1'", [false, false, true]);
        check("1.5", "' 1.50 '", [false, false, true]);
        check("1", "True", never);
        check("True", "'true'", [false, false, true]);
        check("None", "'null'", [false, false, true]);
        check("0", "-0.0", [false, true, true]);
        check("0.0", "-0.0", always);
        check("10**20", "1e20", [false, true, true]);
        check("10**20+1", "1e20", never);
        check("2**53", "2.0**53", [false, true, true]);
        check("2**53+1", "2.0**53", never);
        check("2**70", "2.0**70", [false, true, true]);
        check("'a'", "\"a\"", always);
        check("'a'", "'A'", never);
        check("'a\\n'", "'''a\n'''", always);
        check("'x' 'y'", "'xy'", always);
        check("[1, 2]", "(1, 2)", always);
        check("[1, 2]", "[2, 1]", never);
        check(
            "{'a': 1, 'b': [2]}",
            "{'b': [4/2], 'a': 1}",
            [false, true, true],
        );
        check("{'a': 1}", "{'a': 1, 'b': 2}", never);
        check("{1: 2}", "{'1': 2}", [false, false, true]);
        check("{1, 2}", "{2, 1, 1}", always);
        check("1e999", "1e998", always);
    }
}
