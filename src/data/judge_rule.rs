//! `JudgeRule`: how a judge makes figures of what it finds, so that labels of people become the same figures.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a judge makes figures of what it finds. What it does not tell is not made of labels either.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct JudgeRule {
    /// The total, or with choices the value, from which an answer is correct.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<f64>,
    /// The dimensions whose weighted mean is the total, with their weights.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
    /// The verdicts that it may give, with their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub choices: BTreeMap<String, f64>,
}

impl JudgeRule {
    /// The weighted mean of all dimensions; `None` where one of them is not there, or there are none.
    pub(crate) fn total(&self, points: &BTreeMap<String, f64>) -> Option<f64> {
        let weights: f64 = self.weights.values().sum();
        let parts = self.weights.iter();
        let parts = parts.map(|(name, weight)| Some(points.get(name)? * weight / weights));
        let total: f64 = parts.sum::<Option<f64>>()?;
        // As rubrics round it: what is 3.5 on paper is not below 3.5.
        (weights > 0.0).then(|| (total * 1e12).round() / 1e12)
    }

    /// Whether people who label answers give this figure, or it follows from what they give. Without dimensions and
    /// choices nobody knows.
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

    /// Whether this total or value is that of a correct answer, where the rule says so.
    pub(crate) fn is_correct(&self, points: f64) -> Option<bool> {
        self.pass.map(|pass| points >= pass)
    }
}
