//! The benchmark's own metrics of answers that are scored again, where the benchmark is one whose metrics can be
//! worked out without its data.

use serde_json::{Map, Value};

#[cfg(feature = "bfcl")]
use crate::bfcl::benchmark::tally::BfclTally;
use crate::data::Record;
use crate::store::{Manifest, RunDir};
#[cfg(feature = "bfcl")]
use crate::verdict::summary::Summary;

/// The metrics so far.
#[cfg(feature = "bfcl")]
pub(super) struct Metrics {
    tally: BfclTally,
    weights: Map<String, Value>,
}

#[cfg(feature = "bfcl")]
impl Metrics {
    /// For a run's benchmark; `None` for those of a user's own, and those that have none.
    pub(super) fn of(parent: &Manifest, dir: &RunDir) -> Option<Self> {
        if parent.benchmark != "bfcl" {
            return None;
        }
        // The parent's metrics tell the weights, also those of an eval without a spec.
        let summary = Summary::read(&dir.file("summary.json")).ok();
        let weights =
            summary.and_then(|summary| summary.metrics.get("weights")?.as_object().cloned());
        Some(Self {
            tally: BfclTally::default(),
            weights: weights.unwrap_or_default(),
        })
    }

    pub(super) fn add(&mut self, record: &Record) {
        self.tally.add(record);
    }

    pub(super) fn finish(self) -> Map<String, Value> {
        let weights = self.weights.into_iter();
        let weights = weights.filter_map(|(name, weight)| Some((name, weight.as_f64()?)));
        self.tally.finish(&weights.collect())
    }
}

/// Without benchmarks that have metrics there are none.
#[cfg(not(feature = "bfcl"))]
pub(super) enum Metrics {}

#[cfg(not(feature = "bfcl"))]
impl Metrics {
    pub(super) fn of(_: &Manifest, _: &RunDir) -> Option<Self> {
        None
    }

    pub(super) fn add(&mut self, _: &Record) {
        match *self {}
    }

    pub(super) fn finish(self) -> Map<String, Value> {
        match self {}
    }
}
