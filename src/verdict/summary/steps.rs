//! `StepFigures`: the steps of right answers, and of people for the same questions.

use serde::{Deserialize, Serialize};

use crate::data::Record;
use crate::stats::{self, Sum};

/// The steps of right answers, reported by the agent or counted from its messages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StepFigures {
    /// The mean over the correct answers with known steps; `null` without any.
    pub mean: Option<f64>,
    /// Number of these answers.
    pub samples: u64,
    /// The maximum over all scored answers, right or wrong.
    pub max: u64,
    /// The mean of steps / annotated steps, over the correct answers with known steps whose dataset has those of
    /// people; `null` without any.
    pub ratio: Option<f64>,
    /// Number of these answers.
    pub annotated: u64,
    /// The largest such ratio over all scored answers, right or wrong; 0 without any.
    pub max_ratio: f64,
}

/// The sums behind [`StepFigures`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepTally {
    is_known: bool,
    steps: Sum,
    ratios: Sum,
    max: u64,
    max_ratio: f64,
}

impl StepTally {
    /// Adds a record, if it was scored and has steps.
    pub(super) fn add(&mut self, record: &Record) {
        let outcome = &record.result;
        let (Some(steps), Some(_)) = (outcome.steps, &outcome.score) else {
            return;
        };
        self.is_known = true;
        let count = stats::as_f64(steps);
        self.max = self.max.max(steps);
        let annotated = record.annotated_steps.filter(|steps| *steps > 0);
        let ratio = annotated.map(|annotated| count / stats::as_f64(annotated));
        self.max_ratio = self.max_ratio.max(ratio.unwrap_or_default());
        if outcome.is_correct() {
            self.steps.add(count);
            if let Some(ratio) = ratio {
                self.ratios.add(ratio);
            }
        }
    }

    /// The figures; `None` if no scored answer has steps.
    pub(super) fn finish(self) -> Option<StepFigures> {
        self.is_known.then(|| StepFigures {
            mean: self.steps.mean(),
            samples: self.steps.count(),
            max: self.max,
            ratio: self.ratios.mean(),
            annotated: self.ratios.count(),
            max_ratio: self.max_ratio,
        })
    }
}
