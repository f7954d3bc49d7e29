//! Collected while the records of a run are sorted: the records to return, the benchmark's aggregates, failed
//! assertions.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::Ledger;
use crate::benchmark::RunningMetrics;
use crate::data::Record;
use crate::eval::Assert;
use crate::eval::plan::Plan;
use crate::run::session::options::Caller;
use crate::system::panics;
use crate::verdict::conclude::Notable;
use crate::verdict::poll::{self, Poll};

/// Collects from the sorted records of a run.
pub(in crate::run) struct SeenRecords<'a> {
    plan: &'a Plan,
    caller: Caller,
    /// All records if the caller wants them, otherwise those to report.
    records: Vec<Record>,
    notable: Notable,
    all: bool,
    /// The benchmark's aggregates, if it computes them incrementally.
    metrics: Option<RunningMetrics>,
    assertions: Option<Assertions>,
}

/// The samples whose assertion failed.
struct Assertions {
    /// Places of samples that differ from their snapshots, under `exact`.
    differing: Option<HashSet<usize>>,
    /// The sample whose records are being added.
    place: usize,
    epochs: Vec<Record>,
    failed: Vec<String>,
}

impl<'a> SeenRecords<'a> {
    pub(in crate::run) fn new(plan: &'a Plan, caller: Caller, ledger: &Ledger) -> Self {
        let eval = &plan.eval;
        let assert = eval.snapshot.assert;
        let metrics = eval.benchmark.running_metrics();
        let needs_all = eval.benchmark.has_metrics() && metrics.is_none();
        Self {
            plan,
            caller,
            records: Vec::new(),
            notable: Notable::default(),
            all: caller == Caller::Library || needs_all,
            metrics,
            assertions: assert.decides().then(|| Assertions {
                differing: (assert == Assert::Exact).then(|| ledger.differing()),
                place: 0,
                epochs: Vec::new(),
                failed: Vec::new(),
            }),
        }
    }

    /// Adds the record of a slot, which the summary has counted.
    pub(in crate::run) fn add(&mut self, slot: usize, mut record: Record) {
        if record.perturb.is_some() {
            return;
        }
        if let Some(assertions) = &mut self.assertions {
            assertions.add(slot / self.plan.trials(), &record);
        }
        if let Some(metrics) = &mut self.metrics {
            metrics.0.add(&record);
        }
        if self.all || self.notable.takes(&record) {
            record.lighten();
            self.records.push(record);
        }
    }

    /// The records to return, the ids of samples whose assertion failed, and the benchmark's aggregates.
    pub(in crate::run) fn finish(mut self) -> (Vec<Record>, Vec<String>, Map<String, Value>) {
        let benchmark = &self.plan.eval.benchmark;
        // A panic loses the aggregates, not the run.
        let metrics = panics::catch(|| match &self.metrics {
            Some(metrics) => metrics.0.finish(),
            None => benchmark.metrics(&self.records),
        });
        let metrics = metrics.unwrap_or_else(|reason| {
            Map::from_iter([("error".to_owned(), format!("`metrics` {reason}").into())])
        });
        if self.caller != Caller::Library && self.all {
            let notable = &mut self.notable;
            self.records.retain(|record| notable.takes(record));
        }
        let failed = self.assertions.map(Assertions::finish);
        (self.records, failed.unwrap_or_default(), metrics)
    }
}

impl Assertions {
    fn add(&mut self, place: usize, record: &Record) {
        if place != self.place {
            self.end_sample();
            self.place = place;
        }
        self.epochs.push(record.clone());
    }

    /// An outage fails no assertion: it makes the run inconclusive.
    fn end_sample(&mut self) {
        let records = std::mem::take(&mut self.epochs);
        let Some(first) = records.first() else {
            return;
        };
        if poll::is_open(&records) {
            return;
        }
        let fails = match &self.differing {
            Some(differing) => differing.contains(&self.place),
            None => Poll::of(&records).majority() == Some(false),
        };
        if fails {
            self.failed.push(first.sample_id.clone());
        }
    }

    fn finish(mut self) -> Vec<String> {
        self.end_sample();
        self.failed
    }
}
