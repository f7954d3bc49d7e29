//! `EpochFigures`: figures over several answers to each sample.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::stats::{self, Clusters, Sum};
use crate::verdict::poll::Poll;

/// Figures over several answers to each sample. Samples for which no verdict is expected are excluded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EpochFigures {
    /// Answers per sample.
    pub epochs: u32,
    /// Samples, each counted once; without those that were not needed.
    pub samples: u64,
    /// Samples with a verdict in at least one epoch.
    pub scored: u64,
    /// Samples whose verdict is missing in at least one epoch: it errored or was never asked.
    pub incomplete: u64,
    /// The standard error of the accuracy, clustered by sample; `null` with fewer than two samples.
    pub standard_error: Option<f64>,
    /// pass@k: the probability that at least one of k answers is correct, by k.
    pub pass_at: BTreeMap<u32, Estimate>,
    /// pass^k: the probability that all of k answers are correct, by k.
    pub pass_hat: BTreeMap<u32, Estimate>,
    /// The most frequent answer, over the samples with a verdict.
    pub majority: Majority,
    /// Samples that are correct in some epochs and wrong in others.
    pub flaky: u64,
    /// The probability (0 to 1) that two answers to the same sample get different verdicts: the mean over the samples
    /// with at least two verdicts.
    pub disagreement: Option<f64>,
}

/// A mean over samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The mean over the samples with at least k verdicts; `null` without any.
    pub value: Option<f64>,
    /// Number of these samples.
    pub samples: u64,
    /// The standard error of the mean; `null` with fewer than two samples.
    pub standard_error: Option<f64>,
    /// The value with all missing verdicts as wrong.
    pub low: Option<f64>,
    /// The value with all missing verdicts as correct.
    pub high: Option<f64>,
}

/// How often the most frequent answer is correct.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Majority {
    /// Samples whose majority is correct.
    pub correct: u64,
    /// correct / samples with a verdict, 0 to 1; `null` without any.
    pub accuracy: Option<f64>,
    /// Its 95 % Wilson interval `[low, high]`.
    pub accuracy_ci95: Option<[f64; 2]>,
    /// The share of all samples with missing verdicts as wrong.
    pub low: Option<f64>,
    /// The same with missing verdicts as correct.
    pub high: Option<f64>,
}

/// A sample that is correct in some epochs and wrong in others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Flaky {
    /// The sample's id.
    pub sample_id: String,
    /// Epochs with a verdict.
    pub scored: u64,
    /// Epochs that are correct.
    pub correct: u64,
    /// The number of distinct answers.
    pub answers: u64,
}

impl EpochFigures {
    /// Excludes samples that were never asked, with `skipped` answers in total: epochs of a sample are asked together.
    pub(super) fn leave_out(&mut self, skipped: u64) {
        let missing = skipped / u64::from(self.epochs.max(1));
        let before = stats::as_f64(self.samples);
        self.samples = self.samples.saturating_sub(missing);
        self.incomplete = self.incomplete.saturating_sub(missing);
        let (missing, now) = (stats::as_f64(missing), stats::as_f64(self.samples));
        // Each counts as 0 in the low ends, and as 1 in the high ends.
        let narrow = |value: Option<f64>, low: &mut Option<f64>, high: &mut Option<f64>| {
            if self.incomplete == 0 || self.samples == 0 {
                (*low, *high) = (value, value);
                return;
            }
            *low = low.map(|low| (low * before / now).min(1.0));
            *high = high.map(|high| ((high * before - missing) / now).clamp(0.0, 1.0));
        };
        for estimate in self.pass_at.values_mut().chain(self.pass_hat.values_mut()) {
            narrow(estimate.value, &mut estimate.low, &mut estimate.high);
        }
        let majority = &mut self.majority;
        narrow(majority.accuracy, &mut majority.low, &mut majority.high);
    }
}

/// Running sums over samples.
#[derive(Clone, Debug)]
pub(super) struct EpochTally {
    epochs: u32,
    samples: u64,
    scored: u64,
    incomplete: u64,
    clusters: Clusters,
    pass_at: Vec<Sums>,
    pass_hat: Vec<Sums>,
    /// Correct majorities: by the existing verdicts, at least, at most.
    majority: [u64; 3],
    flaky: u64,
    disagreement: Sum,
}

