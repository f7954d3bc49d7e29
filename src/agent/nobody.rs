//! The agent `none`: nobody is asked, the item is the answer.
//!
//! A task has no ground truth in it, and the text of an item has. So this agent is never called: whoever would call it
//! makes the answer of the sample itself, by [`Agent::shown_parts`], which no agent of a user's own has.

use super::Agent;
use crate::data::item_part::ItemPart;
use crate::data::{AgentError, FailureKind, Output, Task};

/// Shows items, and is never asked.
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

    fn shown_parts(&self) -> Option<&[ItemPart]> {
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
