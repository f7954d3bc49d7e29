//! The kind of a sample's error.

use serde_json::Value;

use super::{Outcome, Status};

impl Outcome {
    /// The kind of the error that ended a sample, such as `exited`, `timed_out` or `scorer_failed`, even if
    /// `errors: wrong` counts it as a wrong answer; `None` without an error.
    pub fn failure_kind(&self) -> Option<String> {
        if !self.status.is_error() && !self.is_failure_as_wrong() {
            return None;
        }
        let kind = match (&self.error, self.status) {
            // For other statuses the error is the scorer's, not the agent's.
            (Some(error), Status::AgentFailed | Status::Scored) => {
                serde_json::to_value(error.kind).ok()
            }
            _ => None,
        };
        match kind {
            Some(Value::String(kind)) => Some(kind),
            _ => Some(self.status.as_str().to_owned()),
        }
    }
}
