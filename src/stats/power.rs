//! How often the sign test sees a drop: its exact power, and the smallest drop it sees often enough.
//!
//! **The model.** `pairs` samples are judged in two runs, each independently of the others. Between the
//! runs a sample turns from correct to wrong with probability `noise + drop`, from wrong to correct with
//! probability `noise`, and stays as it was otherwise. So `drop` is the expected loss of accuracy, and
//! `noise` is what an unchanged agent flips in either direction. The number of samples that change is then
//! binomial (`pairs`, `2 noise + drop`), and how many of them became wrong is binomial in turn; both sums
//! are taken in full, apart from terms below 1e-18.

use super::as_f64;
use super::binomial::{point, upper_tail};
use super::sign_test::sign_test_p;

/// Weights below this are left out: even 100,000 of them do not show in 12 digits.
const NEGLIGIBLE: f64 = 1e-18;

/// The probability that the sign test at level `alpha` (p < alpha) sees a loss of accuracy of `drop`
/// (0 to 1), under the model of this module. 0 for arguments outside `0 <= noise`, `0 <= drop`,
/// `2 noise + drop <= 1`, `0 < alpha`.
pub fn power(pairs: u64, noise: f64, drop: f64, alpha: f64) -> f64 {
    power_with(&mut Critical::new(alpha), pairs, noise, drop)
}

/// The smallest loss of accuracy `k / pairs` that the sign test at level `alpha` sees with probability
/// `power` or more, under the model of this module. `None` when there is none: too few pairs, or too much
/// noise.
///
/// Power never falls as the drop grows: turning one more sample wrong can only lower p. That is why
/// bisection finds the smallest.
pub fn smallest_detectable_drop(pairs: u64, noise: f64, alpha: f64, power: f64) -> Option<f64> {
    let critical = &mut Critical::new(alpha);
    let mut reaches =
        |k: u64| power_with(critical, pairs, noise, ratio_within(k, pairs, noise)) >= power;
    if pairs == 0 || !reaches(pairs) {
        return None;
    }
    // `pairs` stands for the largest drop that the noise leaves room for.
    let (mut below, mut enough) = (0, pairs);
    while enough - below > 1 {
        let middle = below + (enough - below) / 2;
        if reaches(middle) {
            enough = middle;
        } else {
            below = middle;
        }
    }
    Some(ratio_within(enough, pairs, noise))
}

/// k / pairs, or the largest drop that the noise leaves room for.
fn ratio_within(k: u64, pairs: u64, noise: f64) -> f64 {
    (as_f64(k) / as_f64(pairs)).min(1.0 - 2.0 * noise)
}

fn power_with(critical: &mut Critical, pairs: u64, noise: f64, drop: f64) -> f64 {
    let change = 2.0 * noise + drop;
    // Written so that NaN falls out as well.
    let valid = noise >= 0.0
        && drop >= 0.0
        && change > 0.0
        && change <= 1.0 + 1e-12
        && critical.alpha > 0.0;
    if !valid {
        return 0.0;
    }
    let change = change.min(1.0);
    let worse = ((noise + drop) / change).min(1.0);
    let mut seen = |changed: u64| {
        let weight = point(changed, pairs, change);
        let seen = weight * upper_tail(critical.value(changed), changed, worse);
        (weight >= NEGLIGIBLE).then_some(seen)
    };
    let likely = most_likely(pairs, change);
    let above: f64 = (likely..=pairs).map_while(&mut seen).sum();
    let below: f64 = (0..likely).rev().map_while(&mut seen).sum();
    (above + below).clamp(0.0, 1.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a product of a count and a probability; only where the sums start"
)]
fn most_likely(pairs: u64, chance: f64) -> u64 {
    ((as_f64(pairs) * chance) as u64).min(pairs)
}

/// The critical values of the sign test: by the number of changed samples, the fewest that must have become
/// wrong for p < alpha.
struct Critical {
    alpha: f64,
    values: Vec<u64>,
    /// p at the last of `values`.
    tail: f64,
}

impl Critical {
    fn new(alpha: f64) -> Self {
        Self {
            alpha,
            // Of no changes not even one more than all is enough unless alpha is above 1.
            values: vec![1],
            tail: 0.0,
        }
    }

    /// Never more than one above `changed`, which is out of reach.
    fn value(&mut self, changed: u64) -> u64 {
        let Ok(at) = usize::try_from(changed) else {
            return u64::MAX;
        };
        while self.values.len() <= at {
            self.extend();
        }
        self.values[at]
    }

