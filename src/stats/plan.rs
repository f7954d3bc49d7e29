//! What it takes to see a drop: samples, answers, runs of the baseline.

use super::detect::{TimesAsked, least, power_with};
use super::rates::Rates;

/// The most samples that are thought of.
const SAMPLES: u64 = 10_000_000;

/// The most answers to a sample, or runs of the baseline, that are thought of.
const ANSWERS: u64 = 1_000;

/// The drop that is to be seen, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WantedDrop {
    /// The loss of accuracy, above 0 and up to 1.
    pub drop: f64,
    /// The level of the test.
    pub alpha: f64,
    /// The probability with which the drop is seen.
    pub power: f64,
}

impl WantedDrop {
    fn is_seen(&self, rates: &Rates, asked: TimesAsked) -> bool {
        power_with(rates, &[asked], self.drop, self.alpha) >= self.power
    }

    /// The fewest samples with so many answers before and now; `None` beyond ten million.
    pub fn samples(&self, rates: &Rates, before: u32, now: u32) -> Option<u64> {
        least(1, SAMPLES, |samples| {
            let asked = TimesAsked {
                samples,
                before,
                now,
            };
            self.is_seen(rates, asked)
        })
    }

    /// The fewest answers to each of so many samples, before and now alike; `None` beyond a thousand.
    pub fn epochs(&self, rates: &Rates, samples: u64) -> Option<u32> {
        counted(|answers| {
            let asked = TimesAsked {
                samples,
                before: answers,
                now: answers,
            };
            self.is_seen(rates, asked)
        })
    }

    /// The fewest runs of the baseline, of so many epochs like that of now; `None` where even a thousand are too few,
    /// as the chance of now remains.
    pub fn baseline_runs(&self, rates: &Rates, samples: u64, epochs: u32) -> Option<u32> {
        counted(|runs| {
            let asked = TimesAsked {
                samples,
                before: runs.saturating_mul(epochs),
                now: epochs,
            };
            self.is_seen(rates, asked)
        })
    }
}

fn counted(enough: impl Fn(u32) -> bool) -> Option<u32> {
    let enough = |count: u64| u32::try_from(count).is_ok_and(&enough);
    least(1, ANSWERS, enough).and_then(|count| u32::try_from(count).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::SplitMix64;
    use crate::stats::simulated::{agents, two_runs};

    #[test]
    fn what_is_planned_is_just_enough() {
        let mut random = SplitMix64(14);
        for (name, rates) in agents(400, 0.0) {
            let samples = two_runs(&rates, 5, 1, &mut random);
            let rates = Rates::of(&samples).unwrap();
            let wanted = WantedDrop {
                drop: 0.05,
                alpha: 0.05,
                power: 0.8,
            };
            let single = wanted.samples(&rates, 1, 1).unwrap();
            let five = wanted.samples(&rates, 5, 5).unwrap();
            let against_five = wanted.samples(&rates, 5, 1).unwrap();
            assert!(
                five < against_five && against_five < single,
                "{name}: {five} {against_five} {single}"
            );
            // Backwards: as many samples need as many answers, or fewer where one sample is much.
            let epochs = wanted.epochs(&rates, five).unwrap();
            assert!((3..=5).contains(&epochs), "{name}: {epochs}");
            let runs = wanted.baseline_runs(&rates, against_five, 1).unwrap();
            assert!((3..=5).contains(&runs), "{name}: {runs}");
            assert_eq!(wanted.baseline_runs(&rates, 5, 1), None);
            let impossible = WantedDrop {
                drop: 0.999,
                ..wanted
            };
            assert!(
                impossible.samples(&rates, 1, 1).is_some(),
                "seen as the largest drop is"
            );
        }
    }
}
