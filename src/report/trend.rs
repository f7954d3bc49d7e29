//! Where evals go: the trend of each, as a table on a terminal, as JSON and as a page.

mod charts;
mod json;
mod section;

use jiff::Timestamp;

pub use json::TrendsJson;
pub use section::document;

use crate::data::history::{History, HistoryLine};
use crate::system::clock::timestamp;
use crate::system::project::shown;
use crate::verdict::alert::{AlertJudge, AlertResult, Alerts};
use crate::verdict::trend::{Trend, TrendEntry};

/// The version of what is printed as JSON.
pub const TREND_VERSION: u32 = 1;

/// The trend of an eval, and how much of it is shown.
#[derive(Debug)]
pub struct EvalTrend<'a> {
    /// The eval's name.
    pub eval: &'a str,
    /// Where its history is, as people are told.
    pub file: String,
    /// All of it.
    pub trend: Trend<'a>,
    /// The place of the first entry that is shown.
    pub first: usize,
    /// What is wrong with the file.
    pub notices: Vec<String>,
    /// What became of the alerts, as the history stands now.
    pub alerts: Vec<AlertResult>,
}

impl<'a> EvalTrend<'a> {
    /// The trend of an eval, of which the last so many runs are shown; 0 for all.
    pub fn of(eval: &'a str, history: &'a History, alerts: &Alerts, last: usize) -> Self {
        let trend = Trend::of(&history.lines);
        Self {
            eval,
            file: shown(&history.path),
            first: trend.first_of_last(last),
            trend,
            notices: history.notices(),
            alerts: AlertJudge::new(alerts).latest(&history.lines, timestamp()),
        }
    }

    /// Whether it is time to look.
    pub fn is_alarmed(&self) -> bool {
        self.alerts.iter().any(AlertResult::is_raised)
    }

    /// The entries that are shown.
    pub fn entries(&self) -> &[TrendEntry<'a>] {
        &self.trend.entries[self.first..]
    }

    /// How many runs are older than what is shown.
    pub fn older(&self) -> usize {
        let older = &self.trend.entries[..self.first];
        older.iter().filter(|entry| entry.is_run()).count()
    }
}

/// `2026-11-23 07:51`
fn minute(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

/// The first letters of the commit of a run.
fn short_commit(run: &HistoryLine) -> Option<String> {
    Some(run.commit.as_ref()?.chars().take(7).collect())
}
