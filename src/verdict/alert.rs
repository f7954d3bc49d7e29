//! Alerts: what should be told of an eval that is run again and again.
//!
//! An [`Alert`] is a rule over the history of an eval; [`AlertJudge`] says what became of each for a run, of the lines of
//! the history alone. Pure, as all of a verdict: no clock, no file.
//!
//! A run is held against the runs before it on its *line*: those of the same dataset, scorer and tier, in the order of
//! their time. Runs that asked nobody anything new (all from the cache), or ended as soon as their gates were sure, are none of
//! them for the statistical rules.
//!
//! The statistical rules, `drop` and `trend`, are judged again at each run, and share one alpha over an *era*: so many
//! runs of a line as there are `looks`, and what comes after begins anew, as it does with a new baseline. Each rule has its
//! alpha divided by the number of such rules, for all its looks of an era together (`stats::watch` has how, and what can
//! be seen). What was found before an era is not looked at again, but for the five runs of `median(5)`, which may reach
//! back to the last baseline.
//!
//! Of 300 simulated histories of 30 runs of an agent that does not change (`tests/alerts_honest.rs`), each with a baseline
//! of one run, so many raise an alarm with `drop(accuracy)` alone, with `against=median(5)` alone, and with both and
//! `trend(accuracy, runs=8)`, in percent:
//!
//! | samples | 15 % a coin's toss | 30 % | all right with 0.62 |
//! |---|---|---|---|
//! | 40 | 0.7, 1.7, 0.3 | 2.3, 2.3, 1.0 | 2.0, 1.7, 1.0 |
//! | 165 | 2.7, 2.3, 1.7 | 3.3, 3.7, 2.0 | 2.3, 3.3, - |

mod drop;
mod era;
mod judge;
mod legal;
mod metric;
mod parse;
mod plain;
mod result;

use std::fmt;

pub use judge::AlertJudge;
pub(crate) use legal::check_looks;
pub(crate) use metric::AlertMetric;
pub use result::{AlertResult, AlertVerdict};

use crate::error::Result;
use crate::verdict::gate::Op;

/// How many runs share one alpha unless a spec says otherwise.
pub(crate) const LOOKS: usize = 30;

/// The alpha of a statistical rule that names none.
const ALPHA: f64 = 0.05;

/// A rule over the history of an eval.
#[derive(Clone, Debug, PartialEq)]
pub struct Alert {
    /// As it is written.
    text: String,
    rule: AlertRule,
}

/// What is looked at, and when it is raised.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AlertRule {
    /// Fewer right answers than those of a reference.
    Drop {
        metric: AlertMetric,
        against: DropReference,
        alpha: f64,
    },
    /// A figure that gets worse and worse over the last runs.
    Trend {
        metric: AlertMetric,
        runs: usize,
        alpha: f64,
    },
    /// No run for so many days.
    Stale { days: f64 },
    /// A figure that is so much above the median of the five runs before, as a share of it.
    Rise { metric: AlertMetric, by: f64 },
    /// A figure beyond a threshold, in so many runs one after another.
    Bound {
        metric: AlertMetric,
        op: Op,
        threshold: f64,
        times: usize,
    },
}

/// What `drop` holds answers against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropReference {
    /// The accepted baseline.
    Baseline,
    /// The five runs before.
    Median,
}

/// All alerts of an eval.
#[derive(Clone, Debug, PartialEq)]
pub struct Alerts {
    pub(crate) rules: Vec<Alert>,
    /// How many runs share one alpha.
    pub(crate) looks: usize,
}

impl Default for Alerts {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            looks: LOOKS,
        }
    }
}

impl Alerts {
    /// Those of these texts, as a spec writes them.
    ///
    /// # Errors
    /// When one is no alert, or can never be raised beside the others.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let rules: Result<_> = texts.into_iter().map(str::parse).collect();
        let alerts = Self {
            rules: rules?,
            ..Self::default()
        };
        alerts.check().map_err(|(_, error)| error)?;
        Ok(alerts)
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The share of alpha that a statistical rule has for all its looks of an era.
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

#[cfg(test)]
mod tests;
