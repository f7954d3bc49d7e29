//! A run that is over, read again from its directory.

use serde_json::Value;

use crate::artifact::{Manifest, RunDir, RunStatus, read_records};
use crate::conclude::{Circumstances, conclude};
use crate::error::{Error, Result};
use crate::gate::{self, Gate};
use crate::run::Run;
use crate::snapshot;
use crate::summary::Summary;

/// A finished run, read from its directory, with gates checked again: `gates`, or those the run had.
///
/// # Errors
/// When the run was killed before its end, or its baseline cannot be compared with it.
pub fn reload(dir: &RunDir, gates: Option<Vec<Gate>>, ci: bool) -> Result<Run> {
    let manifest = dir.manifest()?;
    let mut records = Vec::with_capacity(manifest.selected);
    for record in read_records(&dir.file("samples.jsonl"))? {
        let mut record = record?;
        record.abridge();
        records.push(record);
    }
    // Other gates are asked for alone, without what else decided the run.
    let others = gates.is_some();
    let (gates, failed_assertions) = match gates {
        Some(gates) => (gates, Vec::new()),
        None => (gates_of(&manifest)?, manifest.failed_assertions.clone()),
    };
    let needs_baseline = gates.iter().any(Gate::needs_baseline);
    let folder = manifest.snapshot_folder();
    let baseline = snapshot::read_baseline(&folder)?;
    if baseline.is_none() && needs_baseline && manifest.baseline.is_some() {
        return Err(Error::usage(format!(
            "the baseline that run `{}` was compared with is not in `{}`",
            manifest.run_id,
            folder.display()
        ))
        .hint("check this in the checkout that has the snapshots"));
    }
    if let Some(baseline) = &baseline
        && needs_baseline
    {
        baseline.check_comparable(
            &manifest.scorer_hash,
            manifest.epochs,
            records.iter().map(|record| record.sample_id.as_str()),
        )?;
    }
    let stop_reason = match manifest.status {
        RunStatus::Finished => None,
        _ => Some(
            manifest
                .stop_reason
                .clone()
                .unwrap_or_else(|| "it was killed".to_owned()),
        ),
    };
    let run = conclude(
        records,
        Circumstances {
            eval: manifest.eval.clone(),
            dir: dir.path().to_owned(),
            gates: &gates,
            baseline: baseline.as_ref(),
            scorer: manifest.scorers.first().map(String::as_str),
            epochs: manifest.epochs,
            total: manifest.samples,
            interrupted: manifest.status == RunStatus::Interrupted,
            stop_reason,
            misconfigured: false,
            needs_every_verdict: false,
            failed_assertions,
            // The benchmark that worked them out is not here.
            metrics: Summary::read(&dir.file("summary.json"))
                .map(|summary| summary.metrics)
                .unwrap_or_default(),
            notices: Vec::new(),
            duration_s: manifest.duration_s.unwrap_or_default(),
            ci,
        },
    );
    if others {
        let known = gate::Known::of_run(&run.summary, &manifest.scorers, manifest.epochs);
        gates.iter().try_for_each(|gate| gate.validate(&known))?;
    }
    Ok(run)
}

/// The gates that a run had.
pub(super) fn gates_of(manifest: &Manifest) -> Result<Vec<Gate>> {
    let gates = manifest
        .config
        .get("gates")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    gates.filter_map(Value::as_str).map(str::parse).collect()
}
