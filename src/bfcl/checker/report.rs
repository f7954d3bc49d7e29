//! Converts a verdict to a score: value, reason and details. `cargo evaltest score` writes the same as JSON text.

use std::borrow::Cow;

use super::{BfclVerdict, CheckRequest, Explanation, Matched, Share, WrongParameter, explain};
use crate::calls::json::write_text;
use crate::calls::{JsonValue as _, Value};
use crate::data::Score;

/// A verdict with its details.
#[derive(Debug)]
pub struct Report<'a> {
    request: &'a CheckRequest<'a>,
    verdict: &'a BfclVerdict,
    explanation: Explanation,
}

impl<'a> Report<'a> {
    /// A report on the verdict of a request.
    pub fn new(request: &'a CheckRequest<'a>, verdict: &'a BfclVerdict) -> Self {
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

    /// As a score. Numbers that JSON cannot represent become texts, and lone surrogates become U+FFFD.
    pub fn score(&self) -> Score {
        let value = if self.verdict.valid { 1.0 } else { 0.0 };
        let error = self.verdict.error_value(self.request.entry).to_json();
        let decoded = self.verdict.decoded.as_ref().map(Value::to_json);
        let mut score = Score::new(value, self.verdict.valid, Cow::Borrowed(self.reason()))
            .detail("error", error)
            .detail("decoded", decoded.unwrap_or_default());
        for (name, extra) in self.extra().into_iter().flatten() {
            score.details.insert(name, extra.value().to_json());
        }
        score
    }

    /// As lossless JSON: integers have all their digits, and lone surrogates are escaped.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut text = String::with_capacity(1024);
        text.push_str(if self.verdict.valid {
            r#"{"value":1.0,"correct":true,"reason":""#
        } else {
            r#"{"value":0.0,"correct":false,"reason":""#
        });
        text.push_str(self.reason());
        text.push_str(
            r#"","normalized_prediction":null,"normalized_ground_truth":null,"details":{"error":"#,
        );
        self.verdict.write_error(self.request.entry, &mut text);
        text.push_str(r#","decoded":"#);
        match &self.verdict.decoded {
            None => text.push_str("null"),
            Some(decoded) => decoded.write_standard_json(&mut text),
        }
        for (name, extra) in self.extra().into_iter().flatten() {
            text.push_str(",\"");
            text.push_str(name);
            text.push_str("\":");
            extra.write(&mut text);
        }
        text.push_str("}}");
        out.extend_from_slice(text.as_bytes());
    }

    /// The details besides `error` and `decoded`; for a right answer only `matched` and `limit`.
    fn extra(&self) -> [Option<(&'static str, ExtraDetail<'_>)>; 7] {
        let Explanation {
            matched,
            difference,
            partial,
        } = &self.explanation;
        let partial = partial.as_ref();
        let wrong = partial.map(|partial| &*partial.wrong);
        let unsatisfiable = || {
            let entry = self.request.entry;
            entry.unsatisfiable(self.request.category)
        };
        let unsatisfiable = (!self.verdict.valid).then(unsatisfiable).flatten();
        [
            difference
                .as_deref()
                .map(|text| ("difference", ExtraDetail::Text(text.into()))),
            (!matched.is_empty()).then_some(("matched", ExtraDetail::Matched(matched))),
            partial.map(|partial| ("calls", ExtraDetail::Share(partial.calls))),
            partial.map(|partial| ("parameters", ExtraDetail::Share(partial.parameters))),
            wrong
                .filter(|wrong| !wrong.is_empty())
                .map(|wrong| ("wrong_parameters", ExtraDetail::Wrong(wrong))),
            unsatisfiable.map(|text| ("unsatisfiable", ExtraDetail::Text(text.into()))),
            self.verdict
                .limit
                .map(|text| ("limit", ExtraDetail::Text(text.into()))),
        ]
    }
}

/// A detail.
enum ExtraDetail<'a> {
    Text(Cow<'a, str>),
    Matched(&'a [Matched]),
    Share(Share),
    Wrong(&'a [WrongParameter]),
}

impl ExtraDetail<'_> {
    fn value(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(&**text),
            Self::Matched(all) => Value::List(all.iter().map(matched).collect()),
            Self::Share(all) => share(*all),
            Self::Wrong(all) => Value::List(all.iter().map(wrong).collect()),
        }
    }

    /// Writes it as JSON. Nearly every line has one of the first three, so these are written directly.
    fn write(&self, out: &mut String) {
        match self {
            Self::Text(text) => write_text(text, out),
            Self::Matched(all) => {
                out.push('[');
                for (place, matched) in all.iter().enumerate() {
                    out.push_str(if place > 0 { ", " } else { "" });
                    out.push_str(r#"{"call": "#);
                    out.push_str(itoa::Buffer::new().format(matched.call));
                    out.push_str(r#", "argument": "#);
                    write_text(&matched.argument, out);
                    out.push_str(r#", "option": "#);
                    out.push_str(itoa::Buffer::new().format(matched.option));
                    out.push('}');
                }
                out.push(']');
            }
            Self::Share(share) => {
                let Share {
                    right,
                    expected,
                    given,
                } = *share;
                let numbers = [
                    (r#"{"right": "#, right),
                    (r#", "expected": "#, expected),
                    (r#", "given": "#, given),
                ];
                for (name, number) in numbers {
                    out.push_str(name);
                    out.push_str(itoa::Buffer::new().format(number));
                }
                out.push('}');
            }
            Self::Wrong(_) => self.value().write_standard_json(out),
        }
    }
}

/// The index of the accepted value that an argument matched.
fn matched(matched: &Matched) -> Value {
    dict([
        ("call", number(matched.call as u64)),
        ("argument", matched.argument.as_str().into()),
        ("option", number(matched.option as u64)),
    ])
}

fn share(share: Share) -> Value {
    dict([
        ("right", number(share.right)),
        ("expected", number(share.expected)),
        ("given", number(share.given)),
    ])
}

fn wrong(wrong: &WrongParameter) -> Value {
    dict([
        ("function", wrong.function.as_str().into()),
        ("parameter", wrong.parameter.as_str().into()),
        ("problem", wrong.problem.as_str().into()),
    ])
}

fn dict(entries: [(&str, Value); 3]) -> Value {
    let entries = entries.into_iter();
    Value::Dict(entries.map(|(key, value)| (key.into(), value)).collect())
}

fn number(number: u64) -> Value {
    Value::from(i64::try_from(number).unwrap_or(i64::MAX))
}
