//! `FailureManner`: identifies the way an agent failed, ignoring process ids and times.

use super::output::{AgentError, FailureKind};

/// The way an attempt failed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FailureManner {
    kind: FailureKind,
    exit_code: Option<i32>,
    signal: Option<i32>,
    /// The message, if it is evaltest's own; otherwise empty.
    message: String,
    /// The last line of the agent's output without digits, because process ids, times and addresses change.
    output: String,
}

impl FailureManner {
    /// The manner of a failure.
    pub(crate) fn of(error: &AgentError) -> Self {
        let is_own = matches!(error.kind, FailureKind::Failed | FailureKind::Panicked);
        let output = match &error.stderr_tail {
            Some(tail) => tail,
            None if is_own => &error.message,
            None => "",
        };
        let last = output.lines().rfind(|line| !line.trim().is_empty());
        let last = last.unwrap_or_default().trim().chars();
        Self {
            kind: error.kind,
            exit_code: error.exit_code,
            signal: error.signal,
            message: if is_own {
                String::new()
            } else {
                error.message.clone()
            },
            output: last.filter(|c| !c.is_numeric()).collect(),
        }
    }

    /// Whether another failure is the same, ignoring evaltest's message.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let own = (self.kind, self.exit_code, self.signal, &self.output);
        own == (other.kind, other.exit_code, other.signal, &other.output)
    }
}
