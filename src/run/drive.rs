//! The protocol between `cargo evaltest` and an eval test binary: environment variables and files.
//!
//! With `EVALTEST_DRIVE` set, a test binary is not a test harness. It lists its evals, or runs them as `cargo evaltest`
//! runs specs, and leaves run directories for the command to read.

pub(crate) mod verbosity;

mod sharding;

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::session::failed_samples::failed_samples;
use super::shard::ShardCoverage;
use crate::data::Shard;
use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::eval::plan::{BaselineUse, Packed, Plan};
use crate::eval::spec::{other_version, override_built};
use crate::eval::tiers::Promotion;
use crate::exit::Exit;
use crate::report::event::Observer;
use crate::report::render::terminal::Paint;
use crate::run::dry_run::{RecordedSamples, answered};
use crate::run::history::RunHistory;
use crate::run::listing::Listing;
use crate::run::{Caller, RunOptions, RunOrigin, Scope, Session};
use crate::scorer::Scorer;
use crate::store::RunDir;
use crate::store::cache::CacheUse;
use crate::system::cancel::Cancel;
use crate::text::setting::Override;
use crate::text::{json_line, shell_word};
use crate::verdict::conclude::Run;

pub use super::history::HistoryPlace;
pub use crate::eval::spec::VARIABLE;
pub use crate::run::CiPolicy;
pub use crate::run::dry_run::DryRun;
pub use verbosity::Verbosity;

/// Prefix of lines that a test binary prints for the command, not for people.
pub const MARK: &str = "evaltest> ";

/// How the evals of a command are to be run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Drive {
    /// What to do with the evals.
    pub errand: Errand,
    /// Which evals.
    pub evals: EvalChoice,
    /// Which samples.
    pub samples: SampleChoice,
    /// Overridden keys of specs.
    pub overrides: Vec<Override>,
    /// Additional patterns to redact.
    pub redact: Vec<String>,
    /// Where runs are recorded.
    pub destination: Destination,
    /// A run to continue, instead of a new one.
    pub resume: Option<Resumption>,
    /// Ignore the baseline.
    pub ignore_baseline: bool,
    /// How to use the answer cache, if not as the eval says.
    pub cache: Option<CacheUse>,
    /// How results are shown and who may stop the runs.
    pub audience: Audience,
}

/// What to do with the evals of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Errand {
    /// Run them.
    #[default]
    Run,
    /// Count samples and requests without asking.
    Count,
    /// Print a [`Listing`] of each, as a line of JSON.
    List {
        /// How many samples to show in full.
        rows: usize,
    },
    /// Print their names, one per line.
    Name,
    /// Print a [`HistoryPlace`] of each, as a line of JSON.
    Place,
}

/// Which evals of a project to run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EvalChoice {
    /// Only these, if any are given.
    pub only: Vec<String>,
    /// Evals that run elsewhere.
    pub skip: Vec<String>,
}

/// Where runs are recorded, and their names.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Destination {
    /// Shared by all runs of the command.
    pub invocation: String,
    /// The id of the run.
    pub run_id: Option<String>,
    /// The folder of run directories; overrides the eval's.
    pub output_root: Option<PathBuf>,
    /// The folder of run directories for evals that name none.
    pub default_output_root: Option<PathBuf>,
    /// Whether runs are also added to the histories of their evals.
    pub history: bool,
}

/// A run that is continued.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Resumption {
    /// Its run directory.
    pub path: PathBuf,
    /// Continue even if its agent changed.
    pub allow_changed_agent: bool,
}

/// How results are shown and who may stop the runs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Audience {
    /// The most that it may cost in US dollars, also where the eval's budget is higher.
    pub most_usd: Option<f64>,
    /// The command holds our standard input open: its end stops the run.
    pub watched: bool,
    /// Show the output of agents.
    pub stream: bool,
    /// Whether this is CI, and what is allowed there.
    pub ci: CiPolicy,
    /// How verbose a test binary is about each run.
    #[serde(rename = "telling")]
    pub verbosity: Verbosity,
    /// Whether to use colours.
    pub paint: Paint,
}

/// An eval that is ready to run.
pub struct Prepared {
    plan: Plan,
    only: Option<HashSet<String>>,
    coverage: Option<ShardCoverage>,
    /// Questions already answered, for a run that is continued.
    answered: usize,
}

impl Prepared {
    /// Notices about the dataset to read before paying for a run.
    pub fn notices(&self) -> Vec<String> {
        self.plan.worth_knowing()
    }

