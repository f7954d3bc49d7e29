//! `cargo evaltest rescore`.

use std::path::PathBuf;

use clap::Args;
use evaltest::artifact::RunDir;
use evaltest::report::terminal;
use evaltest::rescore::{Origin, Rescore, rescore, scorers_of};
use evaltest::scorer::Context;
use evaltest::spec::Override;
use evaltest::{Extract, Result, scorer};

use crate::console;

/// Score the answers of a run again, into a new run directory; no agent is asked
#[derive(Debug, Args)]
pub(crate) struct RescoreArgs {
    /// The run directory whose answers are scored
    run_dir: PathBuf,

    /// The scorer, as in a spec; given several times, the first decides. As the run had them when left out
    #[arg(long = "scorer", value_name = "YAML")]
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
    let Origin { scorers, specs } = if args.scorers.is_empty() {
        scorers_of(&dir.manifest()?)?
    } else {
        named(&args.scorers)?
    };
    let extract = args.extract.as_deref().map(Override::value).transpose()?;
    let how = Rescore {
        scorers,
        specs,
        extract: extract
            .map(|value| Extract::from_value(&value))
            .transpose()?,
        output_root: args.output_root.clone(),
    };
    let run = rescore(&dir, how)?;
    for notice in &run.notices {
        console::note(&terminal::clean(notice));
    }
    if args.json {
        console::print_json(&serde_json::json!({ "run_dir": run.dir, "summary": run.summary }))?;
    } else {
        console::print(|out| terminal::run(&run, out))?;
    }
    Ok(0)
}

/// The scorers that the command line names.
fn named(texts: &[String]) -> Result<Origin> {
    let specs = texts.iter().map(|text| Override::value(text));
    let specs = specs.collect::<Result<Vec<_>>>()?;
    let scorers = specs
        .iter()
        .map(|value| scorer::from_value(value, &Context::here()));
    Ok(Origin {
        scorers: scorers.collect::<Result<_>>()?,
        specs,
    })
}
