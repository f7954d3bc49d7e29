//! `SummaryBuilder`: builds a [`Summary`] from records, one by one, without storing them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::difficulty_drops;
use super::judge::JudgeTally;
use super::perturbed::{PERTURB, PerturbTally};
use super::reading::ReadingTally;
use super::shortfall::ShortfallFigures;
use super::tally::Tally;
use super::{FORMAT_VERSION, Flaky, MAX_FLAKY, Recovered, Summary};
use crate::data::record::slices_of;
use crate::data::{DetailBounds, Record};
use crate::exit::Exit;
use crate::stats;
use crate::verdict::gate::Slice;
use crate::verdict::poll::Poll;

/// Builds a [`Summary`] from records, one by one, without storing them.
///
/// Sums of floats depend on their order in the last digit: add the records in dataset order.
#[derive(Clone, Debug)]
pub(crate) struct SummaryBuilder {
    eval: String,
    scorer: Option<String>,
    total: Tally,
    slices: BTreeMap<String, BTreeMap<String, Tally>>,
    has_slices: bool,
    failures: BTreeMap<String, u64>,
    attempts: u64,
    refused: u64,
    recovered: Recovered,
    judge: JudgeTally,
    /// The bounds of score details, if the items of the dataset are judged themselves.
    items: Option<DetailBounds>,
    reading: ReadingTally,
    shortfall: ShortfallFigures,
    metrics: Map<String, Value>,
    epochs: u32,
    /// The epochs of the current sample, if there are several.
    sample: Option<Gathering>,
    flaky: Vec<Flaky>,
    perturbed: PerturbTally,
}

/// The epochs of a sample so far.
#[derive(Clone, Debug)]
struct Gathering {
    id: String,
    slices: Vec<Slice>,
    poll: Poll,
    /// By the name of the scorer, if there are several.
    others: BTreeMap<String, Poll>,
    /// Epochs that errored, and so have no verdict of any scorer.
    missing: u64,
}

impl SummaryBuilder {
    /// The summary of no records yet.
    pub(crate) fn new(eval: impl Into<String>) -> Self {
        Self {
            eval: eval.into(),
            scorer: None,
            total: Tally::default(),
            slices: BTreeMap::new(),
            has_slices: true,
            failures: BTreeMap::new(),
            attempts: 0,
            refused: 0,
            recovered: Recovered::default(),
            judge: JudgeTally::default(),
            items: None,
            reading: ReadingTally::default(),
            shortfall: ShortfallFigures::default(),
            metrics: Map::new(),
            epochs: 1,
            sample: None,
            flaky: Vec::new(),
            perturbed: PerturbTally::default(),
        }
    }

    /// Sets the number of epochs. The records of a sample must then be consecutive.
    #[must_use]
    pub(crate) fn epochs(mut self, epochs: u32) -> Self {
        self.epochs = epochs;
        self.perturbed.has_epochs = epochs > 1;
        self
    }

    /// Omits the figures by slice, and the latencies, which the caller stores elsewhere.
    #[must_use]
    pub(crate) fn without_slices_and_latencies(mut self) -> Self {
        self.has_slices = false;
        self.total.skips_latencies = true;
        self
    }

    /// Sets the bounds of score details, if the items of the dataset are judged themselves.
    #[must_use]
    pub(crate) fn items(mut self, bounds: Option<DetailBounds>) -> Self {
        self.items = bounds;
        self
    }

    /// Sets the benchmark's own aggregates.
    #[must_use]
    pub(crate) fn metrics(mut self, metrics: Map<String, Value>) -> Self {
        self.metrics = metrics;
        self
    }

    /// Sets the name of the deciding scorer.
    #[must_use]
    pub(crate) fn scorer(mut self, name: Option<&str>) -> Self {
        self.scorer = name.map(str::to_owned);
        self
    }

    /// The name of the deciding scorer.
    pub(crate) fn deciding(&self) -> Option<&str> {
        self.scorer.as_deref()
    }

