//! Converts JavaScript source texts to values, by the parameter's type.

use std::sync::LazyLock;

use regex::Regex;

use super::Int;
use super::{Dict, Value};
use super::{fraction, integer, pattern};
use crate::calls::Crash;
use crate::text::{is_py_space, py_float};

static NESTED_ARRAY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\[\s*\[.*?\]\s*(?:,\s*\[.*?\]\s*)*\]|new\s+Array\(\s*\[.*?\]\s*(?:,\s*\[.*?\]\s*)*\))",
    )
});
static INNER_ARRAY: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[(.*?)\]"));
static ARRAY: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:\[(.*?)\]|new\s+Array\((.*?)\))"));
static OBJECT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\{(.*?)\}"));

/// Converts a text. If it does not match the type it stays text, and the checker reports a wrong type.
pub(crate) fn convert(text: &str, kind: &str, item: Option<&str>) -> Result<Value, Crash> {
    let as_text = || Value::from(text);
    let bad_int = || Crash::new("ValueError: invalid literal for int()");
    // Python's `$` also matches before a final line break.
    let line = text.strip_suffix('\n').unwrap_or(text);
    Ok(match kind {
        "String" => Value::from(unquoted(text).unwrap_or(text)),
        "integer" if integer(line) => Value::Int(Int::from_text(line).ok_or_else(bad_int)?),
        "float" if fraction(line) => py_float(line).map_or_else(as_text, Value::Float),
        "Bigint" => match line.strip_suffix('n').filter(|digits| integer(digits)) {
            // With a final line break the `n` is not removed, and the conversion fails.
            Some(digits) if line == text => Value::Int(Int::from_text(digits).ok_or_else(bad_int)?),
            Some(_) => return Err(bad_int()),
            None => as_text(),
        },
        "Boolean" if matches!(text, "true" | "false") => Value::Bool(text == "true"),
        "dict" => object(text),
        "array" => array(text, item),
        _ => as_text(),
    })
}

/// `[1, 2]` or `new Array(1, 2)`, or an array of those. Items end at any comma.
fn array(text: &str, item: Option<&str>) -> Value {
    let text = text.trim_matches(is_py_space);
    if let Some(found) = NESTED_ARRAY.find(text) {
        let arrays = INNER_ARRAY.captures_iter(found.as_str()).enumerate();
        let arrays = arrays.map(|(place, inner)| {
            let inner = inner[1].trim_matches(is_py_space);
            // The very first bracket is still there.
            let inner = if place == 0 {
                inner.strip_prefix('[').unwrap_or(inner)
            } else {
                inner
            };
            Value::List(inner.split(',').map(guess).collect())
        });
        return Value::List(arrays.collect());
    }
    let Some(found) = ARRAY.captures(text) else {
        return Value::from(text);
    };
    let items = found
        .get(1)
        .or_else(|| found.get(2))
        .map_or("", |items| items.as_str());
    let items = items.trim_matches(is_py_space);
    if items.is_empty() {
        return Value::List(Vec::new());
    }
    let element = |text: &str| {
        let text = text.trim_matches(is_py_space);
        match item {
            Some(kind) => {
                let inner = text.starts_with(['\'', '"']).then_some("String");
                convert(text, kind, inner)
            }
            None => Ok(guess(text)),
        }
    };
    let items: Result<Vec<Value>, Crash> = items.split(',').map(element).collect();
    // If an item cannot be converted, the official program keeps the text.
    items.map_or_else(|_| Value::from(text), Value::List)
}

/// `{a: 1, "b": [2]}`, up to the first closing brace. Quotes around a value are removed before it is read, so `'5'` is
/// a number.
fn object(text: &str) -> Value {
    let text = text.trim_matches(is_py_space);
    if text == "{}" {
        return Value::Dict(Dict::new());
    }
    let Some(found) = OBJECT.captures(text) else {
        return Value::from(text);
    };
    let mut dict = Dict::new();
    for (key, value) in pairs(&found[1]) {
        let key = key.trim_matches(is_py_space).trim_matches(['\'', '"']);
        let value = value.trim_matches(is_py_space);
        let value = if value.starts_with('[') && value.ends_with(']') {
            array(value, None)
        } else if value.starts_with('{') && value.ends_with('}') {
            object(value)
        } else {
            guess(value.trim_matches(['\'', '"']))
        };
        dict.insert(Value::from(key), value);
    }
    Value::Dict(dict)
}

