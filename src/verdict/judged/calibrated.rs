//! `CalibratedJudge`: a judge of a run with the labels of people, and the means they correct.
//!
//! A correction is valid if a random sample of the run's answers was labelled, or all of them. Labels of other answers,
//! those of an earlier run or another agent, show how far the judge was off there, but not here. Labels of hand-picked
//! answers show nothing about all answers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::calibration::{CorrectedFigure, JudgeCalibration, LEAST_LABELS};
use super::items::{CORRECT, JudgedItem, VALUE, group};
use crate::data::calibration::{CalibratedAnswer, Calibration};
use crate::figure::{Interval, Value};
use crate::stats::{self, BoundedMean, PoweredMean, powered_mean_of_groups, shifted_mean};
use crate::verdict::gate::Slice;

/// The command for a correction.
const CALIBRATE: &str = "`cargo evaltest judge calibrate RUN_DIR --labels FILE`";
/// The command that draws answers to label.
const DRAW: &str = "`cargo evaltest judge calibrate RUN_DIR --draw 100`";

/// A judge of a run with the labels of people.
#[derive(Clone, Debug)]
pub struct CalibratedJudge {
    summary: JudgeCalibration,
    labels: CalibrationLabels,
    items: Vec<JudgedItem>,
    /// The lowest and highest values of figures, if known.
    scales: BTreeMap<String, [f64; 2]>,
}

/// A corrected mean, and the number of items it excludes because they lack a verdict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunCorrection {
    pub(crate) found: CorrectedFigure,
    /// The mean, with intervals of any confidence.
    pub(crate) mean: BoundedMean,
    /// Number of items; fractional with several epochs.
    pub(crate) missing: f64,
}

/// How the labels of a calibration can be used in a run.
#[derive(Clone, Debug)]
enum CalibrationLabels {
    /// For agreement only, for this reason.
    None(String),
    /// Labels of answers of this run: by id, the labels by figure.
    Own(HashMap<String, BTreeMap<String, f64>>),
    /// Labels of other answers.
    Others(Vec<CalibratedAnswer>),
}

impl CalibratedJudge {
    /// A judge without a calibration, or with one that cannot be used.
    pub(crate) fn without(reason: impl Into<String>) -> Self {
        Self {
            summary: JudgeCalibration::without(reason),
            labels: CalibrationLabels::None(no_labels()),
            items: Vec::new(),
            scales: BTreeMap::new(),
        }
    }

    /// A judge with these verdicts on the items of a run, whose ids and answers hash to `population`, on these scales.
    /// `differs` says how the judge of the calibration differs.
    pub(crate) fn of(
        calibration: &Calibration,
        differs: Option<&str>,
        (items, population): (Vec<JudgedItem>, &str),
        scales: Option<&BTreeMap<String, [f64; 2]>>,
    ) -> Self {
        let is_own = calibration.population == population;
        let labels = if let Some(differs) = differs {
            CalibrationLabels::None(format!(
                "the calibration is for another judge, {differs}: {CALIBRATE}"
            ))
        } else if !calibration.is_drawn() {
            CalibrationLabels::None(format!(
                "the labels were picked by hand and do not represent all answers: sample some at random with {DRAW}"
            ))
        } else if is_own {
            let drawn = calibration.drawn().map(|answer| {
                let values = answer.values.iter();
                let values = values.map(|(figure, value)| (figure.clone(), value.label));
                (answer.id.clone(), values.collect())
            });
            CalibrationLabels::Own(drawn.collect())
        } else {
            CalibrationLabels::Others(calibration.drawn().cloned().collect())
        };
        let mut judge = Self {
            summary: JudgeCalibration::of(calibration, differs),
            labels,
            items,
            scales: scales.cloned().unwrap_or_default(),
        };
        judge.add_corrections();
        judge
    }

    /// The calibration for the summary.
    pub(crate) fn summary(&self) -> &JudgeCalibration {
        &self.summary
    }

    /// The corrected mean of a figure of the run, or of one of its slices.
    ///
    /// # Errors
    ///
    /// With the reason if there is none.
    pub(crate) fn corrected(
        &self,
        figure: &str,
        slice: Option<&Slice>,
    ) -> Result<RunCorrection, String> {
        match &self.labels {
            CalibrationLabels::None(why) => return Err(why.clone()),
            CalibrationLabels::Others(_) => {
                let run = self.summary.run.as_deref().unwrap_or_default();
                let summary = self.estimate(figure, slice).map(|RunCorrection { found, .. }| {
                    format!(
                        "; if the judge errs on both agents alike, the corrected mean is {}, {}",
                        Value(found.value),
                        Interval(found.ci95.map(Value)).ci95()
                    )
                });
                return Err(format!(
                    "no labels of this run, the calibration has those of run `{run}`: {CALIBRATE}{}",
                    summary.unwrap_or_default()
                ));
            }
            CalibrationLabels::Own(_) => {}
        }
        let correction = self.estimate(figure, slice).ok_or_else(|| {
            format!(
                "fewer than two answers have a label of `{figure}` and a verdict, or all labels of a figure without a scale \
                 are equal: {DRAW}"
            )
        })?;
        let CorrectedFigure {
            value,
            ci95,
            labels,
            items,
            ..
        } = correction.found;
        // If all answers are labelled, it is simply the mean of the labels.
        if labels < LEAST_LABELS && labels < items {
            return Err(format!(
                "{labels} labels of {items} answers, at least {LEAST_LABELS} or one per answer are needed: {DRAW}; these \
                 labels give {}, {}",
                Value(value),
                Interval(ci95.map(Value)).ci95()
            ));
        }
        Ok(correction)
    }

