//! `Trend`: the development of an eval from its history: comparable runs, changes between them, change points of the
//! accuracy.
//!
//! Runs with the same samples, scorer and tier form a [`TrendLine`]; another dataset or scorer starts a new one, as
//! figures of different questions are not comparable. A changed agent, prompt or served model stays on the line and is
//! a [`TrendMark`] there, since that is what is monitored.

use std::collections::HashMap;

use serde::Serialize;

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
                    entry.marks = between(trend.entries[before].of, of);
                }
                if let Some(accuracy) = of.accuracy {
                    let before = measured[line].last();
                    entry.delta = before.map(|(_, before)| accuracy - before);
                    measured[line].push((place, accuracy));
                }
                entry.marks.extend(by_itself(of));
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

/// What differs from the previous run of the same tier, or is notable about the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "mark", rename_all = "snake_case")]
pub enum TrendMark {
    /// Other samples or questions: another line.
    Dataset,
    /// Another scorer: another line.
    Scorer,
    /// Another agent, by its own description.
    Agent,
    /// Another prompt around the questions.
    Prompt {
        /// The previous prompt.
        before: Option<String>,
        /// The new prompt.
        after: Option<String>,
    },
    /// Endpoints served other models.
    Model {
        /// The previous models.
        before: Vec<String>,
        /// The new models.
        after: Vec<String>,
    },
    /// Another model judged.
    Judge,
    /// A change point of the accuracy.
    Level {
        /// The mean accuracy before.
        before: f64,
        /// The mean accuracy from here on.
        after: f64,
        /// The probability of a change as clean as this one if nothing changed.
        p: f64,
    },
    /// Gates that did not pass.
    Gates {
        /// The number of failed gates.
        failed: usize,
        /// The number of undecided gates.
        inconclusive: usize,
    },
    /// All answers came from the cache.
    Cached,
    /// The working tree had uncommitted changes.
    Dirty,
}

impl TrendMark {
    /// Whether figures before and after it are not comparable.
    pub fn begins_a_line(&self) -> bool {
        matches!(self, Self::Dataset | Self::Scorer)
    }

    /// Whether it is about the agent, which is what is monitored.
    pub fn is_of_the_agent(&self) -> bool {
        matches!(self, Self::Agent | Self::Prompt { .. } | Self::Model { .. })
    }
}

/// The differences between two runs. Unknown values are not differences.
fn between(before: &HistoryLine, after: &HistoryLine) -> Vec<TrendMark> {
    let mut marks = Vec::new();
    if before.dataset_hash != after.dataset_hash {
        marks.push(TrendMark::Dataset);
    }
    if before.scorer_hash != after.scorer_hash {
        marks.push(TrendMark::Scorer);
    }
    if let (Some(one), Some(other)) = (&before.agent_hash, &after.agent_hash)
        && one != other
    {
        marks.push(TrendMark::Agent);
    }
    if before.prompt != after.prompt {
        marks.push(TrendMark::Prompt {
            before: before.prompt.clone(),
            after: after.prompt.clone(),
        });
    }
    let sorted = |models: &[String]| {
        let mut models = models.to_vec();
        models.sort();
        models
    };
    let (one, other) = (sorted(&before.served_models), sorted(&after.served_models));
    if !one.is_empty() && !other.is_empty() && one != other {
        marks.push(TrendMark::Model {
            before: one,
            after: other,
        });
    }
    let judged = [before, after].map(|line| &line.judge_models);
    if judged.iter().all(|models| !models.is_empty()) && judged[0] != judged[1] {
        marks.push(TrendMark::Judge);
    }
    marks
}

/// What is notable about a run by itself.
fn by_itself(run: &HistoryLine) -> Vec<TrendMark> {
    let mut marks = Vec::new();
    let count = |verdict: &str| {
        let gates = run.gates.iter();
        gates.filter(|gate| gate.verdict == verdict).count()
    };
    let (failed, inconclusive) = (count("failed"), count("inconclusive"));
    if failed + inconclusive > 0 {
        marks.push(TrendMark::Gates {
            failed,
            inconclusive,
        });
    }
    if run.samples > 0 && run.cached >= run.samples {
        marks.push(TrendMark::Cached);
    }
    if run.dirty == Some(true) {
        marks.push(TrendMark::Dirty);
    }
    marks
}

#[cfg(test)]
mod tests;
