//! Under nextest each trial is a process of its own. A sample leaves a small run directory, its part, in
//! `<output root>/.parts/$NEXTEST_RUN_ID/<eval>/`; the first gate puts all parts together into one run
//! and the others read its verdicts. A part that is missing or unfinished fails the gates.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::flip::{FlipWatch, SampleVerdict};
use super::verdict::{self, TestVerdict};
use crate::data::Record;
use crate::error::{Error, Result};
use crate::eval::plan::Plan;
use crate::run::{CiPolicy, FrontDoor, Home, RunOptions, Scope, Session};
use crate::snapshot;
use crate::snapshot::update::Policy;
use crate::store::files::{JOURNAL, RECORDS, SUMMARY};
use crate::store::{RunDir, RunStatus, read_records, runs_in};
use crate::system::cancel::Cancel;
use crate::system::file::make_root;
use crate::system::lock::lock;
use crate::text::{clean, name};
use crate::verdict::summary::Summary;

/// nextest's id of the whole test run, if each test is a process.
pub(super) fn run_id() -> Option<String> {
    let mode = std::env::var("NEXTEST_EXECUTION_MODE").ok()?;
    let id = std::env::var("NEXTEST_RUN_ID").ok()?;
    (mode == "process-per-test").then(|| name::file_name(&id))
}

/// One eval in a process that runs one of its trials.
pub(super) struct TrialRun {
    plan: Mutex<Option<Plan>>,
    eval: String,
    run_id: String,
    folder: PathBuf,
    cancel: Cancel,
}

impl TrialRun {
    pub(super) fn new(plan: Plan, run_id: &str, cancel: &Cancel) -> Self {
        let eval = plan.eval.name.clone();
        let name = name::file_name(&eval);
        let folder = plan
            .eval
            .output_folder()
            .join(".parts")
            .join(run_id)
            .join(name);
        Self {
            plan: Mutex::new(Some(plan)),
            eval,
            run_id: run_id.to_owned(),
            folder,
            cancel: cancel.clone(),
        }
    }

    pub(super) fn eval(&self) -> &str {
        &self.eval
    }

    /// Runs one sample's trial and leaves its part.
    pub(super) fn sample(&self, place: usize) -> TestVerdict {
        let run = || -> Result<TestVerdict> {
            let plan = self.take_plan()?;
            make_root(&plan.eval.output_folder())?;
            let id = plan.items[place].id.to_string();
            snapshot::check_scorer(&plan.eval.snapshot.folder, &plan.scorer_hash)?;
            let mut part = self.part(&id);
            if has_answer(&part) {
                // nextest repeats a failed test. The first answer alone feeds the gates.
                part.as_mut_os_string().push(".again");
            }
            // One that cannot be read is told before anything is asked.
            snapshot::Content::read(&snapshot::path(&plan.eval.snapshot.folder, &id))?;
            let _ = std::fs::remove_dir_all(&part);
            let options = RunOptions {
                home: Home::Part(part),
                scope: Scope {
                    only: Some(HashSet::from([id])),
                    ..Scope::default()
                },
                invocation: Some(self.invocation()),
                cancel: self.cancel.clone(),
                ci: CiPolicy::from_env(),
                door: FrontDoor::Harness,
                ..RunOptions::default()
            };
            let session = Session::with_plan(plan, options, Arc::new(|_| {}))?;
            let records = session.run_sample(place);
            let judging = FlipWatch {
                session: &session,
                policy: Policy::from_env(),
                has_baseline: snapshot::has_baseline(&session.plan().eval.snapshot.folder),
                // A process cannot see what else was selected.
                no_gate: None,
            };
            let verdict = judging.of_sample(place, &records);
            session.finish()?;
            Ok(match verdict {
                SampleVerdict::Closed(verdict) => verdict,
                SampleVerdict::Open(flip) => flip.leave_to_gates(),
            })
        };
        run().unwrap_or_else(|error| TestVerdict::Failed(format!("infrastructure: {error}")))
    }

