//! `not`: inverts a verdict.

use std::sync::Arc;

use super::super::{Answer, Entry, Example, Reads, Scorer};
use super::forward::forward;
use super::parts::{self, NamedScorers};
use crate::data::Score;
use crate::error::Result;

pub(crate) const ENTRY: Entry = Entry {
    name: "not",
    summary: "correct when another scorer says wrong",
    rule: include_str!("not.md"),
    options: &[("scorer", "the scorer whose verdict is turned around")],
    examples: &[
        Example {
            options: "scorer: gaia",
            prediction: "Lyon",
            ground_truth: "Paris",
            correct: true,
            note: "anything else than the ground truth",
        },
        Example {
            options: "scorer: gaia",
            prediction: "paris.",
            ground_truth: "Paris",
            correct: false,
            note: "`gaia` finds it correct",
        },
    ],
    make: |options| match options.scorer("scorer")? {
        Some(scorer) => Ok(Arc::new(Not::new(scorer))),
        None => Err(options.missing("scorer", "a scorer")),
    },
};

/// Correct when its part is wrong.
///
/// ```
/// use evaltest::scorer::{Not, GaiaScorer};
///
/// let other = Not::new(GaiaScorer);
/// # let _: Box<dyn evaltest::Scorer> = Box::new(other);
/// ```
///
#[doc = include_str!("not.md")]
pub struct Not(Arc<dyn Scorer>, NamedScorers);

impl Not {
    /// The opposite of this scorer.
    pub fn new(scorer: impl Scorer + 'static) -> Self {
        let scorer: Arc<dyn Scorer> = Arc::new(scorer);
        Self(Arc::clone(&scorer), NamedScorers::new([scorer]))
    }
}

impl Scorer for Not {
    fn name(&self) -> &'static str {
        "not"
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let Self(scorer, parts) = self;
        let is_missing = parts::prediction(&**scorer, answer).is_none();
        if is_missing && answer.output.tool_calls.is_empty() {
            return Ok(Score::new(0.0, false, "no_prediction"));
        }
        let scores = parts.judge(answer)?;
        let value = 1.0 - scores[0].value;
        let score = if scores[0].correct {
            Score::new(value, false, "part_correct")
        } else {
            Score::new(value, true, "part_wrong")
        };
        Ok(parts.conclude(score, scores, 0))
    }

    forward!(self => self.0, but reads);

    /// Tool calls show whether there is an answer at all.
    fn reads(&self) -> Reads {
        Reads::Everything
    }

    fn fingerprint(&self) -> String {
        format!("not {}", self.1.fingerprint())
    }
}
