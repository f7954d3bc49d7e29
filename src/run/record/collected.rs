//! Collected from the records of a run in dataset order: facts for gates, the records to return, the benchmark's
//! aggregates, failed assertions.

use std::collections::BTreeMap;
use std::iter::Peekable;

use serde_json::{Map, Value};

use super::Ledger;
use crate::benchmark::RunningMetrics;
use crate::data::Record;
use crate::eval::Assert;
use crate::eval::plan::Plan;
use crate::run::session::options::Caller;
use crate::snapshot::AnswerSheet;
use crate::system::panics;
use crate::verdict::conclude::Notable;
use crate::verdict::gather::Gathered;
use crate::verdict::poll::{self, Poll};

/// How many records may wait for one before them: some 5 MB.
const MOST_WAITING: usize = 4096;

/// Puts records into the order of their slots.
pub(in crate::run) struct InOrder<T, S: Iterator<Item = usize>> {
    /// The slots whose records have not come, in order.
    slots: Peekable<S>,
    /// Records that came before their turn, by slot.
    waiting: BTreeMap<usize, Box<T>>,
    /// Too many waited, as in a shuffled run.
    has_given_up: bool,
}

/// What is collected.
pub(in crate::run) struct Collected<'a> {
    pub(in crate::run) gathered: Gathered<'a>,
    pub(in crate::run) seen: SeenRecords<'a>,
    /// For the history, if the run is added to one.
    pub(in crate::run) answers: Option<AnswerSheet>,
    /// The slot after the last record.
    pub(in crate::run) end: usize,
}

/// Collects from the records of a run.
pub(in crate::run) struct SeenRecords<'a> {
    plan: &'a Plan,
    caller: Caller,
    /// All records if the caller wants them, otherwise those to report.
    records: Vec<Record>,
    notable: Notable,
    all: bool,
    /// The benchmark's aggregates, if it computes them incrementally.
    metrics: Option<RunningMetrics>,
    assertions: Option<Assertions<'a>>,
}

/// The samples whose assertion failed.
struct Assertions<'a> {
    /// It knows which samples differ from their snapshots, under `exact`.
    exact: Option<&'a Ledger>,
    /// The sample whose records are being added.
    place: usize,
    epochs: Vec<Record>,
    failed: Vec<String>,
}

impl<T, S: Iterator<Item = usize>> InOrder<T, S> {
    /// For these slots, which are in order.
    pub(in crate::run) fn new(slots: S) -> Self {
        Self {
            slots: slots.peekable(),
            waiting: BTreeMap::new(),
            has_given_up: false,
        }
    }

    /// Adds the record of a slot, and calls `see` with those whose turn it is. Does nothing once too many have waited.
    pub(in crate::run) fn add(&mut self, slot: usize, record: T, mut see: impl FnMut(usize, T)) {
        if self.has_given_up {
            return;
        }
        if self.slots.next_if_eq(&slot).is_some() {
            see(slot, record);
        } else {
            self.waiting.insert(slot, Box::new(record));
        }
        while let Some(next) = self.slots.peek()
            && let Some(record) = self.waiting.remove(next)
        {
            see(*next, *record);
            self.slots.next();
        }
        if self.waiting.len() > MOST_WAITING {
            self.has_given_up = true;
            self.waiting = BTreeMap::new();
        }
    }
}

impl Collected<'_> {
    /// Adds the [abridged](Record::abridge) record of a slot; those before it are there.
    pub(in crate::run) fn add(&mut self, slot: usize, record: Record) {
        self.gathered.add(&record);
        if let Some(answers) = &mut self.answers {
            answers.add(&record);
        }
        self.seen.add(slot, record);
        self.end = slot + 1;
    }
}

impl<'a> SeenRecords<'a> {
    pub(in crate::run) fn new(plan: &'a Plan, caller: Caller, ledger: &'a Ledger) -> Self {
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
                exact: (assert == Assert::Exact).then_some(ledger),
                place: 0,
                epochs: Vec::new(),
                failed: Vec::new(),
            }),
        }
    }

    /// Adds the record of a slot, which the summary has counted.
    fn add(&mut self, slot: usize, mut record: Record) {
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

impl Assertions<'_> {
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
        let fails = match self.exact {
            Some(ledger) => ledger.differs_from_snapshot(self.place),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_seen_in_order_until_too_many_wait() {
        let slots = || (0..9000).filter(|slot| slot % 3 != 1);
        let seen = |came: &mut dyn Iterator<Item = usize>| {
            let mut order = InOrder::new(slots());
            let mut seen = Vec::new();
            for slot in came {
                order.add(slot, slot, |at, record| {
                    assert_eq!(at, record);
                    seen.push(at);
                });
            }
            seen
        };
        let all: Vec<_> = slots().collect();
        assert_eq!(seen(&mut slots()), all);
        let in_pairs = all.chunks(2).flat_map(|pair| pair.iter().rev().copied());
        assert_eq!(seen(&mut in_pairs.into_iter()), all);
        // One never comes; another comes after too many.
        assert_eq!(seen(&mut slots().filter(|slot| *slot != 3)), [0, 2]);
        assert_eq!(
            seen(&mut slots().filter(|slot| *slot != 3).chain([3])),
            [0, 2]
        );
        let late = slots().filter(|slot| *slot != 3 && *slot < 6000).chain([3]);
        assert_eq!(seen(&mut late.into_iter()).len(), 4000);
    }
}
