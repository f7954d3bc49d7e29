//! The agent `none`: the item itself is the answer, without asking a model.
//!
//! A task has no ground truth in it, but the text of an item has. So this agent is never called: callers build the
//! answer from the sample itself, by [`Agent::item_parts`], which no user's own agent has.

use super::Agent;
use crate::data::item_part::ItemPart;
use crate::data::{AgentError, FailureKind, Output, Task};

/// Shows items, and is never called.
#[derive(Clone, Debug)]
pub(crate) struct Nobody {
    shows: Vec<ItemPart>,
}

impl Nobody {
    /// Items are shown by these parts.
    pub(crate) fn new(shows: Vec<ItemPart>) -> Self {
        Self { shows }
    }
}

impl Agent for Nobody {
    fn answer(&self, _: &Task) -> Result<Output, AgentError> {
        let message = "the agent `none` is nobody who could be asked";
        Err(AgentError::of(FailureKind::Misconfigured, message))
    }

    fn item_parts(&self) -> Option<&[ItemPart]> {
        Some(&self.shows)
    }

    fn fingerprint(&self) -> Option<String> {
        let shows: Vec<_> = self.shows.iter().map(|part| part.name()).collect();
        Some(format!("none {}", shows.join(" ")))
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn keeps_deadline(&self) -> bool {
        true
    }
}
