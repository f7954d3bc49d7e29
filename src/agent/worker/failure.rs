//! Failures of a worker in the words of agents.

use crate::data::{AgentError, FailureKind};
use crate::system::process::launch::NotStarted;

/// A failure in the words of the agent.
pub(super) fn error(kind: FailureKind, message: impl Into<String>) -> AgentError {
    AgentError::of(kind, message)
}

/// Why a program was not started.
pub(super) fn not_started(reason: NotStarted) -> AgentError {
    let kind = if reason.not_found {
        FailureKind::NotFound
    } else if reason.is_shortage {
        FailureKind::Shortage
    } else {
        FailureKind::NotStarted
    };
    error(kind, reason.message)
}
