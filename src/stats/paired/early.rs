//! When a comparison may stop early: up to four looks at the same test while samples come in, in random order.
//!
//! The bounds are those of a Brownian motion: the test's normal statistic at the share `t` of the samples, times
//! `sqrt(t)`.
//!
//! **Red** stops by O'Brien and Fleming's bound: the motion beyond the same `c` at whatever look. So the last look is
//! hardly stricter than a test without looks, and the first stops for disasters alone. The third look never says red:
//! it would save little, and each chance of red makes the last look stricter (with few single answers the test has few
//! p near alpha, and losing one of them, 0.046, costs 5 points of power).
//!
//! **Green** stops where red has become unlikely, in two senses. The motion is so far below the line from 0 to `c`
//! that whatever drop is true, not more than 3 % of all runs have so low a look and would still be red at the end.
//! And the fewest samples that, broken, would turn all red now are so many that, were just these broken from the
//! start, hardly ever all would come after this look (at most 6.5 %): with few samples and several answers to each,
//! two broken ones are enough, and silence before them is no evidence. The first goes by mid-p, which is one half and
//! not 1 as long as nothing differs.
//!
//! **Green binds**: `c` is such that red at any look *before green* has the probability alpha, were nothing changed
//! (never below the bound without looks). So a gate that was green at a look stays green, whatever comes later; one
//! that goes on nevertheless is red in 5.4 % instead of 5.
//!
//! Simulated at alpha 5 % for five agents, 1 + 1, 5 + 5, 5 + 1 and 1 + 5 answers and drops of 3 to 20 points, 4,000
//! draws of each; the worst cell, and the mean over agents and answers:
//!
//! | samples | red unchanged | power lost | saved unchanged | saved at 20 points |
//! |---|---|---|---|---|
//! | 40 | 4.4 % | 3.5 points | 34 % | 31 % |
//! | 165 | 4.8 % | 3.9 points | 37 % | 51 % |
//! | 466 | 4.9 % | 3.6 points | 39 % | 55 % |
//!
//! The means hide that 40 samples with single answers save 12 % at 20 points, and that an agent that never flips saves
//! 55 % unchanged with single answers, 25 % with 5 + 1, and nothing with 5 + 5, where one broken sample is red.
//! At alpha 1 % (2,000 draws) up to 5.3 points of power are lost for 42 to 46 % saved unchanged; 40 samples save 23 %
//! at 20 points.
//!
//! Sources: P. C. O'Brien and T. R. Fleming, *A multiple testing procedure for clinical trials*, Biometrics 35 (1979);
//! the integral P. Armitage, C. K. `McPherson` and B. C. Rowe, *Repeated significance tests on accumulating data*, JRSS
//! A 132 (1969); binding bounds for green S. Pampallona and A. A. Tsiatis, *Group sequential designs for one-sided and
//! two-sided hypothesis testing with provision for early stopping in favor of the null hypothesis*, Journal of
//! Statistical Planning and Inference 42 (1994).

use super::conditional::{AnswerCounts, ComparedSample, Tested, conditional_test_of};
use super::counted::CountedSamples;
use crate::stats::distribution::normal;
use crate::stats::root;

/// How many looks there are.
pub(crate) const LOOKS: usize = 4;

/// The looks but the last.
const INTERIM: [Interim; LOOKS - 1] = [
    Interim {
        twentieths: 9,
        red: true,
        below_line: 0.663,
        broken: 4,
    },
    Interim {
        twentieths: 12,
        red: true,
        below_line: 0.656,
        broken: 2,
    },
    Interim {
        twentieths: 15,
        red: false,
        below_line: 0.596,
        broken: 1,
    },
];

/// Places at which the density is held: an even number of intervals between them.
const PLACES: u32 = 81;

struct Interim {
    /// How much of the samples is through.
    twentieths: u32,
    /// Whether it may say red.
    red: bool,
    /// Green only so far below the line from 0 to the bound.
    below_line: f64,
    /// Green only if so many more broken samples would not turn all red.
    broken: u32,
}

/// One look at the test of all samples so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    /// The share of the samples that are through, above 0 and up to 1.
    pub share: f64,
    /// Red below this p; 0 at a look that never says red.
    pub red: f64,
    /// Green above this mid-p; at the last look, wherever it is not red.
    pub green: f64,
    /// Green only if so many more broken samples would not bring p below `last`.
    broken: u32,
    /// What [`Look::red`] is at the last look.
    last: f64,
}

/// What a look decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The agent is worse.
    Red,
    /// It is not, or it could not be shown any more. It stays so, whatever later looks would say.
    Green,
    /// More samples are needed.
    Open,
}

impl Look {
    /// What the test says at this look, of these samples (also where it is [`whole_runs_test`](crate::stats::whole_runs_test)
    /// that tested them).
    pub(crate) fn decide(&self, tested: &Tested, samples: &CountedSamples) -> Decision {
        if tested.p < self.red {
            Decision::Red
        } else if self.share >= 1.0 || (tested.mid_p > self.green && self.is_far_off(samples)) {
            Decision::Green
        } else {
            Decision::Open
        }
    }

