//! Parses tool calls from text: Python, Java, JavaScript, XML and JSON as models write them.
//!
//! [`decode`] parses an answer that consists only of calls, as the Function Calling Leaderboard does; `read` finds
//! calls anywhere in an answer. The result is a [`Value`]. `fast` contains optional shortcuts that never change a
//! result.
//!
//! `without` replaces it if the feature is off.

pub(crate) mod json;

pub(crate) mod syntax_tree;

pub(crate) mod fast;

pub(crate) mod java;
pub(crate) mod java_values;
pub(crate) mod javascript;
pub(crate) mod javascript_values;
pub(crate) mod json_calls;
pub(crate) mod xml;

#[cfg(test)]
mod tests;

pub(crate) mod decode;
pub(crate) mod read;

pub use decode::CallFormat;
pub use evaltest_python_constants::{Dict, Int, TooManyDigits, Value};
pub(crate) use evaltest_python_constants::{half, repr_list, repr_str};
pub use json::{JsonFault, JsonValue};
pub(crate) use read::are_calls;
use std::borrow::Cow;

use regex::Regex;

use crate::text::{is_py_space, py_digit, py_word_class};

pub(crate) use evaltest_python_constants::{DecodeFault, DecodeResult, no_call};
pub(crate) use evaltest_python_constants::{
    MAX_DIGITS, PlainCall, calls as parsed_calls, is_keyword, literal_eval, plain_calls,
};

/// The exception, as Python prints it. The answer is wrong with `checker_crash_in_official`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Crash(String);

impl Crash {
    pub(crate) fn new(exception: impl Into<String>) -> Self {
        Self(exception.into())
    }

    pub(crate) fn message(self) -> String {
        self.0
    }
}

/// A message that quotes a huge integer cannot be printed.
impl From<TooManyDigits> for Crash {
    fn from(_: TooManyDigits) -> Self {
        Self::new("ValueError: Exceeds the limit (4300 digits) for integer string conversion")
    }
}

/// The text, if Python can pass it to a parser: lone surrogates cannot be encoded.
fn encoded(text: &str) -> DecodeResult<Cow<'_, str>> {
    half::whole(text).map_err(|half| {
        DecodeFault::new(format!(
            "'utf-8' codec can't encode character '\\u{half:04x}': surrogates not allowed"
        ))
    })
}

/// The calls of a text: `[f(a=1), g.h(b='x')]` or a single call.
fn calls(text: &str) -> DecodeResult<Value> {
    let text = text.trim_matches(is_py_space).trim_matches('\'');
    fast::python_calls(text).unwrap_or_else(|| parsed_calls(text))
}

/// Compiles a pattern with Python's `\s`, which includes the four ASCII separators, and Python's `\w`, which includes
/// all kinds of numbers but no marks. Neither may be in brackets.
fn pattern(pattern: &str) -> Regex {
    let mut pattern = pattern.replace(r"\s", r"[\s\x1c-\x1f]");
    if pattern.contains(r"\w") {
        pattern = pattern.replace(r"\w", &format!("[a-zA-Z0-9_{}]", py_word_class()));
    }
    Regex::new(&pattern).expect("a constant pattern is correct")
}

/// `-?\d+`, with the decimal digits of all scripts.
fn integer(text: &str) -> bool {
    after_digits(text.strip_prefix('-').unwrap_or(text)) == Some("")
}

/// `-?\d+(\.\d+)?`.
fn fraction(text: &str) -> bool {
    after_fraction(text) == Some("")
}

/// `-?\d+(\.\d+)?([eE][+-]?\d+)?`.
fn decimal(text: &str) -> bool {
    let Some(rest) = after_fraction(text) else {
        return false;
    };
    let exponent = rest.strip_prefix(['e', 'E']);
    let digits = exponent.map(|text| text.strip_prefix(['+', '-']).unwrap_or(text));
    rest.is_empty() || digits.and_then(after_digits) == Some("")
}

fn after_fraction(text: &str) -> Option<&str> {
    let rest = after_digits(text.strip_prefix('-').unwrap_or(text))?;
    match rest.strip_prefix('.') {
        Some(fraction) => after_digits(fraction),
        None => Some(rest),
    }
}

/// The text after the leading digits, if there are any.
fn after_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c| py_digit(c).is_some());
    (rest.len() < text.len()).then_some(rest)
}

#[cfg(test)]
mod python_regex_tests {
    use super::*;

    #[test]
    fn words() {
        let word = pattern(r"^\w$");
        for text in [
            "a",
            "Z",
            "0",
            "_",
            "é",
            "²",
            "½",
            "Ⅷ",
            "٣",
            "中",
            "ª",
            "\u{10400}",
            "\u{3134a}",
        ] {
            assert!(word.is_match(text), "{text:?}");
        }
        // A mark, a circled letter, a connector, a joiner, a letter of Unicode 15 and an unassigned character.
        for text in [
            "-",
            "$",
            "\u{300}",
            "Ⓐ",
            "‿",
            "\u{200d}",
            "\u{31350}",
            "\u{378}",
        ] {
            assert!(!word.is_match(text), "{text:?}");
        }
    }

    #[test]
    fn numbers() {
        fn check(text: &str, expect: (bool, bool, bool)) {
            assert_eq!(
                (integer(text), fraction(text), decimal(text)),
                expect,
                "{text:?}"
            );
        }
        check("5", (true, true, true));
        check("-٣", (true, true, true));
        check("1.5", (false, true, true));
        check("1e-5", (false, false, true));
        check("1.5E+05", (false, false, true));
        for text in [
            "", "-", "+5", ".5", "1.", "1.e5", "1e", "1e+", "1_0", " 1", "1.5.5",
        ] {
            check(text, (false, false, false));
        }
    }
}
