//! The exact one-sided sign test on the samples that changed between two runs (`McNemar's` exact test).

use crate::stats::distribution::binomial::upper_tail;

/// Up to here the sum of binomial coefficients fits in 128 bits, so the result is correctly rounded.
const EXACT_TRIALS: u64 = 120;

/// The probability that at least `worse` of the `worse + better` changed samples become wrong, if both directions are
/// equally likely: P(X >= worse) for X ~ Bin(worse + better, 1/2).
///
/// Small if the agent became worse. Samples with the same verdict in both runs are not informative and are ignored.
/// Source: Q. `McNemar`, *Note on the sampling error of the difference between correlated proportions*, Psychometrika
/// 12 (1947), in its exact form. Correctly rounded up to 120 changes, beyond that accurate to about 1e-13; 1 if nothing
/// changed.
pub(crate) fn sign_test_p(worse: u64, better: u64) -> f64 {
    let changed = worse.saturating_add(better);
    if changed > EXACT_TRIALS {
        return upper_tail(worse, changed, 0.5);
    }
    // C(m, k) for k from m down to `worse`.
    let m = u128::from(changed);
    let (mut choose, mut sum) = (1_u128, 1_u128);
    for k in (u128::from(worse)..m).rev() {
        choose = choose * (k + 1) / (m - k);
        sum += choose;
    }
    to_f64(sum) / to_f64(1 << changed)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "rounds once, which is the promised accuracy"
)]
fn to_f64(n: u128) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(worse: u64, better: u64, expect: f64) {
        let p = sign_test_p(worse, better);
        assert!(
            (p - expect).abs() <= 1e-11 * expect,
            "{worse}, {better}: {p}, not {expect}"
        );
    }

    #[test]
    fn known_values() {
        check(0, 0, 1.0);
        check(0, 9, 1.0);
        check(5, 0, 0.031_25);
        check(4, 0, 0.062_5);
        check(8, 1, 10.0 / 512.0);
        check(9, 3, 299.0 / 4096.0);
        check(60, 60, 0.536_342_489_455_058_4);
    }

    #[test]
    fn agrees_with_every_sequence_of_flips() {
        for changed in 0..=14_u32 {
            for worse in 0..=changed {
                let hits = (0..1_u32 << changed)
                    .filter(|flips| flips.count_ones() >= worse)
                    .count();
                let all = f64::from(1_u32 << changed);
                let expect = f64::from(u32::try_from(hits).unwrap()) / all;
                check(u64::from(worse), u64::from(changed - worse), expect);
            }
        }
    }

    #[test]
    fn both_ways_of_counting_meet() {
        for worse in 0..=120 {
            check(worse, 120 - worse, upper_tail(worse, 120, 0.5));
        }
    }

    #[test]
    fn stable_for_tens_of_thousands() {
        // Rational arithmetic, rounded once.
        check(5_200, 4_900, 0.001_463_253_114_011_624);
        check(20_000, 20_000, 0.501_994_698_935_099_8);
        check(20_500, 19_500, 2.937_990_775_181_282_4e-7);
        let (small, rest) = (sign_test_p(20_100, 19_900), sign_test_p(19_901, 20_099));
        assert!((small + rest - 1.0).abs() < 1e-12);
        assert!(sign_test_p(40_000, 0) >= 0.0);
    }
}
