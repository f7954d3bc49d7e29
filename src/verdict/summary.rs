//! `Summary`: what a run amounts to, the content of `summary.json`.
//!
//! Pure: a function of the records in dataset order, so it is equal at any concurrency. A share of nothing
//! is `null`, never NaN. Every record counts by itself: with several epochs, which are several answers to each
//! sample, a sample counts once for each in `samples`, `scored`, `correct` and so on. Their intervals are then
//! clustered by sample, and [`EpochFigures`] counts samples once.
//!
//! The denominators, everywhere:
//!
//! - `accuracy` is correct / scored. Errors, unscored and skipped samples are in neither number; `accuracy_bounds`
//!   has errors and skipped samples as wrong, and as correct. Where every gate was sure before they were asked, skipped
//!   samples are in no such range, and not among those of [`EpochFigures`].
//! - `failure_rate` is (scored - correct) / scored, with the same samples lacking.
//! - `error_rate` is errors / (scored + errors + unscored), the samples that the agent was asked.
//! - where the benchmark has a `cluster`, all intervals of accuracies are clustered by its groups.
//! - `steps` are of the correct samples that tell theirs, `ratio` of those among them whose dataset tells those of people.
//! - the share recovered by retry is that of the samples that were asked more than once, the rate that of all that were asked.

mod bounds;
mod builder;
mod change;
mod difficulty;
mod epochs;
mod group;
mod judge;
mod labels;
mod latency;
mod steps;
mod tally;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use bounds::both_bounds;
pub(crate) use bounds::mirrored;
pub(crate) use builder::SummaryBuilder;
pub use change::BaselineChange;
pub use difficulty::DifficultyDrop;
pub use epochs::{EpochFigures, Estimate, Flaky, Majority};
pub use group::{Group, Latency, Range, ScorerSummary, UsageTotal};
pub(crate) use judge::judge_notices;
pub use judge::{JudgeSummary, JurorSummary, JurySummary, LabelAgreement, WorsePanel};
pub(crate) use labels::MAX_LABELS;
pub use labels::{Confusion, LabelFigures, Labels};
pub(crate) use latency::{SortedLatencies, timed};
pub use steps::StepFigures;
pub(crate) use tally::VALUE;

use crate::data::Record;
use crate::data::reviews::ReviewedFigures;
use crate::exit::Exit;
use crate::store::RunPart;
use crate::verdict::alert::AlertResult;
use crate::verdict::look::EarlyLook;
use crate::verdict::progressive::Progressive;
use crate::verdict::result::GateResult;

/// The version of `summary.json`, counted up whenever a reader of an older version would be misled.
///
/// - 1: the first. Members added since, which a reader may leave alone: `scorer`, `labels`, and `mean_ranges` and
///   `labels` of each of several scorers; with several epochs `epochs`, also of slices and scorers, and `flaky`;
///   `cached`, also of slices, where there are such; `accuracy_bounds`, also of slices and scorers;
///   `failed_as_wrong`, also of slices, where there are such; `partial`; `early_stop`; `unjudged` of slices and
///   scorers, where there are such; `judge`, where one was asked; `not_judged`, where there are such; `change`, with a baseline;
///   `failure_rate` with its bounds and interval, also of slices; `steps`, also of slices, where agents tell; `refused`, where
///   there are such; `reviewed`, where people reviewed; `tier`, where one ran;
///   `progressive`, where it went on tier by tier; `alerts`, where it is one of a history; `part`, of a shard and the like.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// So many flaky samples are named; [`EpochFigures::flaky`] counts all.
pub(crate) const MAX_FLAKY: usize = 1000;

