//! `Repaired`: a run restored from its journal. Nothing is asked.
//!
//! The journal has the answers and their outcomes, the dataset the rest of a record. So the spec that the manifest
//! names must exist, with the dataset and scorers of the run. Questions without an end in the journal are left out, as
//! in a stopped run.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::reload::reload;
use crate::error::{Error, Result};
use crate::eval::plan::{BaselineUse, Plan};
use crate::eval::registry::Registry;
use crate::eval::spec;
use crate::eval::tiers::Promotion;
use crate::figure::counted;
use crate::run::dry_run::lost;
use crate::run::session::manifest::config_of;
use crate::run::shard::ShardCoverage;
use crate::run::{Caller, CiPolicy, RunOptions, RunOrigin, Session};
use crate::store::files::{JOURNAL, MANIFEST};
use crate::store::journal;
use crate::store::manifest::EarlyStop;
use crate::store::{Manifest, RunDir, RunStatus};
use crate::system::project::display;
use crate::text::setting::Override;
use crate::text::{clean, shell_word};
use crate::verdict::facts::Stop;

/// The result of a repair.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Repaired {
    /// Questions whose end is in the journal.
    pub ended: usize,
    /// Questions of the run.
    pub questions: usize,
    /// Unreadable lines of the journal, from 1.
    pub skipped_lines: Vec<u64>,
    /// The status of the run.
    pub status: RunStatus,
    /// Notices about files that were changed since the run wrote them.
    pub notices: Vec<String>,
}

impl Repaired {
    /// How much of the run could be restored.
    pub(in crate::run) fn description(&self) -> String {
        let Self {
            ended,
            questions,
            skipped_lines,
            ..
        } = self;
        let lost = match skipped_lines.len() {
            0 => String::new(),
            lines => format!(" ({} unreadable)", counted(lines as u64, "line")),
        };
        format!("with {ended} of its {questions} questions{lost}")
    }
}

/// Restores the files of a run in its own directory.
///
/// # Errors
/// When a question with a record has no end in its journal, when the run is in progress, or when its spec or dataset is
/// missing.
pub fn repair(dir: &RunDir) -> Result<Repaired> {
    let manifest = dir.manifest_unverified()?;
    if let Some(parent) = &manifest.parent {
        let message = format!(
            "run `{}` scored the answers of another run again: its journal has no answers",
            display(dir.path())
        );
        return Err(Error::usage(message).hint(format!(
            "score them again: cargo evaltest rescore {}",
            shell_word(&display(parent))
        )));
    }
    let plan = plan_of(&manifest)?;
    let lost = lost(&plan, dir)?;
    if let Some(first) = lost.first() {
        let message = format!(
            "the journal of run `{}` lacks the end of {} whose records are in `samples.jsonl`: a run rebuilt from it would \
             lose them",
            display(dir.path()),
            match lost.len() {
                1 => format!("`{}`", clean(first)),
                more => format!("{more} questions (first `{}`)", clean(first)),
            }
        );
        return Err(Error::usage(message).hint(
            "copy the files again from the original directory, or remove `samples.jsonl` if you do not need it",
        ));
    }
    let changed = dir.manifest().is_err().then(|| {
        let path = display(&dir.file(MANIFEST));
        format!(
            "{path}: changed after the run; gates and settings come from the current spec, the rest from this file"
        )
    });
    let notices = [
        changed,
        dir.foreign_manifest(&manifest),
        dir.changed_journal(&manifest),
    ];
    let repaired = make(plan, dir.path(), &manifest)?;
    Ok(Repaired {
        notices: notices.into_iter().flatten().collect(),
        ..repaired
    })
}

/// Restores the files of a run in a folder that has its manifest and its journal.
///
/// # Errors
/// When its spec or dataset is missing or was changed.
pub(in crate::run) fn make_again(path: &Path, manifest: &Manifest) -> Result<Repaired> {
    make(plan_of(manifest)?, path, manifest)
}