    /// Sets the extraction of the deciding scorer, as in a spec.
    #[must_use]
    pub(crate) fn extract(mut self, extract: Option<Value>) -> Self {
        self.reading.extract = extract;
        self
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, record: &Record) {
        let outcome = &record.result;
        if let Some(kind) = record.perturb {
            self.perturbed.add(kind, record);
            return;
        }
        self.perturbed.add_plain(record);
        self.total.add(record);
        self.judge.add(record, self.scorer.as_deref());
        self.reading.add(record);
        self.shortfall.add(record);
        let slices = self.has_slices.then(|| slices_of(record));
        for (dimension, value) in slices.into_iter().flatten() {
            // `entry` would allocate a `String` for every record.
            if !self.slices.contains_key(dimension) {
                self.slices.insert(dimension.to_owned(), BTreeMap::new());
            }
            if let Some(values) = self.slices.get_mut(dimension) {
                values.entry(value).or_default().add(record);
            }
        }
        if self.epochs > 1 {
            self.gather(record);
        }
        if outcome.status.is_error()
            && let Some(kind) = outcome.failure_kind()
        {
            *self.failures.entry(kind).or_default() += 1;
        }
        self.attempts += u64::from(outcome.attempts);
        let refused = outcome.refused.len() as u64;
        self.refused += refused;
        // A request after a refused answer is not a retry.
        if u64::from(outcome.attempts) > 1 + refused {
            self.recovered.retried += 1;
            self.recovered.recovered += u64::from(outcome.is_answered());
        }
    }

    /// Adds a record to the epochs of its sample.
    fn gather(&mut self, record: &Record) {
        if self
            .sample
            .as_ref()
            .is_none_or(|sample| sample.id != record.sample_id)
        {
            self.end_sample();
            self.sample = Some(Gathering {
                id: record.sample_id.clone(),
                slices: Slice::all_of(record),
                poll: Poll::default(),
                others: BTreeMap::new(),
                missing: 0,
            });
        }
        if let Some(sample) = &mut self.sample {
            let seen = |poll: &Poll| poll.scored() + poll.unknown();
            let before = seen(&sample.poll);
            sample.poll.add(&record.result);
            if record.result.scores.is_empty() {
                sample.missing += seen(&sample.poll) - before;
            }
            for (name, score) in &record.result.scores {
                let poll = sample.others.entry(name.clone()).or_default();
                poll.add_json(score, &record.result);
            }
        }
    }

    /// Finishes the current sample.
    fn end_sample(&mut self) {
        let Some(mut sample) = self.sample.take() else {
            return;
        };
        let poll = &sample.poll;
        for other in sample.others.values_mut() {
            other.miss(sample.missing);
        }
        self.total.add_sample(self.epochs, poll, &sample.others);
        for slice in &sample.slices {
            let values = self.slices.get_mut(&slice.dimension);
            if let Some(tally) = values.and_then(|values| values.get_mut(&slice.value)) {
                tally.add_sample(self.epochs, poll, &sample.others);
            }
        }
        if poll.is_flaky() && self.flaky.len() < MAX_FLAKY {
            self.flaky.push(Flaky {
                scored: poll.scored(),
                correct: poll.correct(),
                answers: poll.answers(),
                sample_id: sample.id,
            });
        }
    }

    /// The summary. `gates` is empty and `exit_code` is `Passed` until the caller sets them.
    pub(crate) fn finish(mut self) -> Summary {
        self.end_sample();
        let total = self.total.finish();
        let (found_by, reading) = self.reading.finish();
        let (perturb, perturbed) = self.perturbed.finish();
        let mut slices: BTreeMap<_, BTreeMap<_, _>> = self
            .slices
            .into_iter()
            .map(|(dimension, values)| {
                let groups = values.into_iter().map(|(value, t)| (value, t.finish()));
                (dimension, groups.collect())
            })
            .collect();
        if self.has_slices && !perturbed.is_empty() {
            slices.insert(PERTURB.to_owned(), perturbed);
        }
        Summary {
            format_version: FORMAT_VERSION,
            eval: self.eval,
            partial: false,
            judges_items: self.items.is_some(),
            tier: None,
            progressive: None,
            part: None,
            early_stop: None,
            not_judged: 0,
            refused: self.refused,
            account: crate::verdict::summary::account::Account::default(),
            change: None,
            failures: self.failures,
            difficulty_drop: slices
                .get("level")
                .map(difficulty_drops)
                .unwrap_or_default(),
            slices,
            scorer: self.scorer,
            perturb,
            flaky: self.flaky,
            found_by,
            reading,
            shortfall: Some(self.shortfall).filter(|it| *it != ShortfallFigures::default()),
            attempts: self.attempts,
            recovered_by_retry: Recovered {
                share: stats::ratio(self.recovered.recovered, self.recovered.retried),
                rate: stats::ratio(
                    self.recovered.recovered,
                    total.scored + total.errors + total.unscored,
                ),
                ..self.recovered
            },
            whole: total,
            judge: self.judge.finish(self.items.as_ref()),
            reviewed: None,
            metrics: self.metrics,
            gates: Vec::new(),
            alerts: Vec::new(),
            ignored_matter: false,
            exit_code: Exit::Passed,
        }
    }
}
