//! A mean of a judge's verdicts, corrected by a few labels.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::stats::{MeanEstimate, powered_mean};

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
        let without = || {
            match fields.get("judge") {
            Some(_) => Error::usage("`judge` must be a number from 0 to 1, found null")
                .hint("leave lines without a verdict out: an item that the judge cannot read says nothing"),
            None => missing("judge"),
        }
        };
        Ok(Self {
            judge: judge.ok_or_else(without)?,
            label: share(fields, "label")?,
        })
    }
}

/// The mean by the labels alone, by the judge alone, and by both. A figure is `null` if it is 0 / 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JudgeCorrection {
    /// The mean of the labels.
    pub labels: PlainMean,
    /// The mean of the verdicts on all items. Its interval ignores the judge's errors.
    pub judge: PlainMean,
    /// The mean by both.
    pub corrected: CorrectedMean,
}

/// A mean with its 95 % confidence interval by the normal approximation, not limited to 0 to 1.
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
        let labels: Vec<_> = labelled.iter().map(|(_, label)| *label).collect();
        let verdicts: Vec<_> = items.iter().map(|item| item.judge).collect();
        let corrected = powered_mean(&labelled, &further);
        Ok(Self {
            labels: PlainMean::of(&labels),
            judge: PlainMean::of(&verdicts),
            corrected: CorrectedMean {
                mean: corrected.mean,
                ci95: corrected.ci95,
                lambda: corrected.lambda,
            },
        })
    }
}

impl PlainMean {
    fn of(values: &[f64]) -> Self {
        let estimate = MeanEstimate::of(values);
        Self {
            n: estimate.n,
            mean: estimate.mean,
            ci95: estimate.ci95(),
        }
    }
}
