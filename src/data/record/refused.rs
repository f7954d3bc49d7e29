//! `RefusedAnswer`: an answer that was refused, so that the sample was asked again.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Outcome;
use crate::data::{Details, JudgeCall, Usage};

/// An answer that was refused, so that the sample was asked again. What was said stands in the journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefusedAnswer {
    /// Which attempt gave it, from 1.
    pub attempt: u32,
    /// Why it was refused: the reason of its score.
    pub reason: Cow<'static, str>,
    /// The details of its score.
    #[serde(default, skip_serializing_if = "Details::is_empty")]
    pub details: Details,
    /// What it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// It was given before, to an earlier run, and came from the cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// What was asked of others to judge it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgeCall>,
}

impl RefusedAnswer {
    /// Of the outcome that the sample would have had.
    pub(crate) fn of(outcome: Outcome) -> Self {
        let mut judged = outcome.judged;
        // Their replies stand in the journal, too.
        judged.iter_mut().for_each(JudgeCall::forget);
        let (reason, details) = outcome
            .score
            .map_or_else(Default::default, |score| (score.reason, score.details));
        Self {
            attempt: outcome.attempts,
            reason,
            details,
            usage: outcome.usage,
            cached: outcome.cached,
            judged,
        }
    }
}
