//! `cargo evaltest rescore`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::figure::Usd;
use evaltest::engine::run::rescore::{
    Foreseen, Origin, Rescore, foresee, rescore, scorers_of, scorers_of_spec,
};
use evaltest::engine::scorers::{Context, item_parts};
use evaltest::engine::text::Override;
use evaltest::engine::text::clean;
use evaltest::{Budget, Exit, Extract, Result};

use crate::command::run::report::print_run;
use crate::discover::one_spec;
use crate::run_ids::typed_folder;
use crate::runs::read_run;
use crate::{console, scorers};

/// Score the answers of a run again, without calling the agent
///
/// Writes a new run directory that names its parent and needs nothing from it: `samples.jsonl` has copies of prompts and
/// outputs. The exit code is 0 whatever the gates say; `cargo evaltest gate` checks them.
///
/// A scorer that calls a model reuses the replies stored with the run and its earlier rescores. Only missing replies are
/// requested, for example with another rubric; their number and maximum cost are printed first. The budget is that of
/// `--spec` if it has one, else that of the run. A killed rescore loses no reply: repeat the command to continue.
#[derive(Debug, Args)]
pub(crate) struct RescoreArgs {
    /// The run whose answers are scored: a run directory, or an eval's name for its last run
    #[arg(value_parser = typed_folder())]
    run_dir: PathBuf,

    /// A spec, or the name of its eval: use its current scorers, extraction and budget
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["scorers", "scorer_options"])]
    spec: Option<PathBuf>,

    /// The scorer, a name or a map as in a spec; default: those of the run. Repeatable, the first decides
    #[arg(long = "scorer", value_name = "NAME|YAML")]
    scorers: Vec<String>,

    /// Set an option of the scorers: `compat=true` for all that have it, `NAME.compat=true` for one
    #[arg(long = "scorer-option", value_name = "[NAME.]KEY=YAML")]
    scorer_options: Vec<String>,

    /// The extraction, as in a spec; default: that of the run
    #[arg(long, value_name = "YAML")]
    extract: Option<String>,

    /// The folder of run directories; default: that of the run
    #[arg(long, value_name = "DIR")]
    output_root: Option<PathBuf>,

    /// Print the number of judge requests and their maximum cost without calling a judge
    #[arg(long)]
    dry_run: bool,

    /// Print the details of the result: intervals, tests, the drop the run could detect
    #[arg(short, long)]
    verbose: bool,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &RescoreArgs) -> Result<Exit> {
    let dir = read_run(&args.run_dir)?;
    scorers::needs_scorer(&args.scorers, &args.scorer_options)?;
    let (Origin { scorers, specs }, of_spec, budget) = if let Some(spec) = &args.spec {
        scorers_of_spec(&one_spec(spec)?)?
    } else if args.scorers.is_empty() {
        (scorers_of(&dir.manifest()?)?, None, Budget::default())
    } else {
        let item_parts = item_parts(&dir.manifest()?.config["agent"]);
        let context = Context {
            item_parts: item_parts.as_deref(),
            ..Context::here()
        };
        let made = scorers::with_specs(&args.scorers, &args.scorer_options, &context)?;
        let (specs, scorers) = made.into_iter().unzip();
        (Origin { scorers, specs }, None, Budget::default())
    };
    let extract = args.extract.as_deref().map(Override::value).transpose()?;
    let extract = extract.map(|value| Extract::from_value(&value));
    let how = Rescore {
        scorers,
        specs,
        extract: extract.transpose()?.or(of_spec),
        budget,
        output_root: args.output_root.clone(),
    };
    let foreseen = foresee(&dir, &how)?;
    if let Some(foreseen) = &foreseen {
        let judges = format!("`{}`", foreseen.judges.join("`, `"));
        console::note(&clean(&foreseen_text(foreseen, &judges, "")));
    } else if args.dry_run {
        console::note("no model is called: no scorer uses a judge");
    }
    if args.dry_run {
        if args.json {
            console::print_json(&foreseen.unwrap_or_default())?;
        }
        return Ok(Exit::Passed);
    }
    let run = rescore(&dir, how)?;
    for notice in &run.notices {
        console::note(&clean(notice));
    }
    if args.json {
        console::print_json(&serde_json::json!({ "run_dir": run.dir, "summary": run.summary }))?;
    } else {
        print_run(&run, args.verbose)?;
    }
    Ok(Exit::Passed)
}

/// Describes the expected judge requests; `each` says how often per answer if more than once.
pub(super) fn foreseen_text(foreseen: &Foreseen, judges: &str, each: &str) -> String {
    let Foreseen {
        calls,
        stored,
        most_calls,
        most_usd,
        ..
    } = foreseen;
    if *calls == 0 {
        return format!("all replies of {judges} are stored: no model is called");
    }
    let before = match stored {
        0 => String::new(),
        _ => format!("; {stored} replies are already stored"),
    };
    let cost = match most_usd {
        Some(usd) => format!("at most {}", Usd(*usd)),
        None => {
            "the cost is unknown: the judge's agent needs a `price` and `max_tokens`".to_owned()
        }
    };
    format!(
        "{judges} is asked {calls} times{each}, at most {most_calls} times if replies cannot be read{before}; {cost}"
    )
}
