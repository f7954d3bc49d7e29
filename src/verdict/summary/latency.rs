//! `SortedLatencies`: percentiles of sorted latencies, without storing all of them.

use std::collections::BTreeMap;

use super::group::Latency;
use crate::data::Outcome;
use crate::stats::{self, Sum};

/// The reported percentiles.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 100.0];

/// The latency in seconds of an answer that was requested in this run.
pub(crate) fn timed(outcome: &Outcome) -> Option<f64> {
    let is_measured = super::tally::is_answered(outcome) && !outcome.cached;
    let latency = outcome.latency_s;
    (is_measured && latency.is_finite() && latency >= 0.0).then_some(latency)
}

/// Latencies added in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct SortedLatencies {
    count: u64,
    seen: u64,
    sum: Sum,
    /// Those at the ranks around the percentiles.
    ranked: BTreeMap<u64, f64>,
}

impl SortedLatencies {
    /// For `count` latencies, none added yet.
    pub(crate) fn new(count: u64) -> Self {
        let places = PERCENTILES
            .iter()
            .filter_map(|percent| stats::ranks(count, *percent));
        let places = places.flat_map(|ranks| [ranks.below, ranks.above]);
        Self {
            count,
            seen: 0,
            sum: Sum::default(),
            ranked: places.map(|place| (place, 0.0)).collect(),
        }
    }

    /// Adds the next one.
    pub(crate) fn add(&mut self, latency: f64) {
        if let Some(ranked) = self.ranked.get_mut(&self.seen) {
            *ranked = latency;
        }
        self.seen += 1;
        self.sum.add(latency);
    }

    /// `None` without latencies.
    pub(crate) fn finish(&self) -> Option<Latency> {
        let at = |percent| {
            let ranks = stats::ranks(self.count, percent)?;
            let [low, high] = [ranks.below, ranks.above].map(|place| self.ranked.get(&place));
            Some(ranks.between(*low?, *high?))
        };
        let [p50, p90, p95, p99, max] = PERCENTILES.map(at);
        Some(Latency {
            mean: self.sum.mean()?,
            p50: p50?,
            p90: p90?,
            p95: p95?,
            p99: p99?,
            max: max?,
        })
    }
}
