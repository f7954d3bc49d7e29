//! `RefusedAnswer`: an answer that was refused, so that the request was repeated.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Outcome;
use crate::data::{Details, JudgeCall, Usage};

/// An answer that was refused, so that the request was repeated. Its text is in the journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefusedAnswer {
    /// The attempt that gave it, from 1.
    pub attempt: u32,
    /// The reason of its score.
    pub reason: Cow<'static, str>,
    /// The details of its score.
    #[serde(default, skip_serializing_if = "Details::is_empty")]
    pub details: Details,
    /// Its usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// It came from the cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// Requests to judges about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgeCall>,
}

impl RefusedAnswer {
    /// Converts the outcome that the sample would have had.
    pub(crate) fn of(outcome: Outcome) -> Self {
        let mut judged = outcome.judged;
        // Their replies are in the journal, too.
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
