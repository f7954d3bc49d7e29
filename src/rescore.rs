//! Working on a run that is over: its summary and gates again, or its answers scored anew.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::agent::Output;
use crate::artifact::manifest::Manifest;
use crate::artifact::records::Spool;
use crate::artifact::{RunDir, RunStatus, random_run_id, read_records};
use crate::conclude::{Circumstances, conclude};
use crate::error::{Error, Result};
use crate::extract::Extract;
use crate::gate::Gate;
use crate::hash::Hasher;
use crate::run::{Outcome, Record, Run, Status};
use crate::runner::judge::score_all;
use crate::sample::Target;
use crate::scorer::Scorer;
use crate::snapshot;

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
    let gates = match gates {
        Some(gates) => gates,
        None => gates_of(&manifest)?,
    };
    let baseline = snapshot::read_baseline(&manifest.snapshots)?;
    if let Some(baseline) = &baseline
        && gates.iter().any(Gate::needs_baseline)
    {
        baseline.check_comparable(
            &manifest.scorer_hash,
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
            scorer: None,
            total: manifest.samples,
            interrupted: manifest.status == RunStatus::Interrupted,
            stop_reason,
            failed_assertions: Vec::new(),
            metrics: Map::new(),
            notices: Vec::new(),
            duration_s: manifest.duration_s.unwrap_or_default(),
            ci,
        },
    );
    Ok(run)
}

fn gates_of(manifest: &Manifest) -> Result<Vec<Gate>> {
    let gates = manifest
        .config
        .get("gates")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    gates.filter_map(Value::as_str).map(str::parse).collect()
}

/// How answers are scored again.
pub struct Rescore {
    /// The scorers; the first decides.
    pub scorers: Vec<Box<dyn Scorer>>,
    /// The extraction; as the run had it when `None`.
    pub extract: Option<Extract>,
    /// The folder of run directories; that of the run itself when `None`.
    pub output_root: Option<PathBuf>,
}

/// Scores the answers of a run again, into a new run directory that names its parent. No agent is asked.
/// A record that lost a secret keeps its verdict, because the answer that was scored is no longer there.
///
/// # Errors
/// When the run cannot be read or the new directory cannot be written.
pub fn rescore(dir: &RunDir, how: Rescore) -> Result<Run> {
    let parent = dir.manifest()?;
    let scorers: Vec<Arc<dyn Scorer>> = how.scorers.into_iter().map(Arc::from).collect();
    let extract = match how.extract {
        Some(extract) => extract,
        None => parent
            .extract
            .as_ref()
            .map_or(Ok(Extract::None), Extract::from_value)?,
    };
    let root = how
        .output_root
        .or_else(|| dir.path().parent().map(PathBuf::from));
    let root = root.ok_or_else(|| Error::usage("the run directory has no folder"))?;
    let run_id = random_run_id(&parent.eval);
    let new = RunDir::create(&root, &run_id)?;
    let spool = Spool::create(new.file("samples.jsonl.part"), parent.selected)?;
    let mut kept = 0;
    let mut records = Vec::with_capacity(parent.selected);
    for (place, record) in read_records(&dir.file("samples.jsonl"))?.enumerate() {
        let mut record = record?;
        let lost = record.result.redacted > 0;
        if lost && matches!(record.result.status, Status::Scored | Status::ScorerFailed) {
            kept += 1;
        } else {
            judge(&mut record, &extract, &scorers);
        }
        spool.add(place, &record)?;
        record.abridge();
        records.push(record);
    }
    let scorer_hash = scorer_hash(&extract, &scorers);
    let gates: Vec<Gate> = gates_of(&parent)?
        .into_iter()
        .filter(|gate| !gate.needs_baseline())
        .collect();
    let mut notices = Vec::new();
    if kept > 0 {
        notices.push(format!(
            "{kept} records lost a secret to redaction and keep their verdicts"
        ));
    }
    let now = format!("{:.3}", jiff::Timestamp::now());
    let run = conclude(
        records,
        Circumstances {
            eval: parent.eval.clone(),
            dir: new.path().to_owned(),
            gates: &gates,
            baseline: None,
            scorer: None,
            total: parent.samples,
            interrupted: false,
            stop_reason: None,
            failed_assertions: Vec::new(),
            metrics: Map::new(),
            notices,
            duration_s: 0.0,
            ci: false,
        },
    );
    let mut artifacts = spool.finish(new.path())?.to_vec();
    artifacts.extend(run.write_summary(&new)?);
    let manifest = Manifest {
        run_id: run_id.clone(),
        invocation: run_id,
        started_at: now.clone(),
        ended_at: Some(now),
        duration_s: Some(0.0),
        scorer_hash,
        parent: Some(dir.path().to_owned()),
        extract: Some(extract.to_value()),
        artifacts: artifacts.into_iter().collect(),
        ..parent
    };
    manifest.write(&new)?;
    Ok(run)
}

/// Hash of an extraction and scorers; see [`Manifest::scorer_hash`].
pub(crate) fn scorer_hash(extract: &Extract, scorers: &[Arc<dyn Scorer>]) -> String {
    let start = Hasher::default().part(extract.to_string());
    scorers
        .iter()
        .fold(start, |hash, scorer| hash.part(scorer.fingerprint()))
        .short()
}

fn judge(record: &mut Record, extract: &Extract, scorers: &[Arc<dyn Scorer>]) {
    let answered = matches!(
        record.result.status,
        Status::Scored | Status::Unscored | Status::ScorerFailed
    );
    let Some(output) = record.result.output.clone().filter(|_| answered) else {
        return;
    };
    let prediction = output
        .text
        .as_deref()
        .map(|text| extract.apply(text).to_owned());
    let outcome = Outcome {
        status: Status::Unscored,
        prediction,
        score: None,
        scores: Map::new(),
        error: None,
        output: None,
        ..record.result.clone()
    };
    record.result = outcome;
    if !record.ground_truth.is_null() {
        let target = Target(record.ground_truth.clone());
        score_all(
            scorers,
            &record.metadata,
            &target,
            &output,
            &mut record.result,
        );
    }
    record.result.output = Some(Output { ..output });
}
