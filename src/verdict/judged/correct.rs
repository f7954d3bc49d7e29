//! A mean of a judge's verdicts, corrected by a few labels.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::stats::{BoundedMean, powered_mean_of_groups};

use super::{InputLine, missing, share};

/// An item with the judge's value and possibly a label by a person, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradedItem {
    /// The judge's value.
    pub judge: f64,
    /// The label, if there is one.
    pub label: Option<f64>,
}

impl InputLine for GradedItem {
    const EXAMPLE: &'static str = r#"{"judge": 0.8, "label": 1}"#;

    fn read(fields: &Map<String, Value>) -> Result<Self> {
        let judge = share(fields, "judge")?;
        let without = || match fields.get("judge") {
            Some(_) => Error::usage("`judge` must be a number from 0 to 1, found null").hint(
                "remove lines without a verdict: an item that the judge cannot read is no evidence",
            ),
            None => missing("judge"),
        };
        Ok(Self {
            judge: judge.ok_or_else(without)?,
            label: share(fields, "label")?,
        })
    }
}

/// The mean by the labels alone, by the judge alone, and by both. A figure is `null` if it is 0 / 0. Intervals lie within
/// 0 to 1 and are those of [`corrected`](crate::engine::verdict) gates: near the ends of the scale, where few labels
/// differ, those of the normal approximation would be too narrow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JudgeCorrection {
    /// The mean of the labels.
    pub labels: PlainMean,
    /// The mean of the verdicts on all items. Its interval ignores the judge's errors.
    pub judge: PlainMean,
    /// The mean by both.
    pub corrected: CorrectedMean,
}

/// A mean with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PlainMean {
    /// Number of items.
    pub n: u64,
    /// 0 to 1.
    pub mean: Option<f64>,
    /// `null` for fewer than two.
    pub ci95: Option<[f64; 2]>,
}

/// The mean of all items as people would label them, by prediction-powered inference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CorrectedMean {
    /// The mean of the verdicts, corrected by their error on labelled items.
    pub mean: Option<f64>,
    /// `null` for fewer than two labels.
    pub ci95: Option<[f64; 2]>,
    /// The weight of the verdicts, 0 (a useless judge) to 1.
    pub lambda: Option<f64>,
}

impl JudgeCorrection {
    /// Computes the means of these items.
    ///
    /// # Errors
    ///
    /// If there are no items.
    pub fn of(items: &[GradedItem]) -> Result<Self> {
        if items.is_empty() {
            return Err(Error::usage("there are no items"));
        }
        let labelled = items
            .iter()
            .filter_map(|item| Some((item.judge, item.label?)));
        let labelled: Vec<_> = labelled.collect();
        let further = items.iter().filter(|item| item.label.is_none());
        let further: Vec<_> = further.map(|item| item.judge).collect();
        Ok(Self {
            labels: PlainMean::of(labelled.iter().map(|(_, label)| *label)),
            judge: PlainMean::of(items.iter().map(|item| item.judge)),
            corrected: CorrectedMean::of(&labelled, &further),
        })
    }
}

impl PlainMean {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<_> = values.map(|value| (value, value)).collect();
        let CorrectedMean { mean, ci95, .. } = CorrectedMean::of(&values, &[]);
        let n = values.len() as u64;
        Self { n, mean, ci95 }
    }
}

impl CorrectedMean {
    /// From pairs of verdict and label, and further verdicts.
    fn of(labelled: &[(f64, f64)], further: &[f64]) -> Self {
        // Each item is a group of its own.
        let names = 0..labelled.len() + further.len();
        let names: Vec<String> = names.map(|number| number.to_string()).collect();
        let (names, others) = names.split_at(labelled.len());
        let with_label = labelled.iter().zip(names);
        let with_label = with_label.map(|((judge, label), name)| (*judge, *label, &**name));
        let without = further.iter().zip(others);
        let without = without.map(|(judge, name)| (*judge, &**name));
        let found = powered_mean_of_groups(
            &with_label.collect::<Vec<_>>(),
            &without.collect::<Vec<_>>(),
        );
        let is_end = |label: f64| [0.0, 1.0].iter().any(|end| label.total_cmp(end).is_eq());
        let is_share = labelled.iter().all(|(_, label)| is_end(*label));
        let bounded = found
            .mean
            .zip(found.ci95)
            .map(|found| BoundedMean::of(found, labelled.len() as u64, Some([0.0, 1.0]), is_share));
        Self {
            mean: bounded.map(|bounded| bounded.mean).or(found.mean),
            ci95: bounded.and_then(|bounded| bounded.ci95()),
            lambda: found.lambda,
        }
    }
}
