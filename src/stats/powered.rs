//! `powered_mean`: a mean from a few labels and many predictions of them.

use super::as_f64;
use super::mean::{normal95, variance};
use super::{MeanEstimate, Sum, mean};

/// A mean of labels that predictions of further labels have narrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PoweredMean {
    /// `None` without a label.
    pub(crate) mean: Option<f64>,
    /// `None` for fewer than two labels: of one nobody knows how labels vary.
    pub(crate) ci95: Option<[f64; 2]>,
    /// How much the predictions count, from 0 (nothing: the labels alone) to 1; `None` without a label.
    pub(crate) lambda: Option<f64>,
}

/// The mean of labels, given as `(prediction, label)`, with the help of predictions whose label nobody knows.
///
/// Where predictions are off, the labelled part tells by how much; so the interval covers the mean of the labels as
/// often as it says, however poor the predictions are. `lambda` is the weight of the predictions at which the interval
/// is narrowest, cut to 0 to 1; 0 where predictions do not vary, and where all are labelled: this is then the
/// plain mean with its interval. Source: A. N. Angelopoulos, J. C. Duchi and T. Zrnic, *PPI++: efficient
/// prediction-powered inference* (2023); variances as in `ppi_mean_ci` of ppi-python 0.2.3: over n in the interval,
/// over n - 1 in that of all predictions, by which `lambda` is divided.
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

/// cov(label, prediction) / ((1 + n / N) var(prediction)), cut to 0 to 1; `None` without a label.
fn lambda(labelled: &[(f64, f64)], unlabelled: &[f64]) -> Option<f64> {
    let values: Vec<_> = labelled.iter().map(|(value, _)| *value).collect();
    let labels: Vec<_> = labelled.iter().map(|(_, label)| *label).collect();
    let (value_mean, label_mean) = (mean(&values)?, mean(&labels)?);
    let products = labelled.iter();
    let products = products.map(|(value, label)| (value - value_mean) * (label - label_mean));
    let covariance = products.collect::<Sum>().mean()?;
    let all = [&values[..], unlabelled].concat();
    let n = as_f64(labelled.len() as u64) / as_f64(unlabelled.len() as u64);
    // There are two at least: one with a label, one without.
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
        // Labels 0, 1; predictions 0, 1 of them, and 0, 1 further: covariance 1/4, variance of all 1/3, n/N = 1.
        let found = powered_mean(&[(0.0, 0.0), (1.0, 1.0)], &[0.0, 1.0]);
        near(found.lambda.unwrap(), 0.375);
        near(found.mean.unwrap(), 0.5);
        // (0.375² + 0.625²) / 4 / 2
        let half = 1.959_963_984_540_054 * (0.531_25_f64 / 8.0).sqrt();
        near(found.ci95.unwrap()[0], 0.5 - half);
        near(found.ci95.unwrap()[1], 0.5 + half);
    }

    #[test]
    fn predictions_that_are_off_by_the_same_are_set_right() {
        // Always 0.2 too high: the mean of all labels would be 0.45, and nothing of the labels is left but that.
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
        // A judge that says the same of everything, and one that is wrong throughout.
        let constant = powered_mean(&labels.map(|label| (0.6, label)), &[0.6; 9]);
        assert_eq!((constant.mean, constant.lambda), (plain.mean, Some(0.0)));
        let wrong = powered_mean(&labels.map(|label| (1.0 - label, label)), &[0.0, 1.0]);
        assert_eq!((wrong.mean, wrong.lambda), (plain.mean, Some(0.0)));
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
