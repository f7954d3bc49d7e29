//! `RunOptions`: options of one run that are not in its eval.

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
use crate::run::ask::identity::AgentIdentity;
use crate::run::shard::ShardCoverage;

/// Options of one run that are not in its eval.
#[derive(Default)]
pub(crate) struct RunOptions {
    /// The run's id; `<eval>-<6 hex>` unless given.
    pub(crate) run_id: Option<String>,
    /// Shared by all runs of one command.
    pub(crate) invocation: Option<String>,
    /// Where the run is recorded.
    pub(crate) origin: RunOrigin,
    /// How much of the eval to run.
    pub(crate) scope: Scope,
    /// Patterns added on the command line, for the manifest.
    pub(crate) redact: Vec<String>,
    /// Emit the output of agents.
    pub(crate) stream: bool,
    /// Stops the run.
    pub(crate) cancel: Cancel,
    /// The most questions in flight; overrides the eval.
    pub(crate) concurrency: Option<usize>,
    /// Whether this is CI, and what is allowed there.
    pub(crate) ci: CiPolicy,
    /// The caller of the run.
    pub(crate) caller: Caller,
}

/// How a run in continuous integration differs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CiPolicy {
    /// This is CI: a missing baseline fails `no_regression`.
    pub is_set: bool,
    /// Ignored gates are allowed there.
    pub allow_ignored: bool,
    /// Comparisons with the baseline of nothing but answers from the cache are allowed there.
    pub allow_cached: bool,
}

impl CiPolicy {
    /// Reads the environment.
    pub(crate) fn from_env() -> Self {
        Self {
            is_set: project::is_ci(),
            ..Self::default()
        }
    }
}

/// How much of its eval a run covers, and whether to add it to the eval's history, as only a whole run can be.
#[derive(Default)]
pub(crate) struct Scope {
    /// Only ask samples with these ids. Gates are then ignored.
    pub(crate) only: Option<HashSet<String>>,
    /// Only ask this part of the samples. Gates are left to the merge.
    pub(crate) coverage: Option<ShardCoverage>,
    /// The run does not cover the eval as its spec defines it, so it cannot become a baseline.
    pub(crate) partial: bool,
    /// Add the finished run to the history.
    pub(crate) history: bool,
}

/// The caller of a run.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A program, which gets all records, abridged. Nothing is printed.
    #[default]
    Library,
    /// `cargo test`, which asserts each sample in its trial.
    Harness,
    /// A repair of the run's files: records are read from those.
    Files,
    /// `cargo evaltest`. Under `exact`, the finished run asserts its samples.
    Command,
}

/// Where a run is recorded, and what it starts from.
#[derive(Default)]
pub(crate) enum RunOrigin {
    /// A new run directory.
    #[default]
    New,
    /// Continue an existing run directory.
    Resume {
        /// The run directory.
        path: PathBuf,
        /// Continue even if the agent has changed, which marks the run as mixed.
        allow_changed_agent: bool,
    },
    /// Restore the files of an existing run from its journal. Nothing is asked.
    Restored(PathBuf),
    /// Exactly this folder, for one sample under nextest.
    Part(PathBuf),
    /// A new run directory that starts with the events of these journals, failures included; nothing is asked again.
    Merged(Vec<PathBuf>),
}

impl RunOrigin {
    /// Whether the run may ask the agent.
    pub(in crate::run) fn asks(&self) -> bool {
        !matches!(self, Self::Merged(_) | Self::Restored(_))
    }
}

impl RunOptions {
    /// The limits of the run.
    pub(in crate::run) fn limits(&self, plan: &Plan) -> Limits {
        let limits = &plan.eval.limits;
        let coverage = self.scope.coverage.as_ref();
        coverage.map_or_else(|| limits.clone(), |coverage| coverage.limits(limits, plan))
    }

    /// Opens or creates the run directory; with its manifest if the run is continued.
    pub(in crate::run) fn open(
        &self,
        plan: &Plan,
        identity: &AgentIdentity,
    ) -> Result<(RunDir, Option<Manifest>)> {
        match &self.origin {
            RunOrigin::Resume {
                path,
                allow_changed_agent,
            } => {
                let dir = RunDir::open(path)?;
                let mut manifest = dir.manifest()?;
                check_resumable(plan, &manifest, &dir, Aim::Resume)?;
                if identity.is_another(plan, &manifest) {
                    if !allow_changed_agent {
                        return Err(changed_agent(&dir));
                    }
                    manifest.mixed = true;
                    manifest.request_hash.clone_from(&plan.request_hash);
                    identity.sign(&mut manifest);
                }
                if manifest.is_from_tests() {
                    // The missing samples are asked now.
                    manifest.whole = manifest.part.take().is_some_and(|part| part.whole);
                    manifest.artifacts.remove(PLACES);
                    // The places of the part that the run no longer is.
                    let _ = std::fs::remove_file(dir.file(PLACES));
                }
                Ok((dir, Some(manifest)))
            }
            RunOrigin::Restored(path) => {
                let dir = RunDir::open(path)?;
                let manifest = dir.manifest_unverified()?;
                check_resumable(plan, &manifest, &dir, Aim::Restore)?;
                Ok((dir, Some(manifest)))
            }
            RunOrigin::Part(path) => Ok((RunDir::create_at(path)?, None)),
            RunOrigin::New | RunOrigin::Merged(_) => {
                let id = self.run_id.clone();
                let mut id = id.unwrap_or_else(|| random_run_id(&plan.eval.name));
                if let Some(shard) = self
                    .scope
                    .coverage
                    .as_ref()
                    .and_then(|coverage| coverage.part.shard)
                {
                    // Shards share an output root, and may start in the same second.
                    let _ = write!(id, "-{}of{}", shard.index(), shard.of());
                }
                Ok((RunDir::create(&plan.eval.output_folder(), &id)?, None))
            }
        }
    }

    /// The name of the run in the cache. Parts of a run share a name before the merged run has one.
    pub(in crate::run) fn requested_by(&self, dir: &RunDir) -> String {
        match (&self.origin, &self.invocation) {
            (RunOrigin::Part(_), Some(invocation)) => invocation.clone(),
            _ => dir.run_id(),
        }
    }
}
