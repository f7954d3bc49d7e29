//! `cargo evaltest show --summary`, formerly `summarize`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::report::summary_md;
use evaltest::engine::run::drive::CiPolicy;
use evaltest::engine::run::rescore;
use evaltest::{Exit, Result};

use crate::command::run::report::print_run;
use crate::console;
use crate::run_ids::typed_folder;
use crate::runs::named_or_last;

/// Recompute and print a run's summary: `show --summary`
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct SummarizeArgs {
    /// A run directory, or an eval's name for its last run; default: the last run
    #[arg(value_parser = typed_folder())]
    pub(super) run_dir: Option<PathBuf>,

    /// Print `summary.json`
    #[arg(long, conflicts_with = "markdown")]
    pub(super) json: bool,

    /// Print `summary.md`
    #[arg(long)]
    pub(super) markdown: bool,
}

pub(crate) fn run(args: &SummarizeArgs) -> Result<Exit> {
    let dir = named_or_last(args.run_dir.as_deref())?;
    let run = rescore::reload(&dir, None, CiPolicy::default())?;
    if args.json {
        console::print_json(&run.summary)?;
    } else if args.markdown {
        console::print(|out| summary_md::write(&run, out))?;
    } else {
        print_run(&run, true)?;
    }
    Ok(Exit::Passed)
}
