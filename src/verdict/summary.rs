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

pub(crate) mod account;
mod builder;
mod conversations;
mod epochs;
mod group;
mod json;
mod judge;
mod labels;
mod perturbed;
mod points;
mod reading;
mod shortfall;
mod subject;
mod tally;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::data::record::perturb::PerturbKind;
use crate::data::reviews::ReviewedFigures;
use crate::data::{FoundBy, Outcome, Record};
use crate::exit::Exit;
use crate::stats;
use crate::stats::Sum;
use crate::store::RunPart;
use crate::verdict::result::{AlertResult, FigureChange, GateResult};
use crate::verdict::result::{InterimAnalysis, Progressive};
use crate::verdict::summary::account::Account;

pub(crate) use builder::SummaryBuilder;
pub use conversations::ConversationFigures;
pub use epochs::{EpochFigures, Estimate, Flaky, Majority};
pub use group::{AnswerMean, Group, Latency, Range, ScorerSummary, UnknownUsage, UsageTotal};
pub(crate) use judge::judge_notices;
pub use judge::{JudgeSummary, JurorSummary, JurySummary, LabelAgreement, WorsePanel};
pub(crate) use labels::MAX_LABELS;
pub use labels::{Confusion, LabelFigures, Labels};
pub(crate) use perturbed::PERTURB;
pub use perturbed::PerturbFigures;
pub use points::{CountedShare, DimensionPoints, JudgedPoints, PointMean};
pub use reading::{MissedCount, ReadingFigures};
pub(crate) use reading::{found_by_counts, reading_notices};
pub use shortfall::ShortfallFigures;
pub use subject::Subject;
pub(crate) use tally::VALUE;

