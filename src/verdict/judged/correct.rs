//! A mean of a judge's verdicts that a few labels correct.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::stats::{MeanEstimate, powered_mean};

use super::{JudgedLine, missing, share};

/// What the judge and, where there is a label, a person gives an item: 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradedItem {
    /// The judge's value.
    pub judge: f64,
    /// The label, if somebody looked.
    pub label: Option<f64>,
}

impl JudgedLine for GradedItem {
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

/// The mean by the labels alone, by the judge alone, and by both. A figure is `null` where it is nothing over nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JudgeCorrection {
    /// Of the labels.
    pub labels: PlainMean,
    /// Of the verdicts of all items. Its interval knows nothing of how wrong the judge is.
    pub judge: PlainMean,
    /// Of both.
    pub corrected: CorrectedMean,
}

/// A mean with its 95 % confidence interval of the normal approximation, which may lie beyond 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PlainMean {
    /// Items.
    pub n: u64,
    /// 0 to 1.
    pub mean: Option<f64>,
    /// `null` for fewer than two.
    pub ci95: Option<[f64; 2]>,
}

/// The mean of all items as people would label them, by prediction-powered inference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CorrectedMean {
    /// The verdicts' mean, corrected by what is off where there is a label.
    pub mean: Option<f64>,
    /// `null` for fewer than two labels.
    pub ci95: Option<[f64; 2]>,
    /// How much the verdicts count, 0 (not at all: a judge that tells nothing) to 1.
    pub lambda: Option<f64>,
}

impl JudgeCorrection {
    /// Of these items.
    ///
    /// # Errors
    ///
    /// Without items.
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
