//! The result of a check.

use super::entry::AnswerKey;
use crate::calls::json::write_text;
use crate::calls::{Dict, JsonValue as _, Value};

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
    pub(super) fn right(decoded: Option<Value>) -> Self {
        Self {
            valid: true,
            error_type: None,
            error: Vec::new(),
            decoded,
            fits: Vec::new(),
            limit: None,
        }
    }

    pub(super) fn wrong(kind: &'static str, message: String, decoded: Option<Value>) -> Self {
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
    pub(super) fn write_error(&self, entry: &AnswerKey, out: &mut String) {
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
