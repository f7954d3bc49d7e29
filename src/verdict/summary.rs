//! `Summary`: the figures of a run, the content of `summary.json`.
//!
//! Pure: a function of the records in dataset order, so it does not depend on concurrency. A share of nothing is
//! `null`, never NaN. Every record counts individually: with several epochs, a sample counts once for each in
//! `samples`, `scored`, `correct` and so on. Intervals are then clustered by sample, and [`EpochFigures`] counts
//! samples once.
//!
//! The denominators, everywhere:
//!
//! - `accuracy` is correct / scored. Errors, unscored and skipped samples are in neither number; `accuracy_bounds` has
//!   errors and skipped samples as wrong, and as correct. If every gate was decided before they were asked, skipped
//!   samples are excluded there, and from [`EpochFigures`].
//! - `failure_rate` is (scored - correct) / scored, over the same samples.
//! - `error_rate` is errors / (scored + errors + unscored), the samples that the agent was asked.
//! - if the benchmark has a `cluster`, all intervals of accuracies are clustered by its groups.
//! - `steps` are of the correct samples that report theirs, `ratio` of those among them whose dataset has those of
//!   people.
//! - the share recovered by retry is of the samples that were asked more than once, the rate of all that were asked.

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

/// The version of `summary.json`, increased whenever a reader of an older version would be misled.
///
/// - 1: the first. Members added since, which a reader may ignore: `scorer`, `labels`, and `mean_ranges` and `labels`
///   of each of several scorers; with several epochs `epochs`, also of slices and scorers, and `flaky`; `cached`, also
///   of slices, if any; `accuracy_bounds`, also of slices and scorers; `failed_as_wrong`, also of slices, if any;
///   `partial`; `early_stop`; `unjudged` of slices and scorers, if any; `judge`, if one was used; `not_judged`, if any;
///   `change`, with a baseline; `failure_rate` with its bounds and interval, also of slices; `steps`, also of slices,
///   if agents report them; `refused`, if any; `reviewed`, if people reviewed; `tier`, in a run of one; `progressive`,
///   if the run goes on tier by tier; `alerts`, if it is in a history; `part`, of a shard or other part.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// The most flaky samples that are listed; [`EpochFigures::flaky`] counts all.
pub(crate) const MAX_FLAKY: usize = 1000;

