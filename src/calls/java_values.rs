//! Converts Java source texts to values, by the parameter's type.

use std::sync::LazyLock;

use regex::Regex;

use super::Int;
use super::half;
use super::{Dict, Value};
use super::{decimal, integer, pattern};
use crate::calls::Crash;
use crate::text::{is_py_space, py_float};

static AS_LIST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)"));
static ADDS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?s)new\s+ArrayList<\w*>\(\)\s*\{\{\s*(.+?)\s*\}\}"));
static ADD: LazyLock<Regex> = LazyLock::new(|| pattern(r"add\((.+?)\)"));
static EMPTY_LIST: LazyLock<Regex> = LazyLock::new(|| pattern(r"new\s+ArrayList<\w*>\(\)"));
static ARRAY: LazyLock<Regex> = LazyLock::new(|| pattern(r"new\s+\w+\[\]\s*\{(.*?)\}"));
static MAP: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?s)new\s+HashMap<.*?>\s*\(\)\s*\{\s*\{?\s*(.*?)\s*\}?\s*\}"));
static PUT: LazyLock<Regex> = LazyLock::new(|| pattern(r#"put\("(.*?)",\s*(.*?)\)"#));
static EMPTY_MAP: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?-s)new\s+HashMap<.*?>\s*\(\)"));

/// Converts a text. If it does not match the type it stays text, and the checker reports a wrong type.
pub(crate) fn convert(text: &str, kind: &str, item: Option<&str>) -> Result<Value, Crash> {
    let as_text = || Value::from(text);
    let too_long = || Crash::new("ValueError: Exceeds the limit (4300 digits)");
    let to_int = |digits: &str| Int::from_text(digits).map(Value::Int).ok_or_else(too_long);
    let to_float = |digits: &str| py_float(digits).map_or_else(as_text, Value::Float);
    // Python's `$` also matches before a final line break.
    let line = text.strip_suffix('\n').unwrap_or(text);
    Ok(match kind {
        "byte" | "short" | "integer" if integer(line) => to_int(line)?,
        "long" => match line
            .strip_suffix(['l', 'L'])
            .filter(|digits| integer(digits))
        {
            Some(digits) => to_int(digits)?,
            None => as_text(),
        },
        "float" => match line
            .strip_suffix(['f', 'F'])
            .filter(|digits| decimal(digits))
        {
            Some(digits) => to_float(digits),
            None => as_text(),
        },
        "double" if decimal(line) => to_float(line),
        "boolean" if matches!(text, "true" | "false") => Value::Bool(text == "true"),
        "Array" => array(text, item)?,
        "ArrayList" => array_list(text, item)?,
        "HashMap" => hash_map(text)?,
        "Set" | "Hashtable" | "Queue" | "Stack" => {
            let message = format!("NotImplementedError: {kind} conversion is not implemented");
            return Err(Crash::new(message));
        }
        _ => as_text(),
    })
}

/// `new String[]{"a", "b"}`: items keep their quotes.
fn array(text: &str, item: Option<&str>) -> Result<Value, Crash> {
    let Some(found) = ARRAY.captures(text) else {
        return Ok(Value::from(text));
    };
    let items = found[1]
        .split(',')
        .map(|item| item.trim_matches(is_py_space));
    let items = items.filter(|item| !item.is_empty());
    items
        .map(|text| element(text, item))
        .collect::<Result<_, _>>()
        .map(Value::List)
}

/// `new ArrayList<>(Arrays.asList(1, 2))` or `new ArrayList<>() {{ add(1); add(2); }}`.
fn array_list(text: &str, item: Option<&str>) -> Result<Value, Crash> {
    let listed = |text: &str| {
        let text = text.trim_matches(is_py_space);
        match item {
            // Drops the first and the last character, whatever they are.
            Some("char" | "String") => Ok(Value::from(half::without_ends(text))),
            item => element(text, item),
        }
    };
    let items: Result<Vec<Value>, Crash> = if let Some(found) = AS_LIST.captures(text) {
        found[1].split(',').map(listed).collect()
    } else if let Some(found) = ADDS.captures(text) {
        ADD.captures_iter(&found[1])
            .map(|add| listed(&add[1]))
            .collect()
    } else if EMPTY_LIST.is_match(text) {
        Ok(Vec::new())
    } else {
        return Ok(Value::from(text));
    };
    items.map(Value::List)
}

fn element(text: &str, kind: Option<&str>) -> Result<Value, Crash> {
    match kind {
        Some(kind) => convert(text, kind, None),
        None => guess(text),
    }
}

/// `new HashMap<>() {{ put("a", 1); }}`.
fn hash_map(text: &str) -> Result<Value, Crash> {
    let Some(found) = MAP.captures(text) else {
        let empty = EMPTY_MAP.is_match(text);
        return Ok(if empty {
            Value::Dict(Dict::new())
        } else {
            Value::from(text)
        });
    };
    let mut dict = Dict::new();
    for put in PUT.captures_iter(&found[1]) {
        let value = guess(put[2].trim_matches(is_py_space))?;
        dict.insert(Value::from(&put[1]), value);
    }
    Ok(Value::Dict(dict))
}

/// The value of a text of unknown type.
fn guess(text: &str) -> Result<Value, Crash> {
    if matches!(text, "true" | "false") {
        return Ok(Value::Bool(text == "true"));
    }
    if let Some(rest) = text.strip_prefix('"')
        && text.ends_with('"')
    {
        return Ok(Value::from(rest.strip_suffix('"').unwrap_or(rest)));
    }
    for kind in ["long", "float"] {
        let value = convert(text, kind, None)?;
        if value.as_str().is_none() {
            return Ok(value);
        }
    }
    Ok(super::javascript_values::number_or_text(text))
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
        check("-12", "integer", None, "-12");
        check("12\n", "byte", None, "12");
        check("+12", "short", None, "'+12'");
        check("12L", "integer", None, "'12L'");
        check("12L", "long", None, "12");
        check("12", "long", None, "'12'");
        check("1.5f", "float", None, "1.5");
        check("-3e2F", "float", None, "-300.0");
        check("1.5", "float", None, "'1.5'");
        check("1.5", "double", None, "1.5");
        check("1.", "double", None, "'1.'");
        check("5", "double", None, "5.0");
        check("true", "boolean", None, "True");
        check("True", "boolean", None, "'True'");
        check("'a'", "char", None, "\"'a'\"");
        check("12", "String", None, "'12'");
        check("12", "any", None, "'12'");
        assert!(convert("new HashSet<>()", "Set", None).is_err());
        assert!(convert(&"9".repeat(4301), "integer", None).is_err());
    }

    #[test]
    fn collections() {
        check("new int[]{1, 2,,}", "Array", Some("integer"), "[1, 2]");
        check(
            "new String[]{\"a\", b}",
            "Array",
            Some("String"),
            "['\"a\"', 'b']",
        );
        check("[1]", "Array", Some("integer"), "'[1]'");
        check(
            "new ArrayList<>(Arrays.asList(1, x))",
            "ArrayList",
            Some("integer"),
            "[1, 'x']",
        );
        check(
            "new ArrayList<>(Arrays.asList(\"a\", 'b'))",
            "ArrayList",
            Some("String"),
            "['a', 'b']",
        );
        check(
            "new ArrayList<A>() {{ add(\"a\");\nadd(\"b\"); }}",
            "ArrayList",
            Some("String"),
            "['a', 'b']",
        );
        check("new ArrayList<>()", "ArrayList", Some("String"), "[]");
        // Names are words as Python defines them.
        check("new m²[]{1}", "Array", Some("integer"), "[1]");
        check(
            "new e\u{301}[]{1}",
            "Array",
            Some("integer"),
            "'new e\u{301}[]{1}'",
        );
        check("new ArrayList<½>()", "ArrayList", None, "[]");
        check(
            "new ArrayList<½>(Arrays.asList(1))",
            "ArrayList",
            None,
            "[1]",
        );
        check(
            "new ArrayList<Ⓐ>() {{ add(1); }}",
            "ArrayList",
            None,
            "'new ArrayList<Ⓐ>() {{ add(1); }}'",
        );
        check(
            "Arrays.asList(1)",
            "ArrayList",
            Some("integer"),
            "'Arrays.asList(1)'",
        );
        check(
            "new HashMap<String, Object>() {{ put(\"a\", 1); put(\"b\", \"x\");\nput(\"c\", 2L); put(\"d\", 1.5f); put(\"e\", true); put(\"f\", y); }}",
            "HashMap",
            None,
            "{'a': 1, 'b': 'x', 'c': 2, 'd': 1.5, 'e': True, 'f': 'y'}",
        );
        check("new HashMap<>()", "HashMap", None, "{}");
        check("new HashMap<>() {{ }}", "HashMap", None, "{}");
        check("{}", "HashMap", None, "'{}'");
    }
}
