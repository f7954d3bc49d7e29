//! The standard normal distribution: density, distribution function, percentiles.

use std::f64::consts::PI;

/// The density at `x`.
pub(in crate::stats) fn density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * PI).sqrt()
}

/// The probability of less than `x`, with 13 correct digits even far below 0.
///
/// By the series of the incomplete gamma function near 0, and by its continued fraction beyond. Source: M. Abramowitz
/// and I. A. Stegun, *Handbook of mathematical functions* (1964), 26.2.11 and 26.2.14.
pub(in crate::stats) fn below(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.abs() < 3.0 {
        // x + x³/3 + x⁵/(3·5) + …
        let (mut term, mut sum, mut odd) = (x, x, 1.0);
        while term.abs() > sum.abs() * 1e-17 {
            odd += 2.0;
            term *= x * x / odd;
            sum += term;
        }
        return 0.5 + density(x) * sum;
    }
    // density / (x + 1/(x + 2/(x + 3/(x + …)))), from the innermost term.
    let far = x.abs();
    let fraction = (1..=120_u32)
        .rev()
        .fold(far, |inner, at| far + f64::from(at) / inner);
    let tail = density(far) / fraction;
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// The `x` with the probability `share` (0 to 1) below it, with 9 correct digits; infinite at the ends.
pub(in crate::stats) fn percentile(share: f64) -> f64 {
    if share <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if share >= 1.0 {
        return f64::INFINITY;
    }
    // In the lower half, where no digits are lost; below -40 there is nothing.
    let low = share.min(1.0 - share);
    let x = crate::stats::root(-40.0, 0.0, |x| below(x) - low);
    if share < 0.5 { x } else { -x }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Z95;

    #[test]
    fn known_values() {
        fn check(x: f64, expect: f64) {
            let got = below(x);
            assert!((got - expect).abs() <= 1e-12 * expect, "{x}: {got}");
        }
        // scipy.special.ndtr
        check(0.0, 0.5);
        check(1.0, 0.841_344_746_068_542_9);
        check(-1.5, 0.066_807_201_268_858_07);
        check(-2.999_999, 0.001_349_902_463_485_155_2);
        check(-3.000_001, 0.001_349_893_599_788_329_7);
        check(-6.0, 9.865_876_450_376_946e-10);
        check(-20.0, 2.753_624_118_606_155_6e-89);
        check(4.0, 0.999_968_328_758_166_9);
        assert!(below(f64::NAN).is_nan());
    }

    #[test]
    fn percentiles_are_where_the_share_is() {
        assert!((percentile(0.975) - Z95).abs() < 1e-9);
        assert!((percentile(1e-9) + 5.997_807_015_007_686).abs() < 1e-8);
        assert!(percentile(0.5).abs() < 1e-9);
        assert!(percentile(0.0) < f64::MIN && percentile(1.0) > f64::MAX);
    }
}
