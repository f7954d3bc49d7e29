//! Trials under nextest, where each is a process. A sample leaves a small run directory, its
//! [part](crate::run::shard::trial_parts); the first gate puts all parts together into one run and the others read its
//! verdicts. If a part is missing or unfinished the gates fail, as they cannot know whether others have it, unless
//! `EVALTEST_GATE=defer` leaves them to the merge. Either way the existing parts become a run directory that can be
//! resumed or merged.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::flip::{FlipWatch, SampleVerdict};
use super::verdict::{self, TestVerdict};
use crate::data::Record;
use crate::error::{Error, Result};
use crate::eval::plan::Plan;
use crate::run::shard::trial_parts::{AGAIN, TrialParts};
use crate::run::{Caller, CiPolicy, RunOptions, RunOrigin, Scope, Session};
use crate::snapshot;
use crate::snapshot::Policy;
use crate::store::files::{JOURNAL, RECORDS, SUMMARY};
use crate::store::places::PartPlaces;
use crate::store::{RunDir, RunStatus, read_records, runs_in};
use crate::system::cancel::Cancel;
use crate::system::file::make_root;
use crate::system::lock;
use crate::system::project::display;
use crate::text;
use crate::text::{clean, shell_word};
use crate::verdict::summary::Summary;

/// nextest's id of the whole test run, if each test is a process.
pub(super) fn run_id() -> Option<String> {
    let mode = std::env::var("NEXTEST_EXECUTION_MODE").ok()?;
    let id = std::env::var("NEXTEST_RUN_ID").ok()?;
    (mode == "process-per-test").then(|| text::file_name(&id))
}

/// Decides how gates of an incomplete run end.
const GATE: &str = "EVALTEST_GATE";
/// Leaves them to the merge of the shards.
const DEFER: &str = "defer";

/// One eval in a process that runs one of its trials.
pub(super) struct TrialRun {
    plan: Mutex<Option<Plan>>,
    eval: String,
    parts: TrialParts,
    cancel: Cancel,
}

/// The combined parts of a run.
enum PutTogether {
    /// All of it, judged.
    Whole(Box<Summary>, PathBuf),
    /// Not all of it.
    Incomplete(Incomplete),
}

/// Some of the samples of an eval.
struct Incomplete {
    there: usize,
    all: usize,
    missing: String,
    /// The run directories.
    dirs: Vec<PathBuf>,
}

impl Incomplete {
    /// A gate's verdict on it.
    fn verdict(&self, word: Option<&str>) -> TestVerdict {
        let Self { there, all, .. } = self;
        let dirs: Vec<_> = self.dirs.iter().map(|dir| display(dir)).collect();
        let place = if dirs.is_empty() {
            String::new()
        } else {
            format!(", which are in {}", dirs.join(" and "))
        };
        let merge = self.dirs.first().and_then(|dir| dir.parent());
        let merge = merge.map_or("DIR…".to_owned(), |root| shell_word(&display(root)));
        let merge = format!("cargo evaltest merge {merge}");
        match word {
            Some(DEFER) => TestVerdict::Ignored(format!(
                "{there} of {all} samples ran in this nextest run{place}; merge the shards: {merge}"
            )),
            _ => TestVerdict::Failed(format!(
                "infrastructure: incomplete: {there} of {all} samples ran in this nextest run{place}; `{}` is missing\n\
                 hint: run all of them, with `fail-fast = false` and gates last: cargo evaltest init writes the \
                 configuration. If other partitions have the rest: {GATE}={DEFER} leaves the gates to `{merge}`",
                self.missing
            )),
        }
    }
}

/// The value of the variable for gates of an incomplete run.
fn gate_word() -> Result<Option<String>> {
    let word = std::env::var(GATE).ok().filter(|word| !word.is_empty());
    match word {
        Some(word) if word != DEFER => Err(Error::usage(format!(
            "invalid value {GATE}={}",
            word.escape_debug()
        ))
        .hint(format!("write {GATE}={DEFER}, or unset it"))),
        word => Ok(word),
    }
}

