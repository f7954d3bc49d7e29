//! `GateResult` and `AlertResult`: what became of a gate and of an alert, as in `summary.json`.

use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::verdict::gate::{ERROR_RATE, Gate};
use crate::verdict::regression::Regression;

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
    /// The comparison of `no_regression`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regression: Option<Regression>,
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
            regression: None,
        }
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
