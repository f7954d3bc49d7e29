//! `FieldKind`: checks and normalises a value.
//!
//! A value with a valid meaning is normalised, such as `"042"` for an integer. Otherwise the error describes the value.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};

use super::fields::{ItemFields, is_blank};
use crate::error::{Error, Result};
use crate::text::excerpt;

/// The type and constraints of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FieldKind {
    /// A text with a length in characters.
    Text(LengthRange),
    /// An integer in an inclusive range.
    Integer([i64; 2]),
    Number([f64; 2]),
    Boolean,
    /// One of these.
    Choice(Vec<String>),
    /// A list with a number of elements, each of a kind if one is set.
    List(LengthRange, Option<Box<FieldKind>>),
    Object(ItemFields),
}

/// A range of lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LengthRange {
    least: Option<u64>,
    most: Option<u64>,
}

/// An integer as models write it in quotes.
static WHOLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[+-]?[0-9]+(?:\.0*)?$").expect("a constant pattern"));

/// A decimal number in quotes.
static DECIMAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$")
        .expect("a constant pattern")
});

impl LengthRange {
    pub(super) fn of(least: Option<u64>, most: Option<u64>) -> Result<Self> {
        match (least, most) {
            (Some(low), Some(high)) if low > high => {
                let error = Error::usage(format!("no length is from {low} to {high}"));
                Err(error
                    .hint("correct `min_length` or `max_length`")
                    .under("min_length"))
            }
            _ => Ok(Self { least, most }),
        }
    }

    fn holds(self, length: usize) -> bool {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        self.least.is_none_or(|least| least <= length)
            && self.most.is_none_or(|most| length <= most)
    }

    /// A description such as `a text of 3 to 5 characters`.
    fn definition(self, of: &str) -> String {
        match (self.least, self.most) {
            (None, None) => String::new(),
            (Some(least), None) => format!(" of at least {least} {of}"),
            (None, Some(most)) => format!(" of at most {most} {of}"),
            (Some(least), Some(most)) => format!(" of {least} to {most} {of}"),
        }
    }
}

impl FieldKind {
    /// The normalised value; or a description of the invalid one.
    pub(crate) fn normal(&self, value: &Value) -> Result<Value, String> {
        let wrong = || format!("is {}, not {}", display(value), self.definition());
        let text = || value.as_str();
        match self {
            Self::Text(span) => {
                let text = text().ok_or_else(wrong)?;
                let length = text.chars().count();
                if span.holds(length) {
                    Ok(value.clone())
                } else {
                    Err(format!(
                        "has {length} characters and is not {}",
                        self.definition()
                    ))
                }
            }
            Self::Integer([low, high]) => {
                let number = integer(value).filter(|number| (low..=high).contains(&number));
                number.map(Value::from).ok_or_else(wrong)
            }
            Self::Number([low, high]) => {
                let number = decimal(value).filter(|number| (low..=high).contains(&number));
                match number {
                    // Unchanged, so that 3 stays 3.
                    Some(_) if value.is_number() => Ok(value.clone()),
                    Some(number) => Ok(number.into()),
                    None => Err(wrong()),
                }
            }
            Self::Boolean => {
                let truth = value.as_bool().or_else(|| match &*folded(text()?) {
                    "true" => Some(true),
                    "false" => Some(false),
                    _ => None,
                });
                truth.map(Value::from).ok_or_else(wrong)
            }
            Self::Choice(choices) => {
                let normalized = match value {
                    Value::String(text) => folded(text),
                    Value::Number(_) | Value::Bool(_) => value.to_string(),
                    _ => return Err(wrong()),
                };
                let found = choices.iter().find(|choice| folded(choice) == normalized);
                found.map(|choice| choice.as_str().into()).ok_or_else(wrong)
            }
            Self::List(span, kind) => {
                let items = value.as_array().ok_or_else(wrong)?;
                if !span.holds(items.len()) {
                    let length = items.len();
                    return Err(format!(
                        "has {length} elements and is not {}",
                        self.definition()
                    ));
                }
                let Some(kind) = kind else {
                    return Ok(value.clone());
                };
                let items = items.iter().enumerate().map(|(place, item)| {
                    let definition =
                        |why: String| format!("has a mistake in element {}: it {why}", place + 1);
                    if is_blank(item) {
                        return Err(definition("is blank".to_owned()));
                    }
                    kind.normal(item).map_err(definition)
                });
                items.collect::<Result<Vec<_>, _>>().map(Value::from)
            }
            Self::Object(fields) => {
                let map = value.as_object().ok_or_else(wrong)?;
                object(fields, map).map(Value::from)
            }
        }
    }

