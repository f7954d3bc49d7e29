//! Agreement between raters, and correlation.

use crate::stats::distribution::student;
use crate::stats::{as_f64, ratio};

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

/// Krippendorff's alpha of the values that several raters gave to the same items. 1 is full agreement, 0 chance
/// agreement.
///
/// Source: K. Krippendorff, *Computing Krippendorff's alpha-reliability* (2011). `None` if no item has two values, or
/// all values are of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Alphas {
    /// All pairs of distinct classes are equally different.
    pub(crate) nominal: Option<f64>,
    /// The difference is the squared distance; `None` also if classes are not numbers.
    pub(crate) interval: Option<f64>,
}

/// The values of one item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unit {
    /// Classes with their counts; empty if the item has fewer than two values.
    counts: Vec<(usize, u64)>,
    /// Σ of the differences of all pairs, over m - 1.
    nominal: f64,
    interval: f64,
}

impl Unit {
    /// From the class of each value of the item; `values` are the numbers of the classes, if they are numbers.
    pub(crate) fn of(classes: &[usize], values: Option<&[f64]>) -> Self {
        let mut sorted = classes.to_owned();
        sorted.sort_unstable();
        let kinds = sorted.chunk_by(|one, other| one == other);
        let counts: Vec<_> = kinds.map(|equal| (equal[0], equal.len() as u64)).collect();
        let Some(others) = classes.len().checked_sub(1).filter(|others| *others > 0) else {
            return Self {
                counts: Vec::new(),
                nominal: 0.0,
                interval: 0.0,
            };
        };
        let others = as_f64(others as u64);
        let interval = values.map(|values| squared_distances(&counts, values));
        Self {
            nominal: as_f64(unequal(counts.iter().map(|(_, count)| *count))) / others,
            interval: interval.unwrap_or(0.0) / others,
            counts,
        }
    }
}

impl Alphas {
    /// From units with their multiplicities, `classes` classes, and the `values` that the units were built with.
    pub(crate) fn of<'a>(
        units: impl Iterator<Item = (&'a Unit, u64)>,
        values: Option<&[f64]>,
        classes: usize,
    ) -> Self {
        let mut totals = vec![0; classes];
        let (mut nominal, mut interval) = (0.0, 0.0);
        for (unit, times) in units.filter(|(_, times)| *times > 0) {
            nominal += as_f64(times) * unit.nominal;
            interval += as_f64(times) * unit.interval;
            for (class, count) in &unit.counts {
                totals[*class] += times * count;
            }
        }
        let present = totals.iter().enumerate().filter(|(_, count)| **count > 0);
        let totals: Vec<_> = present.map(|(class, count)| (class, *count)).collect();
        if totals.len() < 2 {
            return Self::default();
        }
        let others = as_f64(totals.iter().map(|(_, count)| count).sum::<u64>() - 1);
        let alpha = |observed: f64, by_chance: f64| {
            (by_chance > 0.0).then(|| 1.0 - observed / (by_chance / others))
        };
        let by_chance = values.map(|values| squared_distances(&totals, values));
        Self {
            nominal: alpha(
                nominal,
                as_f64(unequal(totals.iter().map(|(_, count)| *count))),
            ),
            interval: by_chance.and_then(|by_chance| alpha(interval, by_chance)),
        }
    }
}

/// Shifts and scales the numbers to -1 to 1, which does not change alpha and keeps their squares finite.
pub(crate) fn scaled(values: &[f64]) -> Vec<f64> {
    // Halved, since the distance of two finite numbers may be infinite.
    let halves = values.iter().map(|value| value / 2.0);
    let low = halves.clone().fold(f64::INFINITY, f64::min);
    let high = halves.clone().fold(f64::NEG_INFINITY, f64::max);
    let (centre, radius) = (f64::midpoint(low, high), high / 2.0 - low / 2.0);
    let radius = if radius > 0.0 { radius } else { 1.0 };
    halves.map(|half| (half - centre) / radius).collect()
}

/// The number of ordered pairs of unequal values.
fn unequal(counts: impl Iterator<Item = u64> + Clone) -> u64 {
    let all: u64 = counts.clone().sum();
    counts.map(|count| count * (all - count)).sum()
}

