//! From records to a finished [`Run`]: summary, gates, flips, exit code. Pure.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::baseline::{Baseline, CurrentSample};
use crate::gate::{self, Evidence, Facts, Gate};
use crate::run::{Flip, Record, Run, Status};
use crate::summary::SummaryBuilder;

/// What a run's conclusion depends on besides its records.
pub(crate) struct Circumstances<'a> {
    pub(crate) eval: String,
    pub(crate) dir: PathBuf,
    pub(crate) gates: &'a [Gate],
    pub(crate) baseline: Option<&'a Baseline>,
    /// The name of the scorer that decides.
    pub(crate) scorer: Option<&'a str>,
    /// Samples of the eval, of which the records may be a selection.
    pub(crate) total: usize,
    pub(crate) interrupted: bool,
    pub(crate) stop_reason: Option<String>,
    /// Under `exact` and `correct` an outage leaves the question open.
    pub(crate) needs_every_verdict: bool,
    pub(crate) failed_assertions: Vec<String>,
    /// The benchmark's own aggregates.
    pub(crate) metrics: Map<String, Value>,
    pub(crate) notices: Vec<String>,
    pub(crate) duration_s: f64,
    pub(crate) ci: bool,
}

/// Concludes a run.
pub(crate) fn conclude(records: Vec<Record>, given: Circumstances<'_>) -> Run {
    let mut builder = SummaryBuilder::new(&*given.eval)
        .scorer(given.scorer)
        .metrics(given.metrics);
    for record in &records {
        builder.add(record);
    }
    let mut summary = builder.finish();
    let current: Vec<CurrentSample> = records.iter().map(CurrentSample::of).collect();
    let evidence = Evidence {
        baseline: given.baseline,
        current: &current,
        ci: given.ci,
        scorer: given.scorer,
        selected: (records.len() < given.total)
            .then_some((records.len() as u64, given.total as u64)),
    };
    summary.gates = given
        .gates
        .iter()
        .map(|gate| gate.check(&summary, &evidence))
        .collect();
    let asked = records
        .iter()
        .filter(|record| record.result.status != Status::Skipped);
    let (asked, errors) = asked.fold((0_u64, 0_u64), |(asked, errors), record| {
        (
            asked + 1,
            errors + u64::from(record.result.status.is_error()),
        )
    });
    let facts = Facts {
        interrupted: given.interrupted,
        stopped_early: given.stop_reason.is_some(),
        all_errored: asked > 0 && errors == asked || given.needs_every_verdict && errors > 0,
        failed_assertions: given.failed_assertions.len() as u64,
    };
    summary.exit_code = gate::exit_code(&summary.gates, facts);
    Run {
        flips: given
            .baseline
            .map(|baseline| flips(&records, baseline))
            .unwrap_or_default(),
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

/// Samples that changed sides since the baseline.
fn flips(records: &[Record], baseline: &Baseline) -> Vec<Flip> {
    let flip = |record: &Record| {
        let then = baseline.samples.get(&record.sample_id)?;
        let same = then.input_hash == record.input_hash && then.target_hash == record.target_hash;
        let now = (record.result.status == Status::Scored).then(|| record.result.is_correct())?;
        let then = then.correct?;
        (same && then != now).then(|| Flip {
            id: record.sample_id.clone(),
            worse: then,
        })
    };
    records.iter().filter_map(flip).collect()
}
