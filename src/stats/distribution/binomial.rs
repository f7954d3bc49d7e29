//! The binomial distribution: point probabilities and upper tails, accurate to about 1e-13.

use std::f64::consts::TAU;

use crate::stats::as_f64;

/// P(X = `hits`) for X ~ Bin(`trials`, `chance`).
///
/// Source: C. Loader, *Fast and accurate computation of binomial probabilities* (2000), the algorithm of R's `dbinom`:
/// it never subtracts logarithms of factorials, so nothing cancels even for tens of thousands of trials.
pub(in crate::stats) fn point(hits: u64, trials: u64, chance: f64) -> f64 {
    if hits > trials {
        return 0.0;
    }
    let misses = trials - hits;
    if chance <= 0.0 || chance >= 1.0 {
        let sure = if chance <= 0.0 { 0 } else { trials };
        return if hits == sure { 1.0 } else { 0.0 };
    }
    let (n, x, y) = (as_f64(trials), as_f64(hits), as_f64(misses));
    if hits == 0 {
        return (n * (-chance).ln_1p()).exp();
    }
    if misses == 0 {
        return (n * chance.ln()).exp();
    }
    let exponent = stirling_error(trials)
        - stirling_error(hits)
        - stirling_error(misses)
        - deviance(x, n * chance)
        - deviance(y, n * (1.0 - chance));
    (n / (TAU * x * y)).sqrt() * exponent.exp()
}

/// P(X >= `hits`) for X ~ Bin(`trials`, `chance`).
pub(in crate::stats) fn upper_tail(hits: u64, trials: u64, chance: f64) -> f64 {
    if hits == 0 {
        return 1.0;
    }
    if hits > trials || chance <= 0.0 {
        return 0.0;
    }
    if chance >= 1.0 {
        return 1.0;
    }
    // Sum on the side of the mean where the terms decrease: few terms are needed.
    let odds = chance / (1.0 - chance);
    if as_f64(hits) > as_f64(trials) * chance {
        sum_from(point(hits, trials, chance), hits, |k| {
            (k < trials).then(|| (k + 1, as_f64(trials - k) / as_f64(k + 1) * odds))
        })
    } else {
        1.0 - sum_from(point(hits - 1, trials, chance), hits - 1, |k| {
            (k > 0).then(|| (k - 1, as_f64(k) / (as_f64(trials - k + 1) * odds)))
        })
    }
    .clamp(0.0, 1.0)
}

/// Sums decreasing terms, each a multiple of the previous one, until they no longer change the sum.
fn sum_from(first: f64, start: u64, next: impl Fn(u64) -> Option<(u64, f64)>) -> f64 {
    let (mut sum, mut term, mut at) = (first, first, start);
    while let Some((k, factor)) = next(at) {
        term *= factor;
        if term < sum * 1e-17 {
            break;
        }
        sum += term;
        at = k;
    }
    sum
}

/// ln(n!) minus Stirling's approximation.
fn stirling_error(n: u64) -> f64 {
    let x = as_f64(n);
    if n == 0 {
        return 0.0;
    }
    if n <= 15 {
        let factorial = as_f64((1..=n).product());
        return factorial.ln() - (x + 0.5) * x.ln() + x - 0.5 * TAU.ln();
    }
    let r = 1.0 / (x * x);
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - r / 1188.0) * r) * r) * r) / x
}

/// x ln(x / m) + m - x, without cancellation when x is near m.
fn deviance(x: f64, m: f64) -> f64 {
    if (x - m).abs() >= 0.1 * (x + m) {
        return x * (x / m).ln() + m - x;
    }
    let v = (x - m) / (x + m);
    let mut sum = (x - m) * v;
    let mut term = 2.0 * x * v;
    let mut odd = 1.0;
    loop {
        term *= v * v;
        odd += 2.0;
        let more = sum + term / odd;
        // Bitwise equal: the term was too small to count.
        if more.to_bits() == sum.to_bits() {
            return sum;
        }
        sum = more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition, for few trials.
    fn by_definition(hits: u64, trials: u64, chance: f64) -> f64 {
        let choose = (0..hits).fold(1.0, |c, i| c * as_f64(trials - i) / as_f64(i + 1));
        choose * chance.powf(as_f64(hits)) * (1.0 - chance).powf(as_f64(trials - hits))
    }

    #[test]
    fn agrees_with_the_definition() {
        for trials in 0..=40 {
            for chance in [0.0, 0.01, 0.3, 0.5, 0.77, 1.0] {
                let mut tail = 0.0;
                for hits in (0..=trials).rev() {
                    let expect = by_definition(hits, trials, chance);
                    let got = point(hits, trials, chance);
                    assert!(
                        (got - expect).abs() <= 1e-13 * expect,
                        "point {hits}/{trials} at {chance}: {got} {expect}"
                    );
                    tail += expect;
                    let got = upper_tail(hits, trials, chance);
                    assert!(
                        (got - tail).abs() <= 1e-12,
                        "tail {hits}/{trials} at {chance}: {got} {tail}"
                    );
                }
            }
        }
    }

    #[test]
    fn sums_to_one_for_many_trials() {
        let sum: f64 = (0..=20_000).map(|k| point(k, 20_000, 0.03)).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    }
}
