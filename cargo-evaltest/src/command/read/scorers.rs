//! `cargo evaltest scorers`: compares scorers on the same answers, and documents the built-in ones.

mod catalog;
mod jury;
mod matrix;
mod text;

use std::io::{IsTerminal, stdin};
use std::path::Path;

use clap::Args;
use evaltest::{Error, Exit, Result};

use crate::answers::AnswersArgs;
use crate::console;

/// Compare scorers on the same answers, or explain one
///
/// Compares each scorer with a reference: the first of `--scorers`, else the scorer that decided the run, else `gaia`.
/// Shows how many answers each accepts that the reference rejects, and the reverse: how strict each is, and where they
/// disagree. Verdicts recorded in a run directory are used as they are; other scorers score its answers now. No agent is
/// called; the exit code is 0 whatever the verdicts are.
#[derive(Debug, Args)]
#[command(after_long_help = evaltest::engine::scorers::GUIDE)]
pub(crate) struct ScorersArgs {
    /// The scorers, names or maps as in a spec: `gaia,substring,{type: substring, compat: true, name:
    /// loose}`. Default: those of the run and all built-in ones that compare texts without options
    #[arg(long, value_name = "NAME|YAML,…")]
    scorers: Option<String>,

    /// Set an option of the scorers: `compat=true` for all that have it, `NAME.compat=true` for one
    #[arg(
        long = "scorer-option",
        value_name = "[NAME.]KEY=YAML",
        requires = "scorers"
    )]
    scorer_options: Vec<String>,

    #[command(flatten)]
    answers: AnswersArgs,

    /// Maximum number of answers shown on which the scorers disagree
    #[arg(long, value_name = "N", default_value_t = 10)]
    show: usize,

    /// Print everything as JSON, with every answer on which the scorers disagree
    #[arg(long)]
    json: bool,

    /// List the built-in scorers, a line each
    #[arg(long, conflicts_with_all = ["input", "scorers", "explain"])]
    list: bool,

    /// Explain a built-in scorer: its rule, its options, and examples with their verdicts
    #[arg(long, value_name = "NAME", conflicts_with_all = ["input", "scorers"])]
    explain: Option<String>,
}

pub(crate) fn run(args: &ScorersArgs) -> Result<Exit> {
    if args.list {
        return catalog::list(args.json);
    }
    if let Some(name) = &args.explain {
        return catalog::explain(name, args.json);
    }
    if args.answers.input == Path::new("-") && stdin().is_terminal() {
        return Err(Error::usage("no answers are named").hint(
            "name a run directory or a file: `cargo evaltest scorers RUN_DIR`; `--list` shows the scorers",
        ));
    }
    let most = if args.json { usize::MAX } else { args.show };
    let matrix = matrix::judge(args, most)?;
    if args.json {
        console::print_json(&matrix.json())?;
    } else {
        console::print_document(&text::text(&matrix))?;
    }
    Ok(Exit::Passed)
}
