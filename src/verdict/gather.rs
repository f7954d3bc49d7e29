//! From records to [`Facts`].

use serde_json::{Map, Value};

use crate::data::{Record, Status};
use crate::verdict::baseline::{Baseline, CurrentSample, Flip, flipped};
use crate::verdict::facts::Facts;
use crate::verdict::gate::Gate;
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
    sample: Option<CurrentSample>,
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
        match &mut self.sample {
            Some(sample) if sample.id == record.sample_id => sample.add(record),
            _ => {
                self.end_sample();
                self.sample = Some(CurrentSample::of(record));
            }
        }
    }

    /// Takes the sample whose records are all there into account.
    fn end_sample(&mut self) {
        let Some(sample) = self.sample.take() else {
            return;
        };
        if let Some(worse) = self.baseline.and_then(|baseline| flip(baseline, &sample)) {
            self.flips.push(Flip {
                id: sample.id.clone(),
                worse,
            });
        }
        if let Some(current) = &mut self.current {
            current.push(sample);
        }
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

/// Whether a sample changed sides since the baseline, and became wrong.
fn flip(baseline: &Baseline, now: &CurrentSample) -> Option<bool> {
    let then = baseline.samples.get(&now.id)?;
    let same = then.is_of(&now.input_hash, &now.target_hash, &now.marks);
    flipped(&then.answers, &now.answers).filter(|_| same)
}