/// The matches of `([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)` in a line: a value ends at a comma that has a colon before the
/// next comma.
fn pairs(line: &str) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    let mut rest = line.trim_start_matches(':');
    while let Some((key, after)) = rest.split_once(':') {
        let value = after.trim_start_matches(is_py_space);
        let end = value.match_indices(',').find_map(|(comma, _)| {
            let next = &value[comma + 1..];
            let next = &next[..next.find(',').unwrap_or(next.len())];
            let colon = next.rfind(':')?;
            // At least one character precedes the colon, possibly a space.
            let blanks = next.len() - next.trim_start_matches(is_py_space).len();
            let skipped = next
                .char_indices()
                .map(|(place, c)| (place, place + c.len_utf8()))
                .take_while(|&(place, after)| place <= blanks && after <= colon)
                .last()?;
            Some((comma, comma + 1 + skipped.0))
        });
        let Some((comma, next)) = end else {
            pairs.push((key, value));
            break;
        };
        pairs.push((key, &value[..comma]));
        rest = value[next..].trim_start_matches(':');
    }
    pairs
}

/// The value of a text of unknown type.
fn guess(text: &str) -> Value {
    let text = text.trim_matches(is_py_space);
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => match unquoted(text) {
            Some(inner) => Value::from(inner),
            None => number_or_text(text),
        },
    }
}

/// An integer, else a float, else the text.
pub(super) fn number_or_text(text: &str) -> Value {
    if let Some(value) = Int::from_text(text) {
        return Value::Int(value);
    }
    py_float(text).map_or_else(|| Value::from(text), Value::Float)
}

/// The text between two equal quotes. A single quote character counts as both.
fn unquoted(text: &str) -> Option<&str> {
    ['"', '\''].into_iter().find_map(|quote| {
        let rest = text.strip_prefix(quote).filter(|_| text.ends_with(quote))?;
        Some(rest.strip_suffix(quote).unwrap_or(rest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::tests::check_value;

    fn check(text: &str, kind: &str, item: Option<&str>, expect: &str) {
        check_value(text, convert(text, kind, item), expect);
    }

    #[test]
    fn scalars() {
        check("'a'", "String", None, "'a'");
        check("\"a'", "String", None, "'\"a\\''");
        check("\"", "String", None, "''");
        check("5", "integer", None, "5");
        check("5\n", "integer", None, "5");
        check("5.0", "integer", None, "'5.0'");
        check("5", "float", None, "5.0");
        check("1e5", "float", None, "'1e5'");
        check("5n", "Bigint", None, "5");
        check("5", "Bigint", None, "'5'");
        check("false", "Boolean", None, "False");
        check("False", "Boolean", None, "'False'");
        check("5", "any", None, "'5'");
        assert!(convert("5n\n", "Bigint", None).is_err());
        assert!(convert(&"9".repeat(4301), "integer", None).is_err());
    }

    #[test]
    fn arrays() {
        check("[]", "array", Some("String"), "[]");
        check(
            " ['a', \"b\", c] ",
            "array",
            Some("String"),
            "['a', 'b', 'c']",
        );
        check("[1, x, 2.5]", "array", Some("integer"), "[1, 'x', '2.5']");
        check("['a,b']", "array", Some("String"), "[\"'a\", \"b'\"]");
        check("new Array(1, 2)", "array", Some("integer"), "[1, 2]");
        check("[1, 2", "array", Some("integer"), "'[1, 2'");
        check("[1] + [2]", "array", Some("integer"), "[1]");
        check(
            "[ [1, 'a'], [ true ] ]",
            "array",
            Some("array"),
            "[[1, 'a'], [True]]",
        );
        check(
            "new Array([1], [2.5])",
            "array",
            Some("array"),
            "[[1], [2.5]]",
        );
        check(
            "[{a: 1}, {b: 'x'}]",
            "array",
            Some("dict"),
            "[{'a': 1}, {'b': 'x'}]",
        );
        check(
            &format!("[{}]", "9".repeat(4301)),
            "array",
            Some("integer"),
            &format!("'[{}]'", "9".repeat(4301)),
        );
    }

    #[test]
    fn objects() {
        check("{}", "dict", None, "{}");
        check(
            "{a: 1, 'b': 'x', \"c\": true}",
            "dict",
            None,
            "{'a': 1, 'b': 'x', 'c': True}",
        );
        check("{a: '5', b: 'true'}", "dict", None, "{'a': 5, 'b': True}");
        check(
            "{a: [1, 'x'], b: y}",
            "dict",
            None,
            "{'a': [1, 'x'], 'b': 'y'}",
        );
        check(
            "{a: 'x, y', b: 'x: y, z'}",
            "dict",
            None,
            "{'a': 'x, y', 'b': 'x: y, z'}",
        );
        check("{a: 'x, y:z'}", "dict", None, "{'a': 'x', 'y': 'z'}");
        check("{a: {b: 1}}", "dict", None, "{'a': '{b: 1'}");
        check("{a: 1, :2}", "dict", None, "{'a': 1, '': 2}");
        check("{a: 1,:2}", "dict", None, "{'a': '1,:2'}");
        check("{a}", "dict", None, "{}");
        check("x", "dict", None, "'x'");
    }
}
