//! `Rates`: the distribution of the rates of right answers over samples, estimated from a few answers to each.

use std::collections::BTreeMap;

use crate::stats::as_f64;
use crate::stats::paired::CountedSamples;
use crate::stats::paired::conditional::{AnswerCounts, ComparedSample};

/// The resolution of rates from 0 to 1.
const STEPS: u32 = 40;

/// Iterations of the estimate, which changes little after a hundred.
const ROUNDS: u32 = 300;

/// A sample with at least this rate counts as always right.
const SURE: f64 = 0.9;

/// A distribution of rates over samples.
///
/// The observed shares would be a poor estimate: for samples with the rate 0.62 and five answers, they spread from 0.2
/// to 1. This is the maximum likelihood distribution. Source: N. Laird, *Nonparametric maximum likelihood estimation of
/// a mixing distribution*, JASA 73 (1978).
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// Rates with their shares of the samples, which sum to 1; ascending.
    shares: Vec<(f64, f64)>,
}

/// A kind of sample: its rate before, its rate now, and its share of all samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::stats) struct Changed {
    pub(in crate::stats) before: f64,
    pub(in crate::stats) now: f64,
    pub(in crate::stats) share: f64,
    /// Whether it broke, so that chance plays no part.
    pub(in crate::stats) broken: bool,
}

impl Rates {
    /// Estimates from two runs, or from one (with the other side empty). Changes between the two are hardly
    /// informative: each side with several answers to a sample counts by itself. Without such a side, samples that
    /// became right show how many flip either way. `None` if no sample has two answers.
    pub fn of(samples: &[ComparedSample]) -> Option<Self> {
        Self::of_counted(&samples.iter().copied().collect())
    }

    /// [`of`](Self::of) samples that are counted.
    pub(crate) fn of_counted(samples: &CountedSamples) -> Option<Self> {
        let mut kinds = BTreeMap::<AnswerCounts, u64>::new();
        for (both, times) in samples.kinds() {
            for answers in [both.before, both.now] {
                if answers.of > 1 {
                    *kinds.entry(answers).or_default() += times;
                }
            }
        }
        if kinds.is_empty() {
            kinds = pairs(samples);
        }
        (!kinds.is_empty()).then(|| Self::likeliest(&kinds))
    }

    fn likeliest(kinds: &BTreeMap<AnswerCounts, u64>) -> Self {
        let grid: Vec<f64> = (0..=STEPS)
            .map(|step| f64::from(step) / f64::from(STEPS))
            .collect();
        let chances: Vec<(Vec<f64>, f64)> = kinds
            .iter()
            .map(|(AnswerCounts { right, of }, count)| {
                let wrong = f64::from(of - right);
                let chance = |rate: &f64| rate.powf(f64::from(*right)) * (1.0 - rate).powf(wrong);
                (grid.iter().map(chance).collect(), as_f64(*count))
            })
            .collect();
        let all: f64 = chances.iter().map(|(_, count)| count).sum();
        let mut shares = vec![1.0 / as_f64(grid.len() as u64); grid.len()];
        for _ in 0..ROUNDS {
            let mut next = vec![0.0; shares.len()];
            for (chances, count) in &chances {
                let both = || {
                    shares
                        .iter()
                        .zip(chances)
                        .map(|(share, chance)| share * chance)
                };
                let sum: f64 = both().sum();
                // With a thousand answers the likelihood may underflow.
                if sum > 0.0 {
                    for (next, part) in next.iter_mut().zip(both()) {
                        *next += count / all * part / sum;
                    }
                }
            }
            shares = next;
        }
        let sum: f64 = shares.iter().sum();
        Self {
            shares: grid
                .into_iter()
                .zip(shares.into_iter().map(|share| share / sum))
                .collect(),
        }
    }

    /// All samples with the same rate, which has the most flips at this accuracy.
    pub fn uniform(rate: f64) -> Self {
        Self {
            shares: vec![(rate.clamp(0.0, 1.0), 1.0)],
        }
    }

    #[cfg(test)]
    pub(in crate::stats) fn known(rates: impl ExactSizeIterator<Item = f64>) -> Self {
        let share = 1.0 / as_f64(rates.len() as u64);
        let mut shares: Vec<_> = rates.map(|rate| (rate, share)).collect();
        shares.sort_by(|one, other| one.0.total_cmp(&other.0));
        Self { shares }
    }

    /// The mean rate: the accuracy.
    pub fn accuracy(&self) -> f64 {
        self.shares.iter().map(|(rate, share)| rate * share).sum()
    }

