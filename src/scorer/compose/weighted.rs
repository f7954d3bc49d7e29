//! `weighted`: the weighted mean of several scorers.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::{Answer, Entry, Example, Scorer};
use super::forward::forward;
use super::parts::NamedScorers;
use crate::data::Score;
use crate::error::{Error, Result};

/// The default minimum mean of a correct answer.
const THRESHOLD: f64 = 0.5;
/// A mean may be this little below the threshold: 0.1 + 0.2 is not 0.3.
const SLACK: f64 = 1e-9;

pub(crate) const ENTRY: Entry = Entry {
    name: "weighted",
    summary: "the weighted mean of several scorers reaches a threshold",
    rule: include_str!("weighted.md"),
    options: &[
        ("scorers", "the parts, a list of scorers"),
        (
            "weights",
            "a number from 0 for each part; all equal by default",
        ),
        (
            "threshold",
            "the mean that is correct, from 0 to 1; 0.5 by default",
        ),
    ],
    examples: &[
        Example {
            options: "{ scorers: [gaia, { type: list, ordered: false }], weights: [1, 3] }",
            prediction: "2, 1",
            ground_truth: "1, 2",
            correct: true,
            note: "0 of weight 1 and 1 of weight 3 make 0.75",
        },
        Example {
            options: "{ scorers: [gaia, { type: list, ordered: false }], weights: [1, 3], threshold: 0.8 }",
            prediction: "2, 1",
            ground_truth: "1, 2",
            correct: false,
            note: "0.75 is not enough",
        },
    ],
    make: |options| {
        let parts = options.scorers("scorers")?;
        let wanted = format!("a list of {} numbers from 0, not all 0", parts.len());
        let weights = options.read("weights", &wanted, |value| {
            let weights: Option<Vec<f64>> = value.as_array()?.iter().map(Value::as_f64).collect();
            weights.filter(|weights| weights.len() == parts.len() && are_weights(weights))
        })?;
        let weights = weights.unwrap_or_else(|| vec![1.0; parts.len()]);
        let threshold = options.number_in("threshold", 0.0, 1.0)?;
        Ok(Arc::new(Weighted {
            parts: NamedScorers::new(parts),
            weights,
            threshold: threshold.unwrap_or(THRESHOLD),
        }))
    },
};

/// The weighted mean of parts.
///
/// ```
/// use std::sync::Arc;
/// use evaltest::scorer::{Weighted, GaiaScorer};
/// use evaltest::{Answer, Score};
///
/// # fn main() -> evaltest::Result<()> {
/// let polite = |answer: &Answer<'_>| {
///     let text = answer.output.text.as_deref().unwrap_or_default();
///     Ok(Score::binary(text.contains("please")))
/// };
/// let mixed = Weighted::new([
///     (3.0, Arc::new(GaiaScorer)),
///     (1.0, Arc::new(("polite", polite))),
/// ])?
/// .threshold(0.75);
/// # let _: Box<dyn evaltest::Scorer> = Box::new(mixed);
/// # Ok(())
/// # }
/// ```
///
#[doc = include_str!("weighted.md")]
pub struct Weighted {
    parts: NamedScorers,
    weights: Vec<f64>,
    threshold: f64,
}

impl Weighted {
    /// Combines these parts with their weights. The mean must reach 0.5.
    ///
    /// # Errors
    /// When a weight is negative or no number, or all are 0.
    pub fn new<const N: usize>(parts: [(f64, Arc<dyn Scorer>); N]) -> Result<Self> {
        let (weights, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        if !are_weights(&weights) {
            let message = format!("{weights:?} are not valid weights for scorer `weighted`");
            return Err(Error::usage(message).hint("use numbers from 0, not all 0"));
        }
        Ok(Self {
            parts: NamedScorers::new(parts),
            weights,
            threshold: THRESHOLD,
        })
    }

    /// Sets the minimum mean of a correct answer.
    #[must_use]
    pub fn threshold(mut self, mean: f64) -> Self {
        self.threshold = mean;
        self
    }
}

fn are_weights(weights: &[f64]) -> bool {
    let sum: f64 = weights.iter().sum();
    weights.iter().all(|weight| *weight >= 0.0) && sum > 0.0 && sum.is_finite()
}

impl Scorer for Weighted {
    fn name(&self) -> &'static str {
        "weighted"
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let scores = self.parts.judge(answer)?;
        let weighed = self.weights.iter().zip(&scores);
        let weighed: f64 = weighed.map(|(weight, score)| weight * score.value).sum();
        let mean = weighed / self.weights.iter().sum::<f64>();
        let score = if mean + SLACK >= self.threshold {
            Score::new(mean, true, "threshold_reached")
        } else {
            Score::new(mean, false, "below_threshold")
        };
        Ok(self.parts.conclude(score, scores, 0))
    }

    forward!(self => self.parts);

    fn fingerprint(&self) -> String {
        let options = json!([self.parts.fingerprint(), self.weights, self.threshold]);
        format!("weighted {options}")
    }
}
