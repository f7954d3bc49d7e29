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

/// Score the answers of a run again, into a new run directory; no agent is asked
///
/// The new directory names its parent and is whole by itself: prompts and outputs are copied into its
/// `samples.jsonl`. The exit code is 0 whatever the gates say; `cargo evaltest gate` tells theirs.
///
/// A scorer that asks a model takes what it said to the run, and to whoever scored its answers before. Only what is not
/// stored there is asked, as with another rubric; how much that is, and what it costs at most, is said before. The budget of the run holds, or that of `--spec`
/// where it has one. A rescore that was killed loses no reply: the same command goes on from there.
#[derive(Debug, Args)]
pub(crate) struct RescoreArgs {
    /// The run directory whose answers are scored, or the name of an eval, whose last run is meant
    #[arg(value_parser = typed_folder())]
    run_dir: PathBuf,

    /// A spec, or the name of its eval: the scorers, the extraction and the budget that it has now
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["scorers", "scorer_options"])]
    spec: Option<PathBuf>,

    /// The scorer, a name or a map as in a spec; given several times, the first decides. As the run had them
    /// when left out
    #[arg(long = "scorer", value_name = "NAME|YAML")]
    scorers: Vec<String>,

    /// An option of the scorers: `compat=true` for every one that has it, `NAME.compat=true` for one
    #[arg(long = "scorer-option", value_name = "[NAME.]KEY=YAML")]
    scorer_options: Vec<String>,

    /// The extraction, as in a spec; as the run had it when left out
    #[arg(long, value_name = "YAML")]
    extract: Option<String>,

    /// The folder of run directories; that of the run itself when left out
    #[arg(long, value_name = "DIR")]
    output_root: Option<PathBuf>,

    /// Say what judges will be asked and what it costs at most, and ask nobody
    #[arg(long)]
    dry_run: bool,

    /// Print what the verdicts rest on: intervals, tests, what the run could detect
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
        console::note("nobody is asked: no scorer is a judge");
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
        return format!("{judges} said everything before: nobody is asked");
    }
    let before = match stored {
        0 => String::new(),
        _ => format!(", beside {stored} replies that are there already"),
    };
    let cost = match most_usd {
        Some(usd) => format!("at most {}", Usd(*usd)),
        None => "nobody knows at what cost: the judge's agent needs a `price` and `max_tokens`"
            .to_owned(),
    };
    format!(
        "{judges} is asked {calls} times{each}, and at most {most_calls} where replies cannot be read at first{before}; \
         {cost}"
    )
}
