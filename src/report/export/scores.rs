//! The verdicts of a record by scorer name.

use std::borrow::Cow;

use serde_json::Value;

use crate::data::{Record, Score};
#[cfg(feature = "inspect")]
use crate::scorer::compose::recorded;

/// The verdict of a scorer.
pub(super) struct NamedVerdict<'a> {
    pub(super) name: &'a str,
    /// `None` if it could not score the answer.
    pub(super) score: Option<Cow<'a, Score>>,
    /// The reason, if it could not.
    pub(super) error: Option<&'a str>,
}

/// The value of a verdict; for imported runs the original one, which may be points on another scale.
#[cfg(feature = "inspect")]
pub(super) fn number_of(score: &Score) -> f64 {
    let recorded = score.details.get(recorded::NUMBER);
    recorded.and_then(Value::as_f64).unwrap_or(score.value)
}

/// The verdicts on a record in the order of the scorers, without those that had nothing to score.
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
        let raw = result.scores.get(name)?;
        let error = raw.get("error").and_then(Value::as_str);
        let score = serde_json::from_value(raw.clone()).ok().map(Cow::Owned);
        Some(NamedVerdict { name, score, error })
    };
    scorers.iter().enumerate().filter_map(of).collect()
}
