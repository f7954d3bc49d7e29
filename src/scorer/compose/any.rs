//! `any`: correct if at least one part is.

use std::sync::Arc;

use super::super::{Answer, Entry, Example, Scorer};
use super::forward::forward;
use super::parts::NamedScorers;
use crate::data::Score;
use crate::error::Result;

pub(crate) const ENTRY: Entry = Entry {
    name: "any",
    summary: "correct when one of several scorers says so",
    rule: include_str!("any.md"),
    options: &[("scorers", "the parts, a list of scorers")],
    examples: &[
        Example {
            options: "scorers: [gaia, { type: list, ordered: false }]",
            prediction: "2, 1",
            ground_truth: "1, 2",
            correct: true,
            note: "right as a list whose order does not count",
        },
        Example {
            options: "scorers: [gaia, { type: list, ordered: false }]",
            prediction: "2, 3",
            ground_truth: "1, 2",
            correct: false,
            note: "right for none",
        },
    ],
    make: |options| {
        Ok(Arc::new(
            options.scorers("scorers")?.into_iter().collect::<Any>(),
        ))
    },
};

/// Correct when at least one part is.
///
/// ```
/// use std::sync::Arc;
/// use evaltest::scorer::{Any, List, GaiaScorer};
///
/// let lenient = Any::new([Arc::new(GaiaScorer), Arc::new(List::new(GaiaScorer).unordered())]);
/// # let _: Box<dyn evaltest::Scorer> = Box::new(lenient);
/// ```
///
#[doc = include_str!("any.md")]
pub struct Any(NamedScorers);

impl Any {
    /// Combines these parts.
    pub fn new<const N: usize>(parts: [Arc<dyn Scorer>; N]) -> Self {
        Self(NamedScorers::new(parts))
    }
}

impl FromIterator<Arc<dyn Scorer>> for Any {
    fn from_iter<I: IntoIterator<Item = Arc<dyn Scorer>>>(parts: I) -> Self {
        Self(NamedScorers::new(parts))
    }
}

impl Scorer for Any {
    fn name(&self) -> &'static str {
        "any"
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let scores = self.0.judge(answer)?;
        let correct = scores.iter().position(|score| score.correct);
        let values = scores.iter().map(|score| score.value);
        let value = values.fold(f64::NEG_INFINITY, f64::max);
        let score = match correct {
            None => Score::new(value, false, "none_correct"),
            Some(_) => Score::new(value, true, "part_correct"),
        };
        Ok(self.0.conclude(score, scores, correct.unwrap_or(0)))
    }

    forward!(self => self.0);

    fn fingerprint(&self) -> String {
        format!("any {}", self.0.fingerprint())
    }
}
