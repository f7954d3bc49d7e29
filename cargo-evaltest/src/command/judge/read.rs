//! `cargo evaltest judge read`: parses replies of judges and adds their verdicts to the same lines.
//!
//! Lines are read and written as in `score` ([`crate::answers`]): a `reading` is inserted, and no other byte changes.

mod options;
mod reader;

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

use clap::Args;
use evaltest::{Exit, Result};

use crate::answers::{AnswerInput, AnswersArgs, DoneLines, InputFormat, Verb, write_in_order};
use crate::console;
use options::ReadOptions;
use reader::LineReader;

/// Parse a judge's replies: the verdict, or why there is none
///
/// Reads JSON lines with the text of a reply in `reply` (or null), and writes the same lines with a member `reading` at
/// the end. A reply with two different verdicts has none, unless `--first-match` is set. The exit code is 0 whatever the
/// replies say.
#[derive(Debug, Args)]
#[command(
    after_long_help = NOTES,
    after_help = "Exit codes: 0 read, or standard output was closed; 2 a mistake in the command line or on a \
                  line; 3 with `--keep-going`, some lines could not be read."
)]
pub(crate) struct ReadArgs {
    /// The replies, as JSON lines; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    input: PathBuf,

    #[command(flatten)]
    options: ReadOptions,

    /// Replace existing `reading` members
    #[arg(long, help_heading = "Output")]
    replace: bool,

    /// Write `{"line":N,"error":…}` for a malformed line and continue; the exit code is then 3
    #[arg(long, help_heading = "Output")]
    keep_going: bool,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", help_heading = "Output")]
    threads: Option<NonZeroUsize>,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
A reading is {\"status\": \"read\" or \"unreadable\", \"reason\": …, \"verdict\": …, \"values\": {…}, \"repaired\": n}. For a
rubric, `values` has the points of each dimension; otherwise `verdict` has the name or the number. Members that do not apply
are null. `repaired` counts backslashes, as TeX has them, that the reply's JSON should have escaped.

A reason is `no_response` for a blank text or null, `conflicting` for two different verdicts, and `invalid_response_format`
for anything else that is not a verdict: a missing dimension, points off the scale, \"4\", true, a choice that was not
offered or is merely mentioned.";

const VERB: Verb = Verb("read", "read");

/// Processes the input and returns the exit code, as `score` does.
pub(crate) fn run(args: &ReadArgs) -> Result<Exit> {
    let reader = args.options.reader()?;
    let input = AnswerInput::open(&AnswersArgs {
        input: args.input.clone(),
        format: Some(InputFormat::Jsonl),
        map: Vec::new(),
        extract: None,
    })?;
    if let Some(warning) = args.options.warning() {
        console::note(warning);
    }
    let threads = args
        .threads
        .or_else(|| thread::available_parallelism().ok())
        .unwrap_or(NonZeroUsize::MIN);
    let lines = LineReader::new(reader, args.replace);
    let keep_going = args.keep_going;
    let AnswerInput { source, chunks, .. } = input;
    let malformed = write_in_order(
        chunks,
        &source,
        (VERB, threads),
        move |chunk| {
            let mut open = Vec::new();
            let bytes = Vec::with_capacity(chunk.bytes.len() * 2);
            let each = |line: &str, out: &mut Vec<u8>| lines.line(line, &mut open, out);
            (DoneLines::of(chunk, bytes, keep_going, each), ())
        },
        &mut io::stdout().lock(),
        |_, ()| {},
    )?;
    malformed.map_or(Ok(Exit::Passed), |malformed| {
        malformed.conclude(&source, VERB)
    })
}
