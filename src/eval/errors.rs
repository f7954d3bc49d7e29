//! `Errors`: what a sample counts as whose agent gave no answer.

use serde_json::Value;

use crate::agent::Agent;
use crate::data::{AgentError, FailureKind};
use crate::system::process::group::is_from_outside;
use crate::text::hash::Hasher;

/// What a sample counts as whose agent gave no answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Errors {
    /// An error of the surroundings, in no share of right and wrong answers.
    #[default]
    Infrastructure,
    /// A wrong answer, where the agent itself failed: it ended with an exit code other than 0 or by a signal of its own
    /// doing, returned an error, panicked, said nothing, too much or what cannot be read, or took longer than
    /// `limits.timeout_s`. The record is `scored`, with a score of 0 and the error.
    ///
    /// What the agent has no part in stays an error: a program that is not there or that the system ended, an endpoint
    /// that is down, busy or silent, an attachment that cannot be read. An agent that fails because *its* endpoint is
    /// down looks like one that fails by itself, and is wrong.
    Wrong,
}

impl Errors {
    /// The word in a spec, and in the configuration of a run.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Infrastructure => "infrastructure",
            Self::Wrong => "wrong",
        }
    }

    /// As the configuration of a run has it.
    pub(crate) fn of_config(config: &Value) -> Self {
        match config.get("errors").and_then(Value::as_str) {
            Some("wrong") => Self::Wrong,
            _ => Self::Infrastructure,
        }
    }

    /// A hash of what makes verdicts, with this: those of runs in which failures count otherwise are not compared, and not
    /// put into one run.
    pub(crate) fn mark(self, hash: String) -> String {
        match self {
            Self::Infrastructure => hash,
            Self::Wrong => {
                let marked = Hasher::default().part(hash).part("errors");
                marked.part(self.as_str()).short()
            }
        }
    }

    /// Whether a sample is wrong whose last attempt failed so.
    pub(crate) fn are_wrong(self, error: &AgentError, agent: &dyn Agent) -> bool {
        let is_own = match error.kind {
            FailureKind::Failed
            | FailureKind::NoOutput
            | FailureKind::BadOutput
            | FailureKind::OutputTooLarge
            | FailureKind::Panicked => true,
            // Nobody knows who sent it, but programs do not do so.
            FailureKind::Exited => !error.signal.is_some_and(is_from_outside),
            // Silence of an endpoint is an outage.
            FailureKind::TimedOut => !agent.asks_endpoint(),
            _ => false,
        };
        self == Self::Wrong && is_own
    }
}
