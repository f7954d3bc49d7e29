//! `GateResult`: what became of a gate, as in `summary.json`; and how a run ends by all of them.

use serde::{Deserialize, Serialize};

use super::{Gate, Metric, Regression};
use crate::exit::Exit;

/// What became of a gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateResult {
    /// The gate as it is written in a spec.
    pub gate: Gate,
    /// What became of it.
    pub verdict: Verdict,
    /// The measured value, without the samples that have no verdict; p for `no_regression`.
    pub value: Option<f64>,
    /// What it was compared with; alpha for `no_regression`.
    pub threshold: Option<f64>,
    /// For people: the first line says it all, further lines give details.
    pub message: String,
    /// The comparison behind `no_regression`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regression: Option<Regression>,
}

impl GateResult {
    /// How a run ends for this gate alone. Too many errors, and a gate that they leave open, tell nothing about the
    /// agent.
    fn exit(&self) -> Exit {
        match self.verdict {
            Verdict::Inconclusive => Exit::Infrastructure,
            Verdict::Failed if *self.gate.metric() == Metric::ErrorRate => Exit::Infrastructure,
            Verdict::Failed => Exit::Failed,
            Verdict::Passed | Verdict::Ignored => Exit::Passed,
        }
    }
}

/// What became of a gate, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    Passed,
    /// It does not hold.
    Failed,
    /// Errored samples leave it open, or there was nothing to measure.
    Inconclusive,
    /// It was not asked: only some of the samples were selected.
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

/// What besides the gates decides how a run ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that have nothing to do with each other"
)]
pub struct Facts {
    /// The run was interrupted by a signal.
    pub interrupted: bool,
    /// The agent refused the eval itself (no such key, model or address) before any sample was answered.
    pub misconfigured: bool,
    /// The run ended before every sample was asked: `fail_fast`, a full disk, too many agents that hang.
    pub stopped_early: bool,
    /// Every sample that was asked ended in an error.
    pub all_errored: bool,
    /// Samples that failed their snapshot under `assert: exact` or `correct`.
    pub failed_assertions: u64,
}

/// How a run ends that could start: with the worst of its causes. An agent that refused every sample is a mistake of
/// usage, as is an [`Error`](crate::Error) that kept the run from starting.
pub fn exit(results: &[GateResult], facts: Facts) -> Exit {
    let causes = [
        facts.interrupted.then_some(Exit::Interrupted),
        facts.misconfigured.then_some(Exit::Usage),
        facts.stopped_early.then_some(Exit::Infrastructure),
        facts.all_errored.then_some(Exit::Infrastructure),
        (facts.failed_assertions > 0).then_some(Exit::Failed),
    ];
    let gates = results.iter().map(GateResult::exit);
    Exit::worst(causes.into_iter().flatten().chain(gates))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_have_a_precedence() {
        fn check(results: &[(&str, Verdict)], facts: Facts, expect: u8) {
            let results: Vec<_> = results
                .iter()
                .map(|(gate, verdict)| GateResult {
                    gate: gate.parse().unwrap(),
                    verdict: *verdict,
                    value: None,
                    threshold: None,
                    message: String::new(),
                    regression: None,
                })
                .collect();
            assert_eq!(exit(&results, facts).code(), expect);
        }
        let none = Facts::default();
        let interrupted = Facts {
            interrupted: true,
            ..none
        };
        let stopped = Facts {
            stopped_early: true,
            ..none
        };
        let misconfigured = Facts {
            misconfigured: true,
            ..stopped
        };
        check(&[("accuracy >= 0.5", Verdict::Failed)], misconfigured, 2);
        check(
            &[],
            Facts {
                interrupted: true,
                ..misconfigured
            },
            130,
        );
        let errored = Facts {
            all_errored: true,
            ..none
        };
        let assertion = Facts {
            failed_assertions: 1,
            ..none
        };
        let (accuracy, errors) = ("accuracy >= 0.5", "error_rate <= 0.1");
        let failed = [(accuracy, Verdict::Failed)];
        check(&[], none, 0);
        check(
            &[(accuracy, Verdict::Passed), (errors, Verdict::Ignored)],
            none,
            0,
        );
        check(&failed, none, 1);
        check(&[], assertion, 1);
        check(
            &[(accuracy, Verdict::Failed), (errors, Verdict::Failed)],
            none,
            3,
        );
        check(&[(accuracy, Verdict::Inconclusive)], assertion, 3);
        check(&failed, stopped, 3);
        check(&failed, errored, 3);
        check(&[(errors, Verdict::Failed)], interrupted, 130);
    }
}
