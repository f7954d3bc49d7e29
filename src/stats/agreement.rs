//! Agreement between raters, and correlation.

pub(crate) mod alpha;
pub(crate) mod kappa;

use crate::stats::as_f64;
use crate::stats::distribution::student;

/// Narrower intervals are considered a point, up to rounding.
const POINT: f64 = 1e-9;

/// The slope of a regression line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slope {
    /// By ordinary least squares: the change of y when x grows by 1.
    pub(crate) slope: f64,
    /// Its 95 % confidence interval; `None` with fewer than three groups, and if all observations lie on the line: an
    /// interval without width would claim a certainty that so few observations do not have.
    pub(crate) ci95: Option<[f64; 2]>,
}

impl Slope {
    /// From observations `(x, y)` by group. `None` if `x` does not vary.
    ///
    /// The variance is robust to groups and unequal spread: K.-Y. Liang and S. L. Zeger, *Longitudinal data analysis
    /// using generalized linear models*, Biometrika 73 (1986), times `g / (g - 1)`, with Student's quantile.
    pub(crate) fn of(groups: &[Vec<(f64, f64)>]) -> Option<Self> {
        let all = || groups.iter().flatten();
        let n = as_f64(all().count() as u64);
        let mean_x = all().map(|(x, _)| x).sum::<f64>() / n;
        let mean_y = all().map(|(_, y)| y).sum::<f64>() / n;
        let squares: f64 = all().map(|(x, _)| (x - mean_x).powi(2)).sum();
        if squares.is_nan() || squares <= f64::EPSILON {
            return None;
        }
        let products: f64 = all().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let slope = products / squares;
        let score = |group: &Vec<(f64, f64)>| {
            let parts = group.iter();
            let parts = parts.map(|(x, y)| (x - mean_x) * (y - mean_y - slope * (x - mean_x)));
            parts.sum::<f64>().powi(2)
        };
        let filled = groups.iter().filter(|group| !group.is_empty()).count() as u64;
        let half = (filled >= 3).then(|| {
            let g = as_f64(filled);
            let scores: f64 = groups.iter().map(score).sum();
            let error = (scores * g / (g - 1.0)).sqrt() / squares;
            student::percentile(0.975, filled - 1) * error
        });
        let half = half.filter(|half| *half > POINT * slope.abs().max(1.0));
        let ci95 = half.map(|half| [slope - half, slope + half]);
        Some(Self { slope, ci95 })
    }
}

/// Spearman's rank correlation of two quantities, -1 to 1; equal values share their mean rank.
///
/// Source: C. Spearman, *The proof and measurement of association between two things*, American Journal of Psychology
/// 15 (1904); with ties it is Pearson's correlation of the ranks. `None` for fewer than two pairs, if one quantity does
/// not vary, and if a value is NaN.
pub(crate) fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let one = doubled_ranks(pairs.iter().map(|pair| pair.0).collect())?;
    let other = doubled_ranks(pairs.iter().map(|pair| pair.1).collect())?;
    // Twice the mean of the ranks 1 to n. Integers throughout, so that a perfect order gives exactly 1.
    let middle = i128::try_from(pairs.len()).ok()? + 1;
    let sum = |one: &[i128], other: &[i128]| -> i128 {
        let both = one.iter().zip(other);
        both.map(|(one, other)| (one - middle) * (other - middle))
            .sum()
    };
    let (spread, other_spread) = (sum(&one, &one), sum(&other, &other));
    if spread == 0 || other_spread == 0 {
        return None;
    }
    let both = (float(spread) * float(other_spread)).sqrt();
    Some((float(sum(&one, &other)) / both).clamp(-1.0, 1.0))
}

