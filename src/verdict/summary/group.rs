//! `Group`: the figures of all samples, or of those of one slice.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ConversationFigures, EpochFigures, Labels, StepFigures};
use super::{accuracy_bounds, both_bounds};
use crate::data::Usage;
use crate::stats::Sum;

/// The figures of all samples of a run, or of those of one slice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Group {
    /// All records: scored + errors + unscored + skipped. With several epochs each is one of them.
    pub samples: u64,
    /// Samples with a verdict of the first scorer.
    pub scored: u64,
    /// Scored samples that are correct.
    pub correct: u64,
    /// Samples that ended without the verdict they should have: `agent_failed`, `timed_out`,
    /// `scorer_failed`.
    pub errors: u64,
    /// Samples that were answered and have no ground truth, or no scorer for it.
    pub unscored: u64,
    /// Samples that were never asked or never judged, because the run stopped before.
    pub skipped: u64,
    /// Samples whose answers were given before and came from the cache. They count in every figure but
    /// `usage`, `latency_s` and `attempts`.
    #[serde(default, skip_serializing_if = "super::no_samples")]
    pub cached: u64,
    /// Samples for which a recorded call of a model was replayed. They count in every figure but `latency_s`.
    #[serde(default, skip_serializing_if = "super::no_samples")]
    pub recorded: u64,
    /// Scored samples without an answer of the agent, which `errors: wrong` counts as wrong.
    #[serde(default, skip_serializing_if = "super::no_samples")]
    pub failed_as_wrong: u64,
    /// Those among the errors that were answered, and that the first scorer could not judge. Of the whole run the file
    /// has them as `failures.scorer_failed`.
    #[serde(default, skip_serializing_if = "super::no_samples")]
    pub unjudged: u64,
    /// correct / scored, 0 to 1; `null` if nothing was scored.
    pub accuracy: Option<f64>,
    /// What it could be had every sample a verdict `[low, high]`: with those that errored or were never asked all as
    /// wrong, and all as correct. With several epochs each lacking answer is one of its sample. Both are `accuracy`
    /// where nothing lacks a verdict; `null` when there is nothing to score.
    #[serde(default)]
    pub accuracy_bounds: Option<[f64; 2]>,
    /// Its 95 % Wilson interval `[low, high]`; with several epochs clustered by sample, with a `cluster` by group.
    pub accuracy_ci95: Option<[f64; 2]>,
    /// (scored - correct) / scored, which is 1 - accuracy; `null` when nothing was scored.
    #[serde(default)]
    pub failure_rate: Option<f64>,
    /// What it could be had every sample a verdict `[low, high]`, as `accuracy_bounds`.
    #[serde(default)]
    pub failure_rate_bounds: Option<[f64; 2]>,
    /// Its 95 % confidence interval `[low, high]`, the mirror of that of the accuracy.
    #[serde(default)]
    pub failure_rate_ci95: Option<[f64; 2]>,
    /// errors / (scored + errors + unscored), 0 to 1; `null` when nothing was asked.
    pub error_rate: Option<f64>,
    /// Over the scored samples: the mean of the score (`value`), and of every numeric or boolean entry of
    /// the first scorer's details, over the samples that have the entry.
    pub means: BTreeMap<String, f64>,
    /// For every entry of `means`, over how many samples it was taken, and its extremes.
    #[serde(default)]
    pub mean_ranges: BTreeMap<String, Range>,
    /// Macro-F1, the figures of each label and the confusion matrix, when the first scorer judges labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
    /// The figures of each scorer by name, if there are several.
    #[serde(default)]
    pub scorers: BTreeMap<String, ScorerSummary>,
    /// Figures over the epochs of each sample, if there are several epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<EpochFigures>,
    /// Tokens and cost of what was asked in this run.
    #[serde(default)]
    pub usage: UsageTotal,
    /// How long the answers that counted took; `null` when there are none.
    #[serde(default)]
    pub latency_s: Option<Latency>,
    /// Steps of right answers, if the agent reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepFigures>,
    /// Calls of tools of an answer, of those that tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<AnswerMean>,
    /// Characters of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_length: Option<AnswerMean>,
    /// How conversations went, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversations: Option<ConversationFigures>,
}

