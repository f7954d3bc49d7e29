//! The benchmark's own metrics of answers that are scored again: they can be worked out without its data.

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
    /// For a run's benchmark; `None` for those of a user's own, and those that have none.
    pub(crate) fn of(parent: &Manifest, dir: &RunDir) -> Option<Self> {
        if parent.benchmark != "bfcl" {
            return None;
        }
        // The parent's metrics tell the weights, also those of an eval without a spec.
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

    /// As a summary has them.
    pub(crate) fn finish(self) -> Map<String, Value> {
        let weights = self.weights.into_iter();
        let weights = weights.filter_map(|(name, weight)| Some((name, weight.as_f64()?)));
        self.tally.finish(&weights.collect())
    }
}
