//! `JudgeCalibration`: the calibration of a judge, in `summary.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::calibration::Calibration;
use crate::figure::{Interval, Scale};

/// The fewest labelled answers for a calibration.
pub(crate) const LEAST_LABELS: u64 = 50;
/// With fewer labels, the interval of kappa is shown, as it is wide.
pub(crate) const ENOUGH_LABELS: u64 = 100;

/// The reason if there are no labels.
pub(crate) const NO_LABELS: &str = "no human labels";

/// Whether there are enough labels by people to show how good a judge is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CalibrationStatus {
    /// There are.
    Calibrated,
    /// There are none, too few, or they are of another judge.
    #[default]
    Uncalibrated,
}

/// The calibration of a judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct JudgeCalibration {
    /// Whether the judge is calibrated.
    pub status: CalibrationStatus,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Labelled answers with a verdict that are a random sample, or all.
    pub n: u64,
    /// Further labelled answers that were picked by hand.
    #[serde(skip_serializing_if = "is_zero")]
    pub picked: u64,
    /// Why the others cannot be verified to be a random sample.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// The figure that kappa is about; empty if there is none.
    pub kappa_of: String,
    /// Whether kappa is weighted by the squared distance.
    pub kappa_quadratic: bool,
    /// Cohen's kappa of labels and verdicts; weighted by the squared distance for points.
    pub kappa: Option<f64>,
    /// Its 95 % confidence interval.
    pub kappa_ci95: Option<[f64; 2]>,
    /// The run whose answers were labelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Why no correction is valid for this run, if there are labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_corrected: Option<String>,
    /// The means of figures, corrected by labels of this run that were drawn by lot, or are all.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub corrected: BTreeMap<String, CorrectedFigure>,
    /// The same by labels of other answers, if the judge errs on these as on those. No gate is about it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub corrected_if_alike: BTreeMap<String, CorrectedFigure>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The mean of a figure, by the judge and corrected by labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CorrectedFigure {
    /// By the judge alone, over the items with a verdict.
    pub judge: Option<f64>,
    /// The corrected mean.
    pub value: f64,
    /// Its 95 % confidence interval, limited to the scale if known.
    pub ci95: [f64; 2],
    /// Number of labelled items.
    pub labels: u64,
    /// Number of items with a verdict or a label.
    pub items: u64,
}

impl JudgeCalibration {
    /// Of a judge that is not calibrated, for this reason.
    pub(crate) fn without(reason: impl Into<String>) -> Self {
        Self {
            reason: Some(reason.into()),
            ..Self::default()
        }
    }

    /// Of a calibration; `differs` says how its judge differs.
    pub(crate) fn of(calibration: &Calibration, differs: Option<&str>) -> Self {
        let n = calibration.n;
        let labels = if n == 1 { "label" } else { "labels" };
        let reason = match differs {
            Some(differs) => Some(format!("its calibration is for another judge, {differs}")),
            None if n == 0 && calibration.picked > 0 => Some(format!(
                "{} human labels, all of picked answers; at least {LEAST_LABELS} of randomly sampled ones are needed",
                calibration.picked
            )),
            None if n < LEAST_LABELS => Some(format!(
                "{n} human {labels}; at least {LEAST_LABELS} are needed"
            )),
            None => None,
        };
        Self {
            status: match reason {
                None => CalibrationStatus::Calibrated,
                Some(_) => CalibrationStatus::Uncalibrated,
            },
            reason,
            n,
            picked: calibration.picked,
            doubts: calibration.doubts.clone(),
            kappa_of: calibration.kappa.of.clone(),
            kappa_quadratic: calibration.kappa.quadratic,
            kappa: calibration.kappa.value,
            kappa_ci95: calibration.kappa.ci95,
            run: Some(calibration.run.clone()),
            ..Self::default()
        }
    }

    /// A message that it is not calibrated, and why; `None` if it is.
    pub(crate) fn uncalibrated(&self) -> Option<String> {
        (self.status == CalibrationStatus::Uncalibrated).then(|| match &self.reason {
            None => "uncalibrated".to_owned(),
            Some(reason) => format!("uncalibrated ({reason})"),
        })
    }

    /// A text about the calibration.
    pub fn summary(&self) -> String {
        let (n, kappa) = (self.n, self.kappa_text());
        let only = if n < ENOUGH_LABELS { "only " } else { "" };
        self.uncalibrated()
            .unwrap_or_else(|| format!("calibrated on {only}{n} labels ({kappa})"))
    }

    /// Kappa with its interval, as text.
    pub(crate) fn kappa_text(&self) -> String {
        let weighted = if self.kappa_quadratic {
            "quadratic "
        } else {
            ""
        };
        let of = match &*self.kappa_of {
            "" => String::new(),
            figure => format!(" of `{figure}`"),
        };
        // If all agree, or none do, every bootstrap draw gives the same value, which is not certainty.
        match (self.kappa, self.kappa_ci95.filter(|[low, high]| low < high)) {
            (Some(kappa), Some(ci95)) => {
                let ci95 = Interval(ci95.map(|end| Scale(end, 2))).ci95();
                format!("{weighted}kappa{of} {kappa:.2}, {ci95}")
            }
            (Some(kappa), None) => format!("{weighted}kappa{of} {kappa:.2}, without an interval"),
            (None, _) => "no kappa: labels or verdicts do not vary".to_owned(),
        }
    }

    /// A warning if labels are sufficient but few.
    pub fn warning(&self) -> Option<String> {
        let is_few = self.status == CalibrationStatus::Calibrated && self.n < ENOUGH_LABELS;
        is_few.then(|| {
            format!(
                "calibrated on only {} labels: {}; use {ENOUGH_LABELS} or more",
                self.n,
                self.kappa_text()
            )
        })
    }
}
