//! When a comparison may stop early: up to four interim analyses of the same test while samples arrive in random order.
//!
//! The bounds are those of a Brownian motion: the test's normal statistic at the share `t` of the samples, times
//! `sqrt(t)`.
//!
//! **Red** stops by O'Brien and Fleming's bound: the motion is beyond the same `c` at any analysis. So the last
//! analysis is hardly stricter than a test without early stopping, and the first stops for disasters only. The third is
//! never red: it would save little, and each chance of red makes the last one stricter (with few single answers the
//! test has few p near alpha, and losing one of them, 0.046, costs 5 points of power).
//!
//! **Green** stops if red has become unlikely, in two ways. First, the motion is so far below the line from 0 to `c`
//! that, whatever the true drop, at most 3 % of all runs are that low now and still red at the end. Second, the fewest
//! broken samples that would turn it red now are so many that, had just these been broken from the start, hardly ever
//! would all of them come after this analysis (at most 6.5 %): with few samples and several answers to each, two broken
//! ones are enough, and their absence so far is no evidence. The first condition uses mid-p, which is one half rather
//! than 1 as long as nothing differs.
//!
//! **Green is binding**: `c` is such that red at any analysis *before green* has the probability alpha if nothing
//! changed (never below the bound without early stopping). So a gate that was green stays green, whatever comes later;
//! continuing nevertheless gives red in 5.4 % instead of 5.
//!
//! Simulated at alpha 5 % for five agents, 1 + 1, 5 + 5, 5 + 1 and 1 + 5 answers and drops of 3 to 20 points, 4,000
//! draws each; the worst case, and the mean over agents and answers:
//!
//! | samples | red unchanged | power lost | saved unchanged | saved at 20 points |
//! |---|---|---|---|---|
//! | 40 | 4.4 % | 3.5 points | 34 % | 31 % |
//! | 165 | 4.8 % | 3.9 points | 37 % | 51 % |
//! | 466 | 4.9 % | 3.6 points | 39 % | 55 % |
//!
//! The means hide that 40 samples with single answers save 12 % at 20 points, and that an agent that never flips saves
//! 55 % unchanged with single answers, 25 % with 5 + 1, and nothing with 5 + 5, where one broken sample is red. At
//! alpha 1 % (2,000 draws) up to 5.3 points of power are lost for 42 to 46 % saved unchanged; 40 samples save 23 % at
//! 20 points.
//!
//! Sources: P. C. O'Brien and T. R. Fleming, *A multiple testing procedure for clinical trials*, Biometrics 35 (1979);
//! the integral P. Armitage, C. K. `McPherson` and B. C. Rowe, *Repeated significance tests on accumulating data*, JRSS
//! A 132 (1969); binding bounds for green S. Pampallona and A. A. Tsiatis, *Group sequential designs for one-sided and
//! two-sided hypothesis testing with provision for early stopping in favor of the null hypothesis*, Journal of
//! Statistical Planning and Inference 42 (1994).

use super::CountedSamples;
use super::conditional::{AnswerCounts, ComparedSample, Tested, conditional_test_of};
use crate::stats::distribution::normal;
use crate::stats::root;

/// The number of interim analyses, including the last.
pub(crate) const ANALYSES: usize = 4;

/// All analyses but the last.
const INTERIM: [Interim; ANALYSES - 1] = [
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

/// Number of points at which the density is evaluated; the number of intervals between them is even.
const PLACES: u32 = 81;

struct Interim {
    /// The share of the samples that are finished, in twentieths.
    twentieths: u32,
    /// Whether it may be red.
    red: bool,
    /// Green only this far below the line from 0 to the bound.
    below_line: f64,
    /// Green only if this many more broken samples would not make it red.
    broken: u32,
}

/// One interim analysis of all samples so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StoppingBounds {
    /// The share of finished samples, above 0 and up to 1.
    pub share: f64,
    /// Red below this p; 0 at an analysis that is never red.
    pub red: f64,
    /// Green above this mid-p; at the last analysis, whenever it is not red.
    pub green: f64,
    /// Green only if this many more broken samples would not bring p below `last`.
    broken: u32,
    /// [`StoppingBounds::red`] of the last analysis.
    last: f64,
}

