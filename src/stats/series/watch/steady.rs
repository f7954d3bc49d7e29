//! `SteadyFalls`: the threshold of the Mann-Kendall test when the windows of many analyses overlap.

use super::{RUNS, SERIES};
use crate::stats::series::mann_kendall;
use crate::stats::{SplitMix64, as_f64};

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
            if *drawn < super::DRAWN {
                (single * all).min(super::DRAWN)
            } else {
                drawn.min(single * all)
            }
        });
        let ever = ever.collect();
        Some(Self { single, ever })
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
