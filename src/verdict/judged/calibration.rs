//! `JudgeCalibration`: what a run can say of the calibration of a judge, in `summary.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::calibration::Calibration;
use crate::figure::{Interval, Scale};

/// Of fewer labelled answers a judge is not calibrated.
pub(crate) const LEAST_LABELS: u64 = 50;
/// Of fewer the interval of kappa is told: it is wide.
pub(crate) const ENOUGH_LABELS: u64 = 100;

/// Why a judge is not calibrated of whom nobody says anything.
pub(crate) const NO_LABELS: &str = "no labels of people";

/// Whether labels of people say what a judge is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CalibrationStatus {
    /// They do.
    Calibrated,
    /// There are none, too few, or they are of another judge.
    #[default]
    Uncalibrated,
}

/// What a run can say of the calibration of a judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct JudgeCalibration {
    /// Whether labels of people say what it is worth.
    pub status: CalibrationStatus,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Labelled answers with a verdict, of those that were drawn by lot or are all.
    pub n: u64,
    /// Further ones that were picked.
    #[serde(skip_serializing_if = "is_zero")]
    pub picked: u64,
    /// Why nobody can see that the others were drawn by lot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// Of which figure kappa is; empty where there is none.
    pub kappa_of: String,
    /// Whether it is weighted by the square of the distance.
    pub kappa_quadratic: bool,
    /// Cohen's kappa of labels and verdicts; weighted by the square of the distance where these are points.
    pub kappa: Option<f64>,
    /// Its 95 % confidence interval.
    pub kappa_ci95: Option<[f64; 2]>,
    /// The run whose answers were labelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Why no correction holds for this run, where labels are there.
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
    /// Corrected.
    pub value: f64,
    /// Its 95 % confidence interval, within the scale where that is known.
    pub ci95: [f64; 2],
    /// Labelled items that it is of.
    pub labels: u64,
    /// Items that it is of, with a verdict or a label.
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

    /// That of a judge with this fingerprint and these served models.
    pub(crate) fn of(calibration: &Calibration, differs: Option<&str>) -> Self {
        let n = calibration.n;
        let labels = if n == 1 { "label" } else { "labels" };
        let reason = match differs {
            Some(differs) => Some(format!("its calibration is of another judge, {differs}")),
            None if n == 0 && calibration.picked > 0 => Some(format!(
                "{} labels of people, all of picked answers, where {LEAST_LABELS} of drawn ones are the least",
                calibration.picked
            )),
            None if n < LEAST_LABELS => Some(format!(
                "{n} {labels} of people, where {LEAST_LABELS} are the least"
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

    /// That it is not calibrated, and why.
    pub(crate) fn uncalibrated(&self) -> Option<String> {
        (self.status == CalibrationStatus::Uncalibrated).then(|| match &self.reason {
            None => "uncalibrated".to_owned(),
            Some(reason) => format!("uncalibrated ({reason})"),
        })
    }

    /// What it is in words.
    pub fn told(&self) -> String {
        let (n, kappa) = (self.n, self.told_kappa());
        let alone = if n < ENOUGH_LABELS { " alone" } else { "" };
        self.uncalibrated()
            .unwrap_or_else(|| format!("calibrated on {n} labels{alone} ({kappa})"))
    }

    /// Kappa with its interval.
    pub(crate) fn told_kappa(&self) -> String {
        let weighted = if self.kappa_quadratic {
            "quadratic "
        } else {
            ""
        };
        let of = match &*self.kappa_of {
            "" => String::new(),
            figure => format!(" of `{figure}`"),
        };
        // Where all agree, or none do, it is a point in every draw: that is no certainty.
        match (self.kappa, self.kappa_ci95.filter(|[low, high]| low < high)) {
            (Some(kappa), Some(ci95)) => {
                let ci95 = Interval(ci95.map(|end| Scale(end, 2))).ci95();
                format!("{weighted}kappa{of} {kappa:.2}, {ci95}")
            }
            (Some(kappa), None) => format!("{weighted}kappa{of} {kappa:.2}, without an interval"),
            (None, _) => "without a kappa: labels or verdicts do not vary".to_owned(),
        }
    }

    /// What should be known where labels are few, though enough.
    pub fn warning(&self) -> Option<String> {
        let is_few = self.status == CalibrationStatus::Calibrated && self.n < ENOUGH_LABELS;
        is_few.then(|| {
            format!(
                "calibrated on {} labels alone: {}; {ENOUGH_LABELS} are better",
                self.n,
                self.told_kappa()
            )
        })
    }
}
