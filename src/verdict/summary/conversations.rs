//! Figures of conversations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::group::UsageTotal;
use super::tally::{add_usage, round_cost};
use crate::data::Outcome;
use crate::stats::{self, Sum};

/// The detail of a score that tells it.
const FIRST_WRONG_TURN: &str = "first_wrong_turn";

/// The name of the simulated user beside those of judges.
const USER: &str = "user";

/// How the conversations of a run or slice went. Sums are over those that came to an end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ConversationFigures {
    /// How many came to an end.
    pub count: u64,
    /// The same by why they ended, as in records: `script`, `user_stop`, `max_turns`, `max_steps`.
    pub ended: BTreeMap<String, u64>,
    /// Turns.
    pub turns: u64,
    /// Replies of the agent.
    pub steps: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Calls of tools that failed.
    pub failed_calls: u64,
    /// Calls of tools that repeat one of the same conversation: same name, same arguments.
    pub repeated_calls: u64,
    /// How many went wrong in which turn first, by its number, where the deciding scorer tells.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub first_wrong_turns: BTreeMap<u64, u64>,
    /// Tokens and cost of simulated users, which are part of no other figure.
    #[serde(skip_serializing_if = "is_nothing")]
    pub user_usage: UsageTotal,
    /// The models that played users, as endpoints report them, with the number of conversations of each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub user_models: BTreeMap<String, u64>,
}

fn is_nothing(usage: &UsageTotal) -> bool {
    *usage == UsageTotal::default()
}

impl ConversationFigures {
    /// The models that played users, beside those of judges; `None` if they are not known.
    pub(super) fn served_user(&self) -> Option<(String, BTreeMap<String, u64>)> {
        let models = self.user_models.clone();
        (!models.is_empty()).then(|| (USER.to_owned(), models))
    }

    /// Sums by the number of conversations; `None` without any.
    pub(crate) fn mean(&self, sum: u64) -> Option<f64> {
        stats::ratio(sum, self.count)
    }
}

/// Running sums of [`ConversationFigures`].
#[derive(Clone, Debug, Default)]
pub(super) struct ConversationTally {
    figures: ConversationFigures,
    user_costs: Sum,
}

impl ConversationTally {
    pub(super) fn add(&mut self, outcome: &Outcome) {
        let Some(ended) = outcome.ended else { return };
        let figures = &mut self.figures;
        figures.count += 1;
        *figures.ended.entry(ended.as_str().to_owned()).or_default() += 1;
        for turn in &outcome.turns {
            figures.turns += 1;
            figures.steps += turn.steps;
            figures.tool_calls += turn.tool_calls;
            figures.failed_calls += turn.failed_calls;
            figures.repeated_calls += turn.repeated_calls;
        }
        let score = outcome.score.as_ref();
        let first_wrong = score.and_then(|score| score.details.get(FIRST_WRONG_TURN)?.as_u64());
        if let Some(turn) = first_wrong {
            *figures.first_wrong_turns.entry(turn).or_default() += 1;
        }
        if let Some(usage) = &outcome.user_usage {
            add_usage(&mut figures.user_usage, &mut self.user_costs, usage);
        }
        if let Some(model) = &outcome.user_model {
            *figures.user_models.entry(model.clone()).or_default() += 1;
        }
    }

    pub(super) fn finish(mut self) -> Option<ConversationFigures> {
        self.figures.user_usage.cost_usd = self.user_costs.total().map(round_cost);
        (self.figures.count > 0).then_some(self.figures)
    }
}
