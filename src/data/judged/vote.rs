//! `JurorVote`: the vote of one judge in a jury.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The vote of one judge in a jury, in numbers. The panel's figures are computed from votes, so that answers without a
/// jury verdict are included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct JurorVote {
    /// The name of the judge in the jury.
    pub judge: String,
    /// The total of a rubric, or the value of a choice; `None` if it cannot be parsed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// The points of a rubric, sorted by dimension.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<f64>,
    /// The name of the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// Whether the answer passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correct: Option<bool>,
    /// Whether its total is far from those of the others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outlier: bool,
    /// The share of its parsable repeats that agree, and their number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_agreement: Option<(f64, u64)>,
    /// The value as a label: a choice, or points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Value>,
}
