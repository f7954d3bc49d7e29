//! How `cargo evaltest` and an eval test binary meet: through environment variables and files.
//!
//! With `EVALTEST_DRIVE` set, a test binary does not act as a test harness. It lists its evals, or runs
//! them as `cargo evaltest` runs specs, and leaves run directories, which the command reads.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use crate::artifact::{RunDir, read_records};
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::event::{Event, Observer};
use crate::plan::{BaselineUse, Plan};
use crate::report::terminal;
use crate::run::Run;
use crate::runner::{Home, RunOptions, Session};
use crate::spec::Override;

/// The variable that carries a [`Drive`] as JSON.
pub const VARIABLE: &str = "EVALTEST_DRIVE";

/// How the evals of a command are to be run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are flags of a command line"
)]
pub struct Drive {
    /// Print the names of the evals, a line each, and end.
    pub names_only: bool,
    /// Evals that run elsewhere.
    pub skip: Vec<String>,
    /// Only these evals, if any are given.
    pub evals: Vec<String>,
    /// Keys of specs with other values.
    pub overrides: Vec<Override>,
    /// Shared by all runs of the command.
    pub invocation: String,
    /// The id of the run.
    pub run_id: Option<String>,
    /// The folder of run directories.
    pub output_root: Option<PathBuf>,
    /// More patterns to blank.
    pub redact: Vec<String>,
    /// Only samples whose test name holds this text.
    pub filter: Option<String>,
    /// Only samples that failed or flipped in this run.
    pub failed: Option<PathBuf>,
    /// Continue this run.
    pub resume: Option<PathBuf>,
    /// Leave the baseline alone.
    pub ignore_baseline: bool,
    /// The run does not cover its eval as the spec defines it.
    pub partial: bool,
    /// Show what agents print.
    pub stream: bool,
    /// Count samples and requests, ask nothing.
    pub dry_run: bool,
    /// Whether this is CI.
    pub ci: bool,
}

/// An eval that was checked and can start.
pub struct Ready {
    plan: Plan,
    only: Option<HashSet<String>>,
}

/// What a dry run found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DryRun {
    /// The eval's name.
    pub eval: String,
    /// Samples that would be asked.
    pub samples: usize,
    /// Requests when every attempt fails and is repeated.
    pub most_requests: usize,
}

/// The overrides for specs read by this process.
pub(crate) fn overrides() -> Result<Vec<Override>> {
    Ok(Drive::from_env()?
        .map(|drive| drive.overrides)
        .unwrap_or_default())
}

impl Drive {
    /// What the environment asks for, if anything.
    pub(crate) fn from_env() -> Result<Option<Self>> {
        let Ok(text) = std::env::var(VARIABLE) else {
            return Ok(None);
        };
        let drive = serde_json::from_str(&text)
            .map_err(|error| Error::usage(format!("{VARIABLE} is not of this version: {error}")))?;
        Ok(Some(drive))
    }

    /// Whether an eval is to run here.
    pub fn wants(&self, eval: &str) -> bool {
        let named = self.evals.is_empty() || self.evals.iter().any(|name| name == eval);
        named && !self.skip.iter().any(|name| name == eval)
    }

    /// The eval with what the command line says of it.
    pub fn adapt(&self, mut eval: Eval) -> Eval {
        if let Some(root) = &self.output_root {
            eval.output_root = Some(root.clone());
        }
        eval.redact.extend(self.redact.iter().cloned());
        eval
    }

    /// Loads an eval's dataset and checks everything that can be checked before an agent starts.
    pub fn prepare(&self, eval: &Eval) -> Result<Ready> {
        let plan = self.plan(eval)?;
        let only = self.selection(&plan)?;
        Ok(Ready { plan, only })
    }

    /// Runs one eval.
    pub fn run(
        &self,
        ready: Ready,
        cancel: &Cancel,
        observer: Arc<Observer<'static>>,
    ) -> Result<Run> {
        let Ready { plan, only } = ready;
        let options = RunOptions {
            run_id: self.run_id.clone(),
            invocation: Some(self.invocation.clone()),
            home: self.resume.clone().map_or(Home::New, Home::Resume),
            only,
            partial: self.partial,
            stream: self.stream,
            cancel: cancel.clone(),
            ci: self.ci,
        };
        Session::with_plan(plan, options, observer)?.run()
    }

