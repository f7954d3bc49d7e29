//! Repeated tests whether an agent got worse: how small p must be at an interim analysis, so that all analyses together
//! raise no more than alpha false alarms.
//!
//! An *era* is a number of analyses, one per run. At each, the pooled answers of the last run, of the last two and of
//! the last five of the era, or all while there are only three or four, are compared with a reference ([`windows`]).
//! Five runs show what a single one leaves undecided; a single one shows a disaster at once, for which p must be below
//! a tenth of the threshold, and for two below three tenths. The analyses are correlated, as windows overlap and share
//! the reference, so dividing alpha by their number would be much too strict. In sums of many answers the statistics of
//! all windows are jointly normal, with correlations that depend on the design alone, not on the agent: on the number
//! of analyses, and on how many answers the reference has for one of a run. So the threshold is found from series drawn
//! from this law with a fixed seed, and it is one p for all analyses of the era.
//!
//! The reference decides what can be detected. **A baseline** is drawn once, and its luck persists for the era: a lucky
//! one makes an alarm more likely, an unlucky one less. Alpha is the probability over baselines and runs together.
//! **The five runs before the window** move along: they forget a slow fall, and have no persistent luck.
//!
//! The table has how many of 100 eras of 30 analyses detect a lasting fall of `d` standard deviations of a run within
//! five analyses, and at the first one (in parentheses), by the law. 2.65 is a fall of 10 points in 165 answers, each
//! right with probability 0.62; 4.69 is the same if 30 % of the samples are coin tosses and the others certain:
//!
//! | reference | p needed, alpha 5 % | d = 2.65 | d = 4.69 | p needed, alpha 1.67 % | d = 2.65 | d = 4.69 |
//! |---|---|---|---|---|---|---|
//! | baseline of one run | 0.0097 | 59 (11) | 98 (58) | 0.0025 | 41 (6) | 95 (42) |
//! | of two | 0.0060 | 79 (14) | 100 (72) | 0.0016 | 63 (8) | 100 (58) |
//! | of three | 0.0046 | 88 (15) | 100 (77) | 0.0012 | 77 (9) | 100 (65) |
//! | of five | 0.0034 | 94 (17) | 100 (81) | 0.0010 | 88 (10) | 100 (71) |
//! | the five runs before | 0.0018 | 92 (12) | 100 (76) | 0.0005 | 85 (7) | 100 (66) |
//!
//! That a baseline of one run is not enough for 2.65 is not due to the repetition: a single comparison of five runs
//! with it, at alpha 5 %, would detect 78 of 100. With windows of equal weight 51 of 100 are detected.
//!
//! There are 10,000 draws for up to 30 analyses, so that alpha is accurate to a twentieth of itself. Below [`DRAWN`],
//! the threshold is extrapolated with the number of independent analyses that is equivalent there.

use std::f64::consts::PI;

use crate::stats::distribution::normal;
use crate::stats::series::mann_kendall;
use crate::stats::{SplitMix64, as_f64};

/// The most runs pooled at an analysis.
pub(crate) const LONGEST: usize = 5;

/// The part of the threshold that applies to a window of this many runs, from 1.
const PARTS: [f64; LONGEST] = [0.1, 0.3, 1.0, 1.0, 1.0];

/// The number of runs of a moving reference.
pub(crate) const MOVING: usize = 5;

/// Smaller probabilities are extrapolated instead of drawn.
const DRAWN: f64 = 0.01;

/// The most runs drawn in all, and the most series.
const RUNS: usize = 300_000;
const SERIES: usize = 10_000;

/// Runs pooled at an analysis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AnalysisWindow {
    /// The number of runs, counted from the last.
    pub(crate) runs: usize,
    /// The part of the threshold that its p must be below.
    pub(crate) part: f64,
}

/// The windows at an analysis of an era, the first being 1.
pub(crate) fn windows(analysis: usize) -> impl Iterator<Item = AnalysisWindow> {
    let longest = analysis.min(LONGEST);
    let all = PARTS.into_iter().zip(1..=longest);
    let all = all.filter(move |(_, runs)| *runs <= 2 || *runs == longest);
    all.map(|(part, runs)| AnalysisWindow { runs, part })
}

/// The lowest mean of any window in each series, relative to the truth, for each number of runs.
#[derive(Clone, Debug)]
pub(crate) struct FixedReference {
    lowest: Vec<[f64; LONGEST]>,
}

/// The smallest p of any window against the runs before it, over its part, in each series, ascending.
#[derive(Clone, Debug)]
pub(crate) struct MovingReference {
    smallest: Vec<f64>,
}

impl FixedReference {
    /// For eras of `analyses` analyses.
    pub(crate) fn new(analyses: usize) -> Self {
        let lowest = drawn(analyses, |runs| {
            let mut lowest = [f64::INFINITY; LONGEST];
            for analysis in 1..=runs.len() {
                for window in windows(analysis) {
                    let at = &mut lowest[window.runs - 1];
                    *at = at.min(mean(&runs[analysis - window.runs..analysis]));
                }
            }
            lowest
        });
        Self { lowest }
    }

