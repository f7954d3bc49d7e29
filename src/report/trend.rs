//! Trends of evals over time, as a terminal table, as JSON and as a page.

mod charts;
mod section;

use jiff::Timestamp;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::data::history::{History, HistoryLine};
use crate::system::clock::timestamp;
use crate::system::project::display;
use crate::verdict::alert::{AlertJudge, AlertResult, Alerts};
use crate::verdict::trend::{Trend, TrendEntry};

pub use section::document;

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

/// Serialises trends for JSON output.
pub struct TrendsJson<'a>(pub &'a [EvalTrend<'a>]);

impl Serialize for TrendsJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let evals = self.0.iter().map(of_eval);
        let evals: Result<Vec<Value>, _> = evals.collect();
        let evals = evals.map_err(S::Error::custom)?;
        json!({ "format_version": TREND_VERSION, "evals": evals }).serialize(to)
    }
}

fn of_eval(eval: &EvalTrend<'_>) -> serde_json::Result<Value> {
    let entries: Result<Vec<Value>, _> = eval.entries().iter().map(of_entry).collect();
    Ok(json!({
        "eval": eval.eval,
        "history": eval.file,
        "runs": eval.trend.runs(),
        "older": eval.older(),
        "lines": serde_json::to_value(&eval.trend.lines)?,
        "entries": entries?,
        "alerts": serde_json::to_value(&eval.alerts)?,
        "notices": eval.notices,
    }))
}

fn of_entry(entry: &TrendEntry<'_>) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(entry.of)?;
    if let Some(members) = value.as_object_mut() {
        members.retain(|name, _| !["answers", "eval", "format_version"].contains(&&**name));
        let found = [
            ("line", json!(entry.line)),
            ("delta", json!(entry.delta)),
            ("accuracy_bounds", json!(entry.bounds())),
            ("marks", serde_json::to_value(&entry.marks)?),
        ];
        members.extend(found.map(|(name, found)| (name.to_owned(), found)));
    }
    Ok(value)
}