/// Σ of the squared distances of all ordered pairs: 2 m Σ (x - mean)².
fn squared_distances(counts: &[(usize, u64)], values: &[f64]) -> f64 {
    let all = as_f64(counts.iter().map(|(_, count)| count).sum());
    let counted = counts
        .iter()
        .map(|(class, count)| (values[*class], as_f64(*count)));
    let mean = counted
        .clone()
        .map(|(value, count)| value * count)
        .sum::<f64>()
        / all;
    let squares = counted.map(|(value, count)| count * (value - mean).powi(2));
    2.0 * all * squares.sum::<f64>()
}

/// The agreement of two raters over the items that both classified. 1 is full agreement, 0 chance agreement.
///
/// Classes that neither uses do not count. A figure is `None` if it is 0 / 0: without items, and, for all but the first
/// two, with a single class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Kappas {
    /// Number of items.
    pub(crate) n: u64,
    /// The share of items that both put in the same class.
    pub(crate) agreement: Option<f64>,
    /// The share of the most frequent class of the first rater: the agreement that a constant rater would have.
    pub(crate) constant_agreement: Option<f64>,
    /// Cohen's kappa. Source: J. Cohen, *A coefficient of agreement for nominal scales*, Educational and Psychological
    /// Measurement 20 (1960).
    pub(crate) nominal: Option<f64>,
    /// Weighted kappa; a disagreement counts by the number of classes between. Source: J. Cohen, *Weighted kappa*,
    /// Psychological Bulletin 70 (1968).
    pub(crate) linear: Option<f64>,
    /// Weighted by the square of this number.
    pub(crate) quadratic: Option<f64>,
    /// Gwet's AC1, which stays high if one class is rare. Source: K. Gwet, *Computing inter-rater reliability and its
    /// variance in the presence of high agreement*, British Journal of Mathematical and Statistical Psychology 61
    /// (2008).
    pub(crate) ac1: Option<f64>,
}

impl Kappas {
    /// From items as `(class by the first rater, class by the second, count)`; classes are ordered indices below
    /// `classes`.
    pub(crate) fn of(
        pairs: impl Iterator<Item = (usize, usize, u64)> + Clone,
        classes: usize,
    ) -> Self {
        let (mut ones, mut others) = (vec![0; classes], vec![0; classes]);
        let (mut n, mut same) = (0, 0);
        for (one, other, count) in pairs.clone() {
            ones[one] += count;
            others[other] += count;
            n += count;
            same += if one == other { count } else { 0 };
        }
        let Ranks { ranks, present } = Ranks::of(&ones, &others);
        let (mut steps, mut squares) = (0, 0);
        for (one, other, count) in pairs {
            let apart = i128::from(ranks[one].abs_diff(ranks[other]));
            steps += i128::from(count) * apart;
            squares += i128::from(count) * apart * apart;
        }
        let by_chance = ByChance::of(&ones, &others, &ranks, i128::from(n));
        let kappa =
            |apart: i128, by_chance: i128| share(by_chance - i128::from(n) * apart, by_chance);
        Self {
            n,
            agreement: ratio(same, n),
            constant_agreement: ratio(ones.iter().copied().max().unwrap_or(0), n),
            nominal: kappa(i128::from(n - same), by_chance.differ),
            linear: kappa(steps, by_chance.steps),
            quadratic: kappa(squares, by_chance.squares),
            ac1: ac1(&ones, &others, i128::from(n), i128::from(same), present),
        }
    }
}

/// The ranks of the classes that occur.
struct Ranks {
    ranks: Vec<u64>,
    present: i128,
}

impl Ranks {
    fn of(ones: &[u64], others: &[u64]) -> Self {
        let mut next = 0;
        let both = ones.iter().zip(others);
        let ranks = both.map(|(one, other)| {
            let rank = next;
            next += u64::from(one + other > 0);
            rank
        });
        let ranks = ranks.collect();
        Self {
            ranks,
            present: i128::from(next),
        }
    }
}

/// The expected distances, times n², if each rater classified at random with the observed frequencies.
#[derive(Default)]
struct ByChance {
    differ: i128,
    steps: i128,
    squares: i128,
}

