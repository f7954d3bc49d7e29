//! Formats values and lists of them as text.

use crate::bfcl::checker::entry::{Argument, PossibleValues};
use crate::calls::Value;

/// Maximum number of values listed.
const LISTED: usize = 8;

/// `a`, `b` or nothing.
pub(super) fn accepted(options: &PossibleValues) -> String {
    let values = options.values.iter();
    let mut texts: Vec<String> = values
        .filter(|option| !option.is_empty_text())
        .take(LISTED + 1)
        .map(|option| format!("`{}`", display(option)))
        .collect();
    if texts.len() > LISTED {
        texts.truncate(LISTED);
        texts.push("others".to_owned());
    }
    if options.optional || texts.is_empty() {
        texts.push("nothing".to_owned());
    }
    joined(&texts, "or")
}

/// `a`, `b` and `c`.
pub(super) fn listed(texts: &[String]) -> String {
    let mut names: Vec<String> = texts
        .iter()
        .take(LISTED)
        .map(|text| format!("`{text}`"))
        .collect();
    if texts.len() > LISTED {
        names.push(format!("{} more", texts.len() - LISTED));
    }
    joined(&names, "and")
}

fn joined(texts: &[String], word: &str) -> String {
    match texts {
        [] => String::new(),
        [text] => text.clone(),
        [start @ .., last] => format!("{} {word} {last}", start.join(", ")),
    }
}

/// The types of a value and of its argument, if they differ: `("text", "integer")`.
pub(super) fn kinds(value: &Value, argument: &Argument) -> Option<(&'static str, &'static str)> {
    let mut options = argument.options.values.iter();
    let option = options.find(|option| !option.is_empty_text())?;
    let (got, wanted) = (kind(value), kind(option));
    (got != wanted).then_some((got, wanted))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::None => "null",
        Value::Bool(_) => "boolean",
        Value::Int(_) => "integer",
        Value::Float(_) => "float",
        Value::Str(_) => "text",
        Value::List(_) => "list",
        Value::Tuple(_) => "tuple",
        Value::Dict(_) => "dictionary",
        _ => "something else",
    }
}

/// A text as it is, other values in Python syntax; long ones are truncated.
pub(super) fn display(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = match value {
        Value::Str(text) => text.clone(),
        other => other.repr().unwrap_or_else(|_| "a huge number".to_owned()),
    };
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some(_) => text.chars().take(LONGEST - 1).chain(['…']).collect(),
    }
}