impl Group {
    /// Excludes skipped samples from all bounds.
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

/// A mean over answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AnswerMean {
    /// The mean.
    pub mean: f64,
    /// Over how many answers.
    pub answers: u64,
}

impl AnswerMean {
    pub(super) fn of(sum: &Sum) -> Option<Self> {
        Some(Self {
            mean: sum.mean()?,
            answers: sum.count(),
        })
    }
}

/// The values behind a mean.
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
    /// Samples it found correct.
    pub correct: u64,
    /// Samples whose expected verdict of this scorer is missing.
    pub errors: u64,
    /// Those that were answered, but that it could not judge.
    #[serde(default, skip_serializing_if = "super::no_samples")]
    pub unjudged: u64,
    /// correct / scored, 0 to 1; `null` if it judged nothing.
    pub accuracy: Option<f64>,
    /// Its bounds `[low, high]` if every sample had a verdict of it.
    #[serde(default)]
    pub accuracy_bounds: Option<[f64; 2]>,
    /// Its 95 % Wilson interval `[low, high]`.
    pub accuracy_ci95: Option<[f64; 2]>,
    /// Means of this scorer's score (`value`) and of its details.
    pub means: BTreeMap<String, f64>,
    /// Count and extremes for every entry of `means`.
    #[serde(default)]
    pub mean_ranges: BTreeMap<String, Range>,
    /// Figures of its labels, if it judges labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
    /// Figures over the epochs of each sample by this scorer, if there are several epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<EpochFigures>,
}

impl ScorerSummary {
    /// Excludes skipped answers from all bounds.
    pub(super) fn leave_out(&mut self, skipped: u64) {
        self.accuracy_bounds = accuracy_bounds(self.correct, self.scored, 0, self.errors);
        if let Some(figures) = &mut self.epochs {
            figures.leave_out(skipped);
        }
    }
}

/// Tokens and cost of the answers that counted; cached ones cost nothing. A sum is `null` if no sample reports the
/// number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UsageTotal {
    /// Tokens read by the model.
    pub input_tokens: Option<u64>,
    /// Tokens written by the model.
    pub output_tokens: Option<u64>,
    /// Price in US dollars.
    pub cost_usd: Option<f64>,
    /// The number of samples that report any of these.
    pub samples: u64,
    /// How many answers do not report a number, so that its sum is a lower bound. Missing in older files.
    #[serde(default, skip_serializing_if = "UnknownUsage::is_nothing")]
    pub unknown: UnknownUsage,
}

/// How many answers do not report a number that others do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct UnknownUsage {
    /// Tokens read by the model.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// Any of the two, if answers report both.
    pub tokens: u64,
    /// Price in US dollars.
    pub cost_usd: u64,
}

impl UnknownUsage {
    /// Adds an answer.
    pub(super) fn add(&mut self, usage: Option<&Usage>) {
        let usage = usage.copied().unwrap_or_default();
        let (input, output) = (usage.input_tokens.is_none(), usage.output_tokens.is_none());
        self.input_tokens += u64::from(input);
        self.output_tokens += u64::from(output);
        self.tokens += u64::from(input || output);
        self.cost_usd += u64::from(usage.cost_usd.is_none_or(|cost| !cost.is_finite()));
    }

    /// The counts of the sums that there are.
    pub(super) fn of(self, total: &UsageTotal) -> Self {
        let count = |is_known: bool, unknown: u64| if is_known { unknown } else { 0 };
        Self {
            input_tokens: count(total.input_tokens.is_some(), self.input_tokens),
            output_tokens: count(total.output_tokens.is_some(), self.output_tokens),
            // Where nobody reports one of the two, the other is what agents call their tokens.
            tokens: match (total.input_tokens, total.output_tokens) {
                (Some(_), Some(_)) => self.tokens,
                (Some(_), None) => self.input_tokens,
                (None, Some(_)) => self.output_tokens,
                (None, None) => 0,
            },
            cost_usd: count(total.cost_usd.is_some(), self.cost_usd),
        }
    }

    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
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

/// Latencies in seconds. Percentiles are interpolated, as in `NumPy`.
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
