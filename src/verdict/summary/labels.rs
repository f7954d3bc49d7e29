//! `Labels`: classification figures: macro-F1, the figures of each label, and the confusion matrix.
//!
//! A scorer that judges labels has them in the details of its scores: `target_label` is the label of the ground truth,
//! `label` that of the prediction, or `(other)`. Both are texts. Scores without `target_label` are ignored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::score::OTHER;
use crate::stats::{self, Sum};

/// With more labels it is not a classification, and only their number is reported.
pub(crate) const MAX_LABELS: usize = 64;

/// A longer text is not a label.
const MAX_LABEL_BYTES: usize = 256;

/// The figures of a classification.
///
/// The labels are all that occur as ground truth or as prediction, in alphabetical order. A prediction that is not a
/// label (by the scorer, or because it is longer than 256 bytes) counts as `(other)`: it is wrong, and has no figures
/// of its own.
///
/// With more than 64 labels there is only the number of samples, and `left_out` is true.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Labels {
    /// Samples with a label as ground truth.
    pub samples: u64,
    /// The unweighted mean of the labels' F1: scikit-learn's `f1_score(average="macro", zero_division=0)`, over all
    /// labels but `(other)`.
    pub macro_f1: Option<f64>,
    /// The figures of each label.
    pub by_label: BTreeMap<String, LabelFigures>,
    /// The predictions by ground truth.
    pub confusion: Confusion,
    /// Whether the figures are omitted because there are too many labels.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
}

/// The figures of one label. A share of nothing is 0, as with `zero_division=0`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LabelFigures {
    /// The share of the samples with this prediction that have this ground truth.
    pub precision: f64,
    /// The share of the samples with this ground truth that have this prediction.
    pub recall: f64,
    /// 2 · precision · recall / (precision + recall).
    pub f1: f64,
    /// Samples with this ground truth.
    pub support: u64,
    /// Samples with this prediction.
    pub predicted: u64,
}

/// A confusion matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Confusion {
    /// The labels of the rows (ground truths) and of the columns (predictions).
    pub labels: Vec<String>,
    /// A row for each label. It has a column for each label, and a last one for `(other)`.
    pub counts: Vec<Vec<u64>>,
}

impl Labels {
    /// The lowest and highest macro-F1 with `unknown` more samples, all of them wrong or all right, and no new labels.
    pub(crate) fn macro_f1_within(&self, unknown: u64) -> Option<[f64; 2]> {
        let value = self.macro_f1?;
        if unknown == 0 {
            return Some([value, value]);
        }
        // A wrong answer is one false negative of its ground truth and one false positive of another label: two
        // changes, at most one of them to the same label.
        let worst = self.dealt(2 * unknown, unknown, |hits, whole, wrong| {
            ratio(2 * hits, whole + wrong)
        });
        let best = self.dealt(unknown, unknown, |hits, whole, right| {
            ratio(2 * (hits + right), whole + 2 * right)
        });
        Some([worst.min(value), best.max(value)])
    }

    /// The mean F1 when `total` changes are assigned to the labels greedily, at most `most` to each, always where the
    /// next one moves `f1` most. The effect on each label decreases, so greedy is optimal. `f1` gets the hits of a
    /// label, its support plus predictions, and its changes.
    fn dealt(&self, total: u64, most: u64, f1: impl Fn(u64, u64, u64) -> f64) -> f64 {
        let hits = self.confusion.counts.iter().enumerate();
        let hits = hits.map(|(place, row)| row.get(place).copied().unwrap_or_default());
        let whole = self.by_label.values();
        let whole = whole.map(|label| label.support + label.predicted);
        let labels: Vec<(u64, u64)> = hits.zip(whole).collect();
        let f1 = |place: usize, count: u64| f1(labels[place].0, labels[place].1, count);
        let step = |place: usize, count: u64| (f1(place, count + 1) - f1(place, count)).abs();
        let mut dealt = vec![0; labels.len()];
        let mut steps: Vec<f64> = (0..labels.len()).map(|place| step(place, 0)).collect();
        for _ in 0..total {
            let largest = (0..labels.len())
                .filter(|&place| dealt[place] < most)
                .max_by(|&one, &other| steps[one].total_cmp(&steps[other]));
            let Some(place) = largest.filter(|&place| steps[place] > 0.0) else {
                break;
            };
            dealt[place] += 1;
            steps[place] = step(place, dealt[place]);
        }
        let all = dealt.into_iter().enumerate();
        let sum: Sum = all.map(|(place, count)| f1(place, count)).collect();
        sum.mean().unwrap_or_default()
    }
}

