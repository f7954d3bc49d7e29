//! From records to a finished [`Run`]: summary, gates, flips, exit code. Pure.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::data::{Record, Status};
use crate::verdict::baseline::{Baseline, CurrentSample, Standing};
use crate::verdict::check::Evidence;
use crate::verdict::gate::{self, Facts, Gate};
use crate::verdict::poll::Poll;
use crate::verdict::run::{Flip, Run};
use crate::verdict::summary::SummaryBuilder;

/// What a run's conclusion depends on besides its records.
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that have nothing to do with each other"
)]
pub(crate) struct Circumstances<'a> {
    pub(crate) eval: String,
    pub(crate) dir: PathBuf,
    pub(crate) gates: &'a [Gate],
    pub(crate) baseline: Option<&'a Baseline>,
    /// The name of the scorer that decides.
    pub(crate) scorer: Option<&'a str>,
    /// How often each sample was asked.
    pub(crate) epochs: u32,
    /// Samples of the eval, of which the records may be a selection.
    pub(crate) total: usize,
    pub(crate) interrupted: bool,
    pub(crate) stop_reason: Option<String>,
    /// It stopped because no sample can be answered as the eval is.
    pub(crate) misconfigured: bool,
    /// Under `exact` and `correct` an outage leaves the question open.
    pub(crate) needs_every_verdict: bool,
    pub(crate) failed_assertions: Vec<String>,
    /// The benchmark's own aggregates.
    pub(crate) metrics: Map<String, Value>,
    pub(crate) notices: Vec<String>,
    pub(crate) duration_s: f64,
    pub(crate) ci: bool,
}

/// What the conclusion needs of the records, taken from them one by one in dataset order, so that none of
/// them has to stay in memory.
pub(crate) struct Gathered<'a> {
    summary: SummaryBuilder,
    /// Empty unless a gate looks at single samples.
    current: Option<Vec<CurrentSample>>,
    baseline: Option<&'a Baseline>,
    flips: Vec<Flip>,
    /// The sample whose records come in.
    sample: Option<Sample>,
    samples: u64,
    asked: u64,
    answered: u64,
    errors: u64,
}

impl<'a> Gathered<'a> {
    /// Of no records yet.
    pub(crate) fn new(given: &Circumstances<'a>) -> Self {
        Self {
            summary: SummaryBuilder::new(&*given.eval)
                .scorer(given.scorer)
                .epochs(given.epochs),
            current: given.gates.iter().any(Gate::needs_samples).then(Vec::new),
            baseline: given.baseline,
            flips: Vec::new(),
            sample: None,
            samples: 0,
            asked: 0,
            answered: 0,
            errors: 0,
        }
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, record: &Record) {
        let status = record.result.status;
        self.summary.add(record);
        self.samples += u64::from(record.epoch == 0);
        if self.current.is_some() || self.baseline.is_some() {
            self.gather(record);
        }
        self.asked += u64::from(status != Status::Skipped);
        let answered = [Status::Scored, Status::Unscored, Status::ScorerFailed];
        self.answered += u64::from(answered.contains(&status));
        self.errors += u64::from(status.is_error());
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

    /// Concludes the run; `records` are those that it keeps in memory.
    pub(crate) fn conclude(mut self, records: Vec<Record>, given: Circumstances<'_>) -> Run {
        self.end_sample();
        let mut summary = self.summary.metrics(given.metrics).finish();
        let current = self.current.unwrap_or_default();
        let total = given.total as u64;
        let evidence = Evidence {
            baseline: given.baseline,
            current: &current,
            ci: given.ci,
            scorer: given.scorer,
            selected: (self.samples < total).then_some((self.samples, total)),
        };
        summary.gates = given
            .gates
            .iter()
            .map(|gate| gate.check(&summary, &evidence))
            .collect();
        let (asked, errors) = (self.asked, self.errors);
        let facts = Facts {
            interrupted: given.interrupted,
            misconfigured: given.misconfigured && self.answered == 0,
            stopped_early: given.stop_reason.is_some(),
            all_errored: asked > 0 && errors == asked || given.needs_every_verdict && errors > 0,
            failed_assertions: given.failed_assertions.len() as u64,
        };
        summary.exit_code = gate::exit(&summary.gates, facts);
        Run {
            flips: self.flips,
            eval: given.eval,
            dir: given.dir,
            records,
            summary,
            failed_assertions: given.failed_assertions,
            stop_reason: given.stop_reason,
            notices: given.notices,
            duration_s: given.duration_s,
        }
    }
}

/// The records of a sample so far.
struct Sample {
    id: String,
    input_hash: String,
    target_hash: String,
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
            poll: Poll::default(),
            rows: 0,
        }
    }

    /// Whether it changed sides since the baseline, by the majority of its epochs.
    fn flip(self, baseline: &Baseline) -> Option<Flip> {
        let then = baseline.samples.get(&self.id)?;
        let same = then.input_hash == self.input_hash && then.target_hash == self.target_hash;
        let now = match self.poll.standing() {
            Standing::Correct => true,
            Standing::Wrong => false,
            Standing::Unknown | Standing::Unscored => return None,
        };
        let then = then.correct?;
        (same && then != now).then_some(Flip {
            id: self.id,
            worse: then,
        })
    }
}
