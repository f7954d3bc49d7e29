//! Trends as JSON: history lines without answer bits, with the findings.

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{EvalTrend, TREND_VERSION};
use crate::verdict::trend::TrendEntry;

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
