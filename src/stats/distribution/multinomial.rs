//! An exact test of counts against expected shares.
//!
//! If all outcomes can be enumerated, it is the exact multinomial test: the probability, given the weights, of an
//! outcome at most as likely as the observed one. Otherwise each category has an exact binomial test, and the smallest
//! p is adjusted by Holm's procedure: also exact, but less powerful.

use super::binomial;
use crate::stats::as_f64;
use crate::stats::paired::holm;

/// The most outcomes to enumerate, some hundredths of a second.
const MOST_OUTCOMES: u64 = 2_000_000;
/// Outcomes whose probabilities differ by a smaller factor count as equally likely: the difference is rounding.
const TIE: f64 = 1.0 + 1e-7;

/// The result of a test of shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharesTest {
    /// The probability, under the expected shares, of counts as unlikely as the observed ones.
    pub p: f64,
    /// The test that was used.
    pub kind: SharesTestKind,
}

/// A test of shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharesTestKind {
    /// The exact multinomial test of all categories at once.
    Multinomial,
    /// An exact binomial test of each category, with the smallest p adjusted by Holm's procedure.
    Binomials,
}

impl SharesTestKind {
    /// The name of the test in a report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Multinomial => "exact multinomial test",
            Self::Binomials => "exact binomial test of each share, by Holm",
        }
    }
}

/// Tests the counts of categories against their weights, of which only the proportions matter. A nonzero count of a
/// category without weight is impossible, so p is 0. `None` if no weight is positive, one is negative or not a number,
/// or the numbers of weights and counts differ.
pub fn shares_test(reached: &[u64], weights: &[f64]) -> Option<SharesTest> {
    let total: f64 = weights.iter().sum();
    let are_weights = weights.iter().all(|weight| *weight >= 0.0);
    if reached.len() != weights.len() || !are_weights || !(total > 0.0 && total.is_finite()) {
        return None;
    }
    let shares = weights.iter().map(|weight| weight / total);
    let possible = (reached.iter().copied().zip(shares)).filter(|(_, share)| *share > 0.0);
    let (counts, shares): (Vec<u64>, Vec<f64>) = possible.unzip();
    let n: u64 = counts.iter().sum();
    let kind = if outcomes(n, counts.len()) <= MOST_OUTCOMES {
        SharesTestKind::Multinomial
    } else {
        SharesTestKind::Binomials
    };
    let p = if reached.iter().sum::<u64>() > n {
        0.0
    } else if kind == SharesTestKind::Multinomial {
        multinomial(&counts, &shares)
    } else {
        let each = counts.iter().zip(&shares);
        let each: Vec<f64> = each
            .map(|(count, share)| two_sided(*count, n, *share))
            .collect();
        holm(&each).into_iter().fold(1.0, f64::min)
    };
    Some(SharesTest { p, kind })
}

/// The number of ways to distribute `n` over the categories, or [`u64::MAX`] if that overflows.
fn outcomes(n: u64, categories: usize) -> u64 {
    let mut ways: u64 = 1;
    for place in 1..categories as u64 {
        // Each intermediate value is a binomial coefficient, so the division is exact.
        let Some(next) = n
            .checked_add(place)
            .and_then(|factor| ways.checked_mul(factor))
        else {
            return u64::MAX;
        };
        ways = next / place;
    }
    ways
}

fn multinomial(counts: &[u64], shares: &[f64]) -> f64 {
    let n: u64 = counts.iter().sum();
    let mut ln_factorials = vec![0.0; 1];
    for k in 1..=n {
        let before = ln_factorials.last().copied().unwrap_or_default();
        ln_factorials.push(before + as_f64(k).ln());
    }
    let all = Outcomes {
        ln_shares: shares.iter().map(|share| share.ln()).collect(),
        ln_factorials,
    };
    let start = all.ln_factorials.last().copied().unwrap_or_default();
    let reached =
        (0..counts.len()).fold(start, |ln, place| ln + all.ln_factor(place, counts[place]));
    let mut p = 0.0;
    all.each(0, n, start, &mut |ln| {
        if ln <= reached + TIE.ln() {
            p += ln.exp();
        }
    });
    p.clamp(0.0, 1.0)
}

/// All ways to distribute a count, with the logarithms their probabilities consist of.
struct Outcomes {
    ln_shares: Vec<f64>,
    ln_factorials: Vec<f64>,
}

