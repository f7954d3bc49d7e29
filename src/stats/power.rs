//! Power: what a comparison can detect, and how many answers that takes.

pub(crate) mod detect;
pub(crate) mod rates;

use detect::{RedBelow, SampleDesign, chance, least, power_of_drawn};
use rates::Rates;

/// The most samples considered.
const SAMPLES: u64 = 10_000_000;

/// The most answers per sample, or baseline runs, considered.
const ANSWERS: u64 = 1_000;

/// The drop to detect, and the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WantedDrop {
    /// The loss of accuracy, above 0 and up to 1.
    pub drop: f64,
    /// The level of the test.
    pub alpha: f64,
    /// The probability of detecting the drop.
    pub power: f64,
    /// The factor on the variance: 1 if samples flip independently, more if groups flip together.
    pub spread: f64,
}

impl WantedDrop {
    fn is_seen(&self, rates: &Rates, design: SampleDesign) -> bool {
        chance(
            rates,
            &[design],
            self.spread,
            self.drop,
            RedBelow::p(self.alpha),
        ) >= self.power
    }

    /// The fewest samples, with `before` and `now` answers each, drawn from a population whose accuracy falls; `None`
    /// beyond ten million.
    pub fn samples(&self, rates: &Rates, before: u32, now: u32) -> Option<u64> {
        least(1, SAMPLES, |samples| {
            let design = SampleDesign {
                samples,
                before,
                now,
            };
            power_of_drawn(rates, design, self.spread, self.drop, self.alpha) >= self.power
        })
    }

    /// The fewest answers to each of `samples` samples, the same before and now; `None` beyond a thousand.
    pub fn epochs(&self, rates: &Rates, samples: u64) -> Option<u32> {
        counted(|answers| {
            let design = SampleDesign {
                samples,
                before: answers,
                now: answers,
            };
            self.is_seen(rates, design)
        })
    }

    /// The fewest baseline runs, each with `epochs` epochs like that of now; `None` if even a thousand are too few, as
    /// the chance in the run of now remains.
    pub fn baseline_runs(&self, rates: &Rates, samples: u64, epochs: u32) -> Option<u32> {
        counted(|runs| {
            let design = SampleDesign {
                samples,
                before: runs.saturating_mul(epochs),
                now: epochs,
            };
            self.is_seen(rates, design)
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
    use crate::stats::simulated::{agents, two_runs};
    use crate::stats::{CountedSamples, ExactTest, SplitMix64, conditional_test};

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
                spread: 1.0,
            };
            let single = wanted.samples(&rates, 1, 1).unwrap();
            let five = wanted.samples(&rates, 5, 5).unwrap();
            let against_five = wanted.samples(&rates, 5, 1).unwrap();
            assert!(
                five < against_five && against_five < single,
                "{name}: {five} {against_five} {single}"
            );
            // In reverse: as many samples need as many answers, or fewer if one sample is a large step.
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

    /// How often the test is red if samples are drawn again each time.
    fn red_of_drawn(
        of: &[(f64, f64)],
        samples: u64,
        (before, now): (u32, u32),
        draws: u32,
        random: &mut SplitMix64,
    ) -> f64 {
        let mut red = 0;
        for _ in 0..draws {
            let drawn: Vec<_> = (0..samples).map(|_| of[random.below(of.len())]).collect();
            let drawn = two_runs(&drawn, before, now, random);
            let samples: CountedSamples = drawn.iter().copied().collect();
            let p = ExactTest::default().p(&conditional_test(&drawn), &samples);
            red += u32::from(p < 0.05);
        }
        f64::from(red) / f64::from(draws)
    }

    /// How often the planned number of samples detects its drop, and in which case.
    fn seen(
        points: &[u32],
        which: &[usize],
        design: &[(u32, u32)],
        draws: u32,
    ) -> Vec<(&'static str, u64, f64)> {
        let mut random = SplitMix64(16);
        let mut seen = Vec::new();
        for points in points {
            let drop = f64::from(*points) / 100.0;
            let fallen = agents(2_000, drop);
            for (name, of) in which.iter().map(|which| &fallen[*which]) {
                let rates = Rates::known(of.iter().map(|(q, _)| *q));
                for &(before, now) in design {
                    let wanted = WantedDrop {
                        drop,
                        alpha: 0.05,
                        power: 0.8,
                        spread: 1.0,
                    };
                    let samples = wanted.samples(&rates, before, now).unwrap();
                    let red = red_of_drawn(of, samples, (before, now), draws, &mut random);
                    seen.push((*name, samples, red));
                }
            }
        }
        seen
    }

    #[test]
    fn sample_size_detects_the_drop_with_requested_power() {
        for (name, samples, red) in seen(&[10], &[1, 3], &[(1, 1), (5, 1)], 300) {
            assert!((0.7..0.9).contains(&red), "{name}, {samples}: {red}");
        }
    }

    #[test]
    #[ignore = "half a minute when optimised"]
    #[expect(clippy::print_stderr, reason = "a measurement")]
    fn sample_size_detects_the_drop_with_requested_power_everywhere() {
        let design = [(1, 1), (5, 1), (5, 5), (2, 2), (3, 1)];
        for (name, samples, red) in seen(&[3, 5, 10, 20, 30], &[0, 1, 2, 3, 4], &design, 1_000) {
            eprintln!("{name}, {samples}: {red}");
            assert!(red >= 0.75, "{name}, {samples}: {red}");
            // For the last agent all rates fall, not first those that are always right.
            assert!(
                red <= 0.86 || samples < 20 || name.starts_with("Beta"),
                "{name}, {samples}: {red}"
            );
        }
    }
}