impl TrialRun {
    pub(super) fn new(plan: Plan, run_id: &str, cancel: &Cancel) -> Self {
        let eval = plan.eval.name.clone();
        Self {
            parts: TrialParts::of(&plan.eval.output_folder(), run_id, &eval),
            plan: Mutex::new(Some(plan)),
            eval,
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
            let root = plan.eval.output_folder();
            make_root(&root)?;
            self.parts.note_runner();
            let id = plan.items[place].id.to_string();
            snapshot::check_scorer(&plan.eval.snapshot.folder, &plan.scorer_hash)?;
            let mut part = self.parts.part(&id);
            if has_answer(&part) {
                // nextest retries a failed test. Only the first answer counts for the gates.
                part.as_mut_os_string().push(AGAIN);
            }
            // An unreadable snapshot is reported before anything is asked.
            snapshot::Content::read(&snapshot::path(&plan.eval.snapshot.folder, &id))?;
            self.parts.make_room(&part)?;
            let options = RunOptions {
                origin: RunOrigin::Part(part),
                scope: Scope {
                    coverage: Some(self.parts.coverage(place)),
                    ..Scope::default()
                },
                invocation: Some(self.parts.invocation()),
                cancel: self.cancel.clone(),
                ci: CiPolicy::from_env(),
                caller: Caller::Harness,
                ..RunOptions::default()
            };
            let session = Session::with_plan(plan, options, Arc::new(|_| {}))?;
            let records = session.run_sample(place);
            let judging = FlipWatch {
                session: &session,
                policy: Policy::from_env(),
                has_baseline: snapshot::has_baseline(&session.plan().eval.snapshot.folder),
                // A process cannot see which other tests were selected.
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

    /// Puts the parts together, unless another gate did, and returns one gate's verdict.
    pub(super) fn gate(&self, number: usize) -> TestVerdict {
        let run = || -> Result<TestVerdict> {
            let plan = self.take_plan()?;
            let word = gate_word()?;
            let (summary, dir) = match self.put_together(&plan)? {
                PutTogether::Whole(summary, dir) => (summary, dir),
                PutTogether::Incomplete(incomplete) => {
                    return Ok(incomplete.verdict(word.as_deref()));
                }
            };
            let gate = summary.gates.get(number).ok_or_else(|| {
                Error::infrastructure(format!("`{}` lacks the gate", dir.display()))
            })?;
            let became_wrong = gate.regression.as_ref().map(|it| &*it.became_wrong);
            Ok(match verdict::of_gate(gate, &dir) {
                // The tests of these samples could not wait for the gate and are green: its message names them all.
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

    fn take_plan(&self) -> Result<Plan> {
        let plan = lock(&self.plan).take();
        plan.ok_or_else(|| Error::infrastructure("this process has already run its test"))
    }

    fn put_together(&self, plan: &Plan) -> Result<PutTogether> {
        let _lock = self.parts.lock()?;
        let invocation = self.parts.invocation();
        let mut pieces = Vec::new();
        // The newest first: another gate has just written it.
        for dir in runs_in(&plan.eval.output_folder()).into_iter().rev() {
            let Ok(manifest) = dir.manifest() else {
                continue;
            };
            if manifest.invocation != invocation || manifest.eval != plan.eval.name {
                continue;
            }
            if manifest.part.is_some() {
                pieces.push(dir);
            } else if manifest.status == RunStatus::Finished {
                self.parts.clear();
                let summary = Summary::read(&dir.file(SUMMARY))?;
                return Ok(PutTogether::Whole(summary.into(), dir.path().to_owned()));
            }
        }
        let gathered = pieces.len();
        pieces.extend(self.parts.finished());
        let mut there = HashSet::new();
        let mut firsts = Vec::new();
        for piece in &pieces {
            let places = PartPlaces::read(piece)?.places;
            firsts.push((places.first().copied(), piece.file(JOURNAL)));
            there.extend(places);
        }
        let mut items = plan.items.iter().enumerate();
        if let Some((_, missing)) = items.find(|(place, _)| !there.contains(place)) {
            let new = if pieces.len() > gathered {
                self.parts.gather()?
            } else {
                None
            };
            let dirs = pieces[..gathered].iter().map(|dir| dir.path().to_owned());
            return Ok(PutTogether::Incomplete(Incomplete {
                there: there.len(),
                all: plan.items.len(),
                missing: clean(&missing.id),
                dirs: new.into_iter().chain(dirs).collect(),
            }));
        }
        firsts.sort();
        let journals = firsts.into_iter().map(|(_, journal)| journal).collect();
        // The baseline was skipped to start quickly; the gates need it.
        let plan = Plan::load(&plan.eval, crate::eval::plan::BaselineUse::Compare)?;
        let plan = plan.without_default_comparison();
        let options = RunOptions {
            origin: RunOrigin::Merged(journals),
            invocation: Some(invocation),
            cancel: self.cancel.clone(),
            ci: CiPolicy::from_env(),
            caller: Caller::Harness,
            ..RunOptions::default()
        };
        let run = Session::with_plan(plan, options, Arc::new(|_| {}))?.run()?;
        self.parts.clear();
        for piece in &pieces[..gathered] {
            // Its content is in the new run. If it has anything else, such as a review, it stays.
            piece.remove_if_all_ours();
        }
        Ok(PutTogether::Whole(run.summary.into(), run.dir))
    }
}

/// Whether the sample of a part was answered in every epoch, without an outage.
fn has_answer(part: &Path) -> bool {
    let is_finished = RunDir::open(part).is_ok_and(|part| part.is_finished());
    let records = is_finished.then(|| read_records(&part.join(RECORDS)));
    let records: Vec<_> = records
        .and_then(Result::ok)
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    let is_answered = |record: &Record| !record.result.status.is_error();
    !records.is_empty() && records.iter().all(is_answered)
}

#[cfg(test)]
mod tests;
