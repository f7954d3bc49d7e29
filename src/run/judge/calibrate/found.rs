//! The labels of people and of a judge on the answers of a run, by figure, and their agreement.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::data::calibration::CalibrationKappa;
use crate::data::labels::{LabelChoice, LabelClass};
use crate::error::Result;
use crate::verdict::judged::agreement::{JudgeAgreement, LabelledItem};
use crate::verdict::judged::items::{CORRECT, JudgedItem, TOTAL, VALUE, VERDICT};
use crate::verdict::judged::people::HumanLabels;
use crate::verdict::judged::points::PointsAgreement;

/// The labels of answers, by figure.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelledAnswers {
    classes: BTreeMap<String, Vec<LabelledItem>>,
    /// For figures with points, pairs of the mean of people's points and the judge's.
    points: BTreeMap<String, Vec<(f64, f64)>>,
}

impl LabelledAnswers {
    /// Adds an answer. Whether the judge gives any of the labelled figures.
    pub(super) fn add(&mut self, item: &JudgedItem, human_labels: &HumanLabels) -> bool {
        let mut is_read = false;
        for (figure, classes) in &human_labels.classes {
            let judge = given(item, figure);
            is_read |= judge.is_some();
            let labelled = LabelledItem {
                labels: classes.clone(),
                judge,
            };
            let all = self.classes.entry(figure.clone()).or_default();
            all.push(labelled);
            if figure == CORRECT {
                continue;
            }
            let judge = item.first.numbers.get(figure);
            if let Some((people, judge)) = human_labels.values.get(figure).zip(judge) {
                let all = self.points.entry(figure.clone()).or_default();
                all.push((*people, *judge));
            }
        }
        is_read
    }

    /// The agreement by figure.
    pub(super) fn agreement(&self) -> Result<BTreeMap<String, JudgeAgreement>> {
        let figures = self.classes.iter();
        let figures =
            figures.map(|(figure, items)| Ok((figure.clone(), JudgeAgreement::of(items)?)));
        figures.collect()
    }

    /// The distance of points by figure.
    pub(super) fn points_agreement(&self) -> BTreeMap<String, PointsAgreement> {
        let figures = self.points.iter();
        let figures = figures.map(|(figure, both)| (figure.clone(), PointsAgreement::of(both)));
        figures.collect()
    }

    /// The kappa of the most important figure: the verdict, the total, the value, what is correct, or else the first.
    /// For points, of the mean of people's.
    pub(super) fn kappa(&self) -> Result<CalibrationKappa> {
        let best = [VERDICT, TOTAL, VALUE, CORRECT];
        let best = best
            .into_iter()
            .find(|name| self.classes.contains_key(*name));
        let best = best.or_else(|| self.classes.keys().next().map(String::as_str));
        let Some((name, items)) = best.and_then(|name| Some((name, self.classes.get(name)?)))
        else {
            return Ok(CalibrationKappa::default());
        };
        if let Some(both) = self.points.get(name) {
            let of = PointsAgreement::of(both);
            return Ok(CalibrationKappa {
                of: name.to_owned(),
                quadratic: true,
                value: of.kappa_quadratic,
                ci95: of.kappa_ci95,
            });
        }
        let of = JudgeAgreement::of(items)?;
        let quadratic = of.figures.kappa_quadratic.is_some();
        let ci95 = if quadratic {
            of.ci95.kappa_quadratic
        } else {
            of.ci95.kappa
        };
        Ok(CalibrationKappa {
            of: name.to_owned(),
            quadratic,
            value: of.figures.kappa_quadratic.or(of.figures.kappa),
            ci95: ci95.filter(|[low, high]| low < high),
        })
    }
}

/// The agreement as written to a file, with points as a member `points`.
pub(super) fn summary(
    agreement: &BTreeMap<String, JudgeAgreement>,
    points: &BTreeMap<String, PointsAgreement>,
) -> BTreeMap<String, Value> {
    let figures = agreement.iter().map(|(figure, of)| {
        let mut summary = serde_json::to_value(of).unwrap_or_default();
        if let (Some(members), Some(of)) = (summary.as_object_mut(), points.get(figure)) {
            members.insert("points".to_owned(), json!(of));
        }
        (figure.clone(), summary)
    });
    figures.collect()
}

/// Only the labels of answers that were not hand-picked; all labels if there are no others.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelsByChoice {
    pub(super) all: LabelledAnswers,
    drawn: LabelledAnswers,
    /// Answers with a verdict that people labelled: drawn at random or all, and hand-picked.
    pub(super) n: u64,
    pub(super) picked: u64,
    /// Answers without a verdict.
    pub(super) unread: u64,
}

impl LabelsByChoice {
    pub(super) fn add(
        &mut self,
        item: &JudgedItem,
        human_labels: &HumanLabels,
        chosen: LabelChoice,
    ) {
        let is_read = self.all.add(item, human_labels);
        let counted = match chosen {
            _ if !is_read => &mut self.unread,
            LabelChoice::Picked => &mut self.picked,
            LabelChoice::Random | LabelChoice::All => &mut self.n,
        };
        *counted += 1;
        if chosen != LabelChoice::Picked {
            self.drawn.add(item, human_labels);
        }
    }

    pub(super) fn kappa(&self) -> Result<CalibrationKappa> {
        if self.n > 0 { &self.drawn } else { &self.all }.kappa()
    }
}

/// The judge's value of a figure, as a class.
fn given(item: &JudgedItem, figure: &str) -> Option<LabelClass> {
    let number = item.first.numbers.get(figure);
    match figure {
        VERDICT => LabelClass::of(&json!(item.first.verdict)),
        CORRECT => LabelClass::of(&json!(*number? > 0.5)),
        _ => LabelClass::of(&json!(number?)),
    }
}
