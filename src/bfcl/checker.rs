//! The checker of the Berkeley Function Calling Leaderboard: tool calls against its data, with the
//! verdicts, error types and messages of the official program (bfcl-eval 2026.3.23).
//!
//! ```
//! use evaltest::engine::leaderboard::bfcl::checker::{AnswerKey, CheckRequest, ModelAnswer, check};
//! use evaltest::engine::leaderboard::calls::{JsonValue as _, Value};
//!
//! let functions = r#"[{"name": "math.add", "parameters": {
//!     "type": "dict",
//!     "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
//!     "required": ["a"]
//! }}]"#;
//! let ground_truth = r#"[{"math.add": {"a": [5], "b": [1, ""]}}]"#;
//! let entry = AnswerKey::new(
//!     &Value::from_json(functions).unwrap(),
//!     Some(&Value::from_json(ground_truth).unwrap()),
//! )
//! .unwrap();
//!
//! let answer = Value::from("[math.add(a=2+3)]");
//! let request = CheckRequest::new(&entry, "simple_python", ModelAnswer::Prompt(&answer));
//! assert!(check(&request).valid);
//!
//! let answer = Value::from("[math.add(a=6)]");
//! let verdict = check(&CheckRequest { answer: ModelAnswer::Prompt(&answer), ..request });
//! assert_eq!(verdict.error_type, Some("value_error:others"));
//! ```
//!
//! An [`AnswerKey`] is parsed once and used for any number of answers. [`check`] decodes an answer
//! ([`decode`](crate::calls::decode)), validates its shape and compares it, in the order of the official program. A
//! model's text is parsed, never executed; any input gives a verdict in linear time and bounded stack.
//!
//! If the official program raises an exception (for an integer too large for a float, or a list in place of a
//! dictionary), the answer is wrong with [`CRASH`].
//!
//! # Where this differs from the official program
//!
//! * Constant expressions are limited in size, and only support pure functions and common methods; Python's `eval`
//!   supports everything. The verdict then has a `limit`.
//! * Depth limits that come from Python's recursion limit are close to the official ones, but not equal: those depend
//!   on the current call depth.
//! * Parsing of a Java or JavaScript text is given up after backtracking from more than 8,000 unrecovered errors
//!   (45,000 for a text of a megabyte) if an error-free reading is still possible, because continuing takes quadratic
//!   time. The verdict then has a `limit`.
//! * Parser messages differ from those of `CPython`.

mod ast;
mod check;
mod compare;
mod entry;
mod explain;
mod kind;
mod official;
mod report;
mod scorer;

pub use check::{CheckRequest, ModelAnswer, check};
pub use entry::AnswerKey;
pub(crate) use explain::{Explanation, Matched, Share, WrongParameter, explain};
pub(crate) use official::KEY as OFFICIAL;
pub use official::OfficialVerdict;
pub use report::Report;
pub(crate) use scorer::BfclScorer;
pub(crate) use scorer::ENTRY;
pub(crate) use scorer::native_calls;
use std::borrow::Cow;

use crate::calls::json::write_text;
use crate::calls::{Dict, JsonValue as _, Value};
use crate::text::py_lower;

#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod differ_tests;
#[cfg(test)]
pub(crate) mod fuzz_tests;
#[cfg(test)]
mod parity_tests;

/// Removes spaces and `,./-_*^`, converts to lower case, and replaces single quotes by double quotes. Tabs, line
/// breaks and all other characters are retained.
fn standardize(text: &str) -> String {
    let dropped = |c: &char| matches!(c, ' ' | ',' | '.' | '/' | '-' | '_' | '*' | '^');
    if text.is_ascii() {
        let quoted = |c: char| {
            if c == '\'' {
                '"'
            } else {
                c.to_ascii_lowercase()
            }
        };
        return text.chars().filter(|c| !dropped(c)).map(quoted).collect();
    }
    // Filter first: removed characters are no letters but would affect whether a sigma ends a word.
    let filtered: String = text.chars().filter(|c| !dropped(c)).collect();
    Cow::from(py_lower(&filtered)).replace('\'', "\"")
}

#[cfg(test)]
mod tests {
    use super::standardize;

