//! `ItemPoints`: the points of a judge.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CountedShare, PointMean};

/// The points of a judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ItemPoints {
    /// Items that it was asked about.
    pub items: u64,
    /// Those of which no reply could be read.
    pub unread: u64,
    /// Why, with how often.
    pub reasons: BTreeMap<String, u64>,
    /// The weighted mean of the dimensions.
    pub total: PointMean,
    /// Items from the rubric's `pass` on.
    pub pass: CountedShare,
    /// Items from its `excellent` on.
    pub excellent: CountedShare,
    /// Each dimension.
    pub dimensions: Vec<DimensionPoints>,
    /// Each topic.
    pub topics: Vec<DimensionPoints>,
    /// What the judge is worth beside people.
    pub worth: JudgeWorth,
    /// What people should know of how it judges.
    pub notes: Vec<String>,
}

/// The points of a part: a dimension, a topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DimensionPoints {
    /// Which.
    pub name: String,
    /// How many points.
    pub points: PointMean,
}

/// What a judge is worth beside people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JudgeWorth {
    /// Whether enough labels of people vouch for it.
    pub calibrated: bool,
    /// In words.
    pub told: String,
    /// The 95 % confidence interval of kappa, where there is one.
    pub kappa_ci95: Option<[f64; 2]>,
    /// Means as people would have them, in words.
    pub corrected: Vec<String>,
}
