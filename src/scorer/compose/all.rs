//! `all`: correct if every part is.

use std::sync::Arc;

use super::super::{Answer, Entry, Example, Scorer};
use super::forward::forward;
use super::parts::NamedScorers;
use crate::data::Score;
use crate::error::Result;

pub(crate) const ENTRY: Entry = Entry {
    name: "all",
    summary: "correct when all of several scorers say so",
    rule: include_str!("all.md"),
    options: &[("scorers", "the parts, a list of scorers")],
    examples: &[
        Example {
            options: "scorers: [gaia, { type: list, separator: ', ' }]",
            prediction: "1, 2",
            ground_truth: "1, 2",
            correct: true,
            note: "both say so",
        },
        Example {
            options: "scorers: [gaia, { type: list, ordered: false }]",
            prediction: "2, 1",
            ground_truth: "1, 2",
            correct: false,
            note: "for `gaia` the order counts",
        },
    ],
    make: |options| {
        Ok(Arc::new(
            options.scorers("scorers")?.into_iter().collect::<All>(),
        ))
    },
};

/// Correct when every part is.
///
/// Scorers of any kind compose, closures included:
///
/// ```
/// use std::sync::Arc;
/// use evaltest::scorer::{All, GaiaScorer};
/// use evaltest::{Answer, Score};
///
/// let short = |answer: &Answer<'_>| {
///     let text = answer.prediction.unwrap_or_default();
///     Ok(Score::binary(text.len() <= 40))
/// };
/// let strict = All::new([Arc::new(GaiaScorer), Arc::new(("short", short))]);
/// # let _: Box<dyn evaltest::Scorer> = Box::new(strict);
/// ```
///
#[doc = include_str!("all.md")]
pub struct All(NamedScorers);

impl All {
    /// Combines these parts.
    pub fn new<const N: usize>(parts: [Arc<dyn Scorer>; N]) -> Self {
        Self(NamedScorers::new(parts))
    }
}

impl FromIterator<Arc<dyn Scorer>> for All {
    fn from_iter<I: IntoIterator<Item = Arc<dyn Scorer>>>(parts: I) -> Self {
        Self(NamedScorers::new(parts))
    }
}

impl Scorer for All {
    fn name(&self) -> &'static str {
        "all"
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let scores = self.0.judge(answer)?;
        let wrong = scores.iter().position(|score| !score.correct);
        let values = scores.iter().map(|score| score.value);
        let value = values.fold(f64::INFINITY, f64::min);
        let score = match wrong {
            None => Score::new(value, true, "all_correct"),
            Some(_) => Score::new(value, false, "part_wrong"),
        };
        Ok(self.0.conclude(score, scores, wrong.unwrap_or(0)))
    }

    forward!(self => self.0);

    fn fingerprint(&self) -> String {
        format!("all {}", self.0.fingerprint())
    }
}
