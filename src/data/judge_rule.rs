//! `JudgeRule`: how a judge computes figures from its findings, so that human labels can be converted to the same
//! figures.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a judge computes figures from its findings. Figures without a rule are not computed from labels either.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct JudgeRule {
    /// Minimum total (or, with choices, value) of a correct answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<f64>,
    /// Weights of the dimensions; the total is their weighted mean.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
    /// The possible verdicts with their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub choices: BTreeMap<String, f64>,
}

impl JudgeRule {
    /// The weighted mean of all dimensions; `None` if one is missing or there are none.
    pub(crate) fn total(&self, points: &BTreeMap<String, f64>) -> Option<f64> {
        let weights: f64 = self.weights.values().sum();
        let parts = self.weights.iter();
        let parts = parts.map(|(name, weight)| Some(points.get(name)? * weight / weights));
        let total: f64 = parts.sum::<Option<f64>>()?;
        // Rounded as in rubrics, so that 3.5 on paper is not below 3.5.
        (weights > 0.0).then(|| (total * 1e12).round() / 1e12)
    }

    /// Whether people who label answers give this figure, or it follows from their labels. Unknown, and assumed true,
    /// without dimensions and choices.
    pub(crate) fn is_labelled(&self, figure: &str) -> bool {
        let is_whole = match (self.weights.is_empty(), self.choices.is_empty()) {
            (true, true) => return true,
            (true, false) => figure == "value",
            (false, _) => figure == "total",
        };
        is_whole
            || figure == "correct"
            || self.weights.contains_key(figure)
            || self.choices.contains_key(figure)
    }

    /// Whether this total or value is that of a correct answer, if the rule defines it.
    pub(crate) fn is_correct(&self, points: f64) -> Option<bool> {
        self.pass.map(|pass| points >= pass)
    }
}
