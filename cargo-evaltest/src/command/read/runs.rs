//! `cargo evaltest runs`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::report::terminal::runs;
use evaltest::engine::system::terminal::columns;
use evaltest::{Exit, Result};

use crate::runs::run_overviews;
use crate::{colour, console};

/// List the project's runs, the newest first
///
/// Shows when each run started, its eval, agent, samples, accuracy, gates and cost. Commands such as `show`, `gate` and
/// `compare` take any unique part of a run's name (the last column); by default they use the last run.
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Only runs of this eval
    eval: Option<String>,

    /// Show at most N runs (0 = all)
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,

    /// The folder of run directories, instead of those in the project's specs
    #[arg(long, value_name = "DIR")]
    output_root: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &RunsArgs) -> Result<Exit> {
    let most = if args.limit == 0 {
        usize::MAX
    } else {
        args.limit
    };
    let found = run_overviews(args.output_root.as_deref(), args.eval.as_deref(), most)?;
    if args.json {
        console::print_json(&serde_json::json!({ "runs": found.runs }))?;
    } else {
        let width = columns(&std::io::stdout());
        console::print(|out| runs::write(&found.runs, width, colour::paint(), out))?;
    }
    if found.runs.is_empty() && found.older == 0 {
        console::note("no run found; hint: cargo evaltest run");
    }
    if found.older > 0 {
        console::note(&format!(
            "{} older: `cargo evaltest runs --limit 0`",
            found.older
        ));
    }
    Ok(Exit::Passed)
}
