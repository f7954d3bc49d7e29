//! `SteadyFalls`: how small a p of the Mann-Kendall test must be where the windows of many looks overlap.

use super::{RUNS, SERIES};
use crate::stats::series::mann_kendall;
use crate::stats::{SplitMix64, as_f64};

/// What chance makes of the pairs that fall in the last runs, over all looks of an era.
#[derive(Clone, Debug)]
pub(crate) struct SteadyFalls {
    /// At a single look, the probability of so many pairs that fall, or more.
    single: Vec<f64>,
    /// At any look of an era.
    ever: Vec<f64>,
}

impl SteadyFalls {
    /// For windows of so many runs in eras of so many looks; `None` where no window fits in.
    pub(crate) fn new(runs: usize, looks: usize) -> Option<Self> {
        let windows = (looks + 1).checked_sub(runs).filter(|count| *count > 0)?;
        let single = at_least(mann_kendall::law_of_inversions(&vec![1; runs]));
        let mut most = vec![0_u64; single.len()];
        let mut random = SplitMix64(20_261_124);
        let mut series = vec![0; looks];
        let count = (RUNS / looks).clamp(1, SERIES);
        for _ in 0..count {
            series.fill_with(|| random.next());
            most[most_fallen(&series, runs)] += 1;
        }
        let share = |count_of: u64| as_f64(count_of) / as_f64(count as u64);
        let drawn = at_least(most.into_iter().map(share).collect());
        // What is too rare to be drawn is at most as likely as all windows together.
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

    /// The largest p that raises an alarm, so that one in `alpha` of all eras has any; `None` where even a series that
    /// falls at each step is too likely.
    pub(crate) fn threshold(&self, alpha: f64) -> Option<f64> {
        let place = self.ever.iter().position(|ever| *ever <= alpha)?;
        self.single.get(place).copied()
    }
}

/// The most pairs that fall within any window.
fn most_fallen(series: &[u64], runs: usize) -> usize {
    let (mut fallen, mut most) = (0, 0);
    for end in 1..=series.len() {
        let last = &series[end.saturating_sub(runs)..end];
        if end > runs {
            // The one that is left behind now.
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

/// From the probability of each number to that of it or more.
fn at_least(mut law: Vec<f64>) -> Vec<f64> {
    let mut sum = 0.0;
    for p in law.iter_mut().rev() {
        sum += *p;
        *p = sum;
    }
    law
}
