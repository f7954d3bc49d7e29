//! Selects a tier of an eval, and whether runs are added to its history.

use clap::Args;
use evaltest::engine::run::drive::Drive;
use evaltest::engine::store::Manifest;
use evaltest::engine::text::clean;
use evaltest::{Error, Result};

use super::RunArgs;

/// Options to run one tier or all of them.
#[derive(Debug, Args)]
pub(super) struct TierArgs {
    /// Run this tier of the spec's `tiers`: a complete run of that many samples, whose gates count
    #[arg(long, value_name = "NAME")]
    pub(super) tier: Option<String>,

    /// Run the spec's `tiers` in one run, smallest first; stop as soon as the gates can no longer pass
    #[arg(long, conflicts_with_all = ["tier", "limit", "filter", "failed", "watch"])]
    pub(super) progressive: bool,

    /// Condition for continuing to the next tier: `accuracy > 0.8`
    #[arg(long, value_name = "GATE", requires = "progressive")]
    pub(super) promote: Option<String>,
}

/// Resumes a run with the samples it started with.
pub(super) fn keep_tier(manifest: &Manifest, drive: &mut Drive) -> Result<()> {
    let id = clean(&manifest.run_id);
    if let Some(run) = &manifest.progressive {
        let samples = &mut drive.samples;
        let is_other = |promote: &String| run.promote.as_ref() != Some(promote);
        if samples.tier.is_some() || samples.promote.as_ref().is_some_and(is_other) {
            let message = format!("run `{id}` is progressive and keeps its tiers");
            return Err(Error::usage(message).hint("leave `--tier` and `--promote` out"));
        }
        samples.progressive = true;
        samples.promote.clone_from(&run.promote);
        return Ok(());
    }
    if drive.samples.progressive {
        let message = format!("run `{id}` is not progressive");
        return Err(Error::usage(message).hint("leave `--progressive` out, or start a new run"));
    }
    let requested = drive.samples.tier.take();
    drive.samples.tier.clone_from(&manifest.tier);
    if requested.is_none() || requested == manifest.tier {
        return Ok(());
    }
    let of = match &manifest.tier {
        Some(tier) => format!("of tier `{}`", clean(tier)),
        None => "of all samples".to_owned(),
    };
    Err(Error::usage(format!(
        "run `{id}` is {of} and cannot change when it is resumed"
    ))
    .hint("leave `--tier` out, or start a new run without `--resume`"))
}

/// Option to add runs to the histories of their evals.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Append the run to the eval's history, a file to commit: `history.jsonl` in the snapshots folder
    #[arg(long, conflicts_with = "watch")]
    pub(super) history: bool,
}

impl RunArgs {
    /// Whether runs are added to the histories of their evals.
    ///
    /// # Errors
    /// If another option makes the run unfit for a history.
    pub(super) fn history(&self) -> Result<bool> {
        let parts = [
            (self.limit.is_some(), "--limit"),
            (self.filter.is_some(), "--filter"),
            (self.failed.is_some(), "--failed"),
        ];
        if !self.history.history {
            return Ok(false);
        }
        if let Some((_, flag)) = parts.into_iter().find(|(is_given, _)| *is_given) {
            return Err(Error::usage(format!(
                "`--history` records whole runs, but `{flag}` runs only a part"
            ))
            .hint(format!("leave out `{flag}` or `--history`")));
        }
        if self.dry_run {
            return Err(Error::usage(
                "`--dry-run` calls no agent, so there is nothing to add to a history",
            )
            .hint("leave out `--dry-run` or `--history`"));
        }
        Ok(true)
    }
}
