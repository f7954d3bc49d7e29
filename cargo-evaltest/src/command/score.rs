//! `cargo evaltest score`: JSON lines in, the same lines with a score out. No agent runs.
//!
//! The input is cut into [`chunks`] of whole lines, a [`pool`] of threads lets the [`judge`] score them,
//! and their results are written in input order. Of each `line` only the members that matter are
//! decoded, by a reader for Python's dialect of [`json`]; its bytes are never printed anew, the score is
//! spliced in. Memory stays the same for a file of any size.

mod chunks;
mod json;
mod judge;
mod line;
mod pool;

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use clap::Args;
use evaltest::scorer::{Context, Scorer, from_value};
use evaltest::spec::Override;
use evaltest::{Error, Extract, Extraction, Result};

use chunks::Chunks;
use judge::Judge;

/// Score predictions in JSON lines, without an agent
///
/// Reads one object per line, with `prediction` (a string or null) and `ground_truth`, and writes the same
/// lines with a member `score` added at their end. The exit code is 0 whatever the verdicts are.
#[derive(Debug, Args)]
pub(crate) struct ScoreArgs {
    /// The scorer to apply; given several times, all scores go into one member `scores`, by name
    #[arg(long = "scorer", value_name = "NAME", required = true)]
    scorers: Vec<String>,

    /// What to take from each prediction before it is scored, as in a spec: `final_answer`
    #[arg(long, value_name = "YAML")]
    extract: Option<String>,

    /// Replace the score that a line already has
    #[arg(long)]
    replace: bool,

    /// Write `{"line":N,"error":…}` in place of a malformed line, go on, and exit with 3 in the end
    #[arg(long)]
    keep_going: bool,

    /// How many threads score [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// The file to read; `-` is standard input
    #[arg(default_value = "-", hide_default_value = true)]
    file: PathBuf,
}

/// Scores the input and tells the exit code.
///
/// 0 also when the reader of the results goes away early; a malformed line is an error with exit code 2,
/// or 3 if the other lines were to be scored all the same.
pub(crate) fn run(args: &ScoreArgs) -> Result<u8> {
    let judge = Judge {
        scorers: scorers(&args.scorers)?,
        extraction: extraction(args.extract.as_deref())?,
        replace: args.replace,
        keep_going: args.keep_going,
    };
    let threads = args
        .threads
        .or_else(|| thread::available_parallelism().ok())
        .unwrap_or(NonZeroUsize::MIN);
    let input = Input::open(&args.file)?;
    write_scores(judge, input, threads, &mut io::stdout().lock())
}

/// None unless asked for: a scorer that has an extraction of its own then uses it.
fn extraction(given: Option<&str>) -> Result<Extraction> {
    let extract = match given {
        None => Extract::none(),
        Some(text) => Extract::from_value(&Override::value(text)?)?,
    };
    Ok(Extraction {
        extract,
        is_given: given.is_some(),
    })
}

fn scorers(names: &[String]) -> Result<Vec<Arc<dyn Scorer>>> {
    for (place, name) in names.iter().enumerate() {
        if names[..place].contains(name) {
            return Err(Error::usage(format!("scorer `{name}` is given twice")));
        }
    }
    names
        .iter()
        .map(|name| from_value(&Override::value(name)?, &Context::here()))
        .collect()
}

/// Where the lines come from.
struct Input {
    path: PathBuf,
    reader: Box<dyn Read + Send>,
}

impl Input {
    fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self {
                path: PathBuf::from("<stdin>"),
                reader: Box::new(io::stdin()),
            });
        }
        let file = File::open(path).map_err(|error| Error::io("read", path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            reader: Box::new(file),
        })
    }
}

fn write_scores(
    judge: Judge,
    input: Input,
    threads: NonZeroUsize,
    out: &mut dyn Write,
) -> Result<u8> {
    let Input { path, reader } = input;
    let results = pool::in_order(threads, Chunks::new(reader), move |chunk| {
        chunk.map(|chunk| judge.chunk(&chunk))
    })
    .map_err(|error| Error::infrastructure(format!("cannot start a thread: {error}")))?;
    let mut malformed = 0;
    let mut first = None;
    for result in results {
        let result = result.map_err(|error| Error::io("read", &path, &error))?;
        // Each chunk is flushed, so that whoever feeds single lines gets their scores at once.
        match out.write_all(&result.bytes).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(0),
            Err(error) => {
                return Err(Error::infrastructure(format!(
                    "cannot write to standard output: {error}"
                )));
            }
            Ok(()) => {}
        }
        if let Some(fault) = result.fault {
            let error = fault
                .error
                .at(format_args!("{}:{}", path.display(), fault.line));
            return Err(match error.hint_text() {
                Some(_) => error,
                None => error.hint("add `--keep-going` to score the other lines"),
            });
        }
        malformed += result.malformed;
        first = first.or(result.first_malformed);
    }
    let Some(first) = first else {
        return Ok(0);
    };
    Err(Error::infrastructure(format!(
        "{}:{first}: {malformed} {} could not be scored, this is the first",
        path.display(),
        if malformed == 1 { "line" } else { "lines" },
    ))
    .hint("the results have an `error` in place of each such line"))
}
