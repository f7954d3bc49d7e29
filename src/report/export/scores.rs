//! The verdicts of a record by the names of the scorers.

use std::borrow::Cow;

use serde_json::Value;

use crate::data::{Record, Score};
#[cfg(feature = "inspect")]
use crate::scorer::recorded;

/// What a scorer said of an answer.
pub(super) struct NamedVerdict<'a> {
    pub(super) name: &'a str,
    /// `None` where it could not judge.
    pub(super) score: Option<Cow<'a, Score>>,
    /// Why it could not.
    pub(super) error: Option<&'a str>,
}

/// The value of a verdict, as it was where it was imported: there it may be points on a scale of their own.
#[cfg(feature = "inspect")]
pub(super) fn number_of(score: &Score) -> f64 {
    let recorded = score.details.get(recorded::NUMBER);
    recorded.and_then(Value::as_f64).unwrap_or(score.value)
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
