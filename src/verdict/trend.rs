//! `Trend`: the development of an eval from its history: comparable runs, changes between them, change points of the
//! accuracy.
//!
//! Runs with the same samples, scorer and tier form a [`TrendLine`]; another dataset or scorer starts a new one, as
//! figures of different questions are not comparable. A changed agent, prompt or served model stays on the line and is
//! a [`TrendMark`] there, since that is what is monitored.

mod marks;

use std::collections::HashMap;

use serde::Serialize;

pub use marks::TrendMark;

use crate::data::history::{HistoryKind, HistoryLine};
use crate::stats::{change_points, ratio};

/// The probability of finding a change in an unchanged line.
const ALPHA: f64 = 0.05;

/// The development of an eval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trend<'a> {
    /// The comparable runs, in the order in which the lines started.
    pub lines: Vec<TrendLine<'a>>,
    /// Runs and accepted baselines in order of time.
    pub entries: Vec<TrendEntry<'a>>,
}

/// Runs that can be compared with each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TrendLine<'a> {
    /// Their tier, if they have one.
    pub tier: Option<&'a str>,
    /// Hash of the questions.
    pub dataset_hash: &'a str,
    /// Hash of the scorer.
    pub scorer_hash: &'a str,
    /// Number of runs.
    pub runs: usize,
    /// The change points of their accuracy.
    pub changes: Vec<TrendChange<'a>>,
}

/// A change point of the accuracy of a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrendChange<'a> {
    /// The first run of the new level.
    pub run: &'a str,
    /// The mean accuracy of the runs before it.
    pub before: f64,
    /// The mean accuracy from there on.
    pub after: f64,
    /// The probability of a change as clean as this one if nothing changed.
    pub p: f64,
}

/// A run, or an accepted baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendEntry<'a> {
    /// Its history line.
    pub of: &'a HistoryLine,
    /// The index of its trend line.
    pub line: usize,
    /// Its accuracy minus that of the previous run on its line.
    pub delta: Option<f64>,
    /// What differs from the previous run.
    pub marks: Vec<TrendMark>,
}

impl<'a> Trend<'a> {
    /// The trend of a history, whose lines are in order of time.
    pub fn of(history: &'a [HistoryLine]) -> Self {
        let mut trend = Self::default();
        let mut places = HashMap::new();
        let mut last_of_tier: HashMap<Option<&str>, usize> = HashMap::new();
        let mut measured: Vec<Vec<(usize, f64)>> = Vec::new();
        for of in history {
            let key = of.comparable();
            let line = *places.entry(key).or_insert_with(|| {
                let (dataset_hash, scorer_hash, tier) = key;
                trend.lines.push(TrendLine {
                    tier,
                    dataset_hash,
                    scorer_hash,
                    ..TrendLine::default()
                });
                measured.push(Vec::new());
                trend.lines.len() - 1
            });
            let mut entry = TrendEntry {
                of,
                line,
                delta: None,
                marks: Vec::new(),
            };
            let place = trend.entries.len();
            if of.kind == HistoryKind::Run {
                trend.lines[line].runs += 1;
                if let Some(before) = last_of_tier.insert(key.2, place) {
                    entry.marks = marks::between(trend.entries[before].of, of);
                }
                if let Some(accuracy) = of.accuracy {
                    let before = measured[line].last();
                    entry.delta = before.map(|(_, before)| accuracy - before);
                    measured[line].push((place, accuracy));
                }
                entry.marks.extend(marks::by_itself(of));
            }
            trend.entries.push(entry);
        }
        for (line, measured) in measured.iter().enumerate() {
            trend.find_changes(line, measured);
        }
        trend
    }

    /// Marks the change points of the accuracy of a line.
    fn find_changes(&mut self, line: usize, measured: &[(usize, f64)]) {
        // Cached answers are not new evidence and have no scatter; stopping early is biased, as worse agents stop
        // sooner.
        let fresh = |place: usize| {
            let of = self.entries[place].of;
            !of.early && (of.cached < of.samples || of.samples == 0)
        };
        let fresh: Vec<_> = measured.iter().filter(|(place, _)| fresh(*place)).collect();
        let values: Vec<f64> = fresh.iter().map(|(_, accuracy)| *accuracy).collect();
        for change in change_points(&values, ALPHA) {
            let entry = &mut self.entries[fresh[change.at].0];
            let (before, after, p) = (change.before, change.after, change.p);
            entry.marks.push(TrendMark::Level { before, after, p });
            self.lines[line].changes.push(TrendChange {
                run: &entry.of.id,
                before,
                after,
                p,
            });
        }
    }

    /// The number of runs.
    pub fn runs(&self) -> usize {
        self.lines.iter().map(|line| line.runs).sum()
    }

    /// The index of the first entry of the last `runs` runs.
    pub fn first_of_last(&self, runs: usize) -> usize {
        let mut places = self.entries.iter().enumerate().rev();
        let mut ran = places.by_ref().filter(|(_, entry)| entry.is_run());
        match runs.checked_sub(1) {
            Some(before) => ran.nth(before).map_or(0, |(place, _)| place),
            None => 0,
        }
    }
}

impl TrendEntry<'_> {
    /// Whether it is a run.
    pub fn is_run(&self) -> bool {
        self.of.kind == HistoryKind::Run
    }

    /// The bounds of the accuracy if every sample had a verdict.
    pub fn bounds(&self) -> Option<[f64; 2]> {
        let HistoryLine {
            scored,
            correct,
            errors,
            ..
        } = *self.of;
        let all = scored.saturating_add(errors);
        let low = ratio(correct, all)?;
        Some([low, ratio(correct.saturating_add(errors), all)?])
    }
}

#[cfg(test)]
mod tests;
