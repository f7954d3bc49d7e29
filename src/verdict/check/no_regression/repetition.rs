//! `Repetition`: whether the epochs of a run repeat each other, so that they are one answer and not several.
//!
//! A model at temperature 0, one with a fixed seed or a cache gives the same answer in all epochs of a run, and perhaps
//! another one in the next run. The tests take the answers to a sample to be independent, and would be red for such an
//! agent in 15 to 30 % of unchanged runs.
//!
//! **The rule.** Two answers to a sample in one run differ as often as two answers in different runs if epochs are
//! independent, whatever the sample's rate, and more rarely if they repeat each other. Samples that broke also differ
//! between the runs, but only from right to wrong: between baseline and now, twice the rarer of the two directions is
//! counted, as much as there is in both if nothing changed. Epochs count as one if answers differ three
//! times as often between runs as within them, or never within them.
//!
//! Simulated with 40 samples and 5 + 5 answers, alpha 0.05, 2,000 pairs of runs for each number. Unchanged agents whose
//! epochs repeat are red in 0 to 4 %, and in up to 7 % if 5 % of the samples do not repeat in a run. Of agents with
//! independent epochs and 1, 2, 4 or 12 flaky samples, 3 broken ones are seen in 95, 99, 98 and 76 %; all answers
//! together see 100, 100, 98 and 76 %. A rule that counts samples (those that differ within a run against those that
//! differ only between runs) sees 0, 5, 97 and 75 %, as broken samples look like repeating ones to it.

use crate::stats;
use crate::verdict::baseline::right_of;

/// How many times as often answers differ between runs as within them where epochs count as one.
const TIMES: f64 = 3.0;

/// How often two answers to a sample differ, summed over samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Repetition {
    within: stats::Sum,
    /// Between runs of the baseline.
    between: stats::Sum,
    /// Between the baseline and now: from right to wrong, and from wrong to right.
    turned: [stats::Sum; 2],
}

impl Repetition {
    /// Adds a sample with its answers in each run of the baseline, and now. One without two answers in a run, or
    /// without an answer on one side, shows nothing.
    pub(super) fn add(&mut self, before: &[&[Option<bool>]], now: &[Option<bool>]) {
        let shares = |answers: &&[Option<bool>]| {
            let answers = right_of(answers);
            let of = f64::from(answers.of);
            (answers.of > 0).then(|| (f64::from(answers.right) / of, of))
        };
        let before: Vec<_> = before.iter().filter_map(shares).collect();
        let Some(now) = shares(&now).filter(|_| !before.is_empty()) else {
            return;
        };
        let mut within = stats::Sum::default();
        for (right, of) in before.iter().chain([&now]).filter(|(_, of)| *of > 1.5) {
            within.add(2.0 * right * (1.0 - right) * of / (of - 1.0));
        }
        let Some(within) = within.mean() else {
            return;
        };
        let [mut between, mut fell, mut rose] = [0.0; 3];
        for (place, (right, _)) in before.iter().enumerate() {
            for (other, _) in &before[..place] {
                between += right * (1.0 - other) + other * (1.0 - right);
            }
            fell += right * (1.0 - now.0);
            rose += (1.0 - right) * now.0;
        }
        self.add_shares(before.len(), within, [between, fell, rose]);
    }

    /// The same for values of any kind, such as tokens.
    pub(crate) fn add_values<T: PartialOrd>(&mut self, before: &[&[T]], now: &[T]) {
        let before: Vec<_> = before.iter().filter(|run| !run.is_empty()).collect();
        if now.is_empty() || before.is_empty() {
            return;
        }
        let pairs_in = |run: &[T]| {
            let mut differ = stats::Sum::default();
            for (place, one) in run.iter().enumerate() {
                for other in &run[..place] {
                    differ.add(f64::from(u8::from(one != other)));
                }
            }
            differ.mean()
        };
        let mut within = stats::Sum::default();
        for run in before.iter().map(|run| **run).chain([now]) {
            if let Some(share) = pairs_in(run) {
                within.add(share);
            }
        }
        let Some(within) = within.mean() else {
            return;
        };
        let share = |one: &[T], other: &[T], is: fn(&T, &T) -> bool| {
            let pairs = one
                .iter()
                .flat_map(|one| other.iter().map(move |other| is(one, other)));
            let shares: Vec<f64> = pairs.map(|is| f64::from(u8::from(is))).collect();
            stats::mean(&shares).unwrap_or_default()
        };
        let [mut between, mut fell, mut rose] = [0.0; 3];
        for (place, run) in before.iter().enumerate() {
            for other in &before[..place] {
                between += share(run, other, |one, other| one != other);
            }
            fell += share(run, now, |then, now| then > now);
            rose += share(run, now, |then, now| then < now);
        }
        self.add_shares(before.len(), within, [between, fell, rose]);
    }

    /// Adds how often answers to a sample differ, summed over the pairs of so many runs of the baseline and of now.
    fn add_shares(&mut self, runs: usize, within: f64, [between, fell, rose]: [f64; 3]) {
        let runs = stats::as_f64(runs as u64);
        let pairs = runs * (runs + 1.0) / 2.0;
        self.within.add(within);
        self.between.add(between / pairs);
        self.turned[0].add(fell / pairs);
        self.turned[1].add(rose / pairs);
    }

    /// How often two answers to a sample differ within runs and between them; `None` if no run has several.
    fn shares(&self) -> Option<[f64; 2]> {
        let [fell, rose] = [self.turned[0].mean()?, self.turned[1].mean()?];
        let between = self.between.mean()? + 2.0 * fell.min(rose);
        Some([self.within.mean()?, between])
    }

    /// Whether the epochs of a run are one answer.
    pub(crate) fn counts_as_one(&self) -> bool {
        // Shares are rounded.
        let is_one = |[within, between]: [f64; 2]| TIMES * within <= between + 1e-9;
        self.shares().is_some_and(is_one)
    }

    /// Why epochs count as one.
    pub(crate) fn message(&self) -> String {
        let [within, between] = self.shares().unwrap_or_default();
        let percent = |share: f64| (share * 1e3).round() / 10.0;
        if within > 0.0 {
            format!(
                "two answers to a sample differ in {} % of cases within a run and in {} % between runs, so epochs repeat \
                 each other (as at temperature 0), and only the first of each run is tested",
                percent(within),
                percent(between)
            )
        } else {
            "all answers to a sample within a run are the same (as at temperature 0), so only the first of each run is \
             tested"
                .to_owned()
        }
    }
}

/// The answers of each run. All are of one run if the numbers of epochs are not those of the answers.
pub(crate) fn runs_of<'a, T>(mut answers: &'a [T], epochs: &[u32]) -> Vec<&'a [T]> {
    let all: u64 = epochs.iter().map(|epochs| u64::from(*epochs)).sum();
    if all != answers.len() as u64 {
        return vec![answers];
    }
    let mut runs = Vec::with_capacity(epochs.len());
    for epochs in epochs {
        let (run, rest) = answers.split_at(*epochs as usize);
        runs.push(run);
        answers = rest;
    }
    runs
}

/// The first answer of each run that has a verdict.
pub(super) fn first_of(runs: &[&[Option<bool>]]) -> Vec<Option<bool>> {
    let first = |run: &&[Option<bool>]| run.iter().flatten().next().copied();
    runs.iter().map(first).collect()
}
