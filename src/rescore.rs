//! Working on a run that is over: its summary and gates again, or its answers scored anew.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::artifact::manifest::Manifest;
use crate::artifact::records::Spool;
use crate::artifact::{RunDir, RunStatus, random_run_id, read_records};
use crate::conclude::{Circumstances, conclude};
use crate::error::{Error, Result};
use crate::extract::{Extract, Extraction};
use crate::gate::{self, Gate};
use crate::hash::Hasher;
use crate::redact::Redactor;
use crate::run::{Outcome, Record, Run, Status};
use crate::runner::judge::{Judged, score_all};
use crate::sample::Target;
use crate::scorer::Scorer;
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
            total: manifest.samples,
            interrupted: manifest.status == RunStatus::Interrupted,
            stop_reason,
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
        let known = gate::Known::of_run(&run.summary, &manifest.scorers);
        gates.iter().try_for_each(|gate| gate.validate(&known))?;
    }
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
    pub scorers: Vec<Arc<dyn Scorer>>,
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
    let scorers = how.scorers;
    let extraction = match how.extract {
        Some(extract) => Extraction {
            extract,
            is_given: true,
        },
        None => Extraction {
            extract: parent
                .extract
                .as_ref()
                .map_or(Ok(Extract::none()), Extract::from_value)?,
            is_given: parent.extract_is_given,
        },
    };
    let secrets: Vec<String> = scorers.iter().flat_map(Scorer::secrets).collect();
    let redactor = Redactor::new(&[], &secrets)?;
    let root = how
        .output_root
        .or_else(|| dir.path().parent().map(PathBuf::from));
    let root = root.ok_or_else(|| Error::usage("the run directory has no folder"))?;
    let run_id = random_run_id(&parent.eval);
    // Read before anything is made, so that a run that cannot be read leaves no half of one.
    let whole = read_records(&dir.file("samples.jsonl"))?;
    let new = RunDir::create(&root, &run_id)?;
    let spool = Spool::create(new.file("samples.jsonl.part"), parent.selected)?;
    let mut kept = 0;
    let mut records = Vec::with_capacity(parent.selected);
    for (place, record) in whole.enumerate() {
        let mut record = record?;
        let lost = record.result.redacted > 0;
        if lost && matches!(record.result.status, Status::Scored | Status::ScorerFailed) {
            kept += 1;
        } else {
            judge(&mut record, &extraction, &scorers);
            // The answers were redacted when they were written. What scorers say is new, and no loss.
            redactor.verdicts(&mut record.result, &mut 0);
        }
        spool.add(place, &record)?;
        record.abridge();
        records.push(record);
    }
    let scorer_hash = scorer_hash(&extraction, &scorers);
    let baseline = snapshot::read_baseline(&parent.snapshot_folder())?;
    let baseline = baseline.filter(|baseline| baseline.scorer_hash == scorer_hash);
    let mut gates = gates_of(&parent)?;
    let all = gates.len();
    gates.retain(|gate| baseline.is_some() || !gate.needs_baseline());
    let mut notices = Vec::new();
    if kept > 0 {
        notices.push(format!(
            "{kept} records lost a secret to redaction and keep their verdicts"
        ));
    }
    if gates.len() < all {
        notices.push("the baseline was judged otherwise: `no_regression` is left out".to_owned());
    }
    let now = format!("{:.3}", jiff::Timestamp::now());
    let run = conclude(
        records,
        Circumstances {
            eval: parent.eval.clone(),
            dir: new.path().to_owned(),
            gates: &gates,
            baseline: baseline.as_ref(),
            scorer: scorers.first().map(Scorer::name),
            total: parent.samples,
            interrupted: false,
            stop_reason: None,
            needs_every_verdict: false,
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
        scorers: scorers
            .iter()
            .map(|scorer| scorer.name().to_owned())
            .collect(),
        failed_assertions: Vec::new(),
        parent: Some(dir.path().to_owned()),
        extract: Some(extraction.extract.to_value()),
        extract_is_given: extraction.is_given,
        artifacts: artifacts.into_iter().collect(),
        ..parent
    };
    manifest.write(&new)?;
    Ok(run)
}

/// Hash of an extraction and scorers; see [`Manifest::scorer_hash`].
pub(crate) fn scorer_hash(extraction: &Extraction, scorers: &[Arc<dyn Scorer>]) -> String {
    let start = Hasher::default().part(extraction.extract.to_string());
    scorers
        .iter()
        .fold(start, |hash, scorer| {
            let hash = hash.part(scorer.fingerprint());
            match extraction.of(&**scorer) {
                Cow::Borrowed(_) => hash,
                Cow::Owned(own) => hash.part(own.to_string()),
            }
        })
        .short()
}

fn judge(record: &mut Record, extraction: &Extraction, scorers: &[Arc<dyn Scorer>]) {
    let answered = matches!(
        record.result.status,
        Status::Scored | Status::Unscored | Status::ScorerFailed
    );
    let Some(output) = record.result.output.clone().filter(|_| answered) else {
        return;
    };
    let outcome = Outcome {
        status: Status::Unscored,
        prediction: None,
        score: None,
        scores: Map::new(),
        error: None,
        output: None,
        ..record.result.clone()
    };
    record.result = outcome;
    let target = Some(Target(record.ground_truth.clone())).filter(|target| !target.0.is_null());
    let judged = Judged {
        target: target.as_ref(),
        metadata: &record.metadata,
        sample: None,
        output: &output,
        extraction,
    };
    score_all(scorers, &judged, &mut record.result);
    record.result.output = Some(output);
}
