//! Looking again and again whether an agent got worse: how small a p must be at a look, so that all looks together raise
//! no more than alpha false alarms.
//!
//! An *era* is a number of looks, one a run. At each, the pooled answers of the last run, of the last two and of the last
//! five of the era, or all while there are only three or four, are compared with a reference ([`windows`]). Five runs show
//! what a single one leaves open; a single one shows a disaster at once, for which a tenth of the p is enough, and two
//! three tenths. The looks hang together, for windows overlap and have the reference in common, so that to divide alpha
//! by their number would be much too strict. In sums of many answers the statistics of all windows are jointly normal,
//! with correlations that depend on the design alone, not on the agent: on the number of looks and on how many answers
//! the reference has for one of a run. So the threshold is found once, from series that are drawn from this law with a
//! fixed seed, and it is one p for all looks of the era.
//!
//! What the reference is decides what can be seen. **A baseline** is drawn once, and its luck stays for the era: a lucky
//! one makes an alarm more likely, an unlucky one less. The chance of alpha is that over baselines and runs together.
//! **The five runs before the window** move along: they forget a slow fall, and have no luck that stays.
//!
//! A lasting fall of `d` standard deviations of a run is seen within five looks in so many of 100 eras of 30 looks, and at
//! the first look (in parentheses), by the law; 2.65 is a fall of 10 points in 165 answers of which each is right with
//! 0.62, and 4.69 the same where 30 % of the samples are a coin's toss and the others certain:
//!
//! | reference | p needed, alpha 5 % | d = 2.65 | d = 4.69 | p needed, alpha 1.67 % | d = 2.65 | d = 4.69 |
//! |---|---|---|---|---|---|---|
//! | baseline of one run | 0.0097 | 59 (11) | 98 (58) | 0.0025 | 41 (6) | 95 (42) |
//! | of two | 0.0060 | 79 (14) | 100 (72) | 0.0016 | 63 (8) | 100 (58) |
//! | of three | 0.0046 | 88 (15) | 100 (77) | 0.0012 | 77 (9) | 100 (65) |
//! | of five | 0.0034 | 94 (17) | 100 (81) | 0.0010 | 88 (10) | 100 (71) |
//! | the five runs before | 0.0018 | 92 (12) | 100 (76) | 0.0005 | 85 (7) | 100 (66) |
//!
//! That a baseline of one run is not enough for 2.65 is no matter of the looks: a single comparison of five runs with it,
//! at alpha 5 %, would see 78 of 100. With windows of equal weight 51 of 100 are seen.
//!
//! The draws are 10,000 for up to 30 looks, so that alpha is met within a twentieth of itself. Below [`DRAWN`] the number
//! of independent looks that they are worth there is taken on.

mod steady;

pub(crate) use steady::SteadyFalls;

use std::f64::consts::PI;

use crate::stats::distribution::normal;
use crate::stats::{SplitMix64, as_f64};

/// The most runs that are pooled at a look.
pub(crate) const LONGEST: usize = 5;

/// Which part of the threshold is enough for a window of so many runs, from 1.
const PARTS: [f64; LONGEST] = [0.1, 0.3, 1.0, 1.0, 1.0];

/// So many runs are the reference that moves along.
pub(crate) const MOVING: usize = 5;

/// Smaller chances are not drawn, but taken on from here.
const DRAWN: f64 = 0.01;

/// So many runs are drawn in all, and at most so many series.
const RUNS: usize = 300_000;
const SERIES: usize = 10_000;

/// Runs that are pooled at a look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LookWindow {
    /// How many: the last ones.
    pub(crate) runs: usize,
    /// Which part of the threshold its p must be below.
    pub(crate) part: f64,
}

/// The windows at a look of an era, the first look being 1.
pub(crate) fn windows(look: usize) -> impl Iterator<Item = LookWindow> {
    let longest = look.min(LONGEST);
    let all = PARTS.into_iter().zip(1..=longest);
    let all = all.filter(move |(_, runs)| *runs <= 2 || *runs == longest);
    all.map(|(part, runs)| LookWindow { runs, part })
}

/// How far below the truth the lowest mean of a window was, in each series, for windows of each number of runs.
#[derive(Clone, Debug)]
pub(crate) struct FixedReference {
    lowest: Vec<[f64; LONGEST]>,
}

/// The smallest p of any window beside the runs before it, by its part, in each series, in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct MovingReference {
    smallest: Vec<f64>,
}

impl FixedReference {
    /// For eras of so many looks.
    pub(crate) fn new(looks: usize) -> Self {
        let lowest = drawn(looks, |runs| {
            let mut lowest = [f64::INFINITY; LONGEST];
            for look in 1..=runs.len() {
                for window in windows(look) {
                    let at = &mut lowest[window.runs - 1];
                    *at = at.min(mean(&runs[look - window.runs..look]));
                }
            }
            lowest
        });
        Self { lowest }
    }

