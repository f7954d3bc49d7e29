//! Metrics of the benchmark for rescored answers; they need no data.

use serde_json::{Map, Value};

use super::benchmark::tally::BfclTally;
use crate::data::Record;
use crate::store::files::SUMMARY;
use crate::store::{Manifest, RunDir};
use crate::verdict::summary::Summary;

/// The metrics so far.
pub(crate) struct Metrics {
    tally: BfclTally,
    weights: Map<String, Value>,
}

impl Metrics {
    /// The metrics of a run's benchmark; `None` for users' own benchmarks and those without metrics.
    pub(crate) fn of(parent: &Manifest, dir: &RunDir) -> Option<Self> {
        if parent.benchmark != "bfcl" {
            return None;
        }
        // Take the weights from the parent's metrics, which exist even for an eval without a spec.
        let summary = Summary::read(&dir.file(SUMMARY)).ok();
        let weights =
            summary.and_then(|summary| summary.metrics.get("weights")?.as_object().cloned());
        Some(Self {
            tally: BfclTally::default(),
            weights: weights.unwrap_or_default(),
        })
    }

    /// Counts a record.
    pub(crate) fn add(&mut self, record: &Record) {
        self.tally.add(record);
    }

    /// The metrics as in a summary.
    pub(crate) fn finish(self) -> Map<String, Value> {
        let weights = self.weights.into_iter();
        let weights = weights.filter_map(|(name, weight)| Some((name, weight.as_f64()?)));
        self.tally.finish(&weights.collect())
    }
}
