//! The verdicts of a record by the names of the scorers.

use std::borrow::Cow;

use serde_json::Value;

use crate::data::{Record, Score};

/// What a scorer said of an answer.
pub(super) struct NamedVerdict<'a> {
    pub(super) name: &'a str,
    /// `None` where it could not judge.
    pub(super) score: Option<Cow<'a, Score>>,
    /// Why it could not.
    pub(super) error: Option<&'a str>,
}

/// The verdicts on a record in the order of the scorers, without those that had nothing to judge.
pub(super) fn verdicts<'a>(record: &'a Record, scorers: &'a [String]) -> Vec<NamedVerdict<'a>> {
    let result = &record.result;
    let of = |(place, name): (usize, &'a String)| {
        if place == 0
            && let Some(score) = &result.score
        {
            return Some(NamedVerdict {
                name,
                score: Some(Cow::Borrowed(score)),
                error: None,
            });
        }
        let told = result.scores.get(name)?;
        let error = told.get("error").and_then(Value::as_str);
        let score = serde_json::from_value(told.clone()).ok().map(Cow::Owned);
        Some(NamedVerdict { name, score, error })
    };
    scorers.iter().enumerate().filter_map(of).collect()
}
