//! `GateResult`: the result of a gate, as in `summary.json`.

use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::verdict::gate::{Gate, Metric};
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
            Verdict::Failed if *self.gate.metric() == Metric::ErrorRate => Exit::Infrastructure,
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