/// The version of `summary.json`, increased whenever a reader of an older version would be misled.
///
/// - 1: the first. Members added since, which a reader may ignore: `scorer`, `labels`, and `mean_ranges` and `labels`
///   of each of several scorers; with several epochs `epochs`, also of slices and scorers, and `flaky`; `cached`, also
///   of slices, if any; `accuracy_bounds`, also of slices and scorers; `failed_as_wrong`, also of slices, if any;
///   `partial`; `early_stop`; `unjudged` of slices and scorers, if any; `judge`, if one was used; `not_judged`, if any;
///   `change`, with a baseline; `failure_rate` with its bounds and interval, also of slices; `steps`, also of slices,
///   if agents report them; `refused`, if any; `reviewed`, if people reviewed; `tier`, in a run of one; `progressive`,
///   if the run goes on tier by tier; `alerts`, if it is in a history; `part`, of a shard or other part; `found_by`, if
///   known; `reading`, if something is to be said of it; `account`; `shortfall`, if answers ended at the limit of
///   tokens or are refusals; `usage.unknown`, if answers do not report it; `perturb`, if questions were perturbed;
///   `judges_items`, and `points` of judges, if the items of the dataset are judged themselves.
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
    /// Whether the items of the dataset are judged themselves, so that no agent was asked.
    pub judges_items: bool,
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
    /// What became of every sample; empty in older files.
    pub account: Account,
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
    /// What perturbed questions cost, by kind. Their answers are in no other figure but the slices `perturb`.
    pub perturb: BTreeMap<PerturbKind, PerturbFigures>,
    /// Samples that are correct in some epochs and wrong in others, in dataset order, at most 1,000.
    pub flaky: Vec<Flaky>,
    /// How many answers were read in which way; empty in older files.
    pub found_by: BTreeMap<FoundBy, u64>,
    /// What may be wrong with that, if anything.
    pub reading: Option<ReadingFigures>,
    /// Answers that ended at the limit of tokens or are refusals, if any.
    pub shortfall: Option<ShortfallFigures>,
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

    /// Whether the scorer of this name judges pairs, which not all samples need to be in.
    pub(crate) fn judges_pairs(&self, scorer: &str) -> bool {
        let judge = self.judge.as_ref();
        let judge = judge.and_then(|judge| judge.scorers.get(scorer));
        judge.is_some_and(|judge| judge.pairs.is_some())
    }

    /// The models that served judges and simulated users, with their numbers of calls, by the name of the scorer.
    pub(crate) fn judge_models(&self) -> BTreeMap<String, BTreeMap<String, u64>> {
        let judges = self.judge.iter().flat_map(|judge| &judge.scorers);
        let served = judges.filter(|(_, judge)| !judge.models.is_empty());
        let served = served.map(|(name, judge)| (name.clone(), judge.models.clone()));
        let conversations = self.whole.conversations.iter();
        let users = conversations.filter_map(ConversationFigures::served_user);
        served.chain(users).collect()
    }

    /// The summary of records in dataset order. `metrics` and `gates` are empty and `exit_code` is `Passed` until
    /// the caller fills them in.
    pub fn of(eval: &str, records: &[Record]) -> Self {
        let plain = records.iter().filter(|record| record.perturb.is_none());
        let epochs = plain.map(|record| record.epoch + 1).max();
        let mut builder = SummaryBuilder::new(eval).epochs(epochs.unwrap_or(1));
        for record in records {
            builder.add(record);
        }
        builder.finish()
    }

    /// The slices of the dataset, without those of perturbed answers.
    pub(crate) fn dataset_slices(
        &self,
    ) -> impl Iterator<Item = (&String, &BTreeMap<String, Group>)> + Clone {
        self.slices.iter().filter(|(name, _)| *name != PERTURB)
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

/// The share of correct samples with all missing verdicts as wrong, and as correct. `None` if there is nothing to
/// score, or no ground truth.
///
/// With several epochs the arguments are numbers of answers. Every sample has equally many, so a missing answer counts
/// within its sample.
fn accuracy_bounds(correct: u64, scored: u64, unscored: u64, unknown: u64) -> Option<[f64; 2]> {
    if scored == 0 && unscored > 0 {
        return None;
    }
    let all = scored + unknown;
    let low = stats::ratio(correct, all)?;
    Some([low, stats::ratio(correct + unknown, all)?])
}

/// The bounds of the correct and of the wrong share; both counted, since 1 - accuracy has rounding errors.
fn both_bounds(correct: u64, scored: u64, unscored: u64, unknown: u64) -> [Option<[f64; 2]>; 2] {
    [correct, scored.saturating_sub(correct)]
        .map(|part| accuracy_bounds(part, scored, unscored, unknown))
}

/// The interval of 1 minus a share.
pub(crate) fn mirrored([low, high]: [f64; 2]) -> [f64; 2] {
    [1.0 - high, 1.0 - low]
}

/// A run compared with the accepted baseline, over the samples with a verdict in both. The figures are those of the
/// gate `no_regression`; shares and differences are fractions, now minus before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BaselineChange {
    /// The ids of the runs that were accepted.
    pub runs: Vec<String>,
    /// Samples with a verdict on both sides, each counted once, however many answers it has.
    pub n: u64,
    /// Samples that were correct and are wrong now.
    pub worse: u64,
    /// Samples that were wrong and are correct now.
    pub better: u64,
    /// Accuracy of the baseline over these samples.
    pub accuracy_before: f64,
    /// Accuracy of now over these samples.
    pub accuracy_now: f64,
    /// The rise of accuracy.
    pub difference: f64,
    /// The 95 % confidence interval of the difference, which always has a width.
    pub difference_ci95: [f64; 2],
    /// The probability of at most this many right answers now if the agent is unchanged.
    pub p: f64,
    /// The ids that went from correct to wrong, in dataset order.
    pub became_wrong: Vec<String>,
    /// The ids that went from wrong to correct.
    pub became_correct: Vec<String>,
    /// The figures that the baseline keeps, by name: tokens, cost, steps, and those of scorers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, FigureChange>,
}

/// The drop of accuracy between two adjacent levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DifficultyDrop {
    /// The easier level.
    pub from: String,
    /// The harder one.
    pub to: String,
    /// The relative drop, (accuracy of `from` - accuracy of `to`) / accuracy of `from`; negative if the harder level
    /// went better. `null` if either accuracy is, or if that of `from` is 0.
    pub drop: Option<f64>,
}

