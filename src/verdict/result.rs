//! `GateResult` and `AlertResult`: what became of a gate and of an alert, as in `summary.json`.

use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::stats::{as_f64, spending};
use crate::verdict::gate::{ERROR_RATE, Gate};

/// The message of a gate that passes because there is nothing to compare with yet.
pub(crate) const NO_BASELINE: &str =
    "there is no baseline yet: accept this run as the baseline with `cargo evaltest accept`";

/// The message of a gate that passes because its baseline was ignored.
pub(crate) const BASELINE_IGNORED: &str = "the baseline was ignored (`--ignore-baseline`)";

/// Whether a gate passes only because there is no baseline to compare with. A note may follow in its message, such as one
/// on an uncalibrated judge.
pub(crate) fn lacks_baseline(verdict: Verdict, message: &str) -> bool {
    let mut messages = [NO_BASELINE, BASELINE_IGNORED].into_iter();
    verdict == Verdict::Passed && messages.any(|start| message.starts_with(start))
}

/// The result of a gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GateResult {
    /// The gate as written in a spec.
    pub gate: Gate,
    /// The verdict.
    pub verdict: Verdict,
    /// The measured value over samples with a verdict; p for `no_regression`.
    pub value: Option<f64>,
    /// The threshold; alpha for `no_regression`.
    pub threshold: Option<f64>,
    /// A message for people: the first line is complete, further lines have details.
    pub message: String,
    /// Whether it is the default gate, which every eval has unless it defines its own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub default: bool,
    /// Whether it was ignored because it is for another tier than that of the run, so that nothing is undecided.
    #[serde(default, skip_serializing_if = "is_false")]
    pub other_tier: bool,
    /// Whether it was ignored because calls of models were replayed, so that nothing is undecided.
    #[serde(default, skip_serializing_if = "is_false")]
    pub recorded: bool,
    /// The comparison of `no_regression`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regression: Option<Regression>,
    /// The comparison of a figure with that of the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<FigureChange>,
}

impl GateResult {
    pub(super) fn of(gate: &Gate, verdict: Verdict, value: Option<f64>, message: String) -> Self {
        Self {
            gate: gate.clone(),
            verdict,
            value,
            threshold: match gate.bound {
                Some((_, threshold)) => Some(threshold),
                None => Some(gate.level()),
            },
            message,
            default: gate.is_default(),
            other_tier: false,
            recorded: false,
            regression: None,
            figure: None,
        }
    }

    /// Whether it passed because there is nothing to compare with yet.
    pub(crate) fn lacks_baseline(&self) -> bool {
        lacks_baseline(self.verdict, &self.message)
    }

    /// The exit code for this gate alone. Too many errors, and a gate they leave undecided, say nothing about the
    /// agent.
    pub(super) fn exit(&self) -> Exit {
        match self.verdict {
            Verdict::Inconclusive => Exit::Infrastructure,
            Verdict::Failed if self.gate.metric().is(ERROR_RATE) => Exit::Infrastructure,
            Verdict::Failed => Exit::Failed,
            Verdict::Passed | Verdict::Ignored => Exit::Passed,
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's `skip_serializing_if` passes a reference"
)]
fn is_false(yes: &bool) -> bool {
    !yes
}

/// The verdict of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// It holds.
    Passed,
    /// It does not hold.
    Failed,
    /// Errored samples leave it undecided, or there was nothing to measure.
    Inconclusive,
    /// It was not evaluated: only some of the samples were selected, or the run is of another tier.
    Ignored,
}

impl Verdict {
    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Inconclusive => "inconclusive",
            Self::Ignored => "ignored",
        }
    }
}

/// What became of an alert.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AlertResult {
    /// The alert as it is written in a spec.
    pub alert: String,
    /// What became of it.
    pub verdict: AlertVerdict,
    /// The figure that it is about.
    pub value: Option<f64>,
    /// What the figure is held against.
    pub threshold: Option<f64>,
    /// For a statistical rule how likely this would be, were nothing changed; it is raised below `p_needed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// What `p` must be below, so that all looks together keep to alpha.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_needed: Option<f64>,
    /// The id of the first of the runs that raised it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The tier that it was judged in, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// For people, on one line.
    pub message: String,
}

/// What became of an alert, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AlertVerdict {
    /// It is time to look.
    Raised,
    /// Nothing was found.
    Quiet,
    /// Nothing can be said yet.
    Silent,
}

impl AlertVerdict {
    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Raised => "raised",
            Self::Quiet => "quiet",
            Self::Silent => "silent",
        }
    }
}

impl AlertResult {
    /// Whether it is time to look.
    pub fn is_raised(&self) -> bool {
        self.verdict == AlertVerdict::Raised
    }
}

/// The change of a figure since the baseline. Ratios and differences are of now and before, each sample counted once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FigureChange {
    /// The id of the accepted run; several are separated by commas.
    pub baseline_run: String,
    /// Samples with the figure on both sides.
    pub n: u64,
    /// The ratio of the geometric means, for amounts; of 1 more than each where 0 is an amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Its 95 % confidence interval; absent if all samples changed alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_ci95: Option<[f64; 2]>,
    /// The ratio of the sums over these samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_of_totals: Option<f64>,
    /// The mean difference, for points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// Its 95 % confidence interval; absent if all samples changed alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference_ci95: Option<[f64; 2]>,
    /// The share of permutations in which the figure is as bad or worse now; `null` if it was not tested.
    pub p: Option<f64>,
    /// The same, adjusted by Holm over all gates of the eval against the baseline: this is compared with alpha.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_adjusted: Option<f64>,
    /// The smallest change that these pairs detect with 80 % power: a share for amounts, points otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_change: Option<f64>,
    /// The ids of the five samples that changed most to the worse.
    pub rose: Vec<String>,
}

