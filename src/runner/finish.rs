//! The two ends of a run: its manifest, and what is written when it is over.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Map;

use super::seen::Seen;
use super::{RunOptions, Session, skipped};
use crate::data::task::Live;
use crate::error::Result;
use crate::event::Event;
use crate::plan::{Item, Plan};
use crate::store::manifest::{environment, git_state};
use crate::store::{FORMAT_VERSION, Manifest, RunDir, RunStatus};
use crate::system::beside::beside;
use crate::system::lock::lock;
use crate::system::project;
use crate::verdict::conclude::{Circumstances, Gathered};
use crate::verdict::run::Run;

/// The manifest of a run that begins now.
pub(super) fn new_manifest(
    plan: &Plan,
    dir: &RunDir,
    options: &RunOptions,
    selected: usize,
) -> Result<Manifest> {
    let name = dir.path().file_name().unwrap_or_default().to_string_lossy();
    let run_id = name.split_once('_').map_or(&*name, |(_, id)| id).to_owned();
    let eval = &plan.eval;
    let home = eval
        .spec
        .as_deref()
        .and_then(Path::parent)
        .map(Path::to_owned);
    let home = home.unwrap_or_else(project::package_root);
    let root = project::workspace_root(&home).unwrap_or_else(project::root);
    let snapshots = crate::system::file::absolute(&eval.snapshot.folder)?;
    let mut config = eval.describe();
    plan.redactor.config(&mut config);
    let overrides = eval.overrides.iter().cloned().map(|mut change| {
        // As an entry of a map, so that the key's name counts.
        let mut entry = serde_json::json!({ &change.key: change.value });
        plan.redactor.config(&mut entry);
        change.value = entry[&change.key].take();
        change
    });
    let only = options.only.as_ref().map(|only| {
        let ids = plan.items.iter().map(|item| &*item.id);
        let selected = ids.filter(|id| only.contains(*id));
        selected.map(str::to_owned).collect()
    });
    Ok(Manifest {
        format_version: FORMAT_VERSION,
        evaltest_version: env!("CARGO_PKG_VERSION").to_owned(),
        invocation: options.invocation.clone().unwrap_or_else(|| run_id.clone()),
        run_id,
        eval: eval.name.clone(),
        benchmark: eval.benchmark.name().to_owned(),
        status: RunStatus::Running,
        stop_reason: None,
        started_at: format!("{:.3}", jiff::Timestamp::now()),
        ended_at: None,
        duration_s: None,
        samples: plan.items.len(),
        epochs: eval.epochs,
        selected,
        whole: selected == plan.items.len() && !options.partial,
        git_sha: None,
        git_dirty: None,
        environment: environment()
            .into_iter()
            .map(|(name, value)| (name, plan.redactor.text(&value, &mut 0).into_owned()))
            .collect(),
        config,
        spec_in_project: eval
            .spec
            .as_deref()
            .and_then(|path| project::inside(&root, path)),
        spec: eval.spec.clone(),
        snapshots_in_project: project::inside(&root, &snapshots),
        snapshots,
        masked: eval.masks_answers(),
        dataset: plan.dataset.clone(),
        dataset_hash: plan.dataset_hash.clone(),
        request_hash: plan.request_hash.clone(),
        scorer_hash: plan.scorer_hash.clone(),
        scorers_hash: plan.scorers_hash.clone(),
        overrides: overrides.collect(),
        redact: options.redact.clone(),
        only,
        baseline: plan
            .baseline
            .as_ref()
            .map(|baseline| baseline.run_id.clone()),
        scorers: plan
            .scorers
            .iter()
            .map(|scorer| scorer.name().to_owned())
            .collect(),
        failed_assertions: Vec::new(),
        extract: Some(plan.extraction.extract.to_value()),
        extract_is_given: plan.extraction.is_given,
        models: BTreeMap::new(),
        parent: None,
        parent_run_id: None,
        artifacts: BTreeMap::new(),
    })
}

impl Session {
    pub(super) fn write_manifest(&self) -> Result<()> {
        lock(&self.manifest).write(&self.dir)
    }

    /// Things about the dataset and the baseline that people should know.
    pub(super) fn notices(&self) -> Vec<String> {
        let mut notices = self.plan.notices.clone();
        notices.extend(lock(&self.noticed).iter().cloned());
        notices
    }

    /// Where what the agent prints goes, if someone watches.
    pub(super) fn live(&self, item: &Item) -> Option<Live> {
        if !self.options.stream {
            return None;
        }
        let (observer, redactor) = (Arc::clone(&self.observer), self.plan.redactor.clone());
        let id = item.sample.id.clone();
        Some(Live(Arc::new(move |line: &str| {
            observer(&Event::AgentOutput {
                id: &id,
                line: &redactor.text(line, &mut 0),
            });
        })))
    }

