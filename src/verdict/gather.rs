//! From records to [`Facts`].

use serde_json::{Map, Value};

use crate::data::{Record, Status};
use crate::verdict::baseline::{Baseline, CurrentSample, Flip, Standing};
use crate::verdict::facts::Facts;
use crate::verdict::gate::Gate;
use crate::verdict::marks::Marks;
use crate::verdict::poll::Poll;
use crate::verdict::summary::SummaryBuilder;

/// What the facts need of the records, taken from them one by one in dataset order, so that none of them has to stay in
/// memory.
pub(crate) struct Gathered<'a> {
    summary: SummaryBuilder,
    /// Empty unless a gate looks at single samples.
    current: Option<Vec<CurrentSample>>,
    baseline: Option<&'a Baseline>,
    flips: Vec<Flip>,
    /// The sample whose records come in.
    sample: Option<Sample>,
    selected: u64,
    answered: u64,
}

impl<'a> Gathered<'a> {
    /// Of no records yet, for these gates.
    pub(crate) fn new(
        summary: SummaryBuilder,
        gates: &[Gate],
        baseline: Option<&'a Baseline>,
    ) -> Self {
        Self {
            summary,
            current: gates.iter().any(Gate::needs_samples).then(Vec::new),
            baseline,
            flips: Vec::new(),
            sample: None,
            selected: 0,
            answered: 0,
        }
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, record: &Record) {
        self.summary.add(record);
        self.selected += u64::from(record.epoch == 0);
        if self.current.is_some() || self.baseline.is_some() {
            self.gather(record);
        }
        let answered = [Status::Scored, Status::Unscored, Status::ScorerFailed];
        let has_answer =
            answered.contains(&record.result.status) && !record.result.is_failure_as_wrong();
        self.answered += u64::from(has_answer);
    }

    /// Adds a record to its sample.
    fn gather(&mut self, record: &Record) {
        let is_next = |sample: &Sample| sample.id != record.sample_id;
        if self.sample.as_ref().is_none_or(is_next) {
            self.end_sample();
        }
        let sample = self.sample.get_or_insert_with(|| Sample::of(record));
        sample.poll.add(&record.result);
        if let Some(current) = &mut self.current {
            current.push(CurrentSample::of(record));
            sample.rows += 1;
        }
    }

    /// Takes the sample whose records are all there into account.
    fn end_sample(&mut self) {
        let Some(sample) = self.sample.take() else {
            return;
        };
        let standing = sample.poll.standing();
        if let Some(current) = &mut self.current {
            let first = current.len().saturating_sub(sample.rows);
            for row in &mut current[first..] {
                row.standing = standing;
            }
        }
        self.flips
            .extend(self.baseline.and_then(|baseline| sample.flip(baseline)));
    }

    /// The facts that the records tell, with the benchmark's own aggregates, as those of a whole run that nothing
    /// stopped; and the samples that changed sides since the baseline.
    pub(crate) fn finish(mut self, metrics: Map<String, Value>) -> (Facts<'a>, Vec<Flip>) {
        self.end_sample();
        let facts = Facts {
            current: self.current.unwrap_or_default(),
            answered: self.answered,
            selected: self.selected,
            total: self.selected,
            baseline: self.baseline,
            ..Facts::of(self.summary.metrics(metrics).finish())
        };
        (facts, self.flips)
    }
}

/// The records of a sample so far.
struct Sample {
    id: String,
    input_hash: String,
    target_hash: String,
    marks: Marks,
    poll: Poll,
    /// How many of its records stand in `current`.
    rows: usize,
}

impl Sample {
    fn of(record: &Record) -> Self {
        Self {
            id: record.sample_id.clone(),
            input_hash: record.input_hash.clone(),
            target_hash: record.target_hash.clone(),
            marks: Marks::of(record),
            poll: Poll::default(),
            rows: 0,
        }
    }

    /// Whether it changed sides since the baseline, by the majority of its epochs.
    fn flip(self, baseline: &Baseline) -> Option<Flip> {
        let then = baseline.samples.get(&self.id)?;
        let same = then.is_of(&self.input_hash, &self.target_hash, &self.marks);
        let now = match self.poll.standing() {
            Standing::Correct => true,
            Standing::Wrong => false,
            Standing::Unknown | Standing::Unscored => return None,
        };
        let then = then.verdict()?;
        (same && then != now).then_some(Flip {
            id: self.id,
            worse: then,
        })
    }
}
