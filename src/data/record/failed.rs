//! The kind of an error in a word.

use serde_json::Value;

use super::{Outcome, Status};

impl Outcome {
    /// The kind of the error that a sample ended in, such as `exited`, `timed_out` or `scorer_failed`, also where
    /// `errors: wrong` counts it as a wrong answer; `None` where there is an answer with a verdict, or none to have.
    pub fn failure_kind(&self) -> Option<String> {
        if !self.status.is_error() && !self.is_failure_as_wrong() {
            return None;
        }
        let kind = match (&self.error, self.status) {
            // The agent did its part: whatever kind the scorer's error has, it is not the agent's.
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
