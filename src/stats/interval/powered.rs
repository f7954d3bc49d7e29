//! `powered_mean`: prediction-powered inference of a mean from few labels and many predictions.

use std::collections::{BTreeMap, BTreeSet};

use super::unseen;
use crate::stats::distribution::student;
use crate::stats::mean::{normal95, variance};
use crate::stats::{MeanEstimate, Sum, Z95, as_f64, mean};

/// A mean of labels, made more precise by predictions of unlabelled items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PoweredMean {
    /// `None` without labels.
    pub(crate) mean: Option<f64>,
    /// `None` for fewer than two labels.
    pub(crate) ci95: Option<[f64; 2]>,
    /// The weight of the predictions, from 0 (labels alone) to 1; `None` without labels.
    pub(crate) lambda: Option<f64>,
}

/// The mean of labels, given as `(prediction, label)`, improved by predictions of unlabelled items.
///
/// The labelled part shows how far predictions are off, so the interval has its nominal coverage however poor they are.
/// `lambda` is the weight of the predictions that minimises the width, clamped to 0 to 1. It is 0 if predictions do not
/// vary or all items are labelled; the result is then the plain mean with its interval. Source: A. N. Angelopoulos, J.
/// C. Duchi and T. Zrnic, *PPI++: efficient prediction-powered inference* (2023); variances as in `ppi_mean_ci` of
/// ppi-python 0.2.3: over n in the interval, over n - 1 in that of all predictions, by which `lambda` is divided.
pub(crate) fn powered_mean(labelled: &[(f64, f64)], unlabelled: &[f64]) -> PoweredMean {
    let labels: Vec<_> = labelled.iter().map(|(_, label)| *label).collect();
    if unlabelled.is_empty() {
        let plain = MeanEstimate::of(&labels);
        return PoweredMean {
            mean: plain.mean,
            ci95: plain.ci95(),
            lambda: plain.mean.map(|_| 0.0),
        };
    }
    let Some(lambda) = lambda(labelled, unlabelled) else {
        return PoweredMean {
            mean: None,
            ci95: None,
            lambda: None,
        };
    };
    let weighted: Vec<_> = unlabelled.iter().map(|value| lambda * value).collect();
    let off = labelled.iter().map(|(value, label)| label - lambda * value);
    let off: Vec<_> = off.collect();
    let error = |values: &[f64]| {
        let n = as_f64(values.len() as u64);
        variance(values, 0).map(|variance| variance / n)
    };
    let mean = mean(&weighted).zip(mean(&off));
    let mean = mean.map(|(weighted, off)| weighted + off);
    let error = error(&weighted).zip(error(&off));
    let error = error.filter(|_| labelled.len() > 1);
    PoweredMean {
        mean,
        ci95: mean
            .zip(error)
            .map(|(mean, (weighted, off))| normal95(mean, (weighted + off).sqrt())),
        lambda: Some(lambda),
    }
}

/// [`powered_mean`] of items in groups: groups are independent, items within a group are not. Each item is
/// `(prediction, label, group)`, or `(prediction, group)` without a label.
///
/// The variance is that of the sums over groups of the items' influence on the mean, with Student's quantile, as
/// [`Clusters`](crate::stats::Clusters) has it for shares.
pub(crate) fn powered_mean_of_groups(
    labelled: &[(f64, f64, &str)],
    unlabelled: &[(f64, &str)],
) -> PoweredMean {
    let pairs: Vec<_> = labelled
        .iter()
        .map(|(value, label, _)| (*value, *label))
        .collect();
    let values: Vec<_> = unlabelled.iter().map(|(value, _)| *value).collect();
    let plain = powered_mean(&pairs, &values);
    let (Some(found), Some(lambda)) = (plain.mean, plain.lambda) else {
        return plain;
    };
    let ci95 = of_groups(found, lambda, labelled, unlabelled);
    PoweredMean {
        ci95: plain.ci95.and(ci95),
        ..plain
    }
}

/// The mean of the predictions of other answers, corrected by the mean error on labelled ones, assuming that it is the
/// same for both. Predictions have full weight, as labels of other answers do not show how good they are. Items of one
/// group are correlated across both.
pub(crate) fn shifted_mean(
    labelled: &[(f64, f64, &str)],
    unlabelled: &[(f64, &str)],
) -> PoweredMean {
    let off = labelled.iter().map(|(value, label, _)| label - value);
    let off: Vec<_> = off.collect();
    let values: Vec<_> = unlabelled.iter().map(|(value, _)| *value).collect();
    let found = mean(&off).zip(mean(&values));
    let found = found.map(|(off, mean)| off + mean);
    PoweredMean {
        mean: found,
        ci95: found
            .filter(|_| labelled.len() > 1)
            .and_then(|found| of_groups(found, 1.0, labelled, unlabelled)),
        lambda: found.map(|_| 1.0),
    }
}

