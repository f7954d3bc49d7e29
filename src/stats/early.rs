//! When a comparison may stop early: up to four looks at the same test while samples come in, in random order.
//!
//! **Red** stops by O'Brien and Fleming's bound: at the share `t` of the samples, a normal statistic beyond `c /
//! sqrt(t)`, with the `c` that makes the chance of ever being beyond, were nothing changed, `alpha`. So the last look
//! is hardly stricter than a test without looks, and the first stops for disasters alone.
//!
//! **Green** stops where red has become unlikely: where a drop that a test without looks sees with 80 % power would
//! from here on be seen with less than 24 %. It goes by mid-p, which is one half and not 1 as long as nothing
//! differs: silence is no evidence, and stops nothing before the third look. Nobody is bound by it: whoever goes on
//! does not raise the chance of red beyond `alpha`.
//!
//! Simulated for five agents, one and five answers, and 165 and 466 samples: an unchanged agent needs two thirds of
//! the samples, a drop of 20 points 42 and 29 %, and of the power at most 4 points are lost for drops from 10 points
//! on. Below a hundred samples a look sees too few for that: up to ten points are lost.
//!
//! Sources: P. C. O'Brien and T. R. Fleming, *A multiple testing procedure for clinical trials*, Biometrics 35 (1979);
//! the integral P. Armitage, C. K. `McPherson` and B. C. Rowe, *Repeated significance tests on accumulating data*, JRSS
//! A 132 (1969); the bound for green J. M. Lan, R. Simon and M. Halperin, *Stochastically curtailed tests in
//! long-term clinical trials*, Sequential Analysis 1 (1982).

use super::conditional::Tested;
use super::{as_f64, normal, root};

/// The power of the test without looks at the drop that green is measured by.
const POWER: f64 = 0.8;

/// From a chance below this on of seeing that drop, green stops.
const UNLIKELY: f64 = 0.24;

/// Places at which the density is held: an even number of intervals between them.
const PLACES: u32 = 81;

/// The lowest of them: hardly any motion is below.
const LOW: f64 = -6.0;

/// One look at the test of all samples so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The share of the samples that are through, above 0 and up to 1.
    pub share: f64,
    /// Red below this p.
    pub red: f64,
    /// Green above this mid-p; at the last look, wherever it is not red.
    pub green: f64,
}

/// What a look decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The agent is worse.
    Red,
    /// It is not, or it could not be shown any more.
    Green,
    /// More samples are needed.
    Open,
}

impl Look {
    /// What the test says at this look.
    pub fn decide(&self, tested: &Tested) -> Decision {
        if tested.p < self.red {
            Decision::Red
        } else if tested.mid_p > self.green || self.share >= 1.0 {
            Decision::Green
        } else {
            Decision::Open
        }
    }
}

/// As many looks as asked for (at least one), at equal parts of the samples, that together are red with the
/// probability `alpha` (above 0, below 0.5) if nothing changed. One look is the test at `alpha`.
pub fn looks(alpha: f64, count: u32) -> Vec<Look> {
    let count = count.max(1);
    let share = |look: u32| f64::from(look) / f64::from(count);
    let last = -normal::percentile(alpha);
    let bound = match count {
        1 => last,
        // Never less strict than one look, never stricter than Bonferroni's.
        _ => root(last, last + 3.0, |bound| alpha - ever_beyond(bound, count)),
    };
    // How far the mean of the statistic is off after all samples, where one look sees it with that power.
    let drift = last + normal::percentile(POWER);
    let look = |at: u32| {
        let share = share(at);
        let left = 1.0 - share;
        let red = normal::below(-bound / share.sqrt());
        if at == count {
            let red = if count == 1 { alpha } else { red };
            return Look {
                share,
                red,
                green: red,
            };
        }
        let middle = bound - drift * left + left.sqrt() * normal::percentile(UNLIKELY);
        Look {
            share,
            red,
            green: normal::below(-middle / share.sqrt()),
        }
    };
    (1..=count).map(look).collect()
}

/// The repeated p: what a p at one of `count` looks (the first is 0) is worth, allowing for all of them. It is the
/// smallest alpha at which this look would be red, so that it is below alpha exactly where p is below [`Look::red`],
/// and what several tests that look together are adjusted by. With one look, p itself.
///
/// Source: C. Jennison and B. W. Turnbull, *Repeated confidence intervals for group sequential clinical trials*,
/// Controlled Clinical Trials 5 (1984).
pub fn allowing_for_looks(p: f64, look: usize, count: u32) -> f64 {
    if count <= 1 || p <= 0.0 || p >= 1.0 {
        return p.clamp(0.0, 1.0);
    }
    let share = (as_f64(look as u64) + 1.0).min(f64::from(count)) / f64::from(count);
    let bound = -normal::percentile(p) * share.sqrt();
    // Below `LOW` the integral has nothing left.
    if bound < LOW + 1.0 {
        return 1.0;
    }
    ever_beyond(bound, count).clamp(p, 1.0)
}

/// The probability that a Brownian motion is beyond `bound` at one of the looks, at equal parts of the time up to 1.
///
/// At `t` the statistic is the motion over `sqrt(t)`, so that its bound is the motion's at every look.
fn ever_beyond(bound: f64, count: u32) -> f64 {
    let step = 1.0 / f64::from(count);
    let deviation = step.sqrt();
    let width = (bound - LOW) / f64::from(PLACES - 1);
    let places: Vec<f64> = (0..PLACES).map(|at| LOW + f64::from(at) * width).collect();
    // Simpson's rule.
    let weight = |at: usize| match at {
        0 => 1.0,
        _ if at + 1 == places.len() => 1.0,
        _ if at % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let weights: Vec<f64> = (0..places.len())
        .map(|at| weight(at) * width / 3.0)
        .collect();
    let density = |x: f64| normal::density(x / deviation) / deviation;
    // Steps between places are as many as places, and of either sign alike.
    let steps: Vec<f64> = (0..PLACES)
        .map(|at| density(f64::from(at) * width))
        .collect();
    let mut beyond = normal::below(-bound / deviation);
    let mut within: Vec<f64> = places.iter().map(|x| density(*x)).collect();
    for _ in 1..count {
        let mass: Vec<f64> = within.iter().zip(&weights).map(|(d, w)| d * w).collect();
        let leaves = places
            .iter()
            .map(|x| normal::below((x - bound) / deviation));
        beyond += leaves
            .zip(&mass)
            .map(|(leaves, mass)| leaves * mass)
            .sum::<f64>();
        let arrive = |to: usize| -> f64 {
            let from = mass.iter().enumerate();
            from.map(|(from, mass)| mass * steps[to.abs_diff(from)])
                .sum()
        };
        within = (0..places.len()).map(arrive).collect();
    }
    beyond
}

/// After how many of `samples` each look takes place: equal parts, rounded up, and none twice.
pub fn places_of_looks(samples: u64, count: u32) -> Vec<u64> {
    let count = u64::from(count.max(1));
    let mut places: Vec<u64> = (1..=count)
        .map(|look| (look * samples).div_ceil(count))
        .collect();
    places.dedup();
    places
}

#[cfg(test)]
mod tests;
