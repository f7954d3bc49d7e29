//! Aggregates of a benchmark's own for which no record need stay in memory.

use serde_json::{Map, Value};

use crate::data::Record;

/// Aggregates that are made of one record after another.
pub struct RunningMetrics(pub(crate) Box<dyn CountsRecords>);

/// Makes aggregates.
pub(crate) trait CountsRecords {
    /// Counts a record.
    fn add(&mut self, record: &Record);

    /// What [`Benchmark::metrics`](crate::Benchmark::metrics) makes of all that were counted.
    fn finish(&self) -> Map<String, Value>;
}
