//! `cargo evaltest score`: adds scores to existing answers. No agent runs.
//!
//! The input is read as chunks of whole lines ([`crate::answers`]), threads score them with [`lines`], and the results
//! are written in input order. Only the needed members of a line are decoded; the line's bytes are copied and the
//! score is inserted. Memory use does not depend on the size of the file.

mod calls;
mod explain;
mod lines;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use clap::Args;
use evaltest::{Error, Exit, Result};

use crate::answers::{AnswerInput, AnswersArgs, InputFormat, Verb, write_in_order};
use crate::{console, scorers};
use calls::CallChecker;
use explain::ExplainArgs;
use lines::{LineCounts, LineJudge};

/// Score existing answers; no agent needed
///
/// Reads JSON lines with `prediction` (a string or null) and `ground_truth` (a string, or an array for some scorers), and
/// writes the same lines with a member `score` at the end. CSV and parquet files and run directories give JSON lines, too;
/// those of a run have `sample_id`, `prediction` and `ground_truth`. The exit code is 0 whatever the verdicts are.
#[derive(Debug, Args)]
#[command(
    after_long_help = NOTES,
    after_help = "Exit codes: 0 scored, or standard output was closed; 2 a mistake in the command line or on a \
                  line; 3 with `--keep-going`, some lines could not be scored."
)]
pub(crate) struct ScoreArgs {
    /// The scorer to apply, a name or a map as in a spec: `{ type: substring, compat: true }`. Given several
    /// times, all scores go into one member `scores`, by name
    #[arg(long = "scorer", value_name = "NAME|YAML", required = true)]
    scorers: Vec<String>,

    /// Set an option of the scorers: `compat=true` for all that have it, `NAME.compat=true` for one
    #[arg(long = "scorer-option", value_name = "[NAME.]KEY=YAML")]
    scorer_options: Vec<String>,

    #[command(flatten)]
    answers: AnswersArgs,

    /// The data of the function-calling leaderboard, for `--scorer bfcl`: a folder with `BFCL_v4_<category>.json`
    /// and `possible_answer/`, from a checkout, the unpacked package or your own
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Replace the score that a line already has
    #[arg(long)]
    replace: bool,