impl LabelFigures {
    fn new(hits: u64, support: u64, predicted: u64) -> Self {
        Self {
            precision: ratio(hits, predicted),
            recall: ratio(hits, support),
            f1: ratio(2 * hits, support + predicted),
            support,
            predicted,
        }
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    stats::ratio(part, whole).unwrap_or_default()
}

/// The running counts behind [`Labels`].
#[derive(Clone, Debug, Default)]
pub(super) struct LabelTally {
    samples: u64,
    /// The index of each label, in order of first occurrence.
    numbers: BTreeMap<String, usize>,
    /// By ground truth and prediction; `None` for `(other)`.
    counts: BTreeMap<(usize, Option<usize>), u64>,
    overflow: bool,
}

impl LabelTally {
    /// Adds a score by its details.
    pub(super) fn add<'a>(&mut self, detail: impl Fn(&str) -> Option<&'a Value>) {
        let text = |name: &str| detail(name).and_then(Value::as_str);
        let Some(truth) = text("target_label") else {
            return;
        };
        self.samples += 1;
        if self.overflow {
            return;
        }
        let is_label = |label: &&str| *label != OTHER && label.len() <= MAX_LABEL_BYTES;
        let prediction = text("label").filter(is_label);
        let truth = self.number(truth);
        let prediction = prediction.map(|label| self.number(label));
        *self.counts.entry((truth, prediction)).or_default() += 1;
        if self.overflow {
            self.numbers.clear();
            self.counts.clear();
        }
    }

    fn number(&mut self, label: &str) -> usize {
        if let Some(number) = self.numbers.get(label) {
            return *number;
        }
        let number = self.numbers.len();
        // Free texts, not labels: they are not stored.
        self.overflow |= number == MAX_LABELS || label.len() > MAX_LABEL_BYTES;
        self.numbers.insert(label.to_owned(), number);
        number
    }

    /// `None` if no score has labels.
    pub(super) fn finish(self) -> Option<Labels> {
        if self.samples == 0 || self.overflow {
            return (self.samples > 0).then(|| Labels {
                samples: self.samples,
                left_out: true,
                ..Labels::default()
            });
        }
        let count = |truth, prediction| self.counts.get(&(truth, prediction)).copied();
        let columns: Vec<Option<usize>> = self
            .numbers
            .values()
            .map(|number| Some(*number))
            .chain([None])
            .collect();
        let row = |truth: &usize| -> Vec<u64> {
            let cell = |column: &Option<usize>| count(*truth, *column).unwrap_or_default();
            columns.iter().map(cell).collect()
        };
        let counts: Vec<Vec<u64>> = self.numbers.values().map(row).collect();
        let figures = |place: usize| {
            let support = counts[place].iter().sum();
            let predicted = counts.iter().map(|row| row[place]).sum();
            LabelFigures::new(counts[place][place], support, predicted)
        };
        let labels: Vec<String> = self.numbers.keys().cloned().collect();
        let by_label: BTreeMap<_, _> = labels
            .iter()
            .enumerate()
            .map(|(place, label)| (label.clone(), figures(place)))
            .collect();
        let f1: Sum = by_label.values().map(|label| label.f1).collect();
        Some(Labels {
            samples: self.samples,
            macro_f1: f1.mean(),
            by_label,
            confusion: Confusion { labels, counts },
            left_out: false,
        })
    }
}

#[cfg(test)]
mod tests;