impl Outcomes {
    /// Enumerates all ways to distribute `remaining` over the categories from `place` on, each with the logarithm of its
    /// probability; `ln` is that of the categories before.
    fn each(&self, place: usize, remaining: u64, ln: f64, take: &mut dyn FnMut(f64)) {
        if place + 1 >= self.ln_shares.len() {
            take(ln + self.ln_factor(place, remaining));
            return;
        }
        for count in 0..=remaining {
            self.each(
                place + 1,
                remaining - count,
                ln + self.ln_factor(place, count),
                take,
            );
        }
    }

    fn ln_factor(&self, place: usize, count: u64) -> f64 {
        let ln_factorial =
            usize::try_from(count).map_or(f64::INFINITY, |at| self.ln_factorials[at]);
        as_f64(count) * self.ln_shares[place] - ln_factorial
    }
}

/// The exact two-sided binomial test: the probability of a count at most as likely as this one.
fn two_sided(hits: u64, trials: u64, chance: f64) -> f64 {
    let reached = binomial::point(hits, trials, chance) * TIE;
    let points = (0..=trials).map(|count| binomial::point(count, trials, chance));
    let p: f64 = points.filter(|point| *point <= reached).sum();
    p.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The p values come from enumerating all outcomes in rational arithmetic, offline.
    #[test]
    fn known_values() {
        #[track_caller]
        fn check(reached: &[u64], weights: &[f64], kind: SharesTestKind, p: f64) {
            let test = shares_test(reached, weights).unwrap();
            assert_eq!(test.kind, kind, "{reached:?}");
            let off = (test.p - p).abs();
            assert!(off <= 1e-9 * p, "{reached:?} {weights:?}: {}", test.p);
        }
        let all = SharesTestKind::Multinomial;
        check(&[3, 0], &[1.0, 1.0], all, 0.25);
        check(&[1, 2], &[1.0, 1.0], all, 1.0);
        check(&[5, 1], &[3.0, 3.0], all, 0.218_75);
        check(&[2, 1, 0], &[1.0, 2.0, 3.0], all, 0.032_407_407_407_407_406);
        check(&[4, 4, 2], &[0.1; 3], all, 0.786_617_893_613_778_4);
        check(&[6; 5], &[1.0; 5], all, 1.0);
        check(&[12, 6, 5, 4, 3], &[1.0; 5], all, 0.124_021_930_482_120_67);
        check(
            &[14, 7, 3, 3, 3],
            &[2.0, 1.0, 1.0, 1.0, 1.0],
            all,
            0.349_044_255_480_772,
        );
        check(&[0, 0, 9], &[5.0, 4.0, 1.0], all, 1e-9);
        check(
            &[10, 2, 0, 2],
            &[2.0, 1.0, 0.0, 1.0],
            all,
            0.406_698_703_765_869_14,
        );
        // Impossible and certain counts.
        check(&[3, 1], &[1.0, 0.0], all, 0.0);
        check(&[3], &[7.0], all, 1.0);
        check(&[0, 0], &[1.0, 2.0], all, 1.0);
        check(&[7, 0], &[1.0, f64::MIN_POSITIVE * 1e-10], all, 1.0);
        // Too many outcomes to enumerate.
        let each = SharesTestKind::Binomials;
        check(
            &[60, 40, 40, 30, 30],
            &[1.0; 5],
            each,
            0.003_670_582_398_769_014_7,
        );
        check(&[40; 5], &[1.0; 5], each, 1.0);
        check(
            &[90, 30, 30, 30, 20],
            &[2.0; 5],
            each,
            1.098_753_680_355_010_4e-14,
        );
        check(
            &[200, 1, 0, 0, 0, 0],
            &[1.0, 0.0, 1.0, 1.0, 1.0, 1.0],
            each,
            0.0,
        );
        check(&[20_000; 5], &[1.0; 5], each, 1.0);
    }

    #[test]
    fn what_is_no_distribution_has_no_p() {
        for (reached, weights) in [
            (&[1, 2][..], &[1.0][..]),
            (&[1, 2], &[0.0, 0.0]),
            (&[1, 2], &[1.0, -1.0]),
            (&[1, 2], &[1.0, f64::NAN]),
            (&[1, 2], &[1.0, f64::INFINITY]),
            (&[], &[]),
        ] {
            assert_eq!(shares_test(reached, weights), None, "{weights:?}");
        }
    }

    #[test]
    fn so_many_outcomes_are_counted() {
        assert_eq!(outcomes(30, 5), 46_376);
        assert_eq!(outcomes(80, 5), 1_929_501);
        assert_eq!(outcomes(81, 5), 2_024_785);
        assert_eq!(outcomes(9, 1), 1);
        assert_eq!(outcomes(u64::MAX, 3), u64::MAX);
    }
}
