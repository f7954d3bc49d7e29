//! `RunOptions`: how one run is done, apart from what its eval says.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::eval::limits::Limits;
use crate::eval::plan::Plan;
use crate::store::files::PLACES;
use crate::store::{Manifest, RunDir, random_run_id};
use crate::system::cancel::Cancel;
use crate::system::project;

use super::select::{Aim, changed_agent, check_resumable};
use crate::run::ask::identity::Asker;
use crate::run::shard::Cut;

/// How one run is done, apart from what its eval says.
#[derive(Default)]
pub(crate) struct RunOptions {
    /// The run's id; `<eval>-<6 hex>` unless given.
    pub(crate) run_id: Option<String>,
    /// Shared by all runs of one command.
    pub(crate) invocation: Option<String>,
    /// Where the run is recorded.
    pub(crate) home: Home,
    /// How much of the eval it covers.
    pub(crate) scope: Scope,
    /// Patterns that the command line added to those of the eval, for the manifest.
    pub(crate) redact: Vec<String>,
    /// Emit what agents print.
    pub(crate) stream: bool,
    /// Stops the run.
    pub(crate) cancel: Cancel,
    /// How many questions may be in flight, where that is not for the eval to say.
    pub(crate) concurrency: Option<usize>,
    /// Whether this is CI, and what is fine there.
    pub(crate) ci: CiPolicy,
    /// Whom the run is for.
    pub(crate) door: FrontDoor,
}

/// Whether a run is one of continuous integration.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CiPolicy {
    /// It is: a missing baseline fails `no_regression`.
    pub is_set: bool,
    /// Ignored gates are fine there.
    pub allow_ignored: bool,
}

impl CiPolicy {
    /// What the environment says.
    pub(crate) fn from_env() -> Self {
        Self {
            is_set: project::is_ci(),
            allow_ignored: false,
        }
    }
}

/// How much of its eval a run covers, and whether that is a point of the eval's history, as only a whole run can be.
#[derive(Default)]
pub(crate) struct Scope {
    /// Ask only the samples with these ids. Gates are then ignored.
    pub(crate) only: Option<HashSet<String>>,
    /// Ask only this part of the samples; others ask the rest. Gates are left to whoever puts all together.
    pub(crate) cut: Option<Cut>,
    /// The run does not cover the eval as its spec defines it, so that it cannot become a baseline.
    pub(crate) partial: bool,
    /// Add the run to the history when it is over.
    pub(crate) history: bool,
}

/// Whom a run is for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FrontDoor {
    /// A program, which gets all records, abridged. Nothing is printed.
    #[default]
    Library,
    /// `cargo test`, which asserts each sample in its trial.
    Harness,
    /// Nobody: its files are made again, and whoever wants its records reads them there.
    Files,
    /// `cargo evaltest`. Under `exact` the run asserts its samples when it is over.
    Command,
}

/// Where a run is recorded, and what is known already.
#[derive(Default)]
pub(crate) enum Home {
    /// A new run directory.
    #[default]
    New,
    /// An existing one, to be continued.
    Resume {
        /// It.
        path: PathBuf,
        /// Also if the agent is another one now, which marks the run as mixed.
        allow_changed_agent: bool,
    },
    /// An existing one, whose files are made again from its journal. Nobody is asked.
    Restored(PathBuf),
    /// Exactly this folder, for one sample under nextest.
    Part(PathBuf),
    /// A new run directory that begins with the events of these journals, failures included; nothing is asked again.
    Merged(Vec<PathBuf>),
}

impl RunOptions {
    /// What bounds the run.
    pub(in crate::run) fn limits(&self, plan: &Plan) -> Limits {
        let limits = &plan.eval.limits;
        let cut = self.scope.cut.as_ref();
        cut.map_or_else(|| limits.clone(), |cut| cut.limits(limits, plan))
    }

    /// The run directory, made unless it is there, and its manifest if it goes on.
    pub(in crate::run) fn open(
        &self,
        plan: &Plan,
        asker: &Asker,
    ) -> Result<(RunDir, Option<Manifest>)> {
        match &self.home {
            Home::Resume {
                path,
                allow_changed_agent,
            } => {
                let dir = RunDir::open(path)?;
                let mut manifest = dir.manifest()?;
                check_resumable(plan, &manifest, &dir, Aim::Resume)?;
                if asker.is_another(plan, &manifest) {
                    if !allow_changed_agent {
                        return Err(changed_agent(&dir));
                    }
                    manifest.mixed = true;
                    manifest.request_hash.clone_from(&plan.request_hash);
                    asker.sign(&mut manifest);
                }
                if manifest.is_left_by_tests() {
                    // What was missing is asked now.
                    manifest.whole = manifest.part.take().is_some_and(|part| part.whole);
                    manifest.artifacts.remove(PLACES);
                    // The places of the part that the run no longer is.
                    let _ = std::fs::remove_file(dir.file(PLACES));
                }
                Ok((dir, Some(manifest)))
            }
            Home::Restored(path) => {
                let dir = RunDir::open(path)?;
                let manifest = dir.manifest()?;
                check_resumable(plan, &manifest, &dir, Aim::Restore)?;
                Ok((dir, Some(manifest)))
            }
            Home::Part(path) => Ok((RunDir::create_at(path)?, None)),
            Home::New | Home::Merged(_) => {
                let id = self.run_id.clone();
                let mut id = id.unwrap_or_else(|| random_run_id(&plan.eval.name));
                if let Some(shard) = self.scope.cut.as_ref().and_then(|cut| cut.part.shard) {
                    // Shards have an output root in common, and may begin in the same second.
                    let _ = write!(id, "-{}of{}", shard.index(), shard.of());
                }
                Ok((RunDir::create(&plan.eval.output_folder(), &id)?, None))
            }
        }
    }

    /// What the run is called by those who take its answers from the cache. The parts of a run have a name in common
    /// before it has its own.
    pub(in crate::run) fn asked_by(&self, dir: &RunDir) -> String {
        match (&self.home, &self.invocation) {
            (Home::Part(_), Some(invocation)) => invocation.clone(),
            _ => dir.run_id(),
        }
    }
}
