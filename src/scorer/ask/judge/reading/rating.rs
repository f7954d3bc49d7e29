//! Reads ratings in brackets, `[[8]]`, as the judges of MT-Bench give them.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Number, Value};

use super::{Reading, Unread};

static DOUBLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[\[(\d+\.?\d*)\]\]"));
static SINGLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[(\d+\.?\d*)\]"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

/// The first number in double brackets, otherwise the first one in single brackets.
pub fn rating(reply: &str) -> Reading {
    if reply.trim().is_empty() {
        return Reading::unreadable(Unread::NoResponse);
    }
    let found = DOUBLE.captures(reply).or_else(|| SINGLE.captures(reply));
    let number = found.and_then(|found| number(&found[1]));
    number.map_or_else(
        || Reading::unreadable(Unread::InvalidResponseFormat),
        Reading::of_verdict,
    )
}

fn number(text: &str) -> Option<Value> {
    if let Ok(whole) = text.parse::<u64>() {
        return Some(whole.into());
    }
    let float = crate::text::py_float(text)?;
    Number::from_f64(float).map(Value::Number)
}
