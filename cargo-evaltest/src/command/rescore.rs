//! `cargo evaltest rescore`.

use std::path::PathBuf;

use clap::Args;
use evaltest::artifact::RunDir;
use evaltest::report::terminal;
use evaltest::rescore::{Rescore, rescore};
use evaltest::spec::Override;
use evaltest::{Extract, Result, scorer};
use serde_json::Map;

use crate::console;

/// Score the answers of a run again, into a new run directory; no agent is asked
#[derive(Debug, Args)]
pub(crate) struct RescoreArgs {
    /// The run directory whose answers are scored
    run_dir: PathBuf,

    /// The scorer; given several times, the first decides
    #[arg(long = "scorer", value_name = "NAME", default_value = "gaia")]
    scorers: Vec<String>,

    /// The extraction; as the run had it when left out
    #[arg(long, value_name = "YAML")]
    extract: Option<String>,

    /// The folder of run directories; that of the run itself when left out
    #[arg(long, value_name = "DIR")]
    output_root: Option<PathBuf>,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &RescoreArgs) -> Result<u8> {
    let dir = RunDir::open(&args.run_dir)?;
    let scorers = args
        .scorers
        .iter()
        .map(|name| scorer::by_name(name, &Map::new()));
    let extract = args.extract.as_deref().map(Override::value).transpose()?;
    let how = Rescore {
        scorers: scorers.collect::<Result<_>>()?,
        extract: extract
            .map(|value| Extract::from_value(&value))
            .transpose()?,
        output_root: args.output_root.clone(),
    };
    let run = rescore(&dir, how)?;
    if args.json {
        console::print_json(&serde_json::json!({ "run_dir": run.dir, "summary": run.summary }))?;
    } else {
        console::print(|out| terminal::run(&run, out))?;
    }
    Ok(0)
}
