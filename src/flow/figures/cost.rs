//! `StageCost`: what a stage took.

use serde::{Deserialize, Serialize};

use super::FlowStage;

/// What a stage took: of whom it asks, be that an agent or a judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageCost {
    /// Which.
    pub stage: FlowStage,
    /// Requests, those that were repeated too.
    pub requests: u64,
    /// Tokens read and written, where endpoints tell.
    pub tokens: Option<u64>,
    /// US dollars, where a price is known.
    pub cost_usd: Option<f64>,
    /// Seconds from start to end, of a stage that went on those of its parts.
    pub duration_s: Option<f64>,
}