    /// The share of samples that an unchanged agent turns from right to wrong between two answers: the mean of
    /// `rate · (1 - rate)`.
    pub fn noise(&self) -> f64 {
        let noise = |(rate, share): &(f64, f64)| rate * (1.0 - rate) * share;
        self.shares.iter().map(noise).sum()
    }

    /// The samples after accuracy falls by `drop`: of those that are always right, highest rates first, as many become
    /// always wrong as needed; if there are too few, the rates of all others fall equally. `None` if accuracy cannot
    /// fall that far.
    pub(in crate::stats) fn after(&self, drop: f64) -> Option<Vec<Changed>> {
        let mut remaining = drop;
        let mut kinds = Vec::new();
        for &(rate, share) in self.shares.iter().rev() {
            let broken = if rate >= SURE && remaining > 0.0 {
                share.min(remaining / rate)
            } else {
                0.0
            };
            remaining -= broken * rate;
            for (now, share, broken) in [(0.0, broken, true), (rate, share - broken, false)] {
                if share > 1e-12 {
                    kinds.push(Changed {
                        before: rate,
                        now,
                        share,
                        broken,
                    });
                }
            }
        }
        if remaining <= 1e-12 {
            return Some(kinds);
        }
        // The fall of each rate, as far as possible, so that together they fall by the rest.
        let fallen = |by: f64| -> f64 {
            let falls = kinds.iter().map(|kind| kind.share * kind.now.min(by));
            falls.sum()
        };
        if fallen(1.0) < remaining {
            return None;
        }
        let by = crate::stats::root(0.0, 1.0, |by| fallen(by) - remaining);
        for kind in &mut kinds {
            kind.now = (kind.now - by).max(0.0);
        }
        Some(kinds)
    }
}

/// Pairs of single answers as two answers to a sample each. If fewer samples became right than wrong, the changed ones
/// are counted as twice those that became right.
fn pairs(samples: &CountedSamples) -> BTreeMap<AnswerCounts, u64> {
    let mut counts = [[0_u64; 2]; 2];
    for (ComparedSample { before, now }, times) in samples.kinds() {
        if before.of == 1 && now.of == 1 {
            counts[usize::from(before.right > 0)][usize::from(now.right > 0)] += times;
        }
    }
    let [[wrong, better], [worse, right]] = counts;
    let chance = worse.min(better);
    [
        (AnswerCounts::new(2, 2), right + (worse - chance)),
        (AnswerCounts::new(1, 2), better + chance),
        (AnswerCounts::new(0, 2), wrong),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::SplitMix64;
    use crate::stats::simulated::{agents, two_runs};

    #[test]
    fn few_answers_do_not_spread_the_rates() {
        let mut random = SplitMix64(8);
        for (name, rates) in agents(2_000, 0.0) {
            let count = as_f64(rates.len() as u64);
            let noise = rates.iter().map(|(q, _)| q * (1.0 - q)).sum::<f64>() / count;
            let accuracy = rates.iter().map(|(q, _)| q).sum::<f64>() / count;
            for (m, k) in [(1, 1), (5, 5), (5, 1), (1, 5), (10, 0)] {
                let samples = two_runs(&rates, m, k, &mut random);
                let estimate = Rates::of(&samples).unwrap();
                assert!(
                    (estimate.noise() - noise).abs() < 0.012
                        && (estimate.accuracy() - accuracy).abs() < 0.03,
                    "{name}, {m} + {k}: {} of {noise}, {} of {accuracy}",
                    estimate.noise(),
                    estimate.accuracy()
                );
            }
        }
        assert_eq!(Rates::of(&[]), None);
        let once = ComparedSample {
            before: AnswerCounts::new(1, 1),
            now: AnswerCounts::default(),
        };
        assert_eq!(Rates::of(&[once]), None);
    }

    #[test]
    fn drop_has_the_requested_size() {
        let mut random = SplitMix64(9);
        for (name, rates) in agents(165, 0.0) {
            let samples = two_runs(&rates, 5, 5, &mut random);
            let rates = Rates::of(&samples).unwrap();
            for drop in [0.0, 0.01, 0.1, 0.3, 0.5] {
                let kinds = rates.after(drop).unwrap();
                let all: f64 = kinds.iter().map(|kind| kind.share).sum();
                let fell: f64 = kinds
                    .iter()
                    .map(|kind| kind.share * (kind.before - kind.now))
                    .sum();
                assert!(
                    (all - 1.0).abs() < 1e-9 && (fell - drop).abs() < 1e-9,
                    "{name} {drop}: {fell}"
                );
            }
            assert_eq!(rates.after(0.99), None);
        }
    }
}
