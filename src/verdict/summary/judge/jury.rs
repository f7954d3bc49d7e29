//! `JurySummary`: how far the judges of a jury agree, with each other and with people.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::verdict::agreement::ScorerPair;
use crate::verdict::judged::calibration::JudgeCalibration;

/// How far the judges of a jury agree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct JurySummary {
    /// Answers that it was asked about.
    pub samples: u64,
    /// Answers on which it came to no verdict.
    pub unread: u64,
    /// Why, in words of files with their numbers: `no_majority`, `too_few_judges`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, u64>,
    /// Krippendorff's alpha over all answers that two or more judges could read: of points by the square of their
    /// distance, of choices nominal. `null` where there is nothing to compare, or all say the same always.
    pub alpha: Option<f64>,
    /// Each judge, in the order of the list.
    pub judges: Vec<JurorSummary>,
    /// Every two of them: do they find the same answers correct?
    pub pairs: Vec<ScorerPair>,
    /// Answers with a label.
    #[serde(skip_serializing_if = "is_zero")]
    pub labelled: u64,
    /// Of points: labelled answers on which the panel and all judges have a verdict, but for those who have none on most of
    /// them. The distances from labels are over these; absent in older files, and where it is 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub compared: u64,
    /// How far the verdict of all agrees with the labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panel: Option<LabelAgreement>,
    /// The judge that alone agrees with the labels better than the panel does, if the interval of the difference says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worse: Option<WorsePanel>,
    /// What labels of people say of the verdict of all; absent in older files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<JudgeCalibration>,
}

/// One judge of a jury.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct JurorSummary {
    /// Its name in the jury.
    pub name: String,
    /// Answers that it gave a verdict on.
    pub judged: u64,
    /// Answers that it gave none on.
    pub unread: u64,
    /// Answers on which its total lies far from those of the others.
    pub outliers: u64,
    /// outliers / judged, 0 to 1; `null` when it judged nothing.
    pub outlier_share: Option<f64>,
    /// Whether ten or more answers all got the same total, or choice.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub constant: bool,
    /// How far it agrees with the labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<LabelAgreement>,
}

/// How far verdicts agree with what people say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct LabelAgreement {
    /// Labelled answers with a verdict.
    pub judged: u64,
    /// Of choices: the share of all labelled answers whose verdict is the label. One without a verdict is none of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    /// Its 95 % confidence interval `[low, high]`: Wilson's, or by the clusters that the samples come in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement_ci95: Option<[f64; 2]>,
    /// Of points: the mean distance of total and label, over the labelled answers that are `compared`; absent for who lacks
    /// a verdict on most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<f64>,
    /// Its 95 % confidence interval `[low, high]`, by clusters as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_ci95: Option<[f64; 2]>,
}

/// A panel that is worse than one of its judges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct WorsePanel {
    /// The judge.
    pub judge: String,
    /// The panel's share of agreement less the judge's; of points, its mean distance less the judge's. Over the same
    /// labelled answers.
    pub difference: f64,
    /// Its 95 % confidence interval `[low, high]`, which does not hold 0.
    pub ci95: [f64; 2],
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's `skip_serializing_if` passes a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