/// Twice the rank of each value, an integer even for shared ranks.
fn doubled_ranks(values: Vec<f64>) -> Option<Vec<i128>> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    // Turns -0 into 0.
    let values = values.into_iter().map(|value| value + 0.0);
    let mut sorted: Vec<_> = values.enumerate().collect();
    sorted.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let mut ranks = vec![0; sorted.len()];
    let mut before = 0;
    for equal in sorted.chunk_by(|(_, one), (_, other)| one.total_cmp(other).is_eq()) {
        let after = before + i128::try_from(equal.len()).ok()?;
        for (place, _) in equal {
            ranks[*place] = before + 1 + after;
        }
        before = after;
    }
    Some(ranks)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a sum over pairs: what is rounded is far below what anyone reads"
)]
fn float(sum: i128) -> f64 {
    sum as f64
}

#[cfg(test)]
mod slope_tests {
    use super::*;

    fn singles(all: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
        all.iter().map(|one| vec![*one]).collect()
    }

    #[test]
    fn a_line_has_its_slope() {
        let line = singles(&[(0.0, 1.0), (1.0, 1.5), (2.0, 2.0), (4.0, 3.0)]);
        let slope = Slope::of(&line).unwrap();
        assert!((slope.slope - 0.5).abs() < 1e-12);
        assert_eq!(slope.ci95, None);
        let level = Slope::of(&singles(&[(0.0, 0.5), (1.0, 0.5), (5.0, 0.5)])).unwrap();
        assert_eq!((level.slope, level.ci95), (0.0, None));
        assert_eq!(Slope::of(&singles(&[(1.0, 0.0), (1.0, 1.0)])), None);
        assert_eq!(Slope::of(&[]), None);
    }

    #[test]
    fn the_interval_is_that_of_an_independent_computation() {
        // Python: xs = 0..4, ys = 0 1 0 1 1; residuals by hand; HC0 times 5/4, t(4).
        let all = singles(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (3.0, 1.0), (4.0, 1.0)]);
        let slope = Slope::of(&all).unwrap();
        assert!((slope.slope - 0.2).abs() < 1e-12);
        let [low, high] = slope.ci95.unwrap();
        // Scores (x - 2) e: 0.4, -0.6, 0, 0.2, 0 with e = -0.2, 0.6, -0.6, 0.2, 0.
        let error = (0.56_f64 * 1.25).sqrt() / 10.0;
        let half = 2.776_445_105 * error;
        assert!((low - (0.2 - half)).abs() < 1e-6 && (high - (0.2 + half)).abs() < 1e-6);
    }

    #[test]
    fn what_hangs_together_counts_less() {
        let once = singles(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (3.0, 1.0)]);
        let often: Vec<_> = once.iter().map(|one| one.repeat(9)).collect();
        let width = |slope: Option<Slope>| {
            let [low, high] = slope.unwrap().ci95.unwrap();
            high - low
        };
        assert!((width(Slope::of(&once)) - width(Slope::of(&often))).abs() < 1e-9);
    }
}

#[cfg(test)]
mod spearman_tests {
    use super::*;

    #[test]
    fn correlations_are_those_of_scipy() {
        fn check(pairs: &[(f64, f64)], expect: Option<f64>) {
            match (spearman(pairs), expect) {
                (Some(found), Some(expect)) => assert!((found - expect).abs() < 1e-12, "{found}"),
                (found, expect) => assert_eq!(found, expect, "{pairs:?}"),
            }
        }
        check(&[(1.0, 10.0), (2.0, 1e9), (3.0, 1e10)], Some(1.0));
        check(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)], Some(-1.0));
        // scipy.stats.spearmanr([1, 2, 2, 3, 5], [2, 1, 4, 4, 3])
        let tied = [(1.0, 2.0), (2.0, 1.0), (2.0, 4.0), (3.0, 4.0), (5.0, 3.0)];
        check(&tied, Some(0.394_736_842_105_263_2));
        check(&[(0.0, 1.0), (-0.0, 2.0)], None);
        check(&[(1.0, 1.0), (1.0, 2.0)], None);
        check(&[(1.0, 1.0), (2.0, 1.0)], None);
        check(&[(1.0, 1.0)], None);
        check(&[], None);
        check(&[(f64::NAN, 1.0), (2.0, 3.0)], None);
        check(&[(f64::NEG_INFINITY, 1.0), (2.0, 3.0)], Some(1.0));
    }
}
