//! `Kappas`: chance-corrected agreement of two raters who classify items.

use crate::stats::ratio;

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
mod tests {
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