    /// One more change either keeps the critical value or raises it by one, so that each costs one point
    /// probability: X(m+1) >= k if X(m) >= k, or if X(m) = k - 1 and the new one became wrong too.
    fn extend(&mut self) {
        let changed = self.values.len() as u64;
        let mut value = self.values.last().copied().unwrap_or(1);
        self.tail = if changed <= 120 {
            // Correctly rounded there, so that p equal to alpha is not taken for less.
            p_at(value, changed)
        } else {
            self.tail + point(value - 1, changed - 1, 0.5) / 2.0
        };
        if self.tail >= self.alpha {
            self.tail = if changed <= 120 {
                p_at(value + 1, changed)
            } else {
                self.tail - point(value, changed, 0.5)
            };
            value += 1;
        }
        self.values.push(value);
    }
}

/// P(X >= worse) of Bin(changed, 1/2); 0 when `worse` is out of reach.
fn p_at(worse: u64, changed: u64) -> f64 {
    changed
        .checked_sub(worse)
        .map_or(0.0, |better| sign_test_p(worse, better))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_are_those_of_the_test() {
        for alpha in [0.05, 0.01, 0.031_25] {
            let mut critical = Critical::new(alpha);
            for changed in 0..=600 {
                let value = critical.value(changed);
                assert!(p_at(value, changed) < alpha, "{value} of {changed}");
                let fewer = p_at(value - 1, changed);
                assert!(fewer >= alpha, "{} of {changed}: {fewer}", value - 1);
            }
        }
    }

    /// Walks over every outcome of every sample.
    fn brute_force(pairs: u32, noise: f64, drop: f64, alpha: f64) -> f64 {
        let chances = [noise + drop, noise, 1.0 - 2.0 * noise - drop];
        (0..3_u32.pow(pairs))
            .map(|mut outcome| {
                let (mut counts, mut chance) = ([0; 3], 1.0);
                for _ in 0..pairs {
                    let kind = (outcome % 3) as usize;
                    counts[kind] += 1;
                    chance *= chances[kind];
                    outcome /= 3;
                }
                let fails = sign_test_p(counts[0], counts[1]) < alpha;
                if fails { chance } else { 0.0 }
            })
            .sum()
    }

    #[test]
    fn agrees_with_every_outcome_of_few_samples() {
        for pairs in 0..=9 {
            for (noise, drop) in [(0.0, 0.5), (0.1, 0.3), (0.05, 0.0), (0.0, 1.0), (0.2, 0.6)] {
                for alpha in [0.05, 0.3] {
                    let expect = brute_force(pairs, noise, drop, alpha);
                    let got = power(u64::from(pairs), noise, drop, alpha);
                    assert!(
                        (got - expect).abs() < 1e-12,
                        "{pairs} {noise} {drop} {alpha}: {got} {expect}"
                    );
                }
            }
        }
    }

    #[test]
    fn smallest_drop_is_the_first_that_reaches() {
        fn check(pairs: u64, noise: f64) {
            let drop = smallest_detectable_drop(pairs, noise, 0.05, 0.8).unwrap();
            assert!(power(pairs, noise, drop, 0.05) >= 0.8);
            assert!(power(pairs, noise, drop - 1.0 / as_f64(pairs), 0.05) < 0.8);
        }
        check(20, 0.0);
        check(165, 0.0);
        check(165, 0.0375);
        check(1000, 0.05);
        check(10_000, 0.02);
        // Four flips are never enough at 0.05: p = 1/16.
        assert_eq!(smallest_detectable_drop(4, 0.0, 0.05, 0.8), None);
        assert_eq!(smallest_detectable_drop(5, 0.0, 0.05, 0.8), Some(1.0));
        assert_eq!(smallest_detectable_drop(0, 0.0, 0.05, 0.8), None);
        assert_eq!(smallest_detectable_drop(100, 0.5, 0.05, 0.8), None);
    }

    #[test]
    fn senseless_arguments_have_no_power() {
        for (noise, drop) in [
            (f64::NAN, 0.1),
            (0.1, f64::NAN),
            (-0.1, 0.3),
            (0.4, 0.4),
            (0.0, 0.0),
        ] {
            assert_eq!(power(100, noise, drop, 0.05).to_bits(), 0.0_f64.to_bits());
        }
        assert_eq!(power(100, 0.1, 0.1, f64::NAN).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    #[ignore = "prints timings; run by hand in release"]
    #[expect(clippy::print_stderr, reason = "a measurement")]
    fn timings() {
        for pairs in [165, 10_000, 100_000] {
            let start = std::time::Instant::now();
            let drop = smallest_detectable_drop(pairs, 0.0375, 0.05, 0.8);
            let search = start.elapsed();
            let start = std::time::Instant::now();
            let power = power(pairs, 0.0375, 0.1, 0.05);
            eprintln!(
                "{pairs}: search {search:?} ({drop:?}), power {:?} ({power})",
                start.elapsed()
            );
        }
    }
}
