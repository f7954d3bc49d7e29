//! `Group`: the figures of one slice, and the parts that the whole summary shares with it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bounds::{accuracy_bounds, both_bounds};
use super::{EpochFigures, Labels, StepFigures};

/// The figures of the samples of one slice. The fields mean what those of
/// [`Summary`](super::Summary) mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Group {
    /// All records of the slice.
    pub samples: u64,
    /// Samples with a verdict of the first scorer.
    pub scored: u64,
    /// Scored samples that are correct.
    pub correct: u64,
    /// Samples that ended without the verdict they should have.
    pub errors: u64,
    /// Samples that were answered and have no verdict to get.
    pub unscored: u64,
    /// Samples that were never asked.
    pub skipped: u64,
    /// Samples whose answers were given before.
    #[serde(default, skip_serializing_if = "super::no_samples")]
    pub cached: u64,
    /// Scored samples to which the agent gave no answer, which `errors: wrong` counts as a wrong one.
    #[serde(default, skip_serializing_if = "super::no_samples")]
    pub failed_as_wrong: u64,
    /// Those among the errors that were answered, and that the first scorer could not judge.
    #[serde(default, skip_serializing_if = "super::no_samples")]
    pub unjudged: u64,
    /// correct / scored, 0 to 1; `null` when nothing was scored.
    pub accuracy: Option<f64>,
    /// What it could be had every sample a verdict `[low, high]`.
    #[serde(default)]
    pub accuracy_bounds: Option<[f64; 2]>,
    /// Its 95 % Wilson interval `[low, high]`.
    pub accuracy_ci95: Option<[f64; 2]>,
    /// (scored - correct) / scored, 1 - accuracy.
    #[serde(default)]
    pub failure_rate: Option<f64>,
    /// What it could be had every sample a verdict `[low, high]`.
    #[serde(default)]
    pub failure_rate_bounds: Option<[f64; 2]>,
    /// Its 95 % confidence interval `[low, high]`, the mirror of that of the accuracy.
    #[serde(default)]
    pub failure_rate_ci95: Option<[f64; 2]>,
    /// errors / (scored + errors + unscored), 0 to 1.
    pub error_rate: Option<f64>,
    /// Means of the score and of the first scorer's details.
    pub means: BTreeMap<String, f64>,
    /// Count and extremes for every entry of `means`.
    #[serde(default)]
    pub mean_ranges: BTreeMap<String, Range>,
    /// Figures of the first scorer's labels, when it judges labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
    /// The figures of each scorer by name, when there are several.
    #[serde(default)]
    pub scorers: BTreeMap<String, ScorerSummary>,
    /// What several answers to each sample say together, when there are several epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<EpochFigures>,
    /// Tokens and cost.
    #[serde(default)]
    pub usage: UsageTotal,
    /// How long the answers that counted took.
    #[serde(default)]
    pub latency_s: Option<Latency>,
    /// How many steps right answers took, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepFigures>,
}

impl Group {
    /// What was skipped leaves no figure open.
    pub(super) fn leave_out_skipped(&mut self) {
        let skipped = self.skipped;
        let [right, wrong] = both_bounds(self.correct, self.scored, self.unscored, self.errors);
        (self.accuracy_bounds, self.failure_rate_bounds) = (right, wrong);
        if let Some(figures) = &mut self.epochs {
            figures.leave_out(skipped);
        }
        let scorers = self.scorers.values_mut();
        scorers.for_each(|scorer| scorer.leave_out(skipped));
    }
}

/// What a mean was taken over.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Range {
    /// The number of samples that have the entry.
    pub count: u64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

/// The figures of one of several scorers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScorerSummary {
    /// Samples that this scorer judged.
    pub scored: u64,
    /// Those it found correct.
    pub correct: u64,
    /// Samples that should have a verdict and have none of this scorer.
    pub errors: u64,
    /// Those among them that were answered, and that it could not judge.
    #[serde(default, skip_serializing_if = "super::no_samples")]
    pub unjudged: u64,
    /// correct / scored, 0 to 1; `null` when it judged nothing.
    pub accuracy: Option<f64>,
    /// What it could be had every sample a verdict of it `[low, high]`.
    #[serde(default)]
    pub accuracy_bounds: Option<[f64; 2]>,
    /// Its 95 % Wilson interval `[low, high]`.
    pub accuracy_ci95: Option<[f64; 2]>,
    /// Means of this scorer's score (`value`) and of its details.
    pub means: BTreeMap<String, f64>,
    /// Count and extremes for every entry of `means`.
    #[serde(default)]
    pub mean_ranges: BTreeMap<String, Range>,
    /// Figures of its labels, when it judges labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
    /// What several answers to each sample say together by this scorer, when there are several epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<EpochFigures>,
}

impl ScorerSummary {
    /// So many answers that were skipped leave no figure open.
    pub(super) fn leave_out(&mut self, skipped: u64) {
        self.accuracy_bounds = accuracy_bounds(self.correct, self.scored, 0, self.errors);
        if let Some(figures) = &mut self.epochs {
            figures.leave_out(skipped);
        }
    }
}

/// Tokens and cost of the answers that counted; those that were given before cost nothing again. A sum is `null`
/// when no sample tells the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UsageTotal {
    /// Tokens read by the model.
    pub input_tokens: Option<u64>,
    /// Tokens written by the model.
    pub output_tokens: Option<u64>,
    /// Price in US dollars.
    pub cost_usd: Option<f64>,
    /// The number of samples that tell any of these.
    pub samples: u64,
}

impl UsageTotal {
    /// Tokens read and written.
    pub fn tokens(&self) -> Option<u64> {
        match (self.input_tokens, self.output_tokens) {
            (None, None) => None,
            (input, output) => Some(input.unwrap_or(0).saturating_add(output.unwrap_or(0))),
        }
    }
}

/// How long answers took, in seconds. Percentiles are interpolated, as those of `NumPy`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Latency {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The slowest.
    pub max: f64,
}