    /// Write `{"line":N,"error":…}` for a malformed line and continue; the exit code is then 3
    #[arg(long)]
    keep_going: bool,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    #[command(flatten)]
    explain: ExplainArgs,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
A score is {\"value\": 0.0 to 1.0, \"correct\": …, \"reason\": …, \"normalized_prediction\": …,
\"normalized_ground_truth\": …, \"details\": {…}}. `cargo evaltest scorers --list` names the scorers,
`cargo evaltest scorers --explain NAME` explains one.

In addition to prediction and ground truth, scorers may use `trajectory` (the agent's messages, each with
its `role`), `tool_calls` and `metadata`. Members that no scorer uses are not decoded.

Nothing is extracted from a prediction without `--extract`. Exceptions: a scorer whose rule has an
extraction (`quasi_exact`; `--extract none` turns it off), and run directories, which use the run's
extraction. Samples of a run without an answer or ground truth are skipped, and so are answers that lost
a secret; standard error shows how many.

Lines for `--scorer bfcl` have other fields: `id` and `category` of an entry in `--data`, `model_result` (a text, or
the list of native calls), `mode` (`prompt` or `fc`), and optionally `underscore_to_dot`, `return_format`,
`has_tool_call_tag`; `function` and `ground_truth` on the line replace those of the data.

Lines for `--scorer bfcl_multi_turn` have the `id` of an entry, `mode` and `prediction` (the `result` of an official
result file: a list of steps for each turn); `--scorer-option python=PATH` names the Python that has `bfcl-eval`.";

/// Scores the input and returns the exit code.
///
/// 0, also if the output is closed early; a malformed line is an error with exit code 2, or 3 with `--keep-going`.
pub(crate) fn run(args: &ScoreArgs) -> Result<Exit> {
    let checker = args.checker()?;
    if let Some(checker) = &checker
        && args.explain.is_wanted()
    {
        return explain::run_calls(&args.explain, &args.answers, checker);
    }
    let scorers = match checker {
        // Leaderboard lines have their own fields.
        Some(_) => Vec::new(),
        None => scorers::named(&args.scorers, &args.scorer_options)?,
    };
    if args.explain.is_wanted() {
        return explain::run(&args.explain, &args.answers, &scorers);
    }
    let answers = AnswerInput::open(&args.answers)?;
    let judge = LineJudge::new(scorers, &answers.extraction, answers.layout.clone())
        .replace(args.replace)
        .keep_going(args.keep_going)
        .checker(checker);
    let threads = args
        .threads
        .or_else(|| thread::available_parallelism().ok())
        .unwrap_or(NonZeroUsize::MIN);
    write_scores(&Arc::new(judge), answers, threads, &mut io::stdout().lock())
}

impl ScoreArgs {
    /// The checker for `--scorer bfcl`, whose lines have their own fields.
    fn checker(&self) -> Result<Option<CallChecker>> {
        let is_match = self.scorers.iter().any(|name| name == "bfcl");
        let is_run = self.answers.input.is_dir() || self.answers.format == Some(InputFormat::Run);
        if !is_match || is_run || self.explain.is_typed() {
            return match self.data {
                Some(_) if self.explain.is_typed() => Err(Error::usage(
                    "`--data` applies to the lines of a file, not to an answer on the command line",
                )
                .hint("name a line: `FILE --explain --line N`")),
                Some(_) if is_run => Err(Error::usage("`--data` applies only to files")
                    .hint("leave it out: the records of a run have the ground truth")),
                Some(_) => Err(Error::usage("`--data` applies only to `--scorer bfcl`")),
                None => Ok(None),
            };
        }
        let others = [
            (self.scorers.len() > 1, "another `--scorer`"),
            (!self.scorer_options.is_empty(), "`--scorer-option`"),
            (!self.answers.map.is_empty(), "`--map`"),
            (self.answers.extract.is_some(), "`--extract`"),
        ];
        if let Some((_, other)) = others.iter().find(|(is_given, _)| *is_given) {
            return Err(Error::usage(format!(
                "{other} cannot be combined with `--scorer bfcl` on a file: the lines have all that it needs"
            )));
        }
        CallChecker::new(self.data.as_deref(), self.replace).map(Some)
    }
}

const VERB: Verb = Verb("score", "scored");

fn write_scores(
    judge: &Arc<LineJudge>,
    answers: AnswerInput,
    threads: NonZeroUsize,
    out: &mut dyn Write,
) -> Result<Exit> {
    let AnswerInput { source, chunks, .. } = answers;
    let scoring = Arc::clone(judge);
    let mut counts = LineCounts::default();
    let malformed = write_in_order(
        chunks,
        &source,
        (VERB, threads),
        move |chunk| scoring.chunk(chunk),
        out,
        |bytes, of_chunk| {
            counts.add(&of_chunk);
            judge.recycle(bytes);
        },
    )?;
    let Some(malformed) = malformed else {
        return Ok(Exit::Passed);
    };
    for note in judge.missing(&counts)? {
        console::note(&note);
    }
    print_counts(&counts);
    malformed.conclude(&source, VERB)
}

/// Prints warnings about some lines to standard error.
fn print_counts(counts: &LineCounts) {
    let note = |count: u64, one: &str, several: &str| match count {
        0 => {}
        1 => console::note(&format!("1 {one}")),
        _ => console::note(&format!("{count} {several}")),
    };
    note(
        counts.unanswered,
        "sample has no answer and is skipped",
        "samples have no answer and are skipped",
    );
    note(
        counts.hidden,
        "sample has no ground truth and is skipped",
        "samples have no ground truth and are skipped",
    );
    note(
        counts.lost,
        "answer lost a secret to redaction and is skipped: `rescore` keeps its verdict",
        "answers lost a secret to redaction and are skipped: `rescore` keeps their verdicts",
    );
}
