//! The outcomes without a verdict.

use crate::data::{AgentError, FailureKind, Outcome, Status};

/// The outcome of a sample whose agent gave no answer.
pub(in crate::run) fn failed(error: AgentError, latency: f64, attempts: u32) -> Outcome {
    let timed_out = error.kind == FailureKind::TimedOut;
    let status = if timed_out {
        Status::TimedOut
    } else {
        Status::AgentFailed
    };
    Outcome {
        status,
        error: Some(error),
        latency_s: latency,
        ..skipped(attempts)
    }
}

/// The outcome of a sample that was not completed.
pub(in crate::run) fn skipped(attempts: u32) -> Outcome {
    Outcome {
        attempts,
        ..Outcome::default()
    }
}
