//! `SummaryBuilder`: makes a [`Summary`] of records one by one, without keeping them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::difficulty::difficulty_drops;
use super::tally::{Tally, is_answered};
use super::{FORMAT_VERSION, Recovered, Summary};
use crate::run::{Outcome, Record, Status};
use crate::stats;

/// Makes a [`Summary`] of records one by one, without keeping them.
///
/// Sums of floats depend on their order in the last digit: add the records in dataset order.
#[derive(Clone, Debug)]
pub struct SummaryBuilder {
    eval: String,
    scorer: Option<String>,
    total: Tally,
    slices: BTreeMap<String, BTreeMap<String, Tally>>,
    failures: BTreeMap<String, u64>,
    attempts: u64,
    recovered: Recovered,
    metrics: Map<String, Value>,
}

impl SummaryBuilder {
    /// The summary of no records yet.
    pub fn new(eval: impl Into<String>) -> Self {
        Self {
            eval: eval.into(),
            scorer: None,
            total: Tally::default(),
            slices: BTreeMap::new(),
            failures: BTreeMap::new(),
            attempts: 0,
            recovered: Recovered::default(),
            metrics: Map::new(),
        }
    }

    /// Sets the benchmark's own aggregates.
    #[must_use]
    pub fn metrics(mut self, metrics: Map<String, Value>) -> Self {
        self.metrics = metrics;
        self
    }

    /// Names the scorer that decides.
    #[must_use]
    pub fn scorer(mut self, name: Option<&str>) -> Self {
        self.scorer = name.map(str::to_owned);
        self
    }

    /// Adds a record.
    pub fn add(&mut self, record: &Record) {
        let outcome = &record.result;
        self.total.add(outcome);
        for (dimension, value) in slices_of(record) {
            // `entry` would need a new `String` for every record.
            if !self.slices.contains_key(dimension) {
                self.slices.insert(dimension.to_owned(), BTreeMap::new());
            }
            if let Some(values) = self.slices.get_mut(dimension) {
                values.entry(value).or_default().add(outcome);
            }
        }
        if let Some(kind) = failure(outcome) {
            *self.failures.entry(kind).or_default() += 1;
        }
        self.attempts += u64::from(outcome.attempts);
        if outcome.attempts > 1 {
            self.recovered.retried += 1;
            self.recovered.recovered += u64::from(is_answered(outcome.status));
        }
    }

    /// The summary of what was added. `gates` is empty and `exit_code` is 0 until the caller fills them in.
    pub fn finish(self) -> Summary {
        let total = self.total.finish();
        let slices: BTreeMap<_, BTreeMap<_, _>> = self
            .slices
            .into_iter()
            .map(|(dimension, values)| {
                let groups = values.into_iter().map(|(value, t)| (value, t.finish()));
                (dimension, groups.collect())
            })
            .collect();
        Summary {
            format_version: FORMAT_VERSION,
            eval: self.eval,
            samples: total.samples,
            scored: total.scored,
            correct: total.correct,
            errors: total.errors,
            unscored: total.unscored,
            skipped: total.skipped,
            accuracy: total.accuracy,
            accuracy_ci95: total.accuracy_ci95,
            error_rate: total.error_rate,
            failures: self.failures,
            means: total.means,
            mean_ranges: total.mean_ranges,
            labels: total.labels,
            difficulty_drop: slices
                .get("level")
                .map(difficulty_drops)
                .unwrap_or_default(),
            slices,
            scorer: self.scorer,
            scorers: total.scorers,
            usage: total.usage,
            latency_s: total.latency_s,
            attempts: self.attempts,
            recovered_by_retry: Recovered {
                share: stats::ratio(self.recovered.recovered, self.recovered.retried),
                ..self.recovered
            },
            metrics: self.metrics,
            gates: Vec::new(),
            exit_code: 0,
        }
    }
}

/// The slices of a record as (dimension, value). A list puts it into one slice for each element.
pub(crate) fn slices_of(record: &Record) -> impl Iterator<Item = (&str, String)> {
    record.slices.iter().flat_map(|(dimension, value)| {
        let values = match value {
            Value::Array(values) => values.as_slice(),
            one => std::slice::from_ref(one),
        };
        values.iter().filter_map(move |value| {
            let value = match value {
                Value::Null => return None,
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            Some((dimension.as_str(), value))
        })
    })
}

/// The kind of an error in a word; `None` for a sample that did not end in one.
fn failure(outcome: &Outcome) -> Option<String> {
    let status = outcome.status;
    if !status.is_error() {
        return None;
    }
    let kind = match (&outcome.error, status) {
        // The agent did its part: whatever kind the scorer's error has, it is not the agent's.
        (Some(error), Status::AgentFailed) => serde_json::to_value(error.kind).ok(),
        _ => None,
    };
    match kind {
        Some(Value::String(kind)) => Some(kind),
        _ => Some(status.as_str().to_owned()),
    }
}
