//! `cargo evaltest history-patch`: what the workflow of `init --ci` runs where it may write to the repository.

use std::path::{Path, PathBuf};

use clap::Args;
use evaltest::engine::history::HistoryPatch;
use evaltest::{Exit, Result};

use crate::console;

/// Append the lines of a patch to the histories of this folder, and print the files that changed
///
/// For a job of CI that takes the patch from one that ran agents. Anything in it but new lines of histories is an error, and
/// then nothing is written.
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct HistoryPatchArgs {
    /// The patch, as `git diff` writes it at the repository's root
    patch: PathBuf,
}

pub(crate) fn run(args: &HistoryPatchArgs) -> Result<Exit> {
    let changed = HistoryPatch::read(&args.patch)?.apply(Path::new("."))?;
    console::print_data(|out| changed.iter().try_for_each(|path| writeln!(out, "{path}")))?;
    Ok(Exit::Passed)
}
