//! A verdict as a score: value, reason and details. `cargo evaltest score` writes the same as JSON text.

use std::borrow::Cow;

use super::{Explanation, Request, Share, Value, Verdict, WrongParameter, explain};
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
        for (name, value) in self.told() {
            score.details.insert(name, value.to_json());
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
        for (name, value) in self.told() {
            text.push_str(",\"");
            text.push_str(name);
            text.push_str("\":");
            value.write_standard_json(&mut text);
        }
        text.push_str("}}");
        out.extend_from_slice(text.as_bytes());
    }

    /// The details besides `error` and `decoded`; of a right answer only `matched`.
    fn told(&self) -> Vec<(&'static str, Value)> {
        let mut told = Vec::new();
        if let Some(difference) = &self.explanation.difference {
            told.push(("difference", Value::Str(difference.clone())));
        }
        if !self.explanation.matched.is_empty() {
            told.push(("matched", self.matched()));
        }
        if let Some(partial) = &self.explanation.partial {
            told.push(("calls", share(partial.calls)));
            told.push(("parameters", share(partial.parameters)));
            if !partial.wrong.is_empty() {
                told.push(("wrong_parameters", wrong(&partial.wrong)));
            }
        }
        if !self.verdict.valid
            && let Some(reason) = self.request.entry.unsatisfiable(self.request.category)
        {
            told.push(("unsatisfiable", Value::Str(reason)));
        }
        told
    }

    /// `[{"call", "argument", "option"}]`: which of the accepted values each argument met.
    fn matched(&self) -> Value {
        let matched = self.explanation.matched.iter().map(|matched| {
            dict([
                ("call", number(matched.call as u64)),
                ("argument", matched.argument.as_str().into()),
                ("option", number(matched.option as u64)),
            ])
        });
        Value::List(matched.collect())
    }
}

fn share(share: Share) -> Value {
    dict([
        ("right", number(share.right)),
        ("expected", number(share.expected)),
        ("given", number(share.given)),
    ])
}

fn wrong(parameters: &[WrongParameter]) -> Value {
    let parameters = parameters.iter().map(|wrong| {
        dict([
            ("function", wrong.function.as_str().into()),
            ("parameter", wrong.parameter.as_str().into()),
            ("problem", wrong.problem.as_str().into()),
        ])
    });
    Value::List(parameters.collect())
}

fn dict(entries: [(&str, Value); 3]) -> Value {
    let entries = entries.into_iter();
    Value::Dict(entries.map(|(key, value)| (key.into(), value)).collect())
}

fn number(number: u64) -> Value {
    Value::from(i64::try_from(number).unwrap_or(i64::MAX))
}
