//! The `echo` agent: for smoke tests of everything around an agent.

use super::Agent;
use crate::data::{AgentError, Output, Task};

/// Answers with a fixed text, or with the question itself.
#[derive(Clone, Debug, Default)]
pub struct Echo {
    text: Option<String>,
}

impl Echo {
    /// An agent that always answers `text`, or the question when there is none.
    pub fn new(text: Option<String>) -> Self {
        Self { text }
    }
}

impl Agent for Echo {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        Ok(Output::text(
            self.text.as_deref().unwrap_or_else(|| task.question()),
        ))
    }

    fn fingerprint(&self) -> Option<String> {
        Some(format!("echo {:?}", self.text))
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn keeps_deadline(&self) -> bool {
        true
    }

    fn takes_base_urls(&self) -> bool {
        false
    }
}