    fn items_of(&self, slice: Option<&Slice>) -> impl Iterator<Item = &JudgedItem> {
        let is_in = move |item: &&JudgedItem| slice.is_none_or(|it| item.slices.contains(it));
        self.items.iter().filter(is_in)
    }

    /// The corrected mean of a figure; `None` with fewer than two labels.
    fn estimate(&self, figure: &str, slice: Option<&Slice>) -> Option<RunCorrection> {
        let values = self.items_of(slice).filter_map(|item| item.mean(figure));
        let values: Vec<f64> = values.collect();
        let judge = stats::mean(&values);
        match &self.labels {
            CalibrationLabels::None(_) => None,
            CalibrationLabels::Own(labels) => {
                let label = |item: &JudgedItem| labels.get(&item.id)?.get(figure).copied();
                let (mut both, mut judged, mut labelled) = (Vec::new(), Vec::new(), Vec::new());
                let mut missing = 0.0;
                for item in self.items_of(slice) {
                    let group = item.group();
                    missing += item.missing();
                    match (item.mean(figure), label(item)) {
                        (Some(value), Some(label)) => both.push((value, label, group)),
                        (Some(value), None) => judged.push((value, group)),
                        // Without a verdict, a label is its own prediction; it counts if all items have one.
                        (None, Some(label)) => labelled.push((label, label, group)),
                        (None, None) => {}
                    }
                }
                if judged.is_empty() {
                    missing -= stats::as_f64(labelled.len() as u64);
                    both.append(&mut labelled);
                }
                let found = powered_mean_of_groups(&borrowed(&both), &borrowed_all(&judged));
                let items = both.len() + judged.len();
                self.correction(figure, (found, judge), &both, (items, missing))
            }
            CalibrationLabels::Others(answers) => {
                let labelled = answers.iter().filter_map(|answer| {
                    let value = answer.values.get(figure)?;
                    let group = group(answer.cluster.as_deref(), &answer.id);
                    Some((value.judge?, value.label, group))
                });
                let labelled: Vec<_> = labelled.collect();
                let judged = self
                    .items_of(slice)
                    .filter_map(|item| Some((item.mean(figure)?, item.group())));
                let judged: Vec<_> = judged.collect();
                let found = shifted_mean(&borrowed(&labelled), &borrowed_all(&judged));
                self.correction(figure, (found, judge), &labelled, (judged.len(), 0.0))
            }
        }
    }

    /// A mean limited to the scale of its figure.
    fn correction(
        &self,
        figure: &str,
        (found, judge): (PoweredMean, Option<f64>),
        labelled: &[Labelled],
        (items, missing): (usize, f64),
    ) -> Option<RunCorrection> {
        let share = [CORRECT, VALUE].contains(&figure).then_some([0.0, 1.0]);
        let scale = self.scales.get(figure).copied().or(share);
        let groups: BTreeSet<&String> = labelled.iter().map(|it| &it.2).collect();
        let is_share = scale.is_some_and(|ends| {
            let mut labels = labelled.iter().map(|it| it.1);
            labels.all(|label| ends.iter().any(|end| label.total_cmp(end).is_eq()))
        });
        let found = (found.mean?, found.ci95?);
        let mean = BoundedMean::of(found, groups.len() as u64, scale, is_share);
        let found = CorrectedFigure {
            judge,
            value: mean.mean,
            ci95: mean.ci95()?,
            labels: labelled.len() as u64,
            items: items as u64,
        };
        Some(RunCorrection {
            found,
            mean,
            missing,
        })
    }

    /// Computes all labelled figures for the summary.
    fn add_corrections(&mut self) {
        let figures: BTreeSet<&String> = match &self.labels {
            CalibrationLabels::None(_) => BTreeSet::new(),
            CalibrationLabels::Own(labels) => labels.values().flat_map(BTreeMap::keys).collect(),
            CalibrationLabels::Others(answers) => {
                answers.iter().flat_map(|it| it.values.keys()).collect()
            }
        };
        let summary = figures.into_iter();
        let summary =
            summary.filter_map(|name| Some((name.clone(), self.estimate(name, None)?.found)));
        let summary: BTreeMap<_, _> = summary.collect();
        match &self.labels {
            CalibrationLabels::None(why) => self.summary.not_corrected = Some(why.clone()),
            CalibrationLabels::Own(_) => self.summary.corrected = summary,
            CalibrationLabels::Others(_) => self.summary.corrected_if_alike = summary,
        }
    }
}

/// The message if there are no labels.
pub(crate) fn no_labels() -> String {
    format!("no labels of this run: {CALIBRATE}")
}

type Labelled = (f64, f64, String);
type GroupedValue = (f64, String);

fn borrowed(labelled: &[Labelled]) -> Vec<(f64, f64, &str)> {
    let borrowed = labelled.iter();
    borrowed.map(|it| (it.0, it.1, it.2.as_str())).collect()
}

fn borrowed_all(judged: &[GroupedValue]) -> Vec<(f64, &str)> {
    judged.iter().map(|it| (it.0, it.1.as_str())).collect()
}
