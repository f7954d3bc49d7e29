//! `cargo evaltest rescore`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use evaltest::artifact::{Manifest, RunDir};
use evaltest::report::terminal;
use evaltest::rescore::{Rescore, rescore};
use evaltest::scorer::Context;
use evaltest::spec::Override;
use evaltest::{Error, Extract, Result, Scorer, scorer};
use serde_json::Value;

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
    let manifest = dir.manifest()?;
    let given = args
        .scorers
        .iter()
        .map(|text| Override::value(text))
        .collect::<Result<Vec<_>>>()?;
    let scorers = if given.is_empty() {
        of_run(&manifest)
    } else {
        given
    };
    let scorers = scorers.iter().map(scorer_of);
    let extract = args.extract.as_deref().map(Override::value).transpose()?;
    let how = Rescore {
        scorers: scorers.collect::<Result<_>>()?,
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

/// The scorers of a run as its spec names them, else by their names.
fn of_run(manifest: &Manifest) -> Vec<Value> {
    let config = &manifest.config;
    let one = config.get("scorer").cloned().map(|scorer| vec![scorer]);
    let list = || config.get("scorers").and_then(Value::as_array).cloned();
    let names = || {
        manifest
            .scorers
            .iter()
            .map(|name| name.as_str().into())
            .collect()
    };
    one.or_else(list).unwrap_or_else(names)
}

/// A built-in scorer: its name, or a map with `type` and its options.
fn scorer_of(value: &Value) -> Result<Arc<dyn Scorer>> {
    let name = value.get("type").unwrap_or(value);
    let name = name.as_str().unwrap_or_default();
    scorer::from_value(value, &Context::here()).map_err(|error| {
        if scorer::entry(name).is_some() {
            return error;
        }
        let known: Vec<_> = scorer::names().collect();
        Error::usage(format!(
            "scorer `{name}` is not built in, so this program cannot score with it"
        ))
        .hint(format!("name another: --scorer {}", known.join(" or ")))
    })
}