/// The comparison of a run with its baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Regression {
    /// The id of the accepted run; several are separated by commas.
    pub baseline_run: String,
    /// The accepted runs.
    #[serde(default)]
    pub baseline_runs: Vec<String>,
    /// Samples with a verdict on both sides.
    pub pairs: u64,
    /// Accuracy of the baseline over the pairs, 0 to 1.
    pub baseline_accuracy: Option<f64>,
    /// Its 95 % Wilson interval.
    pub baseline_ci95: Option<[f64; 2]>,
    /// Accuracy of this run over the pairs, 0 to 1.
    pub accuracy: Option<f64>,
    /// Its 95 % Wilson interval.
    pub accuracy_ci95: Option<[f64; 2]>,
    /// Pairs that became wrong, b: more than half of the answers were right in the baseline, and at most half are now.
    pub worse: u64,
    /// Pairs that became correct, c.
    pub better: u64,
    /// The probability of at most this many right answers now if nothing changed: the exact conditional test over all
    /// answers. With one answer on each side, P(X >= b) for X ~ Bin(b + c, 1/2).
    pub p: f64,
    /// The same, adjusted by Holm over all `no_regression` gates of the eval: this is compared with alpha.
    #[serde(default)]
    pub p_adjusted: Option<f64>,
    /// The loss of accuracy, with equal weight for each pair; (b - c) / pairs with one answer on each side.
    pub drop: Option<f64>,
    /// Accuracy now minus that of the baseline, with equal weight for each pair: negative for a loss.
    #[serde(default)]
    pub difference: Option<f64>,
    /// Its 95 % confidence interval, which always has a width.
    #[serde(default)]
    pub difference_ci95: Option<[f64; 2]>,
    /// The smallest drop that this number of pairs detects with 80 % power; `null` if there is none.
    pub smallest_drop: Option<f64>,
    /// The assumptions of `smallest_drop`, as text.
    pub assumption: String,
    /// The ids that went from correct to wrong.
    pub became_wrong: Vec<String>,
    /// The ids that went from wrong to correct.
    pub became_correct: Vec<String>,
    /// If the gate failed and no sample became wrong, the ids of the ten whose share of right answers fell most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fell_most: Vec<String>,
    /// The ids with a verdict in the baseline that have an errored or skipped answer now.
    pub unknown: Vec<String>,
    /// Ids that the baseline does not have.
    pub added: Vec<String>,
    /// Ids that only the baseline has.
    pub removed: Vec<String>,
    /// Ids whose input or ground truth has changed.
    pub changed: Vec<String>,
    /// Ids that were in the gate's slice and are in another one now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<String>,
    /// A caveat about the comparison, with a command to run.
    pub warning: Option<String>,
}

/// The progress of a run through its tiers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progressive {
    /// The tiers, the smallest first.
    pub tiers: Vec<TierStep>,
    /// The index of the tier that was asked last.
    pub at: usize,
    /// The condition for promotion to the next tier, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promote: Option<Gate>,
    /// What ended it before the last tier: a failed promotion, a gate of the tier, or a gate that can no longer pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended_by: Vec<GateResult>,
}

/// A tier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TierStep {
    /// Its name.
    pub tier: String,
    /// Its number of samples.
    pub samples: u64,
}

impl Progressive {
    /// The start of a run through tiers with these sizes.
    pub(crate) fn new(tiers: Vec<(String, usize)>, promote: Option<Gate>) -> Self {
        let tiers = tiers.into_iter().map(|(tier, samples)| TierStep {
            tier,
            samples: samples as u64,
        });
        Self {
            tiers: tiers.collect(),
            promote,
            ..Self::default()
        }
    }

    /// The tier that was asked last.
    pub(crate) fn tier(&self) -> Option<&TierStep> {
        self.tiers.get(self.at)
    }

    /// The number of samples that were not asked.
    pub(crate) fn saved(&self) -> u64 {
        let samples = |step: Option<&TierStep>| step.map_or(0, |step| step.samples);
        samples(self.tiers.last()).saturating_sub(samples(self.tier()))
    }

    /// Whether it ended before the last tier.
    pub(crate) fn is_ended(&self) -> bool {
        self.at + 1 < self.tiers.len()
    }

    /// Where it ended, as text.
    pub(crate) fn description(&self) -> String {
        let tier = self.tier().map_or("", |step| &*step.tier);
        let all = self.tiers.last().map_or(0, |step| step.samples);
        format!(
            "the run ended early at tier `{tier}`: {} of {all} samples were not asked",
            self.saved()
        )
    }

    /// The part of alpha that a comparison may use at the current tier.
    pub(crate) fn part_of(&self, alpha: f64) -> f64 {
        let all = self.tiers.last().map_or(0, |step| step.samples);
        let share = |step: &TierStep| as_f64(step.samples) / as_f64(all.max(1));
        let shares: Vec<f64> = self.tiers.iter().map(share).collect();
        let part = spending(alpha, &shares).get(self.at).copied();
        part.unwrap_or(alpha)
    }
}

/// An interim analysis, over the samples so far, for gates that may stop a run early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InterimAnalysis {
    /// The number of the analysis, 1 to `of`.
    #[serde(rename = "look")]
    pub number: u32,
    /// The number of analyses; the last is over all samples.
    pub of: u32,
}

impl InterimAnalysis {
    /// Analysis `number` of `of`.
    pub fn new(number: u32, of: u32) -> Self {
        let of = of.max(1);
        Self {
            number: number.clamp(1, of),
            of,
        }
    }

    /// Its index, from 0.
    pub(crate) fn index(self) -> usize {
        self.number as usize - 1
    }

    /// Whether samples remain to be asked.
    pub(crate) fn is_early(self) -> bool {
        self.number < self.of
    }
}
