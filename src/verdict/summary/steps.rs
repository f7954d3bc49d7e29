//! `StepFigures`: how many steps right answers took, and how many people took for the same questions.

use serde::{Deserialize, Serialize};

use crate::data::Record;
use crate::stats::{self, Sum};

/// How many steps right answers took, of those that tell: the agent says it, or its messages show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StepFigures {
    /// The mean over the correct answers that tell; `null` without any.
    pub mean: Option<f64>,
    /// How many those are.
    pub samples: u64,
    /// The most that any scored answer took, right or wrong.
    pub max: u64,
    /// The mean of steps / annotated steps, over the correct answers that tell and whose dataset says how many steps
    /// people took; `null` without any.
    pub ratio: Option<f64>,
    /// How many those are.
    pub annotated: u64,
    /// The largest such ratio of any scored answer, right or wrong; 0 without any.
    pub max_ratio: f64,
}

/// The sums behind [`StepFigures`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepTally {
    is_told: bool,
    steps: Sum,
    ratios: Sum,
    max: u64,
    max_ratio: f64,
}

impl StepTally {
    /// Adds a record, if it was scored and tells.
    pub(super) fn add(&mut self, record: &Record) {
        let outcome = &record.result;
        let (Some(steps), Some(_)) = (outcome.steps, &outcome.score) else {
            return;
        };
        self.is_told = true;
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

    /// The figures; `None` where no scored answer tells its steps.
    pub(super) fn finish(self) -> Option<StepFigures> {
        self.is_told.then(|| StepFigures {
            mean: self.steps.mean(),
            samples: self.steps.count(),
            max: self.max,
            ratio: self.ratios.mean(),
            annotated: self.ratios.count(),
            max_ratio: self.max_ratio,
        })
    }
}
