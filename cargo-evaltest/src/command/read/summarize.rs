//! `cargo evaltest summarize`.

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

/// Recompute and print a run's summary
#[derive(Debug, Args)]
pub(crate) struct SummarizeArgs {
    /// The run directory, or the name of an eval, whose last run is meant; when left out that of the last run
    #[arg(value_parser = typed_folder())]
    run_dir: Option<PathBuf>,

    /// Print `summary.json`
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print `summary.md`
    #[arg(long)]
    markdown: bool,
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
