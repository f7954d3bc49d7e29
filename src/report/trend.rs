//! Where evals go: the trend of each, as a table on a terminal, as JSON and as a page.

mod json;
pub mod page;
mod words;

use jiff::Timestamp;

pub use json::TrendsJson;
pub(crate) use words::{alert, delta, mark, measured};

use crate::data::history::History;
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

    /// `40 runs since 2026-10-14, 2 baselines accepted`
    pub(crate) fn headline(&self) -> String {
        let runs = self.trend.runs();
        let accepted = self.trend.entries.len() - runs;
        let runs = match runs {
            1 => "1 run".to_owned(),
            runs => format!("{runs} runs"),
        };
        let first = self.trend.entries.first();
        let since = first.map_or_else(String::new, |first| {
            format!(" since {}", day(first.of.time))
        });
        let accepted = match accepted {
            0 => String::new(),
            1 => ", 1 baseline accepted".to_owned(),
            accepted => format!(", {accepted} baselines accepted"),
        };
        format!("{runs}{since}{accepted}")
    }

    /// A sentence for each place at which the accuracy changed its level, the newest last.
    pub(crate) fn changes(&self) -> Vec<String> {
        let entries = self.trend.entries.iter();
        let told = entries.flat_map(|entry| {
            let marks = entry.marks.iter();
            marks.filter_map(move |mark| words::change(entry, mark))
        });
        told.collect()
    }
}

/// `2026-11-23 07:51`
pub(crate) fn minute(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

fn day(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d").to_string()
}

/// The first letters of a commit.
pub(crate) fn short_commit(commit: Option<&str>) -> String {
    commit.map_or_else(String::new, |commit| commit.chars().take(7).collect())
}