/// The 95 % confidence interval around a mean, by groups; `None` with fewer than two of them.
fn of_groups(
    found: f64,
    lambda: f64,
    labelled: &[(f64, f64, &str)],
    unlabelled: &[(f64, &str)],
) -> Option<[f64; 2]> {
    let off = labelled
        .iter()
        .map(|(value, label, _)| label - lambda * value);
    let off_mean = mean(&off.collect::<Vec<_>>())?;
    let mut moved = BTreeMap::<&str, f64>::new();
    let n = as_f64(labelled.len() as u64);
    for (value, label, group) in labelled {
        *moved.entry(group).or_default() += (label - lambda * value - off_mean) / n;
    }
    let all = as_f64(unlabelled.len() as u64);
    let values: Vec<_> = unlabelled.iter().map(|(value, _)| *value).collect();
    let value_mean = mean(&values).unwrap_or_default();
    for (value, group) in unlabelled {
        *moved.entry(group).or_default() += lambda * (value - value_mean) / all;
    }
    let squares = moved.values().map(|moved| moved * moved);
    let squares = squares.collect::<Sum>().total()?;
    // The degrees of freedom are those of the labelled groups, which are the fewest.
    let labels: BTreeSet<_> = labelled.iter().map(|it| it.2).collect();
    let groups = labels.len() as u64;
    let freedom = groups.checked_sub(1).filter(|it| *it > 0)?;
    let error = (squares * as_f64(groups) / as_f64(freedom)).sqrt();
    let quantile = student::percentile(0.975, freedom) / Z95;
    Some(normal95(found, error * quantile))
}

/// How many labels a 95 % confidence interval of a given width takes, if each of `all` items has a prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LabelSpread {
    /// The variance of labels.
    pub(crate) labels: f64,
    /// The variance of predictions.
    pub(crate) predictions: f64,
    /// Their covariance; 0 if predictions are useless.
    pub(crate) covariance: f64,
}

impl LabelSpread {
    /// From labelled items, given as `(prediction, label)`, and predictions of all items; `None` for fewer than two.
    pub(crate) fn of(labelled: &[(f64, f64)], all: &[f64]) -> Option<Self> {
        let (values, labels): (Vec<_>, Vec<_>) = labelled.iter().copied().unzip();
        let (value_mean, label_mean) = (mean(&values)?, mean(&labels)?);
        let products = labelled.iter();
        let products = products.map(|(value, label)| (value - value_mean) * (label - label_mean));
        Some(Self {
            labels: variance(&labels, 1)?,
            predictions: variance(all, 1)?,
            covariance: products.collect::<Sum>().mean()?,
        })
    }

    /// Without labels: assumes that labels vary as the predictions do, and are not correlated with them.
    pub(crate) fn unknown(all: &[f64]) -> Option<Self> {
        let spread = variance(all, 1)?;
        Some(Self {
            labels: spread,
            predictions: spread,
            covariance: 0.0,
        })
    }

    /// The width of the interval with `labels` labels of `all` items, on a scale of width `scale`, if known; as
    /// [`BoundedMean`](crate::stats::BoundedMean) has it.
    pub(crate) fn width(&self, labels: u64, all: u64, scale: Option<f64>) -> f64 {
        let n = as_f64(labels);
        let rest = as_f64(all.saturating_sub(labels));
        let squared = if rest > 0.0 && self.predictions > 0.0 {
            let lambda = self.covariance / ((1.0 + n / rest) * self.predictions);
            let lambda = lambda.clamp(0.0, 1.0);
            let off =
                self.labels - 2.0 * lambda * self.covariance + lambda * lambda * self.predictions;
            off.max(0.0) / n + lambda * lambda * self.predictions / rest
        } else {
            self.labels / n
        };
        let freedom = labels.saturating_sub(1);
        // The variance of a single label is unknown.
        let half = if freedom > 0 {
            student::percentile(0.975, freedom) * squared.sqrt()
        } else {
            f64::INFINITY
        };
        let ends = scale.map(|scale| (2.0 * scale * unseen(n, Z95), scale));
        ends.map_or(2.0 * half, |(least, most)| {
            (2.0 * half).max(least).min(most)
        })
    }

