//! Builds [`Facts`] from records.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::data::{Record, Status};
use crate::verdict::baseline::figures::FigureRules;
use crate::verdict::baseline::{Baseline, CurrentSample, CurrentSamples, Flip, flipped};
use crate::verdict::facts::Facts;
use crate::verdict::gate::{Gate, Slice};
use crate::verdict::summary::SummaryBuilder;
use crate::verdict::summary::account::{Account, SampleState};

/// Collects the facts from records one by one in dataset order, so that no record stays in memory.
pub(crate) struct Gathered<'a> {
    summary: SummaryBuilder,
    collected: CollectedSamples,
    baseline: Option<&'a Baseline>,
    flips: Vec<Flip>,
    /// The current sample.
    sample: Option<CurrentSample>,
    /// What is known of it.
    state: Option<SampleState>,
    account: Account,
    selected: u64,
    answered: u64,
    /// Whether the answers are replayed: then they have no latency of their own.
    replays: bool,
    /// Whether a gate is about the latency of each answer.
    needs_latencies: bool,
}

/// The data stored per sample.
enum CollectedSamples {
    /// None: no gate needs it.
    Nothing,
    /// Counts of right, wrong and missing answers by slices. Enough for an accuracy as long as each sample has one
    /// answer and no group.
    Counts(BTreeMap<Arc<[Slice]>, [u64; 3]>),
    /// All samples.
    Samples(Box<CurrentSamples>),
}

impl<'a> Gathered<'a> {
    /// Without records yet, for these gates.
    pub(crate) fn new(
        summary: SummaryBuilder,
        gates: &[Gate],
        baseline: Option<&'a Baseline>,
    ) -> Self {
        let collected = if let Some(baseline) = baseline {
            let samples = CurrentSamples::with_capacity_of(&baseline.samples);
            CollectedSamples::Samples(Box::new(samples))
        } else if !gates.iter().any(Gate::needs_samples) {
            CollectedSamples::Nothing
        } else if gates.iter().any(Gate::needs_each_sample) {
            CollectedSamples::Samples(Box::default())
        } else {
            CollectedSamples::Counts(BTreeMap::new())
        };
        Self {
            summary,
            collected,
            baseline,
            flips: Vec::new(),
            sample: None,
            state: None,
            account: Account::default(),
            selected: 0,
            answered: 0,
            replays: false,
            needs_latencies: gates.iter().any(Gate::needs_latencies),
        }
    }

    /// Sets whether the answers are replayed.
    #[must_use]
    pub(crate) fn replays(mut self, replays: bool) -> Self {
        self.replays = replays;
        self
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, record: &Record) {
        self.summary.add(record);
        if record.perturb.is_some() {
            return;
        }
        if record.epoch == 0 {
            self.end_sample();
            self.selected += 1;
        }
        self.state = self.state.max(Some(SampleState::of(record)));
        if !matches!(self.collected, CollectedSamples::Nothing) {
            self.gather(record);
        }
        let answered = [Status::Scored, Status::Unscored, Status::ScorerFailed];
        let has_answer =
            answered.contains(&record.result.status) && !record.result.is_failure_as_wrong();
        self.answered += u64::from(has_answer);
    }

    /// Adds a record to the current sample.
    fn gather(&mut self, record: &Record) {
        let rules = FigureRules {
            scorer: self.summary.deciding(),
            latency: !self.replays,
            ..FigureRules::default()
        };
        match &mut self.sample {
            Some(sample) if sample.id == record.sample_id => {
                sample.add(record);
                sample.add_figures(record, self.baseline, rules);
            }
            _ => {
                self.sample = Some(CurrentSample::in_baseline(record, self.baseline, rules));
            }
        }
    }

    /// Finishes the current sample.
    fn end_sample(&mut self) {
        let sample = self.sample.take();
        if let Some(state) = self.state.take() {
            self.account
                .add(state.row(self.baseline, sample.as_ref()), 1);
        }
        let Some(mut sample) = sample else {
            return;
        };
        if let Some(worse) = self.baseline.and_then(|baseline| flip(baseline, &sample)) {
            self.flips.push(Flip {
                id: sample.id.clone(),
                worse,
            });
        }
        sample.settle(self.baseline);
        if !self.needs_latencies {
            sample.latencies_s = Vec::new();
        }
        self.collected.add(sample);
    }

