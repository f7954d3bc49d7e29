//! Simulated agents with known rates, for tests.

use super::{AnswerCounts, ComparedSample, SplitMix64, as_f64};

/// The rate of right answers of each sample, before and now.
pub(super) type Rates = Vec<(f64, f64)>;

/// The agents of the simulations over `n` samples, with accuracy lowered by `drop`: of the samples that are always
/// right, as many become always wrong, or, if there are none, every rate falls.
pub(super) fn agents(n: usize, drop: f64) -> Vec<(&'static str, Rates)> {
    let size = as_f64(n as u64);
    let count = |share: f64| {
        (0..n)
            .filter(|i| as_f64(*i as u64) + 0.5 < share * size)
            .count()
    };
    let flaky = |share: f64| {
        let flaky = count(share);
        let right = flaky + count((1.0 - share) * 0.6);
        let broken = flaky + count(drop);
        let rates = (0..n).map(|i| match i {
            _ if i < flaky => (0.5, 0.5),
            _ if i < broken && i < right => (1.0, 0.0),
            _ if i < right => (1.0, 1.0),
            _ => (0.0, 0.0),
        });
        rates.collect()
    };
    let mut random = SplitMix64(77);
    let uneven = (0..n).map(|_| beta(&mut random));
    vec![
        ("flaky 5 %", flaky(0.05)),
        ("flaky 15 %", flaky(0.15)),
        ("flaky 30 %", flaky(0.30)),
        ("all .62", vec![(0.62, 0.62 - drop); n]),
        (
            "Beta(.5, .31)",
            uneven.map(|rate| (rate, (rate - drop).max(0.0))).collect(),
        ),
    ]
}

/// Beta(.5, .31). Source: M. D. Jöhnk, *Erzeugung von betaverteilten und gammaverteilten Zufallszahlen*, Metrika 8
/// (1964).
fn beta(random: &mut SplitMix64) -> f64 {
    loop {
        let (x, y) = (random.share().powi(2), random.share().powf(1.0 / 0.31));
        if x + y <= 1.0 && x + y > 0.0 {
            return x / (x + y);
        }
    }
}

/// Two runs of an agent: `m` answers to each sample before, `k` now.
pub(super) fn two_runs(
    rates: &[(f64, f64)],
    m: u32,
    k: u32,
    random: &mut SplitMix64,
) -> Vec<ComparedSample> {
    rates
        .iter()
        .map(|(q, r)| ComparedSample {
            before: draw(m, *q, random),
            now: draw(k, *r, random),
        })
        .collect()
}

/// `of` answers to a sample with that rate.
pub(super) fn draw(of: u32, rate: f64, random: &mut SplitMix64) -> AnswerCounts {
    let right = (0..of).fold(0, |right, _| right + u32::from(random.share() < rate));
    AnswerCounts::new(right, of)
}
