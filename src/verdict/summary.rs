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
mod json;
mod judge;
mod labels;
mod latency;
mod steps;
mod tally;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
use crate::verdict::analysis::InterimAnalysis;
use crate::verdict::progressive::Progressive;
use crate::verdict::result::{AlertResult, GateResult};

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

/// What a run amounts to: the content of `summary.json`, whose order of members is in `summary/json.rs`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// The format version of the writer.
    pub format_version: u32,
    /// The eval's name.
    pub eval: String,
    /// Whether less was asked than the eval as it is defined: a filter, a limit of the command line. The gates are
    /// ignored then.
    pub partial: bool,
    /// The tier that ran, if it was one: the figures are those of its samples alone.
    pub tier: Option<String>,
    /// What the run is a part of, if others complete it: the gates are left to whoever puts all together.
    pub part: Option<RunPart>,
    /// How far the run came, if it went on tier by tier.
    pub progressive: Option<Progressive>,
    /// The look at which every gate was sure, so that the samples that were skipped were not needed.
    pub early_stop: Option<InterimAnalysis>,
    /// The figures of all samples, those that each slice has, too: `summary.accuracy` is `summary.whole.accuracy`.
    pub whole: Group,
    /// Of the skipped, those whose answers are on disk: a run that goes on asks their judges alone.
    pub not_judged: u64,
    /// Answers that were refused, so that their samples were asked again, where the benchmark has that. They count in
    /// `usage` and `attempts`, and in no other figure.
    pub refused: u64,
    /// How far it is from the accepted baseline; missing without one that can be compared.
    pub change: Option<BaselineChange>,
    /// Errors by kind, such as `exited` or `timed_out`; `scorer_failed` whatever the scorer said.
    pub failures: BTreeMap<String, u64>,
    /// The same figures for each slice, by dimension and value: `slices.level["1"]`.
    pub slices: BTreeMap<String, BTreeMap<String, Group>>,
    /// How much harder each level is than the one below it; empty without integer-like levels.
    pub difficulty_drop: Vec<DifficultyDrop>,
    /// The name of the first scorer, which decides.
    pub scorer: Option<String>,
    /// Samples that are correct in some epochs and wrong in others, in dataset order, at most 1,000.
    pub flaky: Vec<Flaky>,
    /// How often the agent was asked, over all samples.
    pub attempts: u64,
    /// The effect of retries.
    pub recovered_by_retry: Recovered,
    /// What judges were asked, what they said and what that cost, where a scorer asks one. It is in no other figure.
    pub judge: Option<JudgeSummary>,
    /// What people say of the items, where they reviewed some. That may come after the run: `summary.json` has it of a run
    /// that went on since, and whoever reads a run reads it anew.
    pub reviewed: Option<ReviewedFigures>,
    /// The benchmark's own aggregates.
    pub metrics: Map<String, Value>,
    /// The verdicts of the gates, in the order of the spec.
    pub gates: Vec<GateResult>,
    /// What became of the alerts, where the run is one of a history.
    pub alerts: Vec<AlertResult>,
    /// Whether one of them was ignored where that leaves the question open. For people: `exit_code` counts it.
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
    pub(crate) fn set_alerts(&mut self, alerts: Vec<AlertResult>) {
        if alerts.iter().any(AlertResult::is_raised) {
            self.exit_code = Exit::worst([self.exit_code, Exit::Failed]);
        }
        self.alerts = alerts;
    }

    /// Whether there is an answer of the agent, of any status.
    pub(crate) fn has_answers(&self) -> bool {
        let answered = self.scored.saturating_sub(self.failed_as_wrong);
        answered + self.unscored + self.unjudged + self.not_judged > 0
    }

    /// Whether the scorer of this name is a judge that is not calibrated.
    pub(crate) fn is_uncalibrated(&self, scorer: &str) -> bool {
        let judge = self.judge.as_ref();
        let calibration = judge.and_then(|judge| judge.calibration_of(scorer));
        calibration.is_some_and(|calibration| calibration.uncalibrated().is_some())
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
        self.whole.leave_out_skipped();
        let slices = self.slices.values_mut().flat_map(BTreeMap::values_mut);
        slices.for_each(Group::leave_out_skipped);
    }
}

#[cfg(test)]
pub(crate) mod tests;
