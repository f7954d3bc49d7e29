//! The exact conditional test of two runs over the same samples, with several answers each.

use std::collections::BTreeMap;

use super::CountedSamples;
use crate::stats::as_f64;
use crate::stats::distribution::binomial::upper_tail;
use crate::stats::distribution::law::{Law, SumTail, WORK, lower_tail};
use crate::stats::distribution::normal;

/// The cost of computing and tilting one weight of a law, in multiplications.
const WEIGHT: u64 = 20;

/// The answers to a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnswerCounts {
    /// Right answers, at most `of`.
    pub right: u32,
    /// All answers with a verdict.
    pub of: u32,
}

/// One sample in both runs, or both sets of runs. The number of answers may differ between the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComparedSample {
    /// In the baseline.
    pub before: AnswerCounts,
    /// In the run compared with it.
    pub now: AnswerCounts,
}

/// The result of a test whether the agent is worse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// The probability of at most this many right answers now, if nothing changed. 1 if nothing could differ.
    pub p: f64,
    /// The same, with outcomes exactly as likely as the observed one counted half: closer to alpha on average, but not
    /// guaranteed to stay below it. Source: H. O. Lancaster, *Significance tests in discrete distributions*, JASA 56
    /// (1961).
    pub mid_p: f64,
    /// The maximum error of p and mid-p: 0 if they are exact, that is, have 9 correct digits.
    pub error: f64,
}

impl Tested {
    pub(in crate::stats) fn exact(SumTail { less, same }: SumTail) -> Self {
        Self {
            p: (less + same).min(1.0),
            mid_p: (less + same / 2.0).min(1.0),
            error: 0.0,
        }
    }
}

impl AnswerCounts {
    /// `right` right answers of `of`; `right` is limited to `of`.
    pub fn new(right: u32, of: u32) -> Self {
        Self {
            right: right.min(of),
            of,
        }
    }
}

/// The exact conditional (Cochran-Mantel-Haenszel) test, one-sided: are there fewer right answers now than by chance?
///
/// If the agent is unchanged, any `t` of a sample's `m` answers before and `k` now are equally likely to be the right
/// ones. Then the number among those of now is hypergeometric, whatever the sample's rate. The sum over the samples is
/// compared with its exact distribution. Samples with only right or only wrong answers are not informative, nor are
/// those without an answer on one side. With one answer on each side this is exactly the sign test.
///
/// It assumes that the answers to a sample are independent given its rate, and independent of those to other samples;
/// otherwise see [`whole_runs_test`](crate::stats::whole_runs_test).
///
/// The sum is exact as long as it takes at most 100 million multiplications (about 50 ms): 100,000 samples with ten and
/// ten answers do not. Beyond that, the normal approximation with skewness correction is used. For a sum with standard
/// deviation `s` it is within `(s + 3) / (4 s³)` (see [`Tested::error`]; 1.1e-5 for 150), as sums of hypergeometric
/// numbers are sums of independent indicators.
///
/// Sources: M. W. Birch, *The detection of partial association, I*, JRSS B 26 (1964); A. Agresti, *Categorical data
/// analysis* (2002), 6.3 and 7.3; for the sum of indicators V. A. Vatutin and V. G. Mikhailov, *Limit theorems for
/// the number of empty cells*, Theory of Probability and its Applications 27 (1982), for the bound V. G. Mikhailov,
/// *On a refinement of the central limit theorem for sums of independent random indicators*, ibid. 38 (1993).
pub fn conditional_test(samples: &[ComparedSample]) -> Tested {
    conditional_test_of(&samples.iter().copied().collect())
}

/// [`conditional_test`] of counted samples.
pub(crate) fn conditional_test_of(samples: &CountedSamples) -> Tested {
    let (mut worse, mut better) = (0, 0);
    let mut kinds = Kinds::new();
    let mut observed = 0;
    for (ComparedSample { before, now }, times) in samples.kinds() {
        let (b, n) = (before.right.min(before.of), now.right.min(now.of));
        let (right, of) = (b.saturating_add(n), before.of.saturating_add(now.of));
        if right == 0 || right == of || before.of == 0 || now.of == 0 {
            continue;
        }
        if of == 2 {
            worse += times * u64::from(b);
            better += times * u64::from(n);
        } else {
            *kinds.entry([right, now.of, before.of]).or_default() += times;
        }
        observed += times.cast_signed() * i64::from(n);
    }
    if kinds.is_empty() {
        return signs(worse, better);
    }
    *kinds.entry([1, 1, 1]).or_default() += worse + better;
    exact(&kinds, observed).map_or_else(|| approximate(&kinds, observed), Tested::exact)
}

/// The number of samples by their right answers, answers now and answers before.
type Kinds = BTreeMap<[u32; 3], u64>;

fn exact(kinds: &Kinds, observed: i64) -> Option<SumTail> {
    // Laws that are too wide are not even computed.
    let widths = kinds.keys().map(|[right, k, m]| {
        let width = (*right).min(*k).min(*m).min(k.saturating_add(*m) - right);
        u64::from(width) + 1
    });
    let work = WORK.checked_sub(WEIGHT * widths.sum::<u64>())?;
    let laws: Vec<_> = kinds
        .iter()
        .map(|([right, k, m], count)| (Law::hypergeometric(*right, *k, *m), *count))
        .collect();
    lower_tail(&laws, observed, work)
}

/// One answer on each side: the sign test.
fn signs(worse: u64, better: u64) -> Tested {
    let p = sign_test_p(worse, better);
    let more = better.checked_sub(1);
    Tested {
        p,
        mid_p: f64::midpoint(p, more.map_or(0.0, |better| sign_test_p(worse + 1, better))),
        error: 0.0,
    }
}

/// From mean, variance and third moment alone, which have a closed form for hypergeometric numbers.
fn approximate(kinds: &Kinds, observed: i64) -> Tested {
    let (mut mean, mut variance, mut third) = (0.0, 0.0, 0.0);
    for ([right, k, m], count) in kinds {
        let (right, k, count) = (f64::from(*right), f64::from(*k), as_f64(*count));
        let of = k + f64::from(*m);
        let one = right * k * (of - right) * (of - k) / (of * of * (of - 1.0));
        mean += count * right * k / of;
        variance += count * one;
        if of > 2.0 {
            third += count * one * (of - 2.0 * right) * (of - 2.0 * k) / (of * (of - 2.0));
        }
    }
    let s = variance.sqrt();
    let at_most = |value: f64| {
        let x = (value + 0.5 - mean) / s;
        let skewness = third / (s * s * s);
        (normal::below(x) + skewness * (1.0 - x * x) * normal::density(x) / 6.0).clamp(0.0, 1.0)
    };
    #[expect(clippy::cast_precision_loss, reason = "a sum of answers")]
    let observed = observed as f64;
    let p = at_most(observed);
    Tested {
        p,
        mid_p: f64::midpoint(p, at_most(observed - 1.0)),
        // Proven for 10 and above.
        error: if s < 10.0 {
            1.0
        } else {
            (s + 3.0) / (4.0 * s * s * s)
        },
    }
}

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
mod tests;

#[cfg(test)]
mod sign_test_tests {
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