    /// A description for agents and people.
    pub(crate) fn definition(&self) -> String {
        match self {
            Self::Text(span) => format!("a text{}", span.definition("characters")),
            Self::Integer([low, high]) if high - low >= 1 << 53 => "an integer".to_owned(),
            Self::Integer([low, high]) => format!("an integer from {low} to {high}"),
            Self::Number([low, high]) if *low <= f64::MIN && *high >= f64::MAX => {
                "a number".to_owned()
            }
            Self::Number([low, high]) => format!("a number from {low} to {high}"),
            Self::Boolean => "true or false".to_owned(),
            Self::Choice(choices) => {
                let choices: Vec<_> = choices.iter().map(|one| format!("\"{one}\"")).collect();
                format!("one of {}", choices.join(", "))
            }
            Self::List(span, kind) => {
                let each = kind
                    .as_ref()
                    .map(|kind| format!(", each {}", kind.definition()));
                let length = span.definition("elements");
                format!("a list{length}{}", each.unwrap_or_default())
            }
            Self::Object(fields) => {
                let each = fields.0.iter();
                let each =
                    each.map(|field| format!("\"{}\" ({})", field.name, field.kind.definition()));
                format!("an object of {}", each.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Everything that affects which values are valid.
    pub(super) fn canonical(&self) -> Value {
        match self {
            Self::Text(LengthRange { least, most }) => json!(["text", least, most]),
            Self::Integer(ends) => json!(["integer", ends]),
            Self::Number(ends) => json!(["number", ends]),
            Self::Boolean => json!(["boolean"]),
            Self::Choice(choices) => json!(["choice", choices]),
            Self::List(LengthRange { least, most }, kind) => {
                let kind = kind.as_ref().map(|kind| kind.canonical());
                json!(["list", least, most, kind])
            }
            Self::Object(fields) => json!(["object", fields.canonical()]),
        }
    }
}

fn object(fields: &ItemFields, map: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let read = fields.read(map);
    if let Some(name) = read.missing.first() {
        return Err(format!("has no `{name}`"));
    }
    match read.wrong.into_iter().next() {
        Some((name, why)) => Err(format!("has a mistake: its `{name}` {why}")),
        None => Ok(read.item),
    }
}

/// An integer, `42`, `42.0` or `"042"`.
fn integer(value: &Value) -> Option<i64> {
    /// Up to here every integer is a distinct double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            let float = number.as_f64()?;
            let is_whole = float.fract() == 0.0 && float.abs() <= EXACT;
            #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
            is_whole.then_some(float as i64)
        }),
        Value::String(text) => {
            let text = text.trim();
            let whole = text.split('.').next()?;
            WHOLE.is_match(text).then(|| whole.parse().ok())?
        }
        _ => None,
    }
}

pub(crate) fn decimal(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            let text = text.trim();
            DECIMAL.is_match(text).then(|| text.parse().ok())?
        }
        _ => None,
    };
    number.filter(|number| number.is_finite())
}

