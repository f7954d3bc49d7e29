//! How `cargo evaltest` and an eval test binary meet: through environment variables and files.
//!
//! With `EVALTEST_DRIVE` set, a test binary does not act as a test harness. It lists its evals, or runs
//! them as `cargo evaltest` runs specs, and leaves run directories, which the command reads.

pub(crate) mod verbosity;

mod sample_choice;
mod sharding;

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use super::history::place::HistoryPlace;
use super::session::failed_samples::failed_samples;
use super::shard::Cut;
use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::eval::plan::{BaselineUse, Plan};
pub use crate::eval::spec::driven::VARIABLE;
use crate::eval::spec::driven::other_version;
use crate::eval::spec::override_built;
use crate::exit::Exit;
use crate::report::event::Observer;
use crate::report::render::terminal::paint::Paint;
pub use crate::run::CiPolicy;
pub use crate::run::dry_run::DryRun;
use crate::run::dry_run::answered;
use crate::run::history::RunHistory;
use crate::run::listing::Listing;
use crate::run::{FrontDoor, Home, RunOptions, Scope, Session};
use crate::scorer::Scorer;
use crate::store::RunDir;
use crate::store::cache::CacheUse;
use crate::system::cancel::Cancel;
use crate::text::json_line;
use crate::text::setting::Override;
use crate::verdict::run::Run;
pub use verbosity::Telling;

pub use sample_choice::SampleChoice;

/// Begins every line that a test binary prints for the command rather than for people.
pub const MARK: &str = "evaltest> ";

/// How the evals of a command are to be run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Drive {
    /// What is done with the evals.
    pub errand: Errand,
    /// Which of the evals.
    pub evals: EvalChoice,
    /// Which of their samples.
    pub samples: SampleChoice,
    /// Keys of specs with other values.
    pub overrides: Vec<Override>,
    /// More patterns to blank.
    pub redact: Vec<String>,
    /// Where runs are recorded.
    pub destination: Destination,
    /// A run to continue instead of a new one.
    pub resume: Option<Resumption>,
    /// Leave the baseline alone.
    pub ignore_baseline: bool,
    /// What is done with answers that were given before, if not what the eval says.
    pub cache: Option<CacheUse>,
    /// Who waits for the runs.
    pub audience: Audience,
}

/// What is done with the evals of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Errand {
    /// They run.
    #[default]
    Run,
    /// Their samples and requests are counted, nothing is asked.
    Count,
    /// A [`Listing`] of each is printed, as a line of JSON.
    List {
        /// How many samples it shows whole.
        rows: usize,
    },
    /// Their names are printed, a line each.
    Name,
    /// A [`HistoryPlace`] of each is printed, as a line of JSON.
    Place,
}

/// Which evals of a project are meant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EvalChoice {
    /// Only these, if any are given.
    pub only: Vec<String>,
    /// Evals that run elsewhere.
    pub skip: Vec<String>,
}

/// Where runs are recorded, and what they are called.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Destination {
    /// Shared by all runs of the command.
    pub invocation: String,
    /// The id of the run.
    pub run_id: Option<String>,
    /// The folder of run directories, whatever the eval says.
    pub output_root: Option<PathBuf>,
    /// The folder of run directories for evals that say nothing.
    pub default_output_root: Option<PathBuf>,
    /// Whether the runs are added to the histories of their evals, too.
    pub history: bool,
}

/// A run that is continued.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Resumption {
    /// Its run directory.
    pub path: PathBuf,
    /// Also if its agent changed.
    pub allow_changed_agent: bool,
}

/// Who waits for the runs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Audience {
    /// The command holds our standard input open: its end stops the run.
    pub watched: bool,
    /// Show what agents print.
    pub stream: bool,
    /// Whether this is CI, and what is fine there.
    pub ci: CiPolicy,
    /// How much a test binary says of each run.
    pub telling: Telling,
    /// Whether it has colours.
    pub paint: Paint,
}

/// An eval that is ready to run.
pub struct Prepared {
    plan: Plan,
    only: Option<HashSet<String>>,
    cut: Option<Cut>,
    /// Questions that have their answer: those of a run that goes on.
    answered: usize,
}

impl Prepared {
    /// Things about the dataset that people should know before they pay for a run.
    pub fn notices(&self) -> Vec<String> {
        self.plan.worth_knowing()
    }

