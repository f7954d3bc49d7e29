//! Alerts on the history of an eval that is run repeatedly.
//!
//! An [`Alert`] is a rule over the history of an eval; [`AlertJudge`] evaluates each for a run, from the history lines
//! alone. Pure, like all verdicts: no clock, no file.
//!
//! A run is compared with the earlier runs of its *line*: those with the same dataset, scorer and tier, in order of
//! time. The statistical rules ignore runs that requested nothing new (all from the cache), or stopped as soon as their
//! gates were decided.
//!
//! The statistical rules, `drop` and `trend`, are tested at each run and share one alpha over an *era* of `looks` runs
//! of a line. Then a new era starts, as it does with a new baseline. Alpha is divided by the number of such rules, and
//! each part covers all interim analyses of an era (`stats::watch` explains how, and what can be detected). Data from
//! before an era is not used again, except for the five runs of `median(5)`, which may reach back to the last baseline.
//!
//! The percentage of 300 simulated histories of 30 runs of an unchanged agent (`tests/simulations/alerts.rs`), each with a
//! baseline of one run, that raise an alarm with `drop(accuracy)` alone, with `against=median(5)` alone, and with both
//! and `trend(accuracy, runs=8)`:
//!
//! | samples | 15 % a coin's toss | 30 % | all right with 0.62 |
//! |---|---|---|---|
//! | 40 | 0.7, 1.7, 0.3 | 2.3, 2.3, 1.0 | 2.0, 1.7, 1.0 |
//! | 165 | 2.7, 2.3, 1.7 | 3.3, 3.7, 2.0 | 2.3, 3.3, - |

mod drop;
mod judge;
mod legal;
mod parse;

use std::fmt;

use crate::data::history::{HistoryKind, HistoryLine};
use crate::error::Result;
use crate::verdict::gate::Op;
use crate::verdict::metric::SlicedMetric;

pub use crate::verdict::result::{AlertResult, AlertVerdict};
pub use judge::AlertJudge;
pub(crate) use legal::check_interim;

/// Default number of runs that share one alpha.
pub(crate) const DEFAULT_ANALYSES: usize = 30;

/// Default alpha of a statistical rule.
const ALPHA: f64 = 0.05;

/// A rule over the history of an eval.
#[derive(Clone, Debug, PartialEq)]
pub struct Alert {
    /// The alert as written.
    text: String,
    rule: AlertRule,
}

/// The condition of an alert.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AlertRule {
    /// Fewer right answers than those of a reference.
    Drop {
        metric: SlicedMetric,
        against: DropReference,
        alpha: f64,
    },
    /// A figure that steadily gets worse over the last runs.
    Trend {
        metric: SlicedMetric,
        runs: usize,
        alpha: f64,
    },
    /// No run for this number of days.
    Stale { days: f64 },
    /// A figure that is so much above the median of the five runs before, or below it, as a share of it.
    Moved {
        metric: SlicedMetric,
        by: f64,
        direction: Direction,
    },
    /// A figure beyond a threshold, in so many runs one after another.
    Bound {
        metric: SlicedMetric,
        op: Op,
        threshold: f64,
        times: usize,
    },
}

/// Which way a figure moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Down,
    Up,
}

/// What `drop` compares answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropReference {
    /// The accepted baseline.
    Baseline,
    /// The median of the five runs before.
    Median,
}

/// All alerts of an eval.
#[derive(Clone, Debug, PartialEq)]
pub struct Alerts {
    pub(crate) rules: Vec<Alert>,
    /// The number of runs that share one alpha.
    pub(crate) looks: usize,
}

impl Default for Alerts {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            looks: DEFAULT_ANALYSES,
        }
    }
}

impl Alerts {
    /// Parses alerts as a spec has them.
    ///
    /// # Errors
    /// If one is not an alert, or can never be raised in combination with the others.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let rules: Result<_> = texts.into_iter().map(str::parse).collect();
        let alerts = Self {
            rules: rules?,
            ..Self::default()
        };
        alerts.check().map_err(|(_, error)| error)?;
        Ok(alerts)
    }

    /// Whether there are no alerts.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The share of alpha of a statistical rule, for all its analyses of an era.
    fn share(&self, alpha: f64) -> f64 {
        let count = self.rules.iter().filter(|alert| alert.is_statistical());
        #[expect(clippy::cast_precision_loss, reason = "a number of rules")]
        let count = count.count().max(1) as f64;
        alpha / count
    }
}

