//! `Errors`: how a sample counts if its agent gave no answer.

use serde_json::Value;

use crate::agent::Agent;
use crate::data::{AgentError, FailureKind};
use crate::system::process::group::is_from_outside;
use crate::text::hash::Hasher;

/// How a sample counts if its agent gave no answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Errors {
    /// As an infrastructure error, excluded from shares of right and wrong answers.
    #[default]
    Infrastructure,
    /// As a wrong answer, if the agent itself failed: it ended with an exit code other than 0 or by a signal of its
    /// own, returned an error, panicked, gave no answer, too long a one or an unreadable one, or took longer than
    /// `limits.timeout_s`. The record is `scored`, with a score of 0 and the error.
    ///
    /// Failures that are not the agent's stay errors: a program that is missing or was ended by the system, an endpoint
    /// that is down, busy or silent, an attachment that cannot be read. An agent that fails because *its* endpoint is
    /// down cannot be told from one that fails by itself, and is wrong.
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

    /// Reads it from the configuration of a run.
    pub(crate) fn of_config(config: &Value) -> Self {
        match config.get("errors").and_then(Value::as_str) {
            Some("wrong") => Self::Wrong,
            _ => Self::Infrastructure,
        }
    }

    /// Adds it to the hash of the scorers: runs that count failures differently are neither compared nor merged.
    pub(crate) fn mark(self, hash: String) -> String {
        match self {
            Self::Infrastructure => hash,
            Self::Wrong => {
                let marked = Hasher::default().part(hash).part("errors");
                marked.part(self.as_str()).short()
            }
        }
    }

    /// Whether a sample whose last attempt failed with this error is wrong.
    pub(crate) fn are_wrong(self, error: &AgentError, agent: &dyn Agent) -> bool {
        let is_own = match error.kind {
            FailureKind::Failed
            | FailureKind::NoOutput
            | FailureKind::BadOutput
            | FailureKind::OutputTooLarge
            | FailureKind::Panicked => true,
            // The sender is unknown, but programs do not send these themselves.
            FailureKind::Exited => !error.signal.is_some_and(is_from_outside),
            // A silent endpoint is an outage.
            FailureKind::TimedOut => !agent.asks_endpoint(),
            _ => false,
        };
        self == Self::Wrong && is_own
    }
}