    /// Counts the requests of a run.
    pub fn count(&self) -> DryRun {
        let samples = match (&self.only, &self.coverage) {
            (Some(only), _) => only.len(),
            (None, Some(coverage)) => coverage.places.len(),
            (None, None) => self.plan.items.len(),
        };
        let asks = |scorer: &&Arc<dyn Scorer>| !scorer.agents().is_empty();
        let name = |scorer: &Arc<dyn Scorer>| scorer.name().to_owned();
        let attempts = match self.plan.eval.agent.item_parts() {
            // Items are shown, nothing is asked.
            Some(_) => 0,
            None => 1 + self.plan.eval.limits.retries as usize,
        };
        let questions = samples * self.plan.trials() - self.answered;
        DryRun {
            eval: self.plan.eval.name.clone(),
            shard: self
                .coverage
                .as_ref()
                .and_then(|coverage| coverage.part.shard),
            samples,
            epochs: self.plan.eval.epochs,
            perturbed: self.plan.trials() / self.plan.eval.epochs.max(1) as usize - 1,
            answered: self.answered,
            most_requests: questions * attempts,
            judges: self.plan.scorers.iter().filter(asks).map(name).collect(),
            record: RecordedSamples::of(&self.plan),
        }
    }
}

impl Drive {
    /// Reads the request from the environment, if there is one.
    pub(crate) fn from_env() -> Result<Option<Self>> {
        let Ok(text) = std::env::var(VARIABLE) else {
            return Ok(None);
        };
        let drive = serde_json::from_str(&text).map_err(|error| other_version(&error))?;
        Ok(Some(drive))
    }

    /// Whether to run an eval here.
    pub fn wants(&self, eval: &str) -> bool {
        let EvalChoice { only, skip } = &self.evals;
        let named = only.is_empty() || only.iter().any(|name| name == eval);
        named && !skip.iter().any(|name| name == eval)
    }

    /// Applies the command line to the eval.
    pub fn adapt(&self, mut eval: Eval) -> Result<Eval> {
        if eval.spec_path().is_none() {
            eval = override_built(eval, &self.overrides)?;
            // Overrides that make the run partial are reported as for a spec.
            let selected = ["limits.limit", Override::DRAWN_SEED];
            let selected = |change: &&Override| selected.contains(&&*change.key);
            let selected = self.overrides.iter().filter(selected);
            eval.overrides.extend(selected.cloned());
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
            // Samples that are asked again need new answers.
            (CacheUse::On, Some(_)) => CacheUse::Refresh,
            (usage, _) => usage,
        };
        if let Some(most) = self.audience.most_usd {
            let budget = &mut eval.limits.budget.cost_usd;
            *budget = Some(budget.map_or(most, |own| own.min(most)));
        }
        eval.redact.extend(self.redact.iter().cloned());
        Ok(eval)
    }

    /// Loads an eval's dataset and baseline and checks everything possible before an agent starts.
    pub fn prepare(&self, eval: &Eval) -> Result<Prepared> {
        let mut plan = self.plan(eval)?;
        let only = self.selection(&mut plan)?;
        let coverage = self.coverage(&mut plan)?;
        let places = coverage.as_ref().map(|coverage| &coverage.places);
        let is_asked = |item: &Packed, place: usize| {
            places.is_none_or(|places| places.binary_search(&place).is_ok())
                && only.as_ref().is_none_or(|only| only.contains(&*item.id))
        };
        plan.read_baseline(&is_asked)?;
        if self.destination.history {
            let earlier = self.resume.as_ref();
            let earlier = earlier.map(|earlier| RunDir::open(&earlier.path)?.manifest());
            let is_part = self.samples.partial || only.is_some() || coverage.is_some();
            RunHistory::of(&plan).check(is_part, earlier.transpose()?.as_ref())?;
        }
        let answered = match (&self.resume, self.errand) {
            (Some(earlier), Errand::Count) => {
                let is_asked = |place: usize| is_asked(&plan.items[place], place);
                answered(&plan, &is_asked, &RunDir::open(&earlier.path)?)?
            }
            _ => 0,
        };
        Ok(Prepared {
            plan,
            only,
            coverage,
            answered,
        })
    }

    /// Runs a prepared eval. The returned run holds only the records without a verdict and the first wrong ones.
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
            origin: self.origin(),
            scope: Scope {
                only: prepared.only,
                coverage: prepared.coverage,
                partial: self.samples.partial,
                history: self.destination.history,
            },
            redact: self.redact.clone(),
            stream: self.audience.stream,
            concurrency: None,
            cancel: cancel.clone(),
            ci: self.audience.ci,
            caller: Caller::Command,
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