    /// Counts what a run would ask.
    pub fn count(&self, eval: &Eval) -> Result<DryRun> {
        let plan = self.plan(eval)?;
        let samples = self
            .selection(&plan)?
            .map_or(plan.items.len(), |only| only.len());
        let attempts = 1 + plan.eval.limits.retries as usize;
        Ok(DryRun {
            eval: eval.name.clone(),
            samples,
            most_requests: samples * attempts,
        })
    }

    fn plan(&self, eval: &Eval) -> Result<Plan> {
        let baseline = if self.ignore_baseline {
            BaselineUse::Ignore
        } else {
            BaselineUse::Compare
        };
        Plan::load(eval, baseline)
    }

    /// The ids that `--filter` and `--failed` leave.
    fn selection(&self, plan: &Plan) -> Result<Option<HashSet<String>>> {
        let mut only = None;
        if let Some(filter) = &self.filter {
            let names = plan.trial_names().into_iter().zip(&plan.items);
            let hits = names.filter(|(name, _)| name.contains(filter.as_str()));
            only = Some(
                hits.map(|(_, item)| item.sample.id.clone())
                    .collect::<HashSet<_>>(),
            );
        }
        if let Some(path) = &self.failed {
            let failed = failed_samples(path, plan)?;
            only = Some(match only {
                Some(only) => only.intersection(&failed).cloned().collect(),
                None => failed,
            });
        }
        Ok(only)
    }
}

/// Samples that ended in an error in a run, or were wrong where the baseline (if there is one) was right,
/// or were wrong at all where there is none.
fn failed_samples(path: &Path, plan: &Plan) -> Result<HashSet<String>> {
    let dir = RunDir::open(path)?;
    let mut failed = HashSet::new();
    for record in read_records(&dir.file("samples.jsonl"))? {
        let record = record?;
        let status = record.result.status;
        let was_correct = match &plan.baseline {
            Some(baseline) => baseline
                .samples
                .get(&record.sample_id)
                .and_then(|old| old.correct),
            None => Some(true),
        };
        let flipped = status == crate::run::Status::Scored
            && !record.result.is_correct()
            && was_correct == Some(true);
        if status.is_error() || status == crate::run::Status::Skipped || flipped {
            failed.insert(record.sample_id);
        }
    }
    if failed.is_empty() {
        return Err(
            Error::usage(format!("nothing failed or flipped in `{}`", path.display()))
                .hint("leave `--failed` out to ask every sample"),
        );
    }
    Ok(failed)
}

/// Acts on `drive` in a test binary; returns the exit code.
pub(crate) fn serve(
    drive: &Drive,
    evals: Vec<Eval>,
    cancel: &Cancel,
    out: &mut dyn Write,
) -> Result<u8> {
    let io = |error: std::io::Error| Error::infrastructure(format!("cannot print: {error}"));
    let mut worst = 0;
    for eval in evals.into_iter().filter(|eval| drive.wants(&eval.name)) {
        if drive.names_only {
            writeln!(out, "{}", eval.name).map_err(io)?;
            continue;
        }
        let eval = drive.adapt(eval);
        if drive.dry_run {
            let DryRun {
                eval,
                samples,
                most_requests,
            } = drive.count(&eval)?;
            writeln!(
                out,
                "{eval}: {samples} samples, at most {most_requests} requests"
            )
            .map_err(io)?;
            continue;
        }
        let lines: Arc<Mutex<Vec<u8>>> = Arc::default();
        let sink = Arc::clone(&lines);
        let observer = move |event: &Event<'_>| {
            let mut buffer = sink
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            // Shown when the run is over: the command that drives us shows the progress.
            let _ = terminal::event(event, &mut *buffer);
        };
        let run = drive.run(drive.prepare(&eval)?, cancel, Arc::new(observer))?;
        let buffer = lines
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        out.write_all(&buffer).map_err(io)?;
        worst = worse_exit(worst, run.summary.exit_code);
    }
    Ok(worst)
}

/// The exit code of two evals together: 130 before 2 before 3 before 1 before 0.
pub fn worse_exit(one: u8, other: u8) -> u8 {
    let rank = |code: u8| match code {
        130 => 4,
        2 => 3,
        3 => 2,
        1 => 1,
        _ => 0,
    };
    if rank(other) > rank(one) { other } else { one }
}