/// What a run amounts to: the content of `summary.json`, in its order of keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The version of the format, of the writer.
    pub format_version: u32,
    /// The eval's name.
    pub eval: String,
    /// Whether less was asked than the eval as it is defined: a filter, a limit of the command line. The gates are
    /// ignored then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The tier that ran, if it was one: the figures are those of its samples alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// What the run is a part of, if others complete it: the gates are left to whoever puts all together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<RunPart>,
    /// How far the run came, if it went on tier by tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progressive: Option<Progressive>,
    /// The look at which every gate was sure, so that the samples that were skipped were not needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_stop: Option<EarlyLook>,
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
    /// Of the skipped, those whose answers are on disk: a run that goes on asks their judges alone.
    #[serde(default, skip_serializing_if = "no_samples")]
    pub not_judged: u64,
    /// Samples whose answers were given before and came from the cache. They count in every figure but
    /// `usage`, `latency_s` and `attempts`.
    #[serde(default, skip_serializing_if = "no_samples")]
    pub cached: u64,
    /// Answers that were refused, so that their samples were asked again, where the benchmark has that. They count in
    /// `usage` and `attempts`, and in no other figure.
    #[serde(default, skip_serializing_if = "no_samples")]
    pub refused: u64,
    /// Scored samples to which the agent gave no answer, which `errors: wrong` counts as a wrong one.
    #[serde(default, skip_serializing_if = "no_samples")]
    pub failed_as_wrong: u64,
    /// correct / scored, 0 to 1; `null` when nothing was scored.
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
    /// How far it is from the accepted baseline; missing without one that can be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<BaselineChange>,
    /// errors / (scored + errors + unscored), 0 to 1; `null` when nothing was asked.
    pub error_rate: Option<f64>,
    /// Errors by kind, such as `exited` or `timed_out`; `scorer_failed` whatever the scorer said.
    #[serde(default)]
    pub failures: BTreeMap<String, u64>,
    /// Over the scored samples: the mean of the score (`value`), and of every numeric or boolean entry of
    /// the first scorer's details, over the samples that have the entry.
    pub means: BTreeMap<String, f64>,
    /// For every entry of `means`, over how many samples it was taken, and its extremes.
    #[serde(default)]
    pub mean_ranges: BTreeMap<String, Range>,
    /// Macro-F1, the figures of each label and the confusion matrix, when the first scorer judges labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
    /// The same figures for each slice, by dimension and value: `slices.level["1"]`.
    pub slices: BTreeMap<String, BTreeMap<String, Group>>,
    /// How much harder each level is than the one below it; empty without integer-like levels.
    #[serde(default)]
    pub difficulty_drop: Vec<DifficultyDrop>,
    /// The name of the first scorer, which decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scorer: Option<String>,
    /// The figures of each scorer by name, when there are several.
    #[serde(default)]
    pub scorers: BTreeMap<String, ScorerSummary>,
    /// What several answers to each sample say together, when there are several epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<EpochFigures>,
    /// Samples that are correct in some epochs and wrong in others, in dataset order, at most 1,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<Flaky>,
    /// Tokens and cost of what was asked in this run.
    pub usage: UsageTotal,
    /// How long the answers that counted took; `null` when there are none.
    #[serde(default)]
    pub latency_s: Option<Latency>,
    /// How many steps right answers took, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepFigures>,
    /// How often the agent was asked, over all samples.
    pub attempts: u64,
    /// What the retries were good for.
    pub recovered_by_retry: Recovered,
    /// What judges were asked, what they said and what that cost, where a scorer asks one. It is in no other figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeSummary>,
    /// What people say of the items, where they reviewed some. That may come after the run: `summary.json` has it of a run
    /// that went on since, and whoever reads a run reads it anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewed: Option<ReviewedFigures>,
    /// The benchmark's own aggregates.
    #[serde(default)]
    pub metrics: Map<String, Value>,
    /// The verdicts of the gates, in the order of the spec.
    pub gates: Vec<GateResult>,
    /// What became of the alerts, where the run is one of a history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alerts: Vec<AlertResult>,
    /// Whether one of them was ignored where that leaves the question open. For people: `exit_code` counts it.
    #[serde(skip)]
    pub(crate) ignored_matter: bool,
    /// How the command ends: with the worst of its causes.
    pub exit_code: Exit,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's `skip_serializing_if` passes a reference"
)]
fn no_samples(samples: &u64) -> bool {
    *samples == 0
}

/// What the retries were good for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Recovered {
    /// Samples that were asked more than once.
    pub retried: u64,
    /// Of those, the ones that ended with an answer.
    pub recovered: u64,
    /// recovered / retried, 0 to 1; `null` when nothing was retried.
    pub share: Option<f64>,
    /// recovered / (scored + errors + unscored), the samples that were asked: how much of the run is owed to retries.
    #[serde(default)]
    pub rate: Option<f64>,
}

impl Summary {
    /// Says what became of the alerts: one that is raised fails the run, unless it ends worse.
    pub(crate) fn tell_alerts(&mut self, alerts: Vec<AlertResult>) {
        if alerts.iter().any(AlertResult::is_raised) {
            self.exit_code = Exit::worst([self.exit_code, Exit::Failed]);
        }
        self.alerts = alerts;
    }

    /// Whether there is an answer of the agent, whatever became of it.
    pub(crate) fn has_answers(&self) -> bool {
        let answered = self.scored.saturating_sub(self.failed_as_wrong);
        answered + self.unscored + self.unjudged() + self.not_judged > 0
    }

    /// Answers that the first scorer could not judge.
    pub(crate) fn unjudged(&self) -> u64 {
        let unjudged = self.failures.get("scorer_failed").copied();
        unjudged.unwrap_or_default()
    }

    /// Whether the scorer of this name is a judge that people's labels do not vouch for.
    pub(crate) fn is_uncalibrated(&self, scorer: &str) -> bool {
        let judge = self.judge.as_ref();
        let told = judge.and_then(|judge| judge.calibration_of(scorer));
        told.is_some_and(|told| told.uncalibrated().is_some())
    }

    /// What judged, by the name of the scorer: models as served, and how many calls each replied to.
    pub(crate) fn judge_models(&self) -> BTreeMap<String, BTreeMap<String, u64>> {
        let judges = self.judge.iter().flat_map(|judge| &judge.scorers);
        let served = judges.filter(|(_, judge)| !judge.models.is_empty());
        let served = served.map(|(name, judge)| (name.clone(), judge.models.clone()));
        served.collect()
    }

    /// The summary of records in dataset order. `metrics` and `gates` are empty and `exit_code` is `Passed` until
    /// the caller fills them in.
    pub fn of(eval: &str, records: &[Record]) -> Self {
        let epochs = records.iter().map(|record| record.epoch + 1).max();
        let mut builder = SummaryBuilder::new(eval).epochs(epochs.unwrap_or(1));
        for record in records {
            builder.add(record);
        }
        builder.finish()
    }

    /// What was skipped was not needed: it leaves no figure open, as an error does.
    pub(crate) fn leave_out_skipped(&mut self) {
        let skipped = self.skipped;
        let [right, wrong] = both_bounds(self.correct, self.scored, self.unscored, self.errors);
        (self.accuracy_bounds, self.failure_rate_bounds) = (right, wrong);
        if let Some(figures) = &mut self.epochs {
            figures.leave_out(skipped);
        }
        let scorers = self.scorers.values_mut();
        scorers.for_each(|scorer| scorer.leave_out(skipped));
        let slices = self.slices.values_mut().flat_map(BTreeMap::values_mut);
        slices.for_each(Group::leave_out_skipped);
    }
}

#[cfg(test)]
pub(crate) mod tests;