/// The decision of an interim analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The agent is worse.
    Red,
    /// The agent is not worse, or that can no longer be shown. Binding, whatever later analyses find.
    Green,
    /// More samples are needed.
    Open,
}

impl StoppingBounds {
    /// Decides by the test result of these samples (also one of [`whole_runs_test`](crate::stats::whole_runs_test)).
    pub(crate) fn decide(&self, tested: &Tested, samples: &CountedSamples) -> Decision {
        if tested.p < self.red {
            Decision::Red
        } else if self.share >= 1.0 || (tested.mid_p > self.green && self.is_far_off(samples)) {
            Decision::Green
        } else {
            Decision::Open
        }
    }

    /// Whether `broken` more broken samples, each with the most answers of any sample, would not make the last analysis
    /// red.
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

/// The analyses whose joint probability of red is at most `alpha` (above 0, below 0.5) if nothing changed.
pub(crate) fn stopping_bounds(alpha: f64) -> Vec<StoppingBounds> {
    let without = -normal::percentile(alpha);
    // Never less strict than a single test, never stricter than Bonferroni's.
    let bound = root(without, without + 3.0, |bound| alpha - ever_red(bound));
    let last = normal::below(-bound).min(alpha);
    let at = |interim: &Interim| {
        let share = interim.share();
        let p = |motion: f64| normal::below(-motion / share.sqrt());
        StoppingBounds {
            share,
            red: if interim.red { p(bound) } else { 0.0 },
            green: p(bound * share - interim.below_line),
            broken: interim.broken,
            last,
        }
    };
    let mut stopping_bounds: Vec<StoppingBounds> = INTERIM.iter().map(at).collect();
    stopping_bounds.push(StoppingBounds {
        share: 1.0,
        red: last,
        green: last,
        broken: 0,
        last,
    });
    stopping_bounds
}

/// The repeated p: the p at an analysis (the first is 0), adjusted for all of them. It is the smallest alpha at which
/// this analysis would be red, so it is below alpha exactly if p is below [`StoppingBounds::red`] (alpha below 0.5); adjustments
/// for several tests use it. 1 at an analysis that is never red.
///
/// The smallest of the analyses so far counts, up to the one that was green: red stays red.
///
/// Source: C. Jennison and B. W. Turnbull, *Repeated confidence intervals for group sequential clinical trials*,
/// Controlled Clinical Trials 5 (1984).
pub(crate) fn repeated_p(p: f64, analysis: usize) -> f64 {
    let share = INTERIM.get(analysis).map_or(1.0, Interim::share);
    if p <= 0.0 || p >= 1.0 || INTERIM.get(analysis).is_some_and(|analysis| !analysis.red) {
        return if p <= 0.0 { 0.0 } else { 1.0 };
    }
    let bound = (-normal::percentile(p) * share.sqrt()).max(0.0);
    ever_red(bound).max(normal::below(-bound)).max(p)
}

/// The probability that a Brownian motion exceeds `bound` at an analysis that may be red, before a green one stopped
/// it.
fn ever_red(bound: f64) -> f64 {
    // Its position with the probability; at first certainly 0.
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
            // Higher values are negligible.
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

/// The probability of exceeding `bound` after a step with this standard deviation.
fn leaves(within: &[(f64, f64)], bound: f64, deviation: f64) -> f64 {
    let leave = |(from, mass): &(f64, f64)| mass * normal::below((from - bound) / deviation);
    within.iter().map(leave).sum()
}

/// The number of `samples` after which each analysis takes place, rounded up; the last after all. With few samples two
/// analyses may coincide; the later one then decides, too.
pub(crate) fn analysis_points(samples: u64) -> [u64; ANALYSES] {
    let mut places = [samples; ANALYSES];
    for (place, interim) in places.iter_mut().zip(&INTERIM) {
        *place = (samples * u64::from(interim.twentieths)).div_ceil(20);
    }
    places
}

#[cfg(test)]
mod tests;
