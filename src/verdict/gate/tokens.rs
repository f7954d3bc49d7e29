//! The tokens of gates and alerts: names, brackets, slices and numbers.

use super::Slice;
use crate::error::{Error, Result};

/// Splits a text into the name at its start, the argument in parentheses after it, and the rest; `None` if the
/// parentheses are not closed.
pub(crate) fn metric_parts(text: &str) -> Option<(&str, Option<&str>, &str)> {
    let is_name = |c: char| c.is_alphanumeric() || "_.-@^".contains(c);
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let rest = rest.trim_start();
    Some(match rest.strip_prefix('(') {
        Some(inner) => {
            let (inside, behind) = inner.split_once(')')?;
            (name, Some(inside.trim()), behind.trim_start())
        }
        None => (name, None, rest),
    })
}

/// The text in the brackets at the start, if any, and the rest.
pub(crate) fn bracketed(text: &str) -> Result<(Option<&str>, &str)> {
    let Some(inner) = text.strip_prefix('[') else {
        return Ok((None, text));
    };
    // The last one: a value may hold brackets, what follows cannot.
    let (inside, rest) = inner
        .rsplit_once(']')
        .ok_or_else(|| Error::usage("`[` without `]`"))?;
    Ok((Some(inside), rest.trim_start()))
}

/// `KEY=VALUE`, both trimmed and not empty.
pub(crate) fn pair(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    (!key.is_empty() && !value.is_empty()).then_some((key, value))
}

/// Parses the slice in brackets.
pub(crate) fn slice(inside: &str) -> Result<Slice> {
    let (dimension, value) = pair(inside).ok_or_else(|| {
        Error::usage(format!("`[{inside}]` is not a slice"))
            .hint("write the dimension and the value: `accuracy[level=1]`")
    })?;
    Ok(Slice::new(dimension, value))
}

/// A number, or a share in percent.
pub(crate) fn number_or_percent(text: &str) -> Result<f64> {
    match text.trim().strip_suffix('%') {
        Some(percent) => percentage(percent),
        None => number(text),
    }
}

fn percentage(text: &str) -> Result<f64> {
    let text = text.trim();
    number(text)?;
    // Moves the decimal point in the text: 0.1 / 100 is not the float nearest to 0.001.
    number(&format!("{text}e-2")).or_else(|_| Ok(number(text)? / 100.0))
}

/// A finite number in plain or scientific notation; not `inf` or `nan`, which Rust would read.
pub(crate) fn number(text: &str) -> Result<f64> {
    let text = text.trim();
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite() && text.chars().all(numeric))
        .ok_or_else(|| Error::usage(format!("`{text}` is not a number")))
}
