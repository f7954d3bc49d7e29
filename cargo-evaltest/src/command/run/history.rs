//! `run --history`: which runs are points of a history.

use clap::Args;
use evaltest::{Error, Result};

use super::RunArgs;

/// Whether runs are added to the histories of their evals.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Add the run to the history of its eval when it is over, a file to commit: `history.jsonl` beside the snapshots
    #[arg(long, conflicts_with = "watch")]
    pub(super) history: bool,
}

impl RunArgs {
    /// Whether runs are added to the histories of their evals.
    ///
    /// # Errors
    /// With what makes a run that is no point of one.
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
                "`--history` is for whole runs, and `{flag}` asks a part: its figures are no point of their line"
            ))
            .hint(format!("leave out `{flag}` or `--history`")));
        }
        if self.dry_run {
            return Err(Error::usage(
                "`--dry-run` asks nothing: there is nothing to add to a history",
            )
            .hint("leave out `--dry-run` or `--history`"));
        }
        Ok(true)
    }
}