    /// Ends the run: records in dataset order, summary, gates, manifest.
    ///
    /// # Errors
    /// When something cannot be written. Answers are in `events.jsonl` all the same.
    pub(crate) fn finish(&self) -> Result<Run> {
        self.plan.eval.agent.close();
        let stop = lock(&self.stop).clone();
        let interrupted = stop
            .as_ref()
            .map_or_else(|| self.is_stopped(), |stop| stop.interrupted);
        let misconfigured = stop.as_ref().is_some_and(|stop| stop.misconfigured);
        let stop_reason = stop.map(|stop| stop.reason);
        let stop_reason = stop_reason.or_else(|| interrupted.then(|| "interrupted".to_owned()));
        if stop_reason.is_none() {
            self.note_unkept_limits();
        }
        // What waits for the disk and for git does so beside the rest.
        std::thread::scope(|scope| {
            let journal = beside(scope, || self.events.close());
            let git = beside(scope, || self.git_state());
            let given = self.circumstances(interrupted, misconfigured, stop_reason);
            let (run, files) = self.conclude(given)?;
            self.write_results(&run, interrupted, files, (journal()?, git()))?;
            self.emit(&Event::RunFinished { run: &run });
            Ok(run)
        })
    }

    fn circumstances(
        &self,
        interrupted: bool,
        misconfigured: bool,
        stop_reason: Option<String>,
    ) -> Circumstances<'_> {
        let kept = self.dir.file("scratch");
        // Empty unless folders were kept; only then it may stay.
        let _ = std::fs::remove_dir(kept);
        Circumstances {
            eval: self.plan.eval.name.clone(),
            dir: self.dir.path().to_owned(),
            gates: &self.plan.eval.gates,
            baseline: self.plan.baseline.as_ref(),
            scorer: self.plan.scorers.first().map(|scorer| scorer.name()),
            epochs: self.plan.eval.epochs,
            total: self.plan.items.len(),
            interrupted,
            stop_reason,
            misconfigured,
            needs_every_verdict: self.plan.eval.snapshot.assert.decides(),
            failed_assertions: Vec::new(),
            metrics: Map::new(),
            notices: self.notices(),
            duration_s: self.started.elapsed().as_secs_f64(),
            ci: self.options.ci,
        }
    }

    /// The run, with the names and hashes of the files of its records.
    fn conclude(&self, mut given: Circumstances<'_>) -> Result<(Run, [(String, String); 2])> {
        self.fill_in()?;
        let mut gathered = Gathered::new(&given);
        let mut seen = Seen::new(self);
        let files = self.spool.finish(self.dir.path(), &mut |slot, record| {
            gathered.add(&record);
            seen.add(slot, record);
        })?;
        let records;
        (records, given.failed_assertions, given.metrics) = seen.finish();
        Ok((gathered.conclude(records, given), files))
    }

    /// The commit that was run; that of a part is found when all are put together.
    fn git_state(&self) -> (Option<String>, Option<bool>) {
        if self.is_part() {
            return (None, None);
        }
        let spec = self.plan.eval.spec.as_deref();
        let home = spec.and_then(Path::parent);
        git_state(home.unwrap_or(Path::new(".")))
    }

    /// Writes the records of samples that were never asked, or not to the end: they are `skipped`.
    fn fill_in(&self) -> Result<()> {
        for slot in self.slots().filter(|slot| !self.spool.has(*slot)) {
            let (item, epoch) = self.question(slot);
            let attempts = lock(&self.unfinished).remove(&slot).unwrap_or_default();
            let mut record = super::record(&self.plan, item, epoch, skipped(attempts));
            self.plan.redactor.record(&mut record);
            self.spool.add(slot, &record)?;
        }
        Ok(())
    }

    /// The slots of the selected samples, in order.
    fn slots(&self) -> impl Iterator<Item = usize> {
        let epochs = self.epochs();
        let slots = move |&place: &usize| place * epochs..(place + 1) * epochs;
        self.selected.iter().flat_map(slots)
    }

    fn write_results(
        &self,
        run: &Run,
        interrupted: bool,
        files: [(String, String); 2],
        (journal, git): (String, (Option<String>, Option<bool>)),
    ) -> Result<()> {
        let mut artifacts: BTreeMap<_, _> = files.into();
        artifacts.insert("events.jsonl".to_owned(), journal);
        artifacts.extend(run.write_summary(&self.dir)?);
        let mut manifest = lock(&self.manifest);
        manifest.status = match &run.stop_reason {
            _ if interrupted => RunStatus::Interrupted,
            Some(_) => RunStatus::Stopped,
            None => RunStatus::Finished,
        };
        let reason = run.stop_reason.as_deref();
        manifest.stop_reason =
            reason.map(|reason| self.plan.redactor.text(reason, &mut 0).into_owned());
        manifest.ended_at = Some(format!("{:.3}", jiff::Timestamp::now()));
        manifest.duration_s = Some(run.duration_s);
        manifest
            .failed_assertions
            .clone_from(&run.failed_assertions);
        manifest.artifacts = artifacts;
        manifest.models = std::mem::take(&mut *lock(&self.models));
        (manifest.git_sha, manifest.git_dirty) = git;
        drop(manifest);
        self.write_manifest()
    }
}