    /// The threshold, to be multiplied by a window's part, for p: an unchanged agent has a p below it in a share
    /// `alpha` of all eras. `answers` is how many answers the reference has for one of a run.
    pub(crate) fn threshold(&self, alpha: f64, answers: f64) -> f64 {
        let at = |alpha: f64| {
            // Bisects the logarithm.
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

    /// The probability that any window is below the threshold; the reference is integrated, not drawn.
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
    /// For eras of `analyses` analyses.
    pub(crate) fn new(analyses: usize) -> Self {
        let mut smallest = drawn(analyses + MOVING, |runs| {
            let mut farthest = [f64::NEG_INFINITY; LONGEST];
            for analysis in 1..=analyses {
                for window in windows(analysis) {
                    // Windows do not reach back beyond the era; the runs before them may.
                    let end = analysis + MOVING;
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

    /// The threshold, to be multiplied by a window's part, for p: an unchanged agent has a p below it in a share
    /// `alpha` of all eras.
    pub(crate) fn threshold(&self, alpha: f64) -> f64 {
        taken_on(alpha, |alpha| {
            crate::stats::percentile(&self.smallest, 100.0 * alpha).unwrap_or_default()
        })
    }
}

/// The threshold for a probability too small to draw, extrapolated with the equivalent number of independent analyses.
fn taken_on(alpha: f64, at: impl Fn(f64) -> f64) -> f64 {
    let drawn = alpha.max(DRAWN);
    at(drawn).min(drawn) * (alpha / drawn)
}

/// A statistic of each of many series of runs of an unchanged agent, each run a standard normal number.
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
        // Positive, for the logarithm.
        let radius = (-2.0 * (1.0 - self.random.share()).ln()).sqrt();
        let (sine, cosine) = (2.0 * PI * self.random.share()).sin_cos();
        self.spare = Some(radius * sine);
        radius * cosine
    }
}

/// The distribution by chance of falling pairs in the last runs, over all analyses of an era.
#[derive(Clone, Debug)]
pub(crate) struct SteadyFalls {
    /// The probability of at least this many falling pairs at a single analysis.
    single: Vec<f64>,
    /// The same at any analysis of an era.
    ever: Vec<f64>,
}

impl SteadyFalls {
    /// For windows of `runs` runs in eras of `analyses` analyses; `None` if no window fits.
    pub(crate) fn new(runs: usize, analyses: usize) -> Option<Self> {
        let windows = (analyses + 1)
            .checked_sub(runs)
            .filter(|count| *count > 0)?;
        let single = at_least(mann_kendall::law_of_inversions(&vec![1; runs]));
        let mut most = vec![0_u64; single.len()];
        let mut random = SplitMix64(20_261_124);
        let mut series = vec![0; analyses];
        let count = (RUNS / analyses).clamp(1, SERIES);
        for _ in 0..count {
            series.fill_with(|| random.next());
            most[most_fallen(&series, runs)] += 1;
        }
        let share = |count_of: u64| as_f64(count_of) / as_f64(count as u64);
        let drawn = at_least(most.into_iter().map(share).collect());
        // Too rare to draw: bounded by the sum over all windows.
        let all = as_f64(windows as u64);
        let ever = drawn.iter().zip(&single).map(|(drawn, single)| {
            if *drawn < DRAWN {
                (single * all).min(DRAWN)
            } else {
                drawn.min(single * all)
            }
        });
        let ever = ever.collect();
        Some(Self { single, ever })
    }

    /// Whether [`Self::threshold`] has one for these windows.
    pub(crate) fn can_alarm(runs: usize, analyses: usize, alpha: f64) -> bool {
        let windows = (analyses + 1).saturating_sub(runs);
        let single = at_least(mann_kendall::law_of_inversions(&vec![1; runs]));
        // The sum over all windows often says so without draws.
        let is_rare = single
            .last()
            .is_some_and(|single| single * as_f64(windows as u64) <= alpha);
        windows > 0
            && (is_rare
                || Self::new(runs, analyses).is_some_and(|falls| falls.threshold(alpha).is_some()))
    }

    /// The largest p that raises an alarm, so that a share `alpha` of all eras has one; `None` if even a series that
    /// always falls is too likely.
    pub(crate) fn threshold(&self, alpha: f64) -> Option<f64> {
        let place = self.ever.iter().position(|ever| *ever <= alpha)?;
        self.single.get(place).copied()
    }
}

/// The most falling pairs within any window.
fn most_fallen(series: &[u64], runs: usize) -> usize {
    let (mut fallen, mut most) = (0, 0);
    for end in 1..=series.len() {
        let last = &series[end.saturating_sub(runs)..end];
        if end > runs {
            // The value that leaves the window.
            let gone = series[end - runs - 1];
            let behind = &series[end - runs..end - 1];
            fallen -= behind.iter().filter(|later| **later < gone).count();
        }
        let newest = series[end - 1];
        fallen += last.iter().filter(|earlier| **earlier > newest).count();
        if end >= runs {
            most = most.max(fallen);
        }
    }
    most
}

/// Turns the probability of each number into that of at least this number.
fn at_least(mut law: Vec<f64>) -> Vec<f64> {
    let mut sum = 0.0;
    for p in law.iter_mut().rev() {
        sum += *p;
        *p = sum;
    }
    law
}

#[cfg(test)]
mod tests;
