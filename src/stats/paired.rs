//! Tests and differences of two runs over the same samples.

pub(crate) mod conditional;
pub(crate) mod difference;
pub(crate) mod early;
pub(crate) mod permutation;
pub(crate) mod unconditional;
pub(crate) mod whole_runs;

use std::collections::BTreeMap;

use conditional::{ComparedSample, Tested, conditional_test_of};
use unconditional::unconditional_p;

/// Compared samples by their answers. Tests of independent samples depend on nothing else, and so a million samples
/// take no more memory than a hundred.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountedSamples {
    kinds: BTreeMap<ComparedSample, u64>,
    count: u64,
}

impl CountedSamples {
    /// Adds `times` samples with these answers.
    pub(crate) fn add(&mut self, sample: ComparedSample, times: u64) {
        if times > 0 {
            *self.kinds.entry(sample).or_default() += times;
            self.count += times;
        }
    }

    /// How many samples there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The kinds of samples in a fixed order, with their counts.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&ComparedSample, u64)> + Clone {
        self.kinds.iter().map(|(sample, times)| (sample, *times))
    }
}

impl FromIterator<ComparedSample> for CountedSamples {
    fn from_iter<I: IntoIterator<Item = ComparedSample>>(samples: I) -> Self {
        let mut counted = Self::default();
        for sample in samples {
            counted.add(sample, 1);
        }
        counted
    }
}

impl FromIterator<(ComparedSample, u64)> for CountedSamples {
    fn from_iter<I: IntoIterator<Item = (ComparedSample, u64)>>(samples: I) -> Self {
        let mut counted = Self::default();
        for (sample, times) in samples {
            counted.add(sample, times);
        }
        counted
    }
}

/// The exact test whose p is compared with alpha.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExactTest {
    /// The unconditional test where every sample has one answer on each side, and the conditional one elsewhere.
    #[default]
    Unconditional,
    /// [`conditional_test`](conditional::conditional_test).
    Conditional,
    /// The mid-p of the conditional test.
    MidP,
}

impl ExactTest {
    /// The p of samples that were [tested](Tested).
    pub(crate) fn p(self, tested: &Tested, samples: &CountedSamples) -> f64 {
        match self {
            Self::Unconditional => match samples.unconditional_p() {
                // Where it is largest if all change sides, the two are one, and the conditional one has all digits.
                Some(p) if (p - tested.p).abs() > 1e-9 * tested.p => p,
                _ => tested.p,
            },
            Self::Conditional => tested.p,
            Self::MidP => tested.mid_p,
        }
    }
}

/// The p of `no_regression`: that of the unconditional exact test where every sample has one answer on each side, else
/// of the [conditional one](conditional::conditional_test).
pub fn regression_p(samples: &[ComparedSample]) -> f64 {
    let samples = samples.iter().copied().collect();
    ExactTest::default().p(&conditional_test_of(&samples), &samples)
}

impl CountedSamples {
    /// [`unconditional_p`]; `None` unless every sample has one answer on each side.
    fn unconditional_p(&self) -> Option<f64> {
        let (mut worse, mut better) = (0, 0);
        for (ComparedSample { before, now }, times) in self.kinds() {
            match [before.of, now.of, before.right, now.right] {
                [1, 1, 1, 0] => worse += times,
                [1, 1, 0, 1] => better += times,
                [1, 1, ..] => {}
                _ => return None,
            }
        }
        unconditional_p(worse, better, self.count)
    }
}

/// Adjusts each p so that the chance of any below alpha is at most alpha if nothing is true, however the tests are
/// correlated. In the order given; at most 1, and the ranking is preserved.
///
/// Source: S. Holm, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6
/// (1979).
pub(crate) fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![0.0; p.len()];
    let (mut remaining, mut least) = (crate::stats::as_f64(p.len() as u64), 0.0_f64);
    for place in order {
        least = least.max((remaining * p[place]).min(1.0));
        adjusted[place] = least;
        remaining -= 1.0;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        fn check(p: &[f64], expect: &[f64]) {
            let got = holm(p);
            assert_eq!(got.len(), expect.len());
            for (got, expect) in got.iter().zip(expect) {
                assert!((got - expect).abs() < 1e-15, "{p:?}: {got}, not {expect}");
            }
        }
        check(&[], &[]);
        // A single p is unchanged.
        assert_eq!(holm(&[0.031_25]), [0.031_25]);
        // statsmodels.stats.multitest.multipletests
        check(&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]);
        check(&[0.5, 0.02, 0.9], &[1.0, 0.06, 1.0]);
        check(&[0.02, 0.02], &[0.04, 0.04]);
        check(&[1.0, 1.0, 0.0], &[1.0, 1.0, 0.0]);
    }
}