    /// Counts what a run would ask.
    pub fn count(&self) -> DryRun {
        let samples = match (&self.only, &self.cut) {
            (Some(only), _) => only.len(),
            (None, Some(cut)) => cut.places.len(),
            (None, None) => self.plan.items.len(),
        };
        let asks = |scorer: &&Arc<dyn Scorer>| !scorer.agents().is_empty();
        let name = |scorer: &Arc<dyn Scorer>| scorer.name().to_owned();
        let attempts = match self.plan.eval.agent.shown_parts() {
            // Items are shown, and nobody is asked.
            Some(_) => 0,
            None => 1 + self.plan.eval.limits.retries as usize,
        };
        let questions = samples * self.plan.eval.epochs as usize - self.answered;
        DryRun {
            eval: self.plan.eval.name.clone(),
            shard: self.cut.as_ref().and_then(|cut| cut.part.shard),
            samples,
            epochs: self.plan.eval.epochs,
            answered: self.answered,
            most_requests: questions * attempts,
            judges: self.plan.scorers.iter().filter(asks).map(name).collect(),
        }
    }
}

impl Drive {
    /// What the environment asks for, if anything.
    pub(crate) fn from_env() -> Result<Option<Self>> {
        let Ok(text) = std::env::var(VARIABLE) else {
            return Ok(None);
        };
        let drive = serde_json::from_str(&text).map_err(|error| other_version(&error))?;
        Ok(Some(drive))
    }

    /// Whether an eval is to run here.
    pub fn wants(&self, eval: &str) -> bool {
        let EvalChoice { only, skip } = &self.evals;
        let named = only.is_empty() || only.iter().any(|name| name == eval);
        named && !skip.iter().any(|name| name == eval)
    }

    /// The eval with what the command line says of it.
    pub fn adapt(&self, mut eval: Eval) -> Result<Eval> {
        if eval.spec_path().is_none() {
            eval = override_built(eval, &self.overrides)?;
            // What makes the run a partial one is told as of a spec.
            let told = ["limits.limit", Override::DRAWN_SEED];
            let told = |change: &&Override| told.contains(&&*change.key);
            let told = self.overrides.iter().filter(told);
            eval.overrides.extend(told.cloned());
        }
        self.samples.choose_tier(&mut eval)?;
        if let Some(root) = &self.destination.output_root {
            eval.output_root = Some(root.clone());
        }
        if eval.output_root.is_none() {
            eval.output_root
                .clone_from(&self.destination.default_output_root);
        }
        eval.cache.usage = match (self.cache.unwrap_or(eval.cache.usage), &self.samples.failed) {
            // What is asked again is to be answered anew.
            (CacheUse::On, Some(_)) => CacheUse::Refresh,
            (usage, _) => usage,
        };
        eval.redact.extend(self.redact.iter().cloned());
        Ok(eval)
    }

    /// Loads an eval's dataset and baseline and checks everything that can be checked before an agent
    /// starts.
    pub fn prepare(&self, eval: &Eval) -> Result<Prepared> {
        let mut plan = self.plan(eval)?;
        let only = self.selection(&mut plan)?;
        let cut = self.cut(&mut plan)?;
        if self.destination.history {
            let earlier = self.resume.as_ref();
            let earlier = earlier.map(|earlier| RunDir::open(&earlier.path)?.manifest());
            let is_part = self.samples.partial || only.is_some() || cut.is_some();
            RunHistory::of(&plan).check(is_part, earlier.transpose()?.as_ref())?;
        }
        let answered = match (&self.resume, self.errand) {
            (Some(earlier), Errand::Count) => {
                let is_meant = |place: usize| {
                    let is_in = |cut: &Cut| cut.places.binary_search(&place).is_ok();
                    let has = |only: &HashSet<String>| only.contains(&*plan.items[place].id);
                    cut.as_ref().is_none_or(is_in) && only.as_ref().is_none_or(has)
                };
                answered(&plan, &is_meant, &RunDir::open(&earlier.path)?)?
            }
            _ => 0,
        };
        Ok(Prepared {
            plan,
            only,
            cut,
            answered,
        })
    }

    /// Runs a prepared eval. Of its records the run has those without a verdict, and the first that is wrong.
    pub fn run(
        &self,
        prepared: Prepared,
        cancel: &Cancel,
        observer: Arc<Observer<'static>>,
    ) -> Result<Run> {
        let selects_none = prepared.only.as_ref().is_some_and(HashSet::is_empty);
        let options = RunOptions {
            run_id: self.destination.run_id.clone(),
            invocation: Some(self.destination.invocation.clone()),
            home: self.home(),
            scope: Scope {
                only: prepared.only,
                cut: prepared.cut,
                partial: self.samples.partial,
                history: self.destination.history,
            },
            redact: self.redact.clone(),
            stream: self.audience.stream,
            concurrency: None,
            cancel: cancel.clone(),
            ci: self.audience.ci,
            door: FrontDoor::Command,
        };
        let session = Session::with_plan(prepared.plan, options, observer);
        let hint = self.samples.hint_of_filter().filter(|_| selects_none);
        session
            .map_err(|error| match hint {
                Some(hint) => error.hint(hint),
                None => error,
            })?
            .run()
    }

    /// Counts what a run would ask.
    pub fn count(&self, eval: &Eval) -> Result<DryRun> {
        Ok(self.prepare(eval)?.count())
    }

