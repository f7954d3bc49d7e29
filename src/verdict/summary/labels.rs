//! `Labels`: answers that are labels: macro-F1, the figures of each label, and the confusion matrix.
//!
//! A scorer that judges labels says so in the details of its scores: `target_label` is the label of the
//! ground truth, `label` that of the prediction, or `(other)`. Both are texts. Scores without `target_label`
//! stay out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::score::OTHER;
use crate::stats::{self, Sum};

/// More labels than this are no classification: then nothing but their number is told.
pub(crate) const MAX_LABELS: usize = 64;

/// A longer text is no label.
const MAX_LABEL_BYTES: usize = 256;

/// What became of answers that are labels.
///
/// The labels are all that occur as ground truth or as prediction, in the order of their texts. A
/// prediction that is no label (the scorer says so, or it is longer than 256 bytes) counts as `(other)`:
/// it misses its ground truth, and has no figures of its own.
///
/// With more than 64 labels there is only the number of samples, and `left_out` is true.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Labels {
    /// Samples with a label as ground truth.
    pub samples: u64,
    /// The mean of the labels' F1, each label counting the same however often it occurs: what
    /// scikit-learn calls `f1_score(average="macro", zero_division=0)`, over all labels but `(other)`.
    pub macro_f1: Option<f64>,
    /// The figures of each label.
    pub by_label: BTreeMap<String, LabelFigures>,
    /// Which ground truth got which prediction.
    pub confusion: Confusion,
    /// Whether the figures are left out because there are too many labels.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
}

/// The figures of one label. A share of nothing is 0 here, as with `zero_division=0`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LabelFigures {
    /// Of the samples with this prediction, the share whose ground truth it is.
    pub precision: f64,
    /// Of the samples with this ground truth, the share with this prediction.
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
    /// The lowest and the highest macro-F1 that so many more samples could lead to, all of them wrong or
    /// all right, with no label that was not seen yet.
    pub(crate) fn macro_f1_within(&self, unknown: u64) -> Option<[f64; 2]> {
        let value = self.macro_f1?;
        if unknown == 0 {
            return Some([value, value]);
        }
        // A wrong answer is one miss of its ground truth and one false alarm of another label: two to
        // deal out, at most one of them to the same label.
        let worst = self.dealt(2 * unknown, unknown, |hits, whole, wrong| {
            ratio(2 * hits, whole + wrong)
        });
        let best = self.dealt(unknown, unknown, |hits, whole, right| {
            ratio(2 * (hits + right), whole + 2 * right)
        });
        Some([worst.min(value), best.max(value)])
    }

    /// The mean F1 when `total` changes are dealt to the labels one by one, at most `most` to each, always
    /// where the next one moves `f1` most. The steps of each label shrink, so that no other way of dealing
    /// gets further. `f1` is given the hits of a label, its support and predictions, and its changes.
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
    /// The number of each label, in the order in which they were met.
    numbers: BTreeMap<String, usize>,
    /// By ground truth and prediction; none for `(other)`.
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
        // Free texts, not labels: nothing of them is kept.
        self.overflow |= number == MAX_LABELS || label.len() > MAX_LABEL_BYTES;
        self.numbers.insert(label.to_owned(), number);
        number
    }

    /// `None` when no score was about labels.
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