    #[test]
    fn texts() {
        fn check(text: &str, expect: &str) {
            assert_eq!(standardize(text), expect, "{text:?}");
        }
        check("April 1, 2024", "april12024");
        check("a,b.c/d-e_f*g^h i", "abcdefghi");
        check("It's \"x\"", "it\"s\"x\"");
        check("a\tb\n(c):;", "a\tb\n(c):;");
        check("ÀÉ\u{a0}-x", "àé\u{a0}x");
        check("ΟΔΟΣ ΑΒ", "οδοσαβ");
        check("", "");
    }
}

/// The verdict on an answer.
#[derive(Clone, Debug)]
pub struct BfclVerdict {
    /// Whether the answer is correct.
    pub valid: bool,
    /// The official error type of a wrong answer, or [`CRASH`].
    pub error_type: Option<&'static str>,
    /// The official messages.
    pub error: Vec<VerdictMessage>,
    /// The calls, if the answer could be decoded.
    pub decoded: Option<Value>,
    /// For the expected calls examined, in order: the index of the matching call, or `None` if no unused call matches.
    /// Omits calls without a definite result.
    pub fits: Vec<Option<usize>>,
    /// The limit that was exceeded, if any; the official program may continue and reach another verdict.
    pub limit: Option<&'static str>,
}

/// Error type of an answer on which the official program raises an exception.
pub const CRASH: &str = "checker_crash_in_official";

/// A message of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerdictMessage {
    /// A sentence.
    Text(String),
    /// Why one of the parallel calls does not match an expected call.
    Attempt(TriedCall),
}

/// A call that was compared with an expected call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedCall {
    /// Index of the call in the answer.
    pub call: usize,
    /// Index of the expected call in the ground truth.
    pub expected: usize,
    /// Official messages.
    pub error: Vec<String>,
    /// Official error type.
    pub error_type: &'static str,
}

impl BfclVerdict {
    fn right(decoded: Option<Value>) -> Self {
        Self {
            valid: true,
            error_type: None,
            error: Vec::new(),
            decoded,
            fits: Vec::new(),
            limit: None,
        }
    }

    fn wrong(kind: &'static str, message: String, decoded: Option<Value>) -> Self {
        Self {
            valid: false,
            error_type: Some(kind),
            error: vec![VerdictMessage::Text(message)],
            decoded,
            fits: Vec::new(),
            limit: None,
        }
    }

    /// The `error` of the official score file: messages, and for parallel calls the attempts.
    pub fn error_value(&self, entry: &AnswerKey) -> Value {
        let message = |message: &VerdictMessage| match message {
            VerdictMessage::Text(text) => Value::from(text.as_str()),
            VerdictMessage::Attempt(attempt) => self.attempt_value(attempt, entry),
        };
        Value::List(self.error.iter().map(message).collect())
    }

    /// As [`BfclVerdict::error_value`], as JSON.
    fn write_error(&self, entry: &AnswerKey, out: &mut String) {
        out.push('[');
        for (place, message) in self.error.iter().enumerate() {
            out.push_str(if place > 0 { ", " } else { "" });
            match message {
                VerdictMessage::Text(text) => write_text(text, out),
                VerdictMessage::Attempt(attempt) => {
                    self.attempt_value(attempt, entry).write_standard_json(out);
                }
            }
        }
        out.push(']');
    }

    fn attempt_value(&self, attempt: &TriedCall, entry: &AnswerKey) -> Value {
        let error = attempt.error.iter().map(|text| Value::from(text.as_str()));
        let calls = self
            .decoded
            .as_ref()
            .and_then(Value::as_list)
            .unwrap_or_default();
        let call = calls.get(attempt.call).cloned().unwrap_or(Value::None);
        let expected = entry.expected.get(attempt.expected);
        let details: Dict = [
            ("sub_error".into(), Value::List(error.collect())),
            ("sub_error_type".into(), attempt.error_type.into()),
            ("model_output_item".into(), call),
            (
                "possible_answer_item".into(),
                expected.map_or(Value::None, |expected| expected.raw.clone()),
            ),
        ]
        .into_iter()
        .collect();
        let title = Value::Str(format!("Model Result Index {}", attempt.call));
        Value::Dict(Dict::of(title, Value::Dict(details)))
    }
}
