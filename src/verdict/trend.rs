//! `Trend`: where an eval goes, of its history: runs that can be compared, what changed between them, where the level did.
//!
//! Runs over the same samples, judged alike and of one tier are a [`TrendLine`]; another dataset or scorer begins a new one, for
//! figures of different questions say nothing of each other. A changed agent, prompt or served model stays on the line and is a
//! [`TrendMark`] there: that is what is watched.

mod marks;

use std::collections::HashMap;

use serde::Serialize;

pub use marks::TrendMark;

use crate::data::history::{HistoryKind, HistoryLine};
use crate::stats::{change_points, ratio};

/// How likely it is that a line which did not change is said to have changed.
const ALPHA: f64 = 0.05;

/// Where an eval goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trend<'a> {
    /// The runs that can be compared with each other, in the order in which they began.
    pub lines: Vec<TrendLine<'a>>,
    /// Runs and accepted baselines in the order of their time.
    pub entries: Vec<TrendEntry<'a>>,
}

/// Runs that can be compared with each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TrendLine<'a> {
    /// The tier that they ran, if they did not run the whole eval.
    pub tier: Option<&'a str>,
    /// What they were asked.
    pub dataset_hash: &'a str,
    /// How they were judged.
    pub scorer_hash: &'a str,
    /// How many there are.
    pub runs: usize,
    /// Where their accuracy changed its level.
    pub changes: Vec<TrendChange<'a>>,
}

/// A place at which the accuracy of a line changed its level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrendChange<'a> {
    /// The first run of the new level.
    pub run: &'a str,
    /// The mean accuracy of the runs before it.
    pub before: f64,
    /// And from there on.
    pub after: f64,
    /// How likely a change as clean as this one would be, had nothing changed.
    pub p: f64,
}

/// A run, or a baseline as it was accepted, among others.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendEntry<'a> {
    /// What it was.
    pub of: &'a HistoryLine,
    /// The place of its line.
    pub line: usize,
    /// By how much its accuracy differs from that of the run before on its line.
    pub delta: Option<f64>,
    /// What is different from the run before.
    pub marks: Vec<TrendMark>,
}

impl<'a> Trend<'a> {
    /// The trend of a history, whose lines are in the order of their time.
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

    /// Marks where the accuracy of a line changed its level.
    fn find_changes(&mut self, line: usize, measured: &[(usize, f64)]) {
        // Answers that were given before are no new evidence, and would have no scatter; who is worse ends sooner.
        let asked = |place: usize| {
            let of = self.entries[place].of;
            !of.early && (of.cached < of.samples || of.samples == 0)
        };
        let asked: Vec<_> = measured.iter().filter(|(place, _)| asked(*place)).collect();
        let values: Vec<f64> = asked.iter().map(|(_, accuracy)| *accuracy).collect();
        for change in change_points(&values, ALPHA) {
            let entry = &mut self.entries[asked[change.at].0];
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

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.lines.iter().map(|line| line.runs).sum()
    }

    /// The place of the first entry of the last so many runs.
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

    /// What the accuracy would be with each sample that has no verdict wrong, and with each right.
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
