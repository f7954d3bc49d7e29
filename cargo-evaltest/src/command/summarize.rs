//! `cargo evaltest summarize`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::report::{markdown, terminal};
use evaltest::engine::run::rescore;
use evaltest::engine::store::RunDir;
use evaltest::{Exit, Result};

use crate::console;

/// Work out the summary of a run again and print it
#[derive(Debug, Args)]
pub(crate) struct SummarizeArgs {
    /// The run directory
    run_dir: PathBuf,

    /// Print `summary.json`
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print `summary.md`
    #[arg(long)]
    markdown: bool,
}

pub(crate) fn run(args: &SummarizeArgs) -> Result<Exit> {
    let run = rescore::reload(&RunDir::open(&args.run_dir)?, None, false, false)?;
    if args.json {
        console::print_json(&run.summary)?;
    } else if args.markdown {
        console::print(|out| markdown::write(&run.summary, out))?;
    } else {
        console::print(|out| terminal::run(&run, out))?;
    }
    Ok(Exit::Passed)
}