    /// What a window's p must be below, times its part, so that one in `alpha` of all eras has any such; `answers` is how
    /// many the reference has for one of a run.
    pub(crate) fn threshold(&self, alpha: f64, answers: f64) -> f64 {
        let at = |alpha: f64| {
            // By its logarithm; each step halves what is open.
            let (mut low, mut high) = (alpha.ln() - 8.0, alpha.ln());
            for _ in 0..16 {
                let middle = f64::midpoint(low, high);
                if self.ever(middle.exp(), answers) > alpha {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            low.exp()
        };
        taken_on(alpha, at)
    }

    /// The probability that any window is below the threshold: the reference is not drawn, but summed up.
    fn ever(&self, threshold: f64, answers: f64) -> f64 {
        let bounds = PARTS.map(|part| -normal::percentile(threshold * part));
        let mut needed = [0.0; LONGEST];
        for ((needed, bound), runs) in needed.iter_mut().zip(bounds).zip(1..) {
            *needed = bound * (1.0 / answers + 1.0 / f64::from(runs)).sqrt();
        }
        let ever = |lowest: &[f64; LONGEST]| {
            let least = lowest.iter().zip(needed);
            let least = least.map(|(lowest, needed)| lowest + needed);
            normal::below(-least.fold(f64::INFINITY, f64::min) * answers.sqrt())
        };
        self.lowest.iter().map(ever).sum::<f64>() / as_f64(self.lowest.len() as u64)
    }
}

impl MovingReference {
    /// For eras of so many looks.
    pub(crate) fn new(looks: usize) -> Self {
        let mut smallest = drawn(looks + MOVING, |runs| {
            let mut farthest = [f64::NEG_INFINITY; LONGEST];
            for look in 1..=looks {
                for window in windows(look) {
                    // No window reaches back beyond the era, the runs before it may.
                    let end = look + MOVING;
                    let (before, now) = runs[end - window.runs - MOVING..end].split_at(MOVING);
                    let at = &mut farthest[window.runs - 1];
                    *at = at.max(mean(before) - mean(now));
                }
            }
            let all = farthest.into_iter().zip(PARTS).zip(1..);
            let all = all.map(|((fallen, part), runs)| {
                let deviation = (1.0 / as_f64(MOVING as u64) + 1.0 / f64::from(runs)).sqrt();
                normal::below(-fallen / deviation) / part
            });
            all.fold(f64::INFINITY, f64::min)
        });
        smallest.sort_by(f64::total_cmp);
        Self { smallest }
    }

    /// What a window's p must be below, times its part, so that one in `alpha` of all eras has any such.
    pub(crate) fn threshold(&self, alpha: f64) -> f64 {
        taken_on(alpha, |alpha| {
            crate::stats::percentile(&self.smallest, 100.0 * alpha).unwrap_or_default()
        })
    }
}

/// The threshold of a chance that is too small to be drawn: as many independent looks are behind it as behind one that is not.
fn taken_on(alpha: f64, at: impl Fn(f64) -> f64) -> f64 {
    let drawn = alpha.max(DRAWN);
    at(drawn).min(drawn) * (alpha / drawn)
}

/// Something of each of many series of runs of an agent that does not change, each a standard normal number.
fn drawn<T>(runs: usize, of: impl Fn(&[f64]) -> T) -> Vec<T> {
    let mut normals = Normals::new();
    let mut series = vec![0.0; runs.max(1)];
    let count = (RUNS / series.len()).clamp(1, SERIES);
    let one = |_| {
        series.fill_with(|| normals.next());
        of(&series)
    };
    (0..count).map(one).collect()
}

fn mean(runs: &[f64]) -> f64 {
    runs.iter().sum::<f64>() / as_f64(runs.len() as u64)
}

/// Standard normal numbers. Source: G. E. P. Box and M. E. Muller, *A note on the generation of random normal deviates*,
/// Annals of Mathematical Statistics 29 (1958).
struct Normals {
    random: SplitMix64,
    spare: Option<f64>,
}

impl Normals {
    fn new() -> Self {
        Self {
            random: SplitMix64(20_261_123),
            spare: None,
        }
    }

    fn next(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // Above 0, for the logarithm.
        let radius = (-2.0 * (1.0 - self.random.share()).ln()).sqrt();
        let (sine, cosine) = (2.0 * PI * self.random.share()).sin_cos();
        self.spare = Some(radius * sine);
        radius * cosine
    }
}

#[cfg(test)]
mod tests;