    /// The fewest labels, of `all` items, for an interval of at most this width; `None` if labelling all is not enough.
    pub(crate) fn needed(&self, width: f64, all: u64, scale: Option<f64>) -> Option<u64> {
        (2..=all).find(|labels| self.width(*labels, all, scale) <= width)
    }
}

/// cov(label, prediction) / ((1 + n / N) var(prediction)), clamped to 0 to 1; `None` without labels.
fn lambda(labelled: &[(f64, f64)], unlabelled: &[f64]) -> Option<f64> {
    let values: Vec<_> = labelled.iter().map(|(value, _)| *value).collect();
    let labels: Vec<_> = labelled.iter().map(|(_, label)| *label).collect();
    let (value_mean, label_mean) = (mean(&values)?, mean(&labels)?);
    let products = labelled.iter();
    let products = products.map(|(value, label)| (value - value_mean) * (label - label_mean));
    let covariance = products.collect::<Sum>().mean()?;
    let all = [&values[..], unlabelled].concat();
    let n = as_f64(labelled.len() as u64) / as_f64(unlabelled.len() as u64);
    // There are at least two: one with a label, one without.
    let spread = (1.0 + n) * variance(&all, 1)?;
    Some(if spread > 0.0 {
        (covariance / spread).clamp(0.0, 1.0)
    } else {
        0.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expect: f64) {
        assert!((found - expect).abs() < 1e-12, "{found} is not {expect}");
    }

    #[test]
    fn a_small_case_by_hand() {
        // Labels 0, 1 with predictions 0, 1, and further predictions 0, 1: covariance 1/4, variance of all 1/3, n/N =
        // 1.
        let found = powered_mean(&[(0.0, 0.0), (1.0, 1.0)], &[0.0, 1.0]);
        near(found.lambda.unwrap(), 0.375);
        near(found.mean.unwrap(), 0.5);
        // (0.375² + 0.625²) / 4 / 2
        let half = 1.959_963_984_540_054 * (0.531_25_f64 / 8.0).sqrt();
        near(found.ci95.unwrap()[0], 0.5 - half);
        near(found.ci95.unwrap()[1], 0.5 + half);
    }

    #[test]
    fn intervals_are_those_of_ppi_python() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/fixtures/parity/judge_correct.jsonl"
        );
        let text = std::fs::read_to_string(path).unwrap();
        let mut compared = 0;
        for row in text.lines() {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            let lines = row["lines"].as_array().unwrap().iter();
            let lines = lines.map(|line| (line["judge"].as_f64().unwrap(), line["label"].as_f64()));
            let (labelled, further): (Vec<_>, Vec<_>) =
                lines.partition(|(_, label)| label.is_some());
            let labelled: Vec<_> = labelled
                .iter()
                .filter_map(|(judge, label)| Some((*judge, (*label)?)))
                .collect();
            let further: Vec<_> = further.iter().map(|(judge, _)| *judge).collect();
            let official = &row["official"]["corrected"]["ci95"];
            let found = powered_mean(&labelled, &further).ci95;
            let (Some(official), Some(found)) = (official.as_array(), found) else {
                continue;
            };
            for (expect, found) in official.iter().zip(found) {
                let off = expect.as_f64().unwrap() - found;
                assert!(off.abs() < 1e-6, "{row}: {found} is not {expect}");
            }
            compared += 1;
        }
        assert!(compared > 200, "{compared}");
    }

    #[test]
    fn predictions_that_are_off_by_the_same_are_set_right() {
        // Predictions always 0.2 too high: the mean of all labels is 0.45, and no other uncertainty remains.
        let labelled = [(0.2, 0.0), (1.2, 1.0), (0.2, 0.0), (1.2, 1.0)];
        let further: Vec<_> = (0..400)
            .map(|at| if at % 5 < 2 { 1.2 } else { 0.2 })
            .collect();
        let found = powered_mean(&labelled, &further);
        assert!(found.lambda.unwrap() > 0.9);
        assert!((found.mean.unwrap() - 0.4).abs() < 0.01);
        let plain = MeanEstimate::of(&[0.0, 1.0, 0.0, 1.0]).ci95().unwrap();
        let [low, high] = found.ci95.unwrap();
        assert!(high - low < 0.2 * (plain[1] - plain[0]));
    }

    #[test]
    fn with_nothing_to_go_by_it_is_the_labels() {
        let labels = [0.0, 1.0, 1.0, 0.5];
        let plain = MeanEstimate::of(&labels);
        let found = powered_mean(&labels.map(|label| (label, label)), &[]);
        assert_eq!(
            (found.mean, found.ci95, found.lambda),
            (plain.mean, plain.ci95(), Some(0.0))
        );
        // A constant judge, and one that is always wrong.
        let constant = powered_mean(&labels.map(|label| (0.6, label)), &[0.6; 9]);
        assert_eq!((constant.mean, constant.lambda), (plain.mean, Some(0.0)));
        let wrong = powered_mean(&labels.map(|label| (1.0 - label, label)), &[0.0, 1.0]);
        assert_eq!((wrong.mean, wrong.lambda), (plain.mean, Some(0.0)));
    }

    #[test]
    fn items_that_are_groups_of_their_own_are_as_without() {
        let names: Vec<String> = (0..2_000).map(|at| at.to_string()).collect();
        let value = |at: usize| as_f64((at * 37 % 11) as u64);
        let label = |at: usize| value(at) + as_f64((at * 53 % 7) as u64);
        let few: Vec<_> = (0..600)
            .map(|at| (value(at), label(at), &*names[at]))
            .collect();
        let many: Vec<_> = (600..2_000).map(|at| (value(at), &*names[at])).collect();
        let found = powered_mean_of_groups(&few, &many);
        let pairs: Vec<_> = few.iter().map(|it| (it.0, it.1)).collect();
        let values: Vec<_> = many.iter().map(|it| it.0).collect();
        let plain = powered_mean(&pairs, &values);
        assert_eq!((found.mean, found.lambda), (plain.mean, plain.lambda));
        let width = |of: PoweredMean| of.ci95.map(|[low, high]| high - low).unwrap();
        assert!((width(found) / width(plain) - 1.0).abs() < 3e-3);
        // Each twice: as wide as with half as many.
        let twice: Vec<_> = few.iter().chain(&few).copied().collect();
        let all_twice: Vec<_> = many.iter().chain(&many).copied().collect();
        let twice = powered_mean_of_groups(&twice, &all_twice);
        assert!((width(twice) / width(found) - 1.0).abs() < 3e-3);
    }

    #[test]
    fn a_shifted_mean_is_that_of_the_predictions_less_what_they_are_off() {
        // Always half a point too high, on answers that are worse now.
        let labelled = [(4.5, 4.0, "a"), (3.5, 3.0, "b"), (4.0, 3.5, "c")];
        let now = [(2.5, "a"), (1.5, "b"), (2.0, "c")];
        let found = shifted_mean(&labelled, &now);
        near(found.mean.unwrap(), 1.5);
        assert!(found.ci95.unwrap()[0] < 1.0);
        let none = shifted_mean(&[], &now);
        assert_eq!((none.mean, none.ci95), (None, None));
        assert_eq!(shifted_mean(&labelled[..1], &now).ci95, None);
        assert_eq!(shifted_mean(&labelled, &[]).mean, None);
    }

    #[test]
    fn better_predictions_need_fewer_labels() {
        let values: Vec<_> = (0..1_000).map(|at| f64::from(at % 2)).collect();
        let unknown = LabelSpread::unknown(&values).unwrap();
        // 0.25 · (2 · 1.984 / 0.2)² is 98.4, slightly more for n - 1.
        assert_eq!(unknown.needed(0.2, 1_000, None), Some(99));
        let perfect: Vec<_> = values[..100].iter().map(|it| (*it, *it)).collect();
        let known = LabelSpread::of(&perfect, &values).unwrap();
        assert!(known.needed(0.2, 1_000, None).unwrap() < 60);
        assert_eq!(unknown.needed(0.01, 1_000, None), None);
        assert_eq!(LabelSpread::unknown(&[1.0]), None);
        // Even with a perfect judge, so few labels may have missed something.
        assert!(known.needed(0.1, 1_000, Some(1.0)).unwrap() > 70);
        near(unknown.width(3, 1_000, Some(1.0)), 1.0);
    }

    #[test]
    fn little_is_no_panic() {
        let nothing = PoweredMean {
            mean: None,
            ci95: None,
            lambda: None,
        };
        assert_eq!(powered_mean(&[], &[]), nothing);
        assert_eq!(powered_mean(&[], &[0.5, 1.0]), nothing);
        let one = powered_mean(&[(0.5, 1.0)], &[0.5, 0.25]);
        assert_eq!(
            (one.mean, one.ci95, one.lambda),
            (Some(1.0), None, Some(0.0))
        );
    }
}