    /// Puts the parts together, unless another gate did, and gives one gate's verdict.
    pub(super) fn gate(&self, number: usize) -> TestVerdict {
        let run = || -> Result<TestVerdict> {
            let plan = self.take_plan()?;
            let (summary, dir) = self.merged(&plan)?;
            let gate = summary.gates.get(number).ok_or_else(|| {
                Error::infrastructure(format!("`{}` lacks the gate", dir.display()))
            })?;
            let became_wrong = gate.regression.as_ref().map(|it| &*it.became_wrong);
            Ok(match verdict::of_gate(gate, &dir) {
                // The tests of these samples could not wait for it and are green: it names them all.
                TestVerdict::Failed(message) => TestVerdict::Failed(match became_wrong {
                    Some(ids @ [_, ..]) => {
                        let ids = clean(&ids.join(", "));
                        format!("{message}\ncorrect in the baseline and wrong now: {ids}")
                    }
                    _ => message,
                }),
                verdict => verdict,
            })
        };
        run().unwrap_or_else(|error| TestVerdict::Failed(format!("infrastructure: {error}")))
    }

    /// Removes the parts, and the folder of all evals' parts if this was the last.
    fn clear(&self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        for folder in self.folder.ancestors().skip(1).take(2) {
            let _ = std::fs::remove_dir(folder);
        }
    }

    /// Shared by all parts and by the run that they become.
    fn invocation(&self) -> String {
        format!("nextest-{}", self.run_id)
    }

    fn take_plan(&self) -> Result<Plan> {
        let plan = lock(&self.plan).take();
        plan.ok_or_else(|| Error::infrastructure("this process has run its trial already"))
    }

    fn part(&self, id: &str) -> PathBuf {
        self.folder.join(name::file_name(id))
    }

    fn merged(&self, plan: &Plan) -> Result<(Summary, PathBuf)> {
        std::fs::create_dir_all(&self.folder)
            .map_err(|error| Error::io("create", &self.folder, &error))?;
        // No part has such a name.
        let lock = self.folder.join("lock~");
        let file = File::create(&lock).map_err(|error| Error::io("create", &lock, &error))?;
        file.lock().map_err(|error| {
            Error::infrastructure(format!("cannot lock `{}`: {error}", lock.display()))
        })?;
        let invocation = self.invocation();
        let is_merged = |dir: &RunDir| {
            let manifest = dir.manifest();
            manifest.is_ok_and(|manifest| {
                manifest.invocation == invocation
                    && manifest.eval == plan.eval.name
                    && manifest.status == RunStatus::Finished
            })
        };
        // The newest first: another gate has just written it.
        let runs = runs_in(&plan.eval.output_folder());
        if let Some(dir) = runs.iter().rev().find(|dir| is_merged(dir)) {
            self.clear();
            return Ok((Summary::read(&dir.file(SUMMARY))?, dir.path().to_owned()));
        }
        let mut journals = Vec::new();
        let mut missing = Vec::new();
        for item in &plan.items {
            let part = self.part(&item.id);
            if is_finished(&part) {
                journals.push(part.join(JOURNAL));
            } else {
                missing.push(item.id.to_string());
            }
        }
        if let Some(first) = missing.first() {
            let (there, all) = (plan.items.len() - missing.len(), plan.items.len());
            return Err(Error::usage(format!(
                "incomplete: {there} of {all} samples ran in this nextest run; missing is `{first}`"
            ))
            .hint("run all of them, with `fail-fast = false` and gates last: cargo evaltest init writes the configuration"));
        }
        // The baseline was left aside to start quickly; the gates need it.
        let plan = Plan::load(&plan.eval, crate::eval::plan::BaselineUse::Compare)?;
        let options = RunOptions {
            home: Home::Merged(journals),
            invocation: Some(invocation),
            cancel: self.cancel.clone(),
            ci: CiPolicy::from_env(),
            door: FrontDoor::Harness,
            ..RunOptions::default()
        };
        let run = Session::with_plan(plan, options, Arc::new(|_| {}))?.run()?;
        self.clear();
        Ok((run.summary, run.dir))
    }
}

/// Whether the sample of a part was answered in every epoch, and not ended by an outage.
fn has_answer(part: &Path) -> bool {
    let records = is_finished(part).then(|| read_records(&part.join(RECORDS)));
    let records: Vec<_> = records
        .and_then(Result::ok)
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    let is_answered = |record: &Record| !record.result.status.is_error();
    !records.is_empty() && records.iter().all(is_answered)
}

fn is_finished(part: &Path) -> bool {
    let manifest = RunDir::open(part).and_then(|dir| dir.manifest());
    manifest.is_ok_and(|manifest| manifest.status == RunStatus::Finished)
}

#[cfg(test)]
mod tests;