    /// Whether a few more broken samples, each asked as often as the one most asked, would not do.
    fn is_far_off(&self, samples: &CountedSamples) -> bool {
        let most = |of: fn(&ComparedSample) -> u32| {
            let kinds = samples.kinds();
            kinds.map(|(both, _)| of(both)).max().unwrap_or(1)
        };
        let before = most(|sample| sample.before.of);
        let broken = ComparedSample {
            before: AnswerCounts::new(before, before),
            now: AnswerCounts::new(0, most(|sample| sample.now.of)),
        };
        let mut more = samples.clone();
        more.add(broken, u64::from(self.broken));
        conditional_test_of(&more).p >= self.last
    }
}

impl Interim {
    fn share(&self) -> f64 {
        f64::from(self.twentieths) / 20.0
    }
}

/// The looks that together are red with the probability `alpha` (above 0, below 0.5), or less, if nothing changed.
pub(crate) fn looks(alpha: f64) -> Vec<Look> {
    let without = -normal::percentile(alpha);
    // Never less strict than one look, never stricter than Bonferroni's.
    let bound = root(without, without + 3.0, |bound| alpha - ever_red(bound));
    let last = normal::below(-bound).min(alpha);
    let at = |interim: &Interim| {
        let share = interim.share();
        let p = |motion: f64| normal::below(-motion / share.sqrt());
        Look {
            share,
            red: if interim.red { p(bound) } else { 0.0 },
            green: p(bound * share - interim.below_line),
            broken: interim.broken,
            last,
        }
    };
    let mut looks: Vec<Look> = INTERIM.iter().map(at).collect();
    looks.push(Look {
        share: 1.0,
        red: last,
        green: last,
        broken: 0,
        last,
    });
    looks
}

/// The repeated p: what a p at a look (the first is 0) is worth, allowing for all of them. It is the smallest alpha at
/// which this look would be red, so that it is below alpha exactly where p is below [`Look::red`] (alpha below 0.5),
/// and what several tests that look together are adjusted by. 1 at a look that never says red.
///
/// The least of the looks so far counts, up to the one that was green: red stays red.
///
/// Source: C. Jennison and B. W. Turnbull, *Repeated confidence intervals for group sequential clinical trials*,
/// Controlled Clinical Trials 5 (1984).
pub(crate) fn allowing_for_looks(p: f64, look: usize) -> f64 {
    let share = INTERIM.get(look).map_or(1.0, Interim::share);
    if p <= 0.0 || p >= 1.0 || INTERIM.get(look).is_some_and(|look| !look.red) {
        return if p <= 0.0 { 0.0 } else { 1.0 };
    }
    let bound = (-normal::percentile(p) * share.sqrt()).max(0.0);
    ever_red(bound).max(normal::below(-bound)).max(p)
}

/// The probability that a Brownian motion is beyond `bound` at a look that says red, before it was so low at one that
/// green stops.
fn ever_red(bound: f64) -> f64 {
    // Where it is, with the probability of being there; at first surely at 0.
    let mut within = vec![(0.0, 1.0)];
    let (mut beyond, mut before) = (0.0, 0.0);
    for interim in &INTERIM {
        let share = interim.share();
        let deviation = (share - before).sqrt();
        let low = bound * share - interim.below_line;
        let mut high = bound;
        if interim.red {
            beyond += leaves(&within, bound, deviation);
        } else {
            // Hardly any motion is higher.
            high += 3.0;
        }
        let width = (high - low) / f64::from(PLACES - 1);
        let mass_at = |place: u32| {
            let to = low + f64::from(place) * width;
            let arrive =
                |(from, mass): &(f64, f64)| mass * normal::density((to - from) / deviation);
            let density = within.iter().map(arrive).sum::<f64>() / deviation;
            // Simpson's rule.
            let weight = match place {
                0 => 1.0,
                _ if place + 1 == PLACES => 1.0,
                _ if place % 2 == 1 => 4.0,
                _ => 2.0,
            };
            (to, density * weight * width / 3.0)
        };
        within = (0..PLACES).map(mass_at).collect();
        before = share;
    }
    beyond + leaves(&within, bound, (1.0 - before).sqrt())
}

/// The probability of being beyond `bound` after a step of that deviation.
fn leaves(within: &[(f64, f64)], bound: f64, deviation: f64) -> f64 {
    let leave = |(from, mass): &(f64, f64)| mass * normal::below((from - bound) / deviation);
    within.iter().map(leave).sum()
}

/// After how many of `samples` each look takes place, rounded up; the last after all. With few samples two looks may be
/// after the same one: the later one decides, too.
pub(crate) fn places_of_looks(samples: u64) -> [u64; LOOKS] {
    let mut places = [samples; LOOKS];
    for (place, interim) in places.iter_mut().zip(&INTERIM) {
        *place = (samples * u64::from(interim.twentieths)).div_ceil(20);
    }
    places
}

#[cfg(test)]
mod tests;