impl ByChance {
    fn of(ones: &[u64], others: &[u64], ranks: &[u64], n: i128) -> Self {
        let mut found = Self::default();
        // For each rater: the count so far, and the sums of ranks and squared ranks.
        let (mut one_sums, mut other_sums) = ([0; 3], [0; 3]);
        let mut same = 0;
        let mut before = 0;
        for ((one, other), rank) in ones.iter().zip(others).zip(ranks) {
            let (one, other, rank) = (i128::from(*one), i128::from(*other), i128::from(*rank));
            // The distance of a pair is the number of class boundaries between.
            if rank > before {
                found.steps +=
                    one_sums[0] * (n - other_sums[0]) + other_sums[0] * (n - one_sums[0]);
                before = rank;
            }
            same += one * other;
            for (sums, count) in [(&mut one_sums, one), (&mut other_sums, other)] {
                sums[0] += count;
                sums[1] += count * rank;
                sums[2] += count * rank * rank;
            }
        }
        found.differ = n * n - same;
        found.squares = n * (one_sums[2] + other_sums[2]) - 2 * one_sums[1] * other_sums[1];
        found
    }
}

/// (observed - chance) / (1 - chance), where chance is the sum of π (1 - π) over the number of classes less 1, and π
/// the share of a class in both ratings.
fn ac1(ones: &[u64], others: &[u64], n: i128, same: i128, present: i128) -> Option<f64> {
    let both = ones.iter().zip(others);
    let both = both.map(|(one, other)| i128::from(one + other));
    let chance: i128 = both.map(|both| both * (2 * n - both)).sum();
    let free = 4 * n * (present - 1);
    share(free * same - chance, free * n - chance).filter(|_| present > 1)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "rounded once, of whole numbers that are exact"
)]
fn share(part: i128, whole: i128) -> Option<f64> {
    (whole != 0).then(|| part as f64 / whole as f64)
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

#[cfg(test)]
mod alpha_tests {
    use super::*;

    fn alphas(items: &[&[usize]], values: Option<&[f64]>) -> Alphas {
        let values = values.map(scaled);
        let units = items.iter().map(|item| Unit::of(item, values.as_deref()));
        let units: Vec<_> = units.collect();
        Alphas::of(units.iter().map(|unit| (unit, 1)), values.as_deref(), 5)
    }

    fn near(found: Option<f64>, expect: f64) {
        let found = found.unwrap();
        assert!((found - expect).abs() < 1e-12, "{found} is not {expect}");
    }

    #[test]
    fn alphas_by_hand() {
        // Two items with full agreement, one split 1 : 2: 3 pairs. Observed: 2 / 1; by chance: the values are 1, 1, 1,
        // 2, 2, 2: 18 ordered pairs differ, over 5.
        let items: [&[usize]; 3] = [&[1, 1], &[2, 2], &[1, 2]];
        let found = alphas(&items, Some(&[0.0, 10.0, 20.0, 30.0, 40.0]));
        near(found.nominal, 1.0 - 2.0 / (18.0 / 5.0));
        near(found.interval, 1.0 - 2.0 / (18.0 / 5.0));
        // Of 1, 2, 3 in one item and 3, 3 in another: observed 6/2; by chance 1·4 + 1·4 + 3·2 = 14 over 4. Squares:
        // 2·(1 + 4 + 1)/2 = 6; by chance 2·(1 + 3·4 + 3·1) = 32 over 4.
        let items: [&[usize]; 3] = [&[3, 1, 2], &[3, 3], &[4]];
        let found = alphas(&items, Some(&[0.0, 1.0, 2.0, 3.0, 99.0]));
        near(found.nominal, 1.0 - 3.0 / (14.0 / 4.0));
        near(found.interval, 1.0 - 6.0 / (32.0 / 4.0));
        assert_eq!(alphas(&items, None).interval, None);
    }

    #[test]
    fn what_has_nothing_to_compare_is_none() {
        let check = |items: &[&[usize]]| {
            let values = [1.0, 2.0, 3.0, 4.0, 5.0];
            assert_eq!(alphas(items, Some(&values)), Alphas::default(), "{items:?}");
        };
        check(&[]);
        check(&[&[], &[1], &[2]]);
        check(&[&[1, 1], &[1, 1, 1], &[2]]);
    }

    #[test]
    fn scale_and_place_of_numbers_do_not_matter() {
        let items: [&[usize]; 4] = [&[0, 1, 1], &[2, 2], &[3, 4], &[4, 4, 4]];
        let plain = alphas(&items, Some(&[1.0, 2.0, 3.0, 4.0, 5.0]))
            .interval
            .unwrap();
        near(
            alphas(
                &items,
                Some(&[1e6 + 1.0, 1e6 + 2.0, 1e6 + 3.0, 1e6 + 4.0, 1e6 + 5.0]),
            )
            .interval,
            plain,
        );
        let huge = [-1.6e308, -0.8e308, 0.0, 0.8e308, 1.6e308];
        near(alphas(&items, Some(&huge)).interval, plain);
        assert_eq!(scaled(&[7.0]), [0.0]);
        assert_eq!(scaled(&[]), [0.0; 0]);
    }
}

#[cfg(test)]
mod kappa_tests {
    use super::*;

    fn near(found: Option<f64>, expect: Option<f64>) {
        match (found, expect) {
            (Some(found), Some(expect)) => {
                assert!((found - expect).abs() < 1e-12, "{found} is not {expect}");
            }
            (found, expect) => assert_eq!(found, expect),
        }
    }

    /// A table: a row for each class of the first rater, a column for each class of the second.
    fn table<const N: usize>(rows: [[u64; N]; N]) -> Kappas {
        let cells = rows.iter().enumerate().flat_map(|(one, row)| {
            let row = row.iter().enumerate();
            row.map(move |(other, count)| (one, other, *count))
        });
        Kappas::of(cells, N)
    }

    #[test]
    fn kappas_by_hand() {
        let two = table([[20, 5], [10, 15]]);
        assert_eq!((two.n, two.agreement), (50, Some(0.7)));
        assert_eq!(two.constant_agreement, Some(0.5));
        near(two.nominal, Some(0.4));
        // With two classes, each disagreement has distance one.
        near(two.linear, Some(0.4));
        near(two.quadratic, Some(0.4));
        // π = 0.55: 2 · 0.55 · 0.45 = 0.495 by chance.
        near(two.ac1, Some((0.7 - 0.495) / 0.505));
        // Three classes, one pair two apart and one pair one apart: 3 of 5 agree. By chance 25 - (2·1 + 1·2 + 2·2) = 17
        // pairs of 25 differ; with steps 1·2 + 2·2 + …
        let three = table([[1, 0, 1], [0, 1, 0], [0, 1, 1]]);
        assert_eq!(three.agreement, Some(0.6));
        near(three.nominal, Some(1.0 - 5.0 * 2.0 / 17.0));
        // First 2, 1, 2 and second 1, 2, 2: boundaries 2·4 + 1·3 and 3·2 + 3·2.
        near(three.linear, Some(1.0 - 5.0 * 3.0 / 23.0));
        // 5 · ((1 + 8) + (2 + 8)) - 2 · 5 · 6
        near(three.quadratic, Some(1.0 - 5.0 * 5.0 / 35.0));
    }

    #[test]
    fn a_class_of_nobody_is_no_step() {
        let all = table([[3, 1], [2, 4]]);
        let gap = table([[3, 0, 1], [0, 0, 0], [2, 0, 4]]);
        assert_eq!(all, gap);
    }

    #[test]
    fn agreement_where_one_class_is_rare() {
        // Kappa is below 0 although 118 of 125 agree.
        let rare = table([[118, 5], [2, 0]]);
        assert!(rare.nominal.unwrap() < 0.0);
        // π is 243/250 and 7/250.
        near(rare.ac1, Some((0.944 - 0.054_432) / (1.0 - 0.054_432)));
    }

    #[test]
    fn nothing_over_nothing_is_none() {
        assert_eq!(table([[0, 0], [0, 0]]), Kappas::default());
        assert_eq!(Kappas::of(std::iter::empty(), 0), Kappas::default());
        let one_class = table([[7, 0], [0, 0]]);
        let (all, none) = (Some(1.0), None);
        assert_eq!(
            (one_class.agreement, one_class.constant_agreement),
            (all, all)
        );
        assert_eq!(
            (one_class.nominal, one_class.linear, one_class.ac1),
            (none, none, none)
        );
        // A judge that gives everything the same class.
        let constant = table([[6, 0], [2, 0]]);
        assert_eq!(
            (constant.nominal, constant.quadratic),
            (Some(0.0), Some(0.0))
        );
        assert_eq!(table([[0, 1], [0, 0]]).nominal, Some(0.0));
        assert_eq!(table([[0, 1], [1, 0]]).nominal, Some(-1.0));
    }
}