/// The figures of a run: the content of `summary.json`, in its order of keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The format version of the writer.
    pub format_version: u32,
    /// The eval's name.
    pub eval: String,
    /// Whether less was asked than the full eval, because of a filter or a limit on the command line. Gates are then
    /// ignored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The tier of the run, if it has one; the figures are those of its samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Which part of a run it is, if others complete it: gates are left to the merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<RunPart>,
    /// The progress through tiers, if the run goes on tier by tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progressive: Option<Progressive>,
    /// The interim analysis at which every gate was decided, so that the skipped samples were not needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_stop: Option<EarlyLook>,
    /// All records: scored + errors + unscored + skipped. Each epoch is one record.
    pub samples: u64,
    /// Samples with a verdict of the first scorer.
    pub scored: u64,
    /// Scored samples that are correct.
    pub correct: u64,
    /// Samples that ended without their expected verdict: `agent_failed`, `timed_out`, `scorer_failed`.
    pub errors: u64,
    /// Answered samples without ground truth, or without a scorer for it.
    pub unscored: u64,
    /// Samples that were never asked or never judged because the run stopped before.
    pub skipped: u64,
    /// Skipped samples whose answers are on disk: a resumed run only asks their judges.
    #[serde(default, skip_serializing_if = "no_samples")]
    pub not_judged: u64,
    /// Samples whose answers came from the cache. They count in every figure but `usage`, `latency_s` and `attempts`.
    #[serde(default, skip_serializing_if = "no_samples")]
    pub cached: u64,
    /// Answers that the benchmark refused, so that their samples were asked again. They count in `usage` and
    /// `attempts`, and in no other figure.
    #[serde(default, skip_serializing_if = "no_samples")]
    pub refused: u64,
    /// Scored samples without an answer of the agent, which `errors: wrong` counts as wrong.
    #[serde(default, skip_serializing_if = "no_samples")]
    pub failed_as_wrong: u64,
    /// correct / scored, 0 to 1; `null` if nothing was scored.
    pub accuracy: Option<f64>,
    /// Its bounds `[low, high]` if every sample had a verdict: with those that errored or were never asked all as
    /// wrong, and all as correct. With several epochs each missing answer counts in its sample. Both equal `accuracy`
    /// if no verdict is missing; `null` if there is nothing to score.
    #[serde(default)]
    pub accuracy_bounds: Option<[f64; 2]>,
    /// Its 95 % Wilson interval `[low, high]`; with several epochs clustered by sample, with a `cluster` by group.
    pub accuracy_ci95: Option<[f64; 2]>,
    /// (scored - correct) / scored, which is 1 - accuracy; `null` if nothing was scored.
    #[serde(default)]
    pub failure_rate: Option<f64>,
    /// Its bounds `[low, high]`, as `accuracy_bounds`.
    #[serde(default)]
    pub failure_rate_bounds: Option<[f64; 2]>,
    /// Its 95 % confidence interval `[low, high]`, the mirror of that of the accuracy.
    #[serde(default)]
    pub failure_rate_ci95: Option<[f64; 2]>,
    /// The change since the accepted baseline; absent without a comparable one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<BaselineChange>,
    /// errors / (scored + errors + unscored), 0 to 1; `null` if nothing was asked.
    pub error_rate: Option<f64>,
    /// Errors by kind, such as `exited` or `timed_out`; `scorer_failed` for any error of the scorer.
    #[serde(default)]
    pub failures: BTreeMap<String, u64>,
    /// Means over the scored samples: of the score (`value`), and of every numeric or boolean entry of the first
    /// scorer's details, over the samples that have the entry.
    pub means: BTreeMap<String, f64>,
    /// For every entry of `means`, the number of samples and the extremes.
    #[serde(default)]
    pub mean_ranges: BTreeMap<String, Range>,
    /// Macro-F1, the figures of each label and the confusion matrix, if the first scorer judges labels.
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
    /// The figures of each scorer by name, if there are several.
    #[serde(default)]
    pub scorers: BTreeMap<String, ScorerSummary>,
    /// Figures over the epochs of each sample, if there are several epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<EpochFigures>,
    /// Samples that are correct in some epochs and wrong in others, in dataset order, at most 1,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<Flaky>,
    /// Tokens and cost of the requests of this run.
    pub usage: UsageTotal,
    /// Latencies of the answers that counted; `null` if there are none.
    #[serde(default)]
    pub latency_s: Option<Latency>,
    /// Steps of right answers, if the agent reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepFigures>,
    /// The number of requests to the agent, over all samples.
    pub attempts: u64,
    /// The effect of retries.
    pub recovered_by_retry: Recovered,
    /// Requests, verdicts and cost of judges, if a scorer uses one. Included in no other figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeSummary>,
    /// The reviews of items by people, if there are any. They may be added after the run: `summary.json` only has them
    /// if the run was resumed since, and readers of a run read them again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewed: Option<ReviewedFigures>,
    /// The benchmark's own aggregates.
    #[serde(default)]
    pub metrics: Map<String, Value>,
    /// The verdicts of the gates, in the order of the spec.
    pub gates: Vec<GateResult>,
    /// The results of the alerts, if the run is in a history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alerts: Vec<AlertResult>,
    /// Whether an ignored gate leaves the run undecided. For messages; `exit_code` includes it.
    #[serde(skip)]
    pub(crate) ignored_matter: bool,
    /// The exit code of the command, that of the worst cause.
    pub exit_code: Exit,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's `skip_serializing_if` passes a reference"
)]
fn no_samples(samples: &u64) -> bool {
    *samples == 0
}

/// The effect of retries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Recovered {
    /// Samples that were asked more than once.
    pub retried: u64,
    /// Those that ended with an answer.
    pub recovered: u64,
    /// recovered / retried, 0 to 1; `null` if nothing was retried.
    pub share: Option<f64>,
    /// recovered / (scored + errors + unscored), the samples that were asked: the share of the run that depends on
    /// retries.
    #[serde(default)]
    pub rate: Option<f64>,
}

impl Summary {
    /// Sets the results of the alerts: a raised one fails the run, unless it ends worse.
    pub(crate) fn tell_alerts(&mut self, alerts: Vec<AlertResult>) {
        if alerts.iter().any(AlertResult::is_raised) {
            self.exit_code = Exit::worst([self.exit_code, Exit::Failed]);
        }
        self.alerts = alerts;
    }

    /// Whether there is an answer of the agent, of any status.
    pub(crate) fn has_answers(&self) -> bool {
        let answered = self.scored.saturating_sub(self.failed_as_wrong);
        answered + self.unscored + self.unjudged() + self.not_judged > 0
    }

    /// Answers that the first scorer could not judge.
    pub(crate) fn unjudged(&self) -> u64 {
        let unjudged = self.failures.get("scorer_failed").copied();
        unjudged.unwrap_or_default()
    }

    /// Whether the scorer of this name is a judge that is not calibrated.
    pub(crate) fn is_uncalibrated(&self, scorer: &str) -> bool {
        let judge = self.judge.as_ref();
        let told = judge.and_then(|judge| judge.calibration_of(scorer));
        told.is_some_and(|told| told.uncalibrated().is_some())
    }

    /// The models that served judges, with their numbers of calls, by the name of the scorer.
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

    /// Excludes skipped samples from all bounds, as they were not needed.
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
