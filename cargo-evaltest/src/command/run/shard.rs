//! `run --shard`: selects a shard of the samples and rejects incompatible options.

mod environment;

use std::path::{Path, PathBuf};

use clap::Args;
use evaltest::engine::run::drive::SampleChoice;
use evaltest::engine::text::clean;
use evaltest::{Error, Result};

use super::RunArgs;
use super::options::absolute;
use crate::run_ids;
use crate::runs::open_run;

/// Options to run one shard.
#[derive(Debug, Args)]
pub(super) struct ShardArgs {
    /// Run one of N shards of the samples, `2/8`; `merge` combines the shards and checks the gates. `auto` reads the
    /// shard from `EVALTEST_SHARD`, or from the variables of Slurm, Kubernetes, Bazel or GitLab
    #[arg(long, value_name = "M/N|auto")]
    pub(super) shard: Option<String>,

    /// Balance the shards by the durations of this run's samples; use the same run for all shards
    #[arg(
        long,
        value_name = "RUN_DIR",
        requires = "shard",
        conflicts_with = "resume"
    )]
    pub(super) balance: Option<PathBuf>,
}

impl ShardArgs {
    /// Sets the shard, and the run whose durations balance the shards.
    ///
    /// # Errors
    /// If the shard is invalid, or the environment does not define one.
    fn choose(&self, samples: &mut SampleChoice) -> Result<()> {
        samples.shard = match self.shard.as_deref() {
            Some("auto") => Some(environment::shard()?),
            Some(text) => Some(text.parse().map_err(|error: Error| {
                let hint = error
                    .hint_text()
                    .unwrap_or("write which of how many, from 1: `2/8`");
                let hint = format!("{hint}; `auto` takes it from the environment");
                Error::usage(format!("`--shard`: {}", error.message())).hint(hint)
            })?),
            None => None,
        };
        let balance = self.balance.as_deref().map(run_ids::found).transpose()?;
        samples.balance = balance.as_deref().map(absolute).transpose()?;
        Ok(())
    }
}

impl RunArgs {
    /// Whether this run, or the run being resumed, is a shard.
    pub(super) fn asks_part(&self) -> bool {
        let is_part = |dir: &PathBuf| {
            let manifest = open_run(dir).and_then(|dir| dir.manifest());
            manifest.is_ok_and(|manifest| manifest.part.is_some())
        };
        self.shard.shard.is_some() || self.resume.as_ref().is_some_and(is_part)
    }

    /// Applies the shard to the choice of samples.
    ///
    /// # Errors
    /// If another option needs all samples.
    pub(super) fn choose_shard(&self, samples: &mut SampleChoice) -> Result<()> {
        if !self.asks_part() {
            return Ok(());
        }
        let selects = [
            (self.tiers.progressive, "--progressive"),
            (self.filter.is_some(), "--filter"),
            (self.failed.is_some(), "--failed"),
            (self.watch, "--watch"),
        ];
        if let Some((_, flag)) = selects.into_iter().find(|(is_given, _)| *is_given) {
            let message = format!("`--shard` runs a part of the samples, but `{flag}` needs all");
            return Err(Error::usage(message).hint(format!("leave out `--shard` or `{flag}`")));
        }
        let judges = [
            (self.history.history, "--history"),
            (self.export.is_some(), "--export"),
            (self.official, "--official"),
        ];
        let judges = judges.into_iter().chain(self.after.requested());
        if let Some((_, flag)) = judges.into_iter().find(|(is_given, _)| *is_given) {
            let message = format!("`{flag}` needs the whole run, but a shard is only a part of it");
            let hint = match flag {
                "--export" => {
                    "merge the shards, then export: cargo evaltest export RUN_DIR".to_owned()
                }
                "--official" => {
                    "merge the shards, then: cargo evaltest bfcl official RUN_DIR".to_owned()
                }
                flag => format!("after all shards: cargo evaltest merge DIR… {flag}"),
            };
            return Err(Error::usage(message).hint(hint));
        }
        self.shard.choose(samples)
    }
}

/// Creates the file by which a test tells Bazel that it supports sharding.
fn touch(path: &Path) -> Result<()> {
    // Opening a pipe without a reader would block.
    if path.metadata().is_ok_and(|about| !about.is_file()) {
        return Err(Error::usage(format!(
            "`{}` is not a file",
            clean(&path.to_string_lossy())
        )));
    }
    let touched = std::fs::File::options()
        .create(true)
        .append(true)
        .open(path);
    touched
        .map(drop)
        .map_err(|error| Error::io("write", path, &error))
}
