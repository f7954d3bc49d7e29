//! `JurySummary`: the agreement of the judges of a jury with each other and with people.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::verdict::agreement::ScorerPair;
use crate::verdict::judged::calibration::JudgeCalibration;

/// The agreement of the judges of a jury.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct JurySummary {
    /// Answers that the jury was asked about.
    pub samples: u64,
    /// Answers without a verdict of the jury.
    pub unread: u64,
    /// The reasons, as words in files, with their counts: `no_majority`, `too_few_judges`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, u64>,
    /// Krippendorff's alpha over all answers that two or more judges could judge: by squared distances for points,
    /// nominal for choices. `null` if there is nothing to compare, or all verdicts are the same.
    pub alpha: Option<f64>,
    /// Each judge, in the order of the list.
    pub judges: Vec<JurorSummary>,
    /// All pairs of judges: do they find the same answers correct?
    pub pairs: Vec<ScorerPair>,
    /// Answers with a label.
    #[serde(skip_serializing_if = "is_zero")]
    pub labelled: u64,
    /// For points: labelled answers with a verdict of the panel and of all judges, except judges that lack one on most
    /// of them. The distances from labels are over these; absent in older files, and if 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub compared: u64,
    /// The agreement of the panel's verdict with the labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panel: Option<LabelAgreement>,
    /// The judge that alone agrees better with the labels than the panel, if the interval of the difference shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worse: Option<WorsePanel>,
    /// The calibration of the panel's verdict by labels of people; absent in older files.
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
    /// Answers with a verdict of it.
    pub judged: u64,
    /// Answers without a verdict of it.
    pub unread: u64,
    /// Answers on which its total is far from those of the others.
    pub outliers: u64,
    /// outliers / judged, 0 to 1; `null` if it judged nothing.
    pub outlier_share: Option<f64>,
    /// Whether ten or more answers all got the same total, or choice.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub constant: bool,
    /// Its agreement with the labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<LabelAgreement>,
}

/// The agreement of verdicts with labels of people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct LabelAgreement {
    /// Labelled answers with a verdict.
    pub judged: u64,
    /// For choices: the share of all labelled answers whose verdict is the label; a missing verdict is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    /// Its 95 % confidence interval `[low, high]`: Wilson's, or clustered by the samples' clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement_ci95: Option<[f64; 2]>,
    /// For points: the mean distance of total and label, over the labelled answers that are `compared`; absent if most
    /// verdicts are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<f64>,
    /// Its 95 % confidence interval `[low, high]`, clustered likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_ci95: Option<[f64; 2]>,
}

/// A panel that agrees worse with the labels than one of its judges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct WorsePanel {
    /// The judge.
    pub judge: String,
    /// The panel's share of agreement minus the judge's; for points, its mean distance minus the judge's. Over the same
    /// labelled answers.
    pub difference: f64,
    /// Its 95 % confidence interval `[low, high]`, which excludes 0.
    pub ci95: [f64; 2],
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's `skip_serializing_if` passes a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
