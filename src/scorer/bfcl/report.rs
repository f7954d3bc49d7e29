//! A verdict as a score: value, reason and details. `cargo evaltest score` writes the same as JSON text.

use std::borrow::Cow;

use super::{Explanation, Request, Value, Verdict, explain};
use crate::scorer::Score;

/// A verdict with all that is told of it.
#[derive(Debug)]
pub struct Report<'a> {
    request: &'a Request<'a>,
    verdict: &'a Verdict,
    explanation: Explanation,
}

impl<'a> Report<'a> {
    /// The report on the verdict of a request.
    pub fn new(request: &'a Request<'a>, verdict: &'a Verdict) -> Self {
        Self {
            request,
            verdict,
            explanation: explain(request, verdict),
        }
    }

    /// The official error type, or `exact_match`.
    pub fn reason(&self) -> &'static str {
        self.verdict.error_type.unwrap_or("exact_match")
    }

    /// As a score. Numbers that JSON cannot hold are texts in it, and lone surrogates are U+FFFD.
    pub fn score(&self) -> Score {
        let value = if self.verdict.valid { 1.0 } else { 0.0 };
        let error = self.verdict.error_value(self.request.entry).to_json();
        let decoded = self.verdict.decoded.as_ref().map(Value::to_json);
        let mut score = Score::new(value, self.verdict.valid, Cow::Borrowed(self.reason()))
            .detail("error", error)
            .detail("decoded", decoded.unwrap_or_default());
        if let Some(difference) = self.difference() {
            score.details.insert("difference", difference);
        }
        if !self.explanation.matched.is_empty() {
            score.details.insert("matched", self.matched().to_json());
        }
        score
    }

    /// As JSON with nothing lost: integers have all their digits, and lone surrogates are escapes.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut text = String::with_capacity(256);
        text.push_str(if self.verdict.valid {
            r#"{"value":1.0,"correct":true,"reason":""#
        } else {
            r#"{"value":0.0,"correct":false,"reason":""#
        });
        text.push_str(self.reason());
        text.push_str(
            r#"","normalized_prediction":null,"normalized_ground_truth":null,"details":{"error":"#,
        );
        if self.verdict.error.is_empty() {
            text.push_str("[]");
        } else {
            self.verdict
                .error_value(self.request.entry)
                .write_standard_json(&mut text);
        }
        text.push_str(r#","decoded":"#);
        match &self.verdict.decoded {
            None => text.push_str("null"),
            Some(decoded) => decoded.write_standard_json(&mut text),
        }
        if let Some(difference) = self.difference() {
            text.push_str(r#","difference":"#);
            Value::Str(difference.to_owned()).write_standard_json(&mut text);
        }
        if !self.explanation.matched.is_empty() {
            text.push_str(r#","matched":"#);
            self.matched().write_standard_json(&mut text);
        }
        text.push_str("}}");
        out.extend_from_slice(text.as_bytes());
    }

    /// The first difference in words.
    fn difference(&self) -> Option<&str> {
        self.explanation.difference.as_deref()
    }

    /// `[{"call", "argument", "option"}]`: which of the accepted values each argument met.
    fn matched(&self) -> Value {
        let place = |place: usize| Value::from(i64::try_from(place).unwrap_or(i64::MAX));
        let matched = self.explanation.matched.iter().map(|matched| {
            let entries = [
                ("call", place(matched.call)),
                ("argument", matched.argument.as_str().into()),
                ("option", place(matched.option)),
            ];
            let entries = entries.into_iter();
            Value::Dict(entries.map(|(key, value)| (key.into(), value)).collect())
        });
        Value::List(matched.collect())
    }
}