    /// The facts of a complete run, with the benchmark's own aggregates; and the samples that flipped since the
    /// baseline.
    pub(crate) fn finish(mut self, metrics: Map<String, Value>) -> (Facts<'a>, Vec<Flip>) {
        self.end_sample();
        let facts = Facts {
            current: match self.collected {
                CollectedSamples::Samples(samples) => *samples,
                CollectedSamples::Nothing | CollectedSamples::Counts(_) => {
                    CurrentSamples::default()
                }
            },
            account: self.account,
            answered: self.answered,
            selected: self.selected,
            total: self.selected,
            baseline: self.baseline,
            ..Facts::of(self.summary.metrics(metrics).finish())
        };
        (facts, self.flips)
    }
}

impl CollectedSamples {
    fn add(&mut self, sample: CurrentSample) {
        if let Self::Counts(counts) = self
            && (sample.cluster.is_some() || sample.answers.len() > 1)
        {
            *self = Self::Samples(Box::new(counted(counts)));
        }
        match self {
            Self::Nothing => {}
            Self::Samples(samples) => samples.push(sample),
            Self::Counts(counts) => {
                let counts = counts.entry(sample.slices).or_default();
                for answer in sample.answers {
                    let of = match answer {
                        Some(true) => 0,
                        Some(false) => 1,
                        None => 2,
                    };
                    counts[of] += 1;
                }
            }
        }
    }
}

/// Counted samples, which have no group; an accuracy needs nothing else of them.
fn counted(counts: &BTreeMap<Arc<[Slice]>, [u64; 3]>) -> CurrentSamples {
    let mut samples = CurrentSamples::default();
    for (slices, counts) in counts {
        for (answer, count) in [Some(true), Some(false), None].into_iter().zip(counts) {
            for _ in 0..*count {
                samples.push(CurrentSample {
                    // Ids are unique.
                    id: format!("\u{0}{}", samples.len()),
                    answers: vec![answer],
                    slices: Arc::clone(slices),
                    ..CurrentSample::default()
                });
            }
        }
    }
    samples
}

/// Whether a sample flipped since the baseline, and became wrong.
fn flip(baseline: &Baseline, now: &CurrentSample) -> Option<bool> {
    let then = baseline.sample(now)?;
    flipped(then.answers(), &now.answers).filter(|_| now.is_same_as(then))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Score;

    fn record(number: usize, cluster: Option<&str>) -> Record {
        let mut record =
            Record::scored(number.to_string(), Score::binary(!number.is_multiple_of(3)));
        record.cluster = cluster.map(str::to_owned);
        let level = Value::from((number % 2).to_string());
        record.slices.insert("level".to_owned(), level);
        if number.is_multiple_of(7) {
            record.result.status = Status::AgentFailed;
            record.result.score = None;
        }
        record
    }

    /// The results of gates on these records, and the number of stored samples.
    fn results(gates: &[&str], records: &[Record]) -> (String, usize) {
        let gates: Vec<Gate> = gates.iter().map(|gate| gate.parse().unwrap()).collect();
        let mut gathered = Gathered::new(SummaryBuilder::new("e"), &gates, None);
        for record in records {
            gathered.add(record);
        }
        let (facts, _) = gathered.finish(Map::new());
        let collected = facts.current.len();
        let results: Vec<_> = gates.iter().map(|gate| gate.check(&facts)).collect();
        (format!("{results:?}"), collected)
    }

    #[test]
    fn an_accuracy_needs_no_sample_unless_answers_hang_together() {
        let gates = [
            "accuracy >= 0.6",
            "accuracy[level=1] >= 0.6",
            "accuracy >= 0.7 (confidence=0.95)",
        ];
        // This gate needs all samples stored.
        let all = |records: &[Record]| {
            let gates = [&gates[..], &["latency_p42 <= 1"]].concat();
            results(&gates, records).0
        };
        let is_same = |records: &[Record], expect| {
            let (json, collected) = results(&gates, records);
            assert_eq!(collected, expect);
            let all = all(records);
            let json = json.trim_end_matches(']');
            assert!(all.starts_with(json), "{all}\n{json}");
        };
        let mut records: Vec<_> = (0..100).map(|number| record(number, None)).collect();
        is_same(&records, 0);
        // Groups appear late, and only for some samples.
        for number in 100..140_usize {
            let cluster = number.to_string();
            let cluster = Some(&cluster[..2]).filter(|_| !number.is_multiple_of(5));
            records.push(record(number, cluster));
        }
        is_same(&records, 140);
    }
}
