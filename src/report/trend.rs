//! Trends of evals over time, as a terminal table, as JSON and as a page.

mod charts;
mod json;
mod section;

use jiff::Timestamp;

pub use json::TrendsJson;
pub use section::document;

use crate::data::history::{History, HistoryLine};
use crate::system::clock::timestamp;
use crate::system::project::display;
use crate::verdict::alert::{AlertJudge, AlertResult, Alerts};
use crate::verdict::trend::{Trend, TrendEntry};

/// Version of the JSON output.
pub const TREND_VERSION: u32 = 1;

/// The trend of an eval, with the part to show.
#[derive(Debug)]
pub struct EvalTrend<'a> {
    /// The eval's name.
    pub eval: &'a str,
    /// Path of its history, for display.
    pub file: String,
    /// The whole trend.
    pub trend: Trend<'a>,
    /// Index of the first entry shown.
    pub first: usize,
    /// Problems of the file.
    pub notices: Vec<String>,
    /// Current results of the alerts.
    pub alerts: Vec<AlertResult>,
}

impl<'a> EvalTrend<'a> {
    /// The trend of an eval, showing the last `last` runs; 0 for all.
    pub fn of(eval: &'a str, history: &'a History, alerts: &Alerts, last: usize) -> Self {
        let trend = Trend::of(&history.lines);
        Self {
            eval,
            file: display(&history.path),
            first: trend.first_of_last(last),
            trend,
            notices: history.notices(),
            alerts: AlertJudge::new(alerts).latest(&history.lines, timestamp()),
        }
    }

    /// Whether an alert is raised.
    pub fn is_alarmed(&self) -> bool {
        self.alerts.iter().any(AlertResult::is_raised)
    }

    /// The entries shown.
    pub fn entries(&self) -> &[TrendEntry<'a>] {
        &self.trend.entries[self.first..]
    }

    /// The number of older runs that are not shown.
    pub fn older(&self) -> usize {
        let older = &self.trend.entries[..self.first];
        older.iter().filter(|entry| entry.is_run()).count()
    }
}

/// `2026-11-23 07:51`
fn minute(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

/// The abbreviated commit of a run.
fn short_commit(run: &HistoryLine) -> Option<String> {
    Some(run.commit.as_ref()?.chars().take(7).collect())
}