fn make(plan: Plan, path: &Path, manifest: &Manifest) -> Result<Repaired> {
    let only = manifest.only.clone();
    let dir = RunDir::open(path)?;
    let coverage = ShardCoverage::of_run(&dir, manifest, &plan)?;
    let is_changed = dir.manifest().is_err();
    let config = is_changed.then(|| config_of_spec(&plan, manifest));
    let early_stop = manifest.early_stop.clone().map(|early| EarlyStop {
        green: if is_changed { Vec::new() } else { early.green },
        ..early
    });
    let options = RunOptions {
        origin: RunOrigin::Restored(path.to_owned()),
        caller: Caller::Files,
        scope: crate::run::Scope {
            only: only.map(|ids| ids.into_iter().collect()),
            coverage,
            ..crate::run::Scope::default()
        },
        ..RunOptions::default()
    };
    let session = Session::with_plan(plan, options, Arc::new(|_| {}))?;
    let questions = session.questions();
    let (stop, reason) = stop_of(manifest);
    let (ended, _) = session.restore(stop, &reason)?;
    let written = dir.manifest()?;
    let lost = ended < questions;
    let status = match manifest.status {
        RunStatus::Running | RunStatus::Finished if lost => RunStatus::Stopped,
        RunStatus::Running => RunStatus::Finished,
        known => known,
    };
    let skipped_lines = written.journal_lines_skipped.clone();
    let was_over = manifest.status != RunStatus::Running;
    // A killed or running run has no recorded end: use the time of this reading.
    let (ended_at, duration_s) = if was_over {
        (written.ended_at.clone(), written.duration_s)
    } else {
        let last = last_event(path)?;
        let seconds = last
            .as_deref()
            .and_then(|last| seconds_between(&manifest.started_at, last));
        (last, seconds)
    };
    let repaired = Manifest {
        status,
        stop_reason: match status {
            RunStatus::Finished => None,
            _ => Some(reason),
        },
        config: config.unwrap_or_else(|| written.config.clone()),
        early_stop,
        whole: manifest.whole && (!lost || was_over && manifest.status != RunStatus::Finished),
        git_sha: manifest.git_sha.clone(),
        git_dirty: manifest.git_dirty,
        ended_at: manifest.ended_at.clone().or(ended_at),
        duration_s: manifest.duration_s.or(duration_s),
        failed_assertions: manifest.failed_assertions.clone(),
        baseline: manifest.baseline.clone(),
        ..written
    };
    repaired.write(&dir)?;
    // Uses the manifest as it is now, such as an early stop.
    let run = reload(&dir, None, CiPolicy::default())?;
    let mut artifacts = repaired.artifacts.clone();
    artifacts.extend(run.write_summary(&dir)?);
    Manifest {
        artifacts,
        ..repaired
    }
    .write(&dir)?;
    Ok(Repaired {
        ended,
        questions,
        skipped_lines,
        status,
        notices: Vec::new(),
    })
}

/// The settings of the spec, except for the agent, which is not read from it: what a changed manifest says of gates may
/// be damage.
fn config_of_spec(plan: &Plan, manifest: &Manifest) -> Value {
    let mut config = config_of(plan);
    if let Some(members) = config.as_object_mut() {
        for key in ["agent", "agents"] {
            match manifest.config.get(key) {
                Some(there) => drop(members.insert(key.to_owned(), there.clone())),
                None => drop(members.remove(key)),
            }
        }
    }
    config
}

/// When the last event of the journal was written.
fn last_event(path: &Path) -> Result<Option<String>> {
    let journal = path.join(JOURNAL);
    let mut last = None;
    // Several threads write; lines may be out of order.
    journal::each(&journal, &mut |line| {
        last = last.take().max(Some(line.event.time));
        Ok(())
    })?;
    Ok(last)
}

/// `None` if one of them is no time, or the clock was set back.
fn seconds_between(start: &str, end: &str) -> Option<f64> {
    let [start, end] = [start, end].map(|time| time.parse::<Timestamp>().ok());
    let seconds = end?.duration_since(start?).as_secs_f64();
    (seconds >= 0.0).then_some(seconds)
}

/// Why a restored run is incomplete, if so.
fn stop_of(manifest: &Manifest) -> (Stop, String) {
    let reason = manifest.stop_reason.clone();
    match manifest.status {
        RunStatus::Running => (Stop::Early, "it was killed".to_owned()),
        RunStatus::Finished => (
            Stop::Early,
            "its journal lacks the end of some questions".to_owned(),
        ),
        RunStatus::Interrupted => (
            Stop::Interrupted,
            reason.unwrap_or_else(|| "interrupted".to_owned()),
        ),
        RunStatus::Stopped => (
            Stop::Early,
            reason.unwrap_or_else(|| "it was stopped".to_owned()),
        ),
    }
}

/// The eval as the run had it; its agent is not needed.
fn plan_of(manifest: &Manifest) -> Result<Plan> {
    let spec = spec::spec_of_run(manifest).ok_or_else(|| {
        let error = match &manifest.spec {
            Some(spec) => Error::usage(format!("its spec `{}` does not exist here", display(spec))),
            None => Error::usage("its eval is defined in Rust, not in a spec"),
        };
        error.hint("run this command in the checkout that has it")
    })?;
    let is_agents = |change: &&Override| {
        let key = change.key.split('.').next();
        key.is_some_and(|key| key == "agent" || key == "agents")
    };
    let mut overrides: Vec<Override> = manifest
        .overrides
        .iter()
        .filter(|change| !is_agents(change))
        .cloned()
        .collect();
    let variant = manifest.variant.as_ref();
    let key = match variant.and_then(|variant| variant.agent.as_ref()) {
        Some(name) => format!("agents.{name}"),
        None => "agent".to_owned(),
    };
    overrides.push(Override::new(key, serde_json::Value::from("echo")));
    let mut eval = spec::load_of(&spec, &Registry::new(), &overrides, &manifest.eval)?;
    eval.requested_tier.clone_from(&manifest.tier);
    if let Some(run) = &manifest.progressive {
        eval.requested_tier = Some(eval.tiers.largest(&eval.name)?.name.clone());
        eval.progressive = Some(Promotion::parse(run.promote.as_deref())?);
    }
    Plan::load(&eval, BaselineUse::IndexOrCompare)
}