/// The drops between adjacent integer levels, in numeric order.
fn difficulty_drops(levels: &BTreeMap<String, Group>) -> Vec<DifficultyDrop> {
    let mut levels: Vec<(i64, &String, Option<f64>)> = levels
        .iter()
        .filter_map(|(name, group)| Some((name.trim().parse().ok()?, name, group.accuracy)))
        .collect();
    levels.sort_by_key(|(number, ..)| *number);
    levels
        .windows(2)
        .filter_map(|pair| {
            let [(_, from, easier), (_, to, harder)] = pair else {
                return None;
            };
            let drop = easier
                .filter(|easier| *easier > 0.0)
                .zip(*harder)
                .map(|(easier, harder)| (easier - harder) / easier);
            Some(DifficultyDrop {
                from: (*from).clone(),
                to: (*to).clone(),
                drop,
            })
        })
        .collect()
}

/// The reported percentiles.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 100.0];

/// The latency in seconds of an answer that was requested in this run.
pub(crate) fn timed(outcome: &Outcome) -> Option<f64> {
    let is_measured = outcome.is_answered() && outcome.is_timed();
    let latency = outcome.latency_s;
    (is_measured && latency.is_finite() && latency >= 0.0).then_some(latency)
}

/// Latencies added in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct SortedLatencies {
    count: u64,
    seen: u64,
    sum: Sum,
    /// Those at the ranks around the percentiles.
    ranked: BTreeMap<u64, f64>,
}

impl SortedLatencies {
    /// For `count` latencies, none added yet.
    pub(crate) fn new(count: u64) -> Self {
        let places = PERCENTILES
            .iter()
            .filter_map(|percent| stats::ranks(count, *percent));
        let places = places.flat_map(|ranks| [ranks.below, ranks.above]);
        Self {
            count,
            seen: 0,
            sum: Sum::default(),
            ranked: places.map(|place| (place, 0.0)).collect(),
        }
    }

    /// Adds the next one.
    pub(crate) fn add(&mut self, latency: f64) {
        if let Some(ranked) = self.ranked.get_mut(&self.seen) {
            *ranked = latency;
        }
        self.seen += 1;
        self.sum.add(latency);
    }

    /// `None` without latencies.
    pub(crate) fn finish(&self) -> Option<Latency> {
        let at = |percent| {
            let ranks = stats::ranks(self.count, percent)?;
            let [low, high] = [ranks.below, ranks.above].map(|place| self.ranked.get(&place));
            Some(ranks.between(*low?, *high?))
        };
        let [p50, p90, p95, p99, max] = PERCENTILES.map(at);
        Some(Latency {
            mean: self.sum.mean()?,
            p50: p50?,
            p90: p90?,
            p95: p95?,
            p99: p99?,
            max: max?,
        })
    }
}

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
struct StepTally {
    is_known: bool,
    steps: Sum,
    ratios: Sum,
    max: u64,
    max_ratio: f64,
}

impl StepTally {
    /// Adds a record, if it was scored and has steps.
    fn add(&mut self, record: &Record) {
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
    fn finish(self) -> Option<StepFigures> {
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

#[cfg(test)]
mod bounds_tests {
    use super::*;

    #[test]
    fn what_lacks_a_verdict_is_wrong_and_correct() {
        fn check(counts: [u64; 4], expect: Option<[f64; 2]>) {
            let [correct, scored, unscored, unknown] = counts;
            let bounds = accuracy_bounds(correct, scored, unscored, unknown);
            assert_eq!(bounds, expect, "{counts:?}");
        }
        check([20, 20, 0, 10], Some([20.0 / 30.0, 1.0]));
        check([1, 2, 0, 2], Some([0.25, 0.75]));
        check([1, 2, 5, 0], Some([0.5, 0.5]));
        check([0, 0, 0, 3], Some([0.0, 1.0]));
        check([0, 0, 1, 3], None);
        check([0, 0, 0, 0], None);
    }
}