impl Alert {
    /// Whether it is one of those that share alpha.
    fn is_statistical(&self) -> bool {
        matches!(self.rule, AlertRule::Drop { .. } | AlertRule::Trend { .. })
    }
}

/// As it is written.
impl fmt::Display for Alert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The runs that the newest one is compared with, in order of time, the newest last.
struct Era<'a> {
    /// All runs of its line.
    line: Vec<&'a HistoryLine>,
    /// Those since the baseline was accepted that are new evidence.
    analyses: Vec<&'a HistoryLine>,
    /// The index of the newest run among the analyses of the era, from 1; 0 if it is not new evidence.
    analysis: usize,
    /// The newest baseline with its dataset and scorer.
    baseline: Option<&'a HistoryLine>,
}

impl<'a> Era<'a> {
    /// The era of a run, in a history in order of time.
    fn of(lines: &'a [HistoryLine], newest: &'a HistoryLine, analyses: usize) -> Self {
        let comparable = newest.comparable();
        let before = |line: &&HistoryLine| {
            line.id != newest.id && (line.time, &line.id) < (newest.time, &newest.id)
        };
        let earlier = || lines.iter().filter(before);
        let baseline = earlier().rfind(|line| {
            line.kind == HistoryKind::Accept
                && (&*line.dataset_hash, &*line.scorer_hash) == (comparable.0, comparable.1)
        });
        let runs = earlier().filter(|line| line.kind == HistoryKind::Run);
        let mut line: Vec<_> = runs
            .filter(|line| line.comparable() == comparable)
            .collect();
        line.push(newest);
        let counts = |line: &&&HistoryLine| {
            let is_later = baseline.is_none_or(|baseline| {
                baseline.time <= line.time && !baseline.runs.contains(&line.id)
            });
            is_later && is_new(line)
        };
        let since: Vec<_> = line.iter().filter(counts).copied().collect();
        let is_counted = since.last().is_some_and(|last| last.id == newest.id);
        Self {
            analysis: if is_counted {
                (since.len() - 1) % analyses + 1
            } else {
                0
            },
            line,
            analyses: since,
            baseline,
        }
    }

    /// Why the newest run is not analysed, if it is not.
    fn why_not_counted(&self) -> Option<&'static str> {
        let is_early = self.line.last().is_some_and(|newest| newest.early);
        let why = if is_early {
            "the run stopped early because its gates were decided, so its samples do not represent the rest"
        } else {
            "the run has no new answer"
        };
        (self.analysis == 0).then_some(why)
    }

    /// The last runs of the era, at most `count`.
    fn last(&self, count: usize) -> &[&'a HistoryLine] {
        let count = count.min(self.analysis);
        &self.analyses[self.analyses.len() - count..]
    }
}

/// Whether a run is new evidence. Cached answers are not. Nor is a run that stopped early: worse agents stop sooner, so
/// it is biased.
fn is_new(line: &HistoryLine) -> bool {
    line.scored > line.cached && !line.early
}

/// What a rule finds, before it is known of which alert.
#[derive(Debug)]
struct AlertFinding {
    verdict: AlertVerdict,
    value: Option<f64>,
    threshold: Option<f64>,
    p: Option<[f64; 2]>,
    since: Option<String>,
    message: String,
}

impl AlertFinding {
    /// Nothing can be said, for this reason.
    fn silent(why: impl Into<String>) -> Self {
        Self {
            verdict: AlertVerdict::Silent,
            value: None,
            threshold: None,
            p: None,
            since: None,
            message: why.into(),
        }
    }

    fn of(raised: bool, value: f64, threshold: f64, message: String) -> Self {
        Self {
            verdict: if raised {
                AlertVerdict::Raised
            } else {
                AlertVerdict::Quiet
            },
            value: Some(value),
            threshold: Some(threshold),
            ..Self::silent(message)
        }
    }

    /// Names the first of the runs behind it, if it is raised.
    fn since(mut self, id: &str) -> Self {
        self.since = (self.verdict == AlertVerdict::Raised).then(|| id.to_owned());
        self
    }
}

#[cfg(test)]
mod tests;
