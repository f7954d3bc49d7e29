//! Student's t distribution: its percentiles.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use super::normal;
use crate::stats::{as_f64, root};

/// From this many degrees of freedom, an expansion has 9 correct digits.
const MANY: u64 = 500;

/// The percentile of Student's distribution for a probability `share` above 0.5 and `freedom` degrees of freedom, with
/// 9 correct digits; infinite if `freedom` is 0.
///
/// Source: M. Abramowitz and I. A. Stegun, *Handbook of mathematical functions* (1964), 26.7.3, 26.7.4 and 26.7.5.
pub(in crate::stats) fn percentile(share: f64, freedom: u64) -> f64 {
    if freedom == 0 {
        return f64::INFINITY;
    }
    if freedom > MANY {
        let (z, v) = (normal::percentile(share), as_f64(freedom));
        let first = z * (z * z + 1.0) / 4.0;
        let second = z * ((5.0 * z * z + 16.0) * z * z + 3.0) / 96.0;
        let third = z * (((3.0 * z * z + 19.0) * z * z + 17.0) * z * z - 15.0) / 384.0;
        return z + (first + (second + third / v) / v) / v;
    }
    let within = 2.0 * share - 1.0;
    let angle = root(0.0, FRAC_PI_2, |angle| inside(angle, freedom) - within);
    angle.tan() * as_f64(freedom).sqrt()
}

/// The probability that the absolute value is below `tan(angle) · sqrt(freedom)`.
fn inside(angle: f64, freedom: u64) -> f64 {
    let (sin, cos) = angle.sin_cos();
    let odd = freedom % 2;
    // cos + 2/3 cos³ + 2·4/(3·5) cos⁵ + … or 1 + 1/2 cos² + 1·3/(2·4) cos⁴ + …
    let (mut term, mut sum, mut at) = (if odd == 1 { cos } else { 1.0 }, 0.0, odd);
    while at + 2 <= freedom {
        sum += term;
        term *= cos * cos * as_f64(at + 1) / as_f64(at + 2);
        at += 2;
    }
    match odd {
        1 => FRAC_2_PI * (angle + sin * sum),
        _ => sin * sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        fn check(share: f64, freedom: u64, expect: f64) {
            let got = percentile(share, freedom);
            assert!((got - expect).abs() <= 1e-8 * expect, "{freedom}: {got}");
        }
        // scipy.stats.t.ppf
        check(0.975, 1, 12.706_204_736_174_694);
        check(0.975, 2, 4.302_652_729_749_462);
        check(0.975, 3, 3.182_446_305_283_708_5);
        check(0.975, 4, 2.776_445_105_197_793_4);
        check(0.995, 39, 2.707_913_183_517_662);
        check(0.975, 164, 1.974_534_575_858_475_6);
        check(0.975, 500, 1.964_719_837_467_367_6);
        check(0.975, 501, 1.964_710_322_175_482_7);
        check(0.9, 100_000, 1.281_560_031_449_361_4);
        assert!(percentile(0.975, 0) > f64::MAX);
    }
}