/// A text for comparison, ignoring case and white space.
pub(crate) fn folded(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

/// A value for display, on one short line.
fn display(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => {
            let short: String = text.chars().take(60).collect();
            let dots = if short.len() < text.len() { "…" } else { "" };
            format!("\"{}{dots}\"", excerpt(&short))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Borrow;

    use super::super::fields::tests::fields;
    use super::*;

    #[track_caller]
    fn check(field: &str, value: impl Borrow<Value>, expect: Option<Value>) {
        let value = value.borrow();
        let fields = fields(&format!("[{{ name: a, {field} }}]")).unwrap();
        let read = fields.0[0].kind.normal(value);
        assert_eq!(read.clone().ok(), expect, "{value} {read:?}");
        // Normalising again changes nothing.
        if let Some(normal) = expect {
            assert_eq!(fields.0[0].kind.normal(&normal), Ok(normal));
        }
    }

    #[test]
    fn an_integer_is_whole_and_in_range_however_it_is_written() {
        let field = "type: integer, range: [0, 999]";
        for given in [
            json!(42),
            json!(42.0),
            json!("42"),
            json!("042"),
            json!(" 42 "),
            json!("42.0"),
            json!("+42"),
            json!(4.2e1),
        ] {
            check(field, given, Some(json!(42)));
        }
        check(field, json!("000"), Some(json!(0)));
        check(field, json!(-0.0), Some(json!(0)));
        check(field, json!("999"), Some(json!(999)));
        for given in [
            json!(true),
            json!("12.5"),
            json!(12.5),
            json!(-1),
            json!("-1"),
            json!(1000),
            json!("1000"),
            json!("4e1"),
            json!(""),
            json!("forty"),
            json!([42]),
            json!({"a": 42}),
            json!(1e300),
            json!("9".repeat(99)),
            json!("٤٢"),
            json!("42\u{202e}"),
            json!("$42$"),
        ] {
            check(field, given, None);
        }
        check("type: integer", json!(-7), Some(json!(-7)));
    }

    #[test]
    fn other_kinds_are_what_they_are() {
        check(
            "type: number, range: [0, 1]",
            json!("0.5"),
            Some(json!(0.5)),
        );
        check("type: number", json!(3), Some(json!(3)));
        check("type: number", json!("NaN"), None);
        check("type: number", json!("1e999"), None);
        check("type: boolean", json!(" TRUE"), Some(json!(true)));
        check("type: boolean", json!(1), None);
        check(
            "type: choice, choices: topics",
            json!(" number\n theory "),
            Some(json!("Number Theory")),
        );
        check("type: choice, choices: topics", json!("Numbers"), None);
        check("type: choice, choices: [1, 2]", json!(2), Some(json!("2")));
        check("type: text, max_length: 2", json!("éé"), Some(json!("éé")));
        check("type: text, max_length: 2", json!("ééé"), None);
        check("type: text", json!(42), None);
        // White space at the ends of a text may matter.
        check(
            "type: text",
            json!("  return 1\n"),
            Some(json!("  return 1\n")),
        );
        let list = "type: list, min_length: 1, items: { type: integer }";
        check(list, json!(["1", 2.0]), Some(json!([1, 2])));
        check(list, json!([1, "x"]), None);
        check(list, json!("1"), None);
        let object = "type: object, fields: [{ name: n, type: integer }, { name: m, type: text, required: false }]";
        check(object, json!({"n": "1", "other": 2}), Some(json!({"n": 1})));
        check(object, json!({"m": "x"}), None);
        check(object, json!({"n": 1, "m": 2}), None);
    }

    #[test]
    fn errors_fit_on_a_short_line() {
        let kind = FieldKind::Integer([0, 999]);
        let why = |value: &Value| kind.normal(value).unwrap_err();
        assert_eq!(why(&json!(1000)), "is 1000, not an integer from 0 to 999");
        let long = why(&json!("\u{202e}\n".repeat(1 << 19)));
        assert!(
            long.len() < 1000 && !long.contains(['\n', '\u{202e}']),
            "{long}"
        );
    }
}