    /// Counts the requests of a run.
    pub fn count(&self, eval: &Eval) -> Result<DryRun> {
        Ok(self.prepare(eval)?.count())
    }

    fn origin(&self) -> RunOrigin {
        match self.resume.clone() {
            None => RunOrigin::New,
            Some(Resumption {
                path,
                allow_changed_agent,
            }) => RunOrigin::Resume {
                path,
                allow_changed_agent,
            },
        }
    }

    fn plan(&self, eval: &Eval) -> Result<Plan> {
        // What failed or flipped earlier is known by the whole baseline.
        let is_part = self.samples.filter.is_some() || self.samples.shard.is_some();
        let is_named = self.samples.failed.is_some() || self.resume.is_some();
        let baseline = match self.ignore_baseline {
            true => BaselineUse::Ignore,
            false if is_part && !is_named => BaselineUse::Later,
            false => BaselineUse::IndexOrCompare,
        };
        Plan::load(eval, baseline)
    }

    /// The part of the eval to ask, if not all of it.
    fn coverage(&self, plan: &mut Plan) -> Result<Option<ShardCoverage>> {
        let coverage = match &self.resume {
            Some(earlier) => self.samples.part_of(&RunDir::open(&earlier.path)?, plan)?,
            None => self.samples.shard_of(plan)?,
        };
        if let Some(coverage) = &coverage {
            coverage.check_budget(plan)?;
        }
        Ok(coverage)
    }

    /// The ids selected by `--filter` and `--failed`.
    fn selection(&self, plan: &mut Plan) -> Result<Option<HashSet<String>>> {
        let mut only = None;
        if let Some(earlier) = &self.resume {
            // The selection of the continued run.
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

/// Serves a `drive` request in a test binary; returns how it ended.
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
        // Marks this as an eval binary, even if none of its evals is wanted.
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
                .hint("correct `evals` in `[package.metadata.evaltest]`, or remove it"),
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
                eval.requested_tier.clone_from(&drive.samples.tier);
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
            writeln!(out, "{}; no agent or model was called", drive.count(&eval)?).map_err(io)?;
            continue;
        }
        let Audience {
            verbosity, paint, ..
        } = drive.audience;
        let observer = verbosity.observer(paint);
        let run = drive.run(drive.prepare(&eval)?, cancel, Arc::new(observer))?;
        worst = worst.max(run.summary.exit_code);
    }
    Ok(worst)
}

/// Stops the run when the driving command closes our standard input: it was interrupted, or is gone.
fn cancel_at_end_of_input(cancel: &Cancel) {
    let cancel = cancel.clone();
    let watch = move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        cancel.cancel();
    };
    // Without the thread, only signals stop the run.
    let _ = std::thread::Builder::new()
        .name("evaltest-watch".to_owned())
        .spawn(watch);
}

/// Which samples of an eval to ask.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SampleChoice {
    /// Only those of this tier.
    pub tier: Option<String>,
    /// All tiers, one after the other.
    pub progressive: bool,
    /// What the run must meet to continue with the next tier.
    pub promote: Option<String>,
    /// Only those whose test name contains this text.
    pub filter: Option<String>,
    /// Only those that failed or flipped in this run.
    pub failed: Option<PathBuf>,
    /// Only this shard of the selected samples; others ask the rest.
    pub shard: Option<Shard>,
    /// Balance shards by the latencies of this run, not by ids alone.
    pub balance: Option<PathBuf>,
    /// The run does not cover its eval as the spec defines it.
    pub partial: bool,
}

impl SampleChoice {
    /// Applies the chosen tier to an eval.
    fn choose_tier(&self, eval: &mut Eval) -> Result<()> {
        eval.requested_tier.clone_from(&self.tier);
        if self.progressive {
            eval.requested_tier = Some(eval.tiers.largest(&eval.name)?.name.clone());
            eval.progressive = Some(Promotion::parse(self.promote.as_deref())?);
        }
        Ok(())
    }

    /// A hint for a filter that matches no test name and looks like a pattern; filters are no patterns.
    pub fn hint_of_filter(&self) -> Option<String> {
        const MARKS: [char; 9] = ['*', '?', '[', ']', '^', '$', '|', '\\', '+'];
        let filter = self.filter.as_deref().filter(|text| text.contains(MARKS))?;
        let longest = filter.split(MARKS).max_by_key(|piece| piece.len());
        let example = longest.filter(|piece| !piece.is_empty());
        let example = example.map(|text| format!(": --filter {}", shell_word(text)));
        Some(format!(
            "`--filter` is part of a test's name, not a pattern{}",
            example.unwrap_or_default()
        ))
    }
}
