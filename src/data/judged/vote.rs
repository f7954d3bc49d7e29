//! `JurorVote`: what a judge says as one of a jury.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a judge says as one of a jury, in numbers: the figures of the panel are made of these, so that an answer on which
/// it comes to no verdict counts in them, too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct JurorVote {
    /// The name of the judge in the jury.
    pub judge: String,
    /// The total of a rubric, or the value of a choice; `None` where it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// The points of a rubric, by dimension in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<f64>,
    /// The name of the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// Whether the answer passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correct: Option<bool>,
    /// Whether its total lies far from those of the others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outlier: bool,
    /// The share of its readable repeats that say the same, and how many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_agreement: Option<(f64, u64)>,
    /// What people say of the answer: a choice, or points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Value>,
}