    fn home(&self) -> Home {
        match self.resume.clone() {
            None => Home::New,
            Some(Resumption {
                path,
                allow_changed_agent,
            }) => Home::Resume {
                path,
                allow_changed_agent,
            },
        }
    }

    fn plan(&self, eval: &Eval) -> Result<Plan> {
        let baseline = if self.ignore_baseline {
            BaselineUse::Ignore
        } else {
            BaselineUse::Compare
        };
        Plan::load(eval, baseline)
    }

    /// The part of the eval that is asked, if it is cut.
    fn cut(&self, plan: &mut Plan) -> Result<Option<Cut>> {
        let cut = match &self.resume {
            Some(earlier) => self.samples.part_of(&RunDir::open(&earlier.path)?, plan)?,
            None => self.samples.shard_of(plan)?,
        };
        if let Some(cut) = &cut {
            cut.check_budget(plan)?;
        }
        Ok(cut)
    }

    /// The ids that `--filter` and `--failed` leave.
    fn selection(&self, plan: &mut Plan) -> Result<Option<HashSet<String>>> {
        let mut only = None;
        if let Some(earlier) = &self.resume {
            // The selection of the run that is continued.
            only = RunDir::open(&earlier.path)?
                .manifest()?
                .only
                .map(HashSet::from_iter);
        }
        if let Some(filter) = &self.samples.filter {
            let names = plan.trial_names().into_iter().zip(&plan.items);
            let hits = names.filter(|(name, _)| name.contains(filter.as_str()));
            only = Some(
                hits.map(|(_, item)| item.id.to_string())
                    .collect::<HashSet<_>>(),
            );
        }
        if let Some(path) = &self.samples.failed {
            let failed = failed_samples(path, plan)?;
            only = Some(match only {
                Some(only) => only.intersection(&failed).cloned().collect(),
                None => failed,
            });
        }
        Ok(only)
    }
}

/// Acts on `drive` in a test binary; tells how it ends.
pub(crate) fn serve(
    drive: &Drive,
    evals: Vec<Eval>,
    cancel: &Cancel,
    out: &mut dyn Write,
) -> Result<Exit> {
    let io = |error: std::io::Error| Error::infrastructure(format!("cannot print: {error}"));
    let mut worst = Exit::Passed;
    if drive.audience.watched {
        cancel_at_end_of_input(cancel);
    }
    if matches!(
        drive.errand,
        Errand::Name | Errand::Place | Errand::List { .. }
    ) {
        // Says that this is a binary with evals, also when none of them is wanted.
        writeln!(out, "{MARK}").map_err(io)?;
    }
    if let Some(name) = drive
        .evals
        .only
        .iter()
        .find(|name| !evals.iter().any(|eval| eval.name == **name))
    {
        return Err(
            Error::usage(format!("this test binary has no eval `{name}`"))
                .hint("correct `evals` in `[package.metadata.evaltest]`, or leave it out"),
        );
    }
    for mut eval in evals.into_iter().filter(|eval| drive.wants(&eval.name)) {
        if drive.errand == Errand::Name {
            writeln!(out, "{MARK}{}", eval.name).map_err(io)?;
            continue;
        }
        let listed = match drive.errand {
            Errand::Place => Some(json_line(&HistoryPlace::of(&eval))),
            Errand::List { rows } => {
                eval.asked_tier.clone_from(&drive.samples.tier);
                Some(json_line(&Listing::of(&eval, rows)?))
            }
            _ => None,
        };
        if let Some(listed) = listed {
            let listed =
                listed.map_err(|error| Error::infrastructure(format!("cannot list: {error}")))?;
            let listed = String::from_utf8_lossy(&listed);
            writeln!(out, "{MARK}{listed}").map_err(io)?;
            continue;
        }
        if cancel.is_cancelled() {
            return Ok(Exit::Interrupted);
        }
        let eval = drive.adapt(eval)?;
        if drive.samples.filter.is_some() && drive.count(&eval)?.samples == 0 {
            writeln!(out, "{}: no sample is selected", eval.name).map_err(io)?;
            continue;
        }
        if drive.errand == Errand::Count {
            writeln!(out, "{}; nothing was asked", drive.count(&eval)?).map_err(io)?;
            continue;
        }
        let Audience { telling, paint, .. } = drive.audience;
        let observer = telling.observer(paint);
        let run = drive.run(drive.prepare(&eval)?, cancel, Arc::new(observer))?;
        worst = worst.max(run.summary.exit_code);
    }
    Ok(worst)
}

/// Stops the run when the command that drives us lets go of our standard input: it was interrupted, or is
/// gone.
fn cancel_at_end_of_input(cancel: &Cancel) {
    let cancel = cancel.clone();
    let watch = move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        cancel.cancel();
    };
    // Without it only signals stop the run.
    let _ = std::thread::Builder::new()
        .name("evaltest-watch".to_owned())
        .spawn(watch);
}
