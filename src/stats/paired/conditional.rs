//! The exact conditional test of two runs over the same samples, each asked several times.

use std::collections::BTreeMap;

use super::counted::CountedSamples;
use super::sign_test::sign_test_p;
use crate::stats::as_f64;
use crate::stats::distribution::law::{Law, SumTail, WORK, lower_tail};
use crate::stats::distribution::normal;

/// What it costs to write a weight of a law down and to tilt it, in multiplications.
const WEIGHT: u64 = 20;

/// What came of asking a sample several times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnswerCounts {
    /// Right answers; at most `of`.
    pub right: u32,
    /// All answers with a verdict.
    pub of: u32,
}

/// One sample in both runs, or in both sets of runs. How often it was asked may differ between the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComparedSample {
    /// In the baseline.
    pub before: AnswerCounts,
    /// In the run that is compared with it.
    pub now: AnswerCounts,
}

/// What a test says of an agent that is suspected to be worse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// How likely so few right answers, or fewer, would be now, were nothing changed. 1 where nothing could differ.
    pub p: f64,
    /// The same with what is exactly as likely as the observed counted half: closer to alpha on average, but no
    /// longer surely below it. Source: H. O. Lancaster, *Significance tests in discrete distributions*, JASA 56
    /// (1961).
    pub mid_p: f64,
    /// How far p and mid-p may be from the truth: 0 where they are exact, which is right in 9 digits.
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
    /// So many right answers of so many; no more right ones than there are.
    pub fn new(right: u32, of: u32) -> Self {
        Self {
            right: right.min(of),
            of,
        }
    }
}

/// The exact conditional (Cochran-Mantel-Haenszel) test, one-sided: are there fewer right answers now than chance
/// gives?
///
/// Were the agent the same, then of a sample's `t` right answers, among `m` before and `k` now, each set of `t`
/// answers would be as likely as any other; those of now are hypergeometric, whatever the sample's own rate. The sum
/// over the samples is compared with its exact distribution. Samples whose answers are all right or all wrong say
/// nothing about the direction, nor do those without an answer on one side. With one answer on each side this is
/// the sign test, to the last digit.
///
/// It assumes that the answers to a sample are independent of each other given its rate, and of those to other
/// samples; where they are not, see [`whole_runs_test`](crate::stats::whole_runs_test).
///
/// The sum is exact as long as it takes at most 100 million multiplications (some 50 ms): 100,000 samples with ten
/// and ten answers do not. Beyond, the normal approximation with the correction for skewness stands in; of a sum
/// with standard deviation `s` it is within `(s + 3) / (4 s³)` (given as [`Tested::error`]; 1.1e-5 for 150), as
/// sums of hypergeometric numbers are sums of independent indicators.
///
/// Sources: M. W. Birch, *The detection of partial association, I*, JRSS B 26 (1964); A. Agresti, *Categorical data
/// analysis* (2002), 6.3 and 7.3; for the sum of indicators V. A. Vatutin and V. G. Mikhailov, *Limit theorems for
/// the number of empty cells*, Theory of Probability and its Applications 27 (1982), for the bound V. G. Mikhailov,
/// *On a refinement of the central limit theorem for sums of independent random indicators*, ibid. 38 (1993).
pub fn conditional_test(samples: &[ComparedSample]) -> Tested {
    conditional_test_of(&samples.iter().copied().collect())
}

/// [`conditional_test`] of samples that are counted.
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

/// The samples by their right answers, answers now and answers before.
type Kinds = BTreeMap<[u32; 3], u64>;

fn exact(kinds: &Kinds, observed: i64) -> Option<SumTail> {
    // Laws that are too wide are not even written down.
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

/// By mean, variance and third moment alone, which hypergeometric numbers have in closed form.
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
        // Shown for 10 and above.
        error: if s < 10.0 {
            1.0
        } else {
            (s + 3.0) / (4.0 * s * s * s)
        },
    }
}

#[cfg(test)]
mod tests;