/// The sums behind an [`Estimate`].
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    values: Sum,
    squares: Sum,
    low: Sum,
    high: Sum,
}

impl EpochTally {
    pub(super) fn new(epochs: u32) -> Self {
        Self {
            epochs,
            samples: 0,
            scored: 0,
            incomplete: 0,
            clusters: Clusters::default(),
            pass_at: vec![Sums::default(); epochs as usize],
            pass_hat: vec![Sums::default(); epochs as usize],
            majority: [0; 3],
            flaky: 0,
            disagreement: Sum::default(),
        }
    }

    /// Adds a sample.
    pub(super) fn add(&mut self, poll: &Poll) {
        let (n, c, unknown) = (poll.scored(), poll.correct(), poll.unknown());
        if n + unknown == 0 {
            return;
        }
        self.samples += 1;
        self.scored += u64::from(n > 0);
        self.incomplete += u64::from(unknown > 0);
        self.clusters.add(c, n);
        for (k, (at, hat)) in (1..).zip(self.pass_at.iter_mut().zip(&mut self.pass_hat)) {
            at.add(|more| stats::pass_at(n + more.0, c + more.1, k), unknown);
            hat.add(|more| stats::pass_hat(n + more.0, c + more.1, k), unknown);
        }
        let (low, high) = poll.extremes();
        let verdicts = [poll.majority() == Some(true), low, high];
        for (count, correct) in self.majority.iter_mut().zip(verdicts) {
            *count += u64::from(correct);
        }
        self.flaky += u64::from(poll.is_flaky());
        if n > 1 {
            let pairs = stats::as_f64(n * (n - 1));
            self.disagreement
                .add(2.0 * stats::as_f64(c * (n - c)) / pairs);
        }
    }

    /// Adds samples without any known verdict.
    pub(super) fn add_unknown(&mut self, samples: u64) {
        let mut blank = Poll::default();
        blank.miss(u64::from(self.epochs));
        (0..samples).for_each(|_| self.add(&blank));
    }

    /// The interval of the accuracy, clustered by sample.
    pub(super) fn interval95(&self) -> Option<[f64; 2]> {
        self.clusters.interval95()
    }

    pub(super) fn finish(self) -> EpochFigures {
        let by_k = |sums: Vec<Sums>| (1..).zip(sums.into_iter().map(Sums::finish)).collect();
        let [correct, low, high] = self.majority;
        EpochFigures {
            epochs: self.epochs,
            samples: self.samples,
            scored: self.scored,
            incomplete: self.incomplete,
            standard_error: self.clusters.standard_error(),
            pass_at: by_k(self.pass_at),
            pass_hat: by_k(self.pass_hat),
            majority: Majority {
                correct,
                accuracy: stats::ratio(correct, self.scored),
                accuracy_ci95: stats::wilson95(correct, self.scored),
                low: stats::ratio(low, self.samples),
                high: stats::ratio(high, self.samples),
            },
            flaky: self.flaky,
            disagreement: self.disagreement.mean(),
        }
    }
}

impl Sums {
    /// Adds a sample; `of` gets the numbers of further answers and of correct ones among them.
    fn add(&mut self, of: impl Fn((u64, u64)) -> Option<f64>, unknown: u64) {
        if let Some(value) = of((0, 0)) {
            self.values.add(value);
            self.squares.add(value * value);
        }
        if let Some(low) = of((unknown, 0)) {
            self.low.add(low);
        }
        if let Some(high) = of((unknown, unknown)) {
            self.high.add(high);
        }
    }

    fn finish(self) -> Estimate {
        let samples = self.values.count();
        let n = stats::as_f64(samples);
        let value = self.values.mean();
        let spread = value.zip(self.squares.mean()).filter(|_| samples > 1);
        let variance = spread.map(|(mean, squares)| (squares - mean * mean).max(0.0));
        Estimate {
            value,
            samples,
            standard_error: variance.map(|variance| (variance / (n - 1.0)).sqrt()),
            low: self.low.mean(),
            high: self.high.mean(),
        }
    }
}
