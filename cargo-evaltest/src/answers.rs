//! Existing answers with their ground truths: the input of `score` and `scorers`.
//!
//! An input is a JSON lines, CSV or parquet file, or the directory of an earlier run. It is read as [`InputChunk`]s of
//! whole lines, so memory use does not depend on the size of the file; rows of the other formats are first converted
//! to JSON lines. [`Layout`] maps fields to roles, and [`AnsweredSample`] is one parsed line.

mod answered;
mod calls;
mod chunks;
mod done;
mod fields;
mod line;
mod messages;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use evaltest::dataset::{self, Row, Rows};
use evaltest::engine::system::project::display;
use evaltest::engine::text::Override;
use evaltest::{Error, Extract, Extraction, Result};

pub(crate) use answered::{AnsweredSample, RecordedAnswer, Wanted};
pub(crate) use calls::Calls;
pub(crate) use chunks::InputChunk;
use chunks::{InputChunks, READ_SIZE};
pub(crate) use done::{DoneLines, Verb, write_in_order};
pub(crate) use fields::Fields;
pub(crate) use line::Line;

use crate::runs::{open_run, read_run};

/// What is judged, as typed.
#[derive(Debug, Args)]
pub(crate) struct AnswersArgs {
    /// The answers: JSON lines, a `.csv` or `.parquet` file, a run directory, or an eval's name for its last run; `-` is
    /// standard input
    #[arg(
        value_name = "FILE|RUN_DIR",
        default_value = "-",
        hide_default_value = true,
        value_parser = PathBufValueParser::new().map(file_or_run)
    )]
    pub(crate) input: PathBuf,

    /// The format of the input; default: from its name
    #[arg(long, value_enum)]
    pub(crate) format: Option<InputFormat>,

    /// The field of each role: `prediction=answer,ground_truth=/task/truth`. Roles are
    /// `prediction`, `ground_truth`, `trajectory`, `tool_calls`, `metadata` and `id`; a field is a name, a
    /// dotted path (`result.text`) or a JSON pointer (`/choices/0/text`)
    #[arg(long, value_name = "ROLE=FIELD,…")]
    pub(crate) map: Vec<String>,

    /// What to extract from each prediction before scoring, as in a spec: `final_answer`,
    /// `{ after: "####" }`. Default: for a run directory that of the run, else none, unless a scorer has its own
    #[arg(long, value_name = "YAML")]
    pub(crate) extract: Option<String>,
}

/// A path as it is; a name alone, which no file has, may be that of a run.
fn file_or_run(named: PathBuf) -> PathBuf {
    let is_name = named.components().count() == 1 && named.extension().is_none();
    if !is_name || named.as_os_str() == "-" || named.exists() {
        return named;
    }
    match open_run(&named) {
        Ok(dir) => PathBuf::from(display(dir.path())),
        // It is an unknown file when it is opened.
        Err(_) => named,
    }
}

/// The format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// A JSON object per line
    Jsonl,
    /// A header and rows
    Csv,
    /// Columns
    Parquet,
    /// The directory of an earlier run
    Run,
}

/// What the lines of an input contain.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    /// Objects with a prediction and a ground truth in these fields.
    Lines(Fields),
    /// Sample records of a run.
    Records,
}

impl Layout {
    /// Also accepts other programs' names for tool calls, if `wanted` includes calls.
    pub(crate) fn wanting(self, wanted: Wanted) -> Self {
        match self {
            Self::Lines(fields) if wanted.calls() => Self::Lines(fields.with_calls()),
            other => other,
        }
    }
}

/// An opened input.
pub(crate) struct AnswerInput {
    pub(crate) layout: Layout,
    pub(crate) extraction: Extraction,
    pub(crate) source: Source,
    /// Ends after the first error.
    pub(crate) chunks: LineChunks,
}

/// Iterator over the chunks of an input.
pub(crate) type LineChunks = Box<dyn Iterator<Item = Result<InputChunk>> + Send>;

/// The input that lines come from, for messages.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    path: PathBuf,
    has_lines: bool,
}

impl Source {
    /// Path of the input as shown in messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Position of a line: `answers.jsonl:7`, or `answers.parquet: row 7`.
    pub(crate) fn place(&self, line: u64) -> String {
        let path = self.path.display();
        if self.has_lines {
            format!("{path}:{line}")
        } else {
            format!("{path}: row {line}")
        }
    }
}

impl AnswersArgs {
    /// The extraction given by `--extract`; none by default.
    pub(crate) fn extraction(&self) -> Result<Extraction> {
        let extract = match &self.extract {
            None => Extract::none(),
            Some(text) => Extract::from_value(&Override::value(text)?)?,
        };
        Ok(Extraction {
            extract,
            is_given: self.extract.is_some(),
        })
    }
}

impl AnswerInput {
    /// Opens the input. An unusable file is an error here, before anything is scored.
    pub(crate) fn open(args: &AnswersArgs) -> Result<Self> {
        let path = args.input.as_path();
        let format = args.format.unwrap_or_else(|| format_of(path));
        let fields = Fields::parse(&args.map)?;
        let mut extraction = args.extraction()?;
        let mut layout = Layout::Lines(fields);
        let mut source = Source {
            path: path.to_owned(),
            has_lines: true,
        };
        let chunks: LineChunks = match format {
            InputFormat::Jsonl => {
                let chunks;
                (source, chunks) = json_lines(path)?;
                chunks
            }
            InputFormat::Csv | InputFormat::Parquet => {
                let rows = read_rows(path, format)?;
                if let Layout::Lines(fields) = &layout {
                    fields.check_columns(&rows)?;
                }
                source.path.clone_from(&rows.path);
                source.has_lines = format == InputFormat::Csv;
                Box::new(row_chunks(rows).map(Ok))
            }
            InputFormat::Run => {
                if !args.map.is_empty() {
                    return Err(Error::usage("`--map` applies only to files: the records of a run have fixed fields")
                        .hint("leave `--map` out, or name the file: `RUN_DIR/samples.jsonl --format jsonl`"));
                }
                let dir = read_run(path)?;
                if !extraction.is_given {
                    extraction = evaltest::engine::run::rescore::extraction_of(&dir.manifest()?)?;
                }
                layout = Layout::Records;
                source.path = dir.file(evaltest::engine::store::files::RECORDS);
                // `read_records` explains why the file may be missing.
                drop(evaltest::engine::store::read_records(&source.path)?);
                chunks_of(&source.path, open(&source.path)?)
            }
        };
        Ok(Self {
            layout,
            extraction,
            source,
            chunks,
        })
    }

    /// The sample on one line or row.
    pub(crate) fn at(self, number: u64, wanted: Wanted) -> Result<AnsweredSample> {
        let layout = self.layout.clone().wanting(wanted);
        self.on_line(number, |line| AnsweredSample::read(line, &layout, wanted))
    }

    /// Applies `read` to one line or row.
    pub(crate) fn on_line<T>(
        self,
        number: u64,
        mut read: impl FnMut(&str) -> Result<T>,
    ) -> Result<T> {
        let place = self.source.place(number);
        let mut found = None;
        for chunk in self.chunks {
            chunk?.lines(|this, bytes, line| {
                if this == number && !bytes.trim_ascii().is_empty() {
                    found = Some(line.and_then(&mut read));
                }
                this < number
            });
            if let Some(found) = found {
                return found.map_err(|error| error.at(place));
            }
        }
        Err(Error::usage(format!("{place}: this line has no answer")))
    }
}

/// Opens a JSON lines file, or standard input for `-`.
pub(crate) fn json_lines(path: &Path) -> Result<(Source, LineChunks)> {
    let is_stdin = path == Path::new("-");
    let source = Source {
        path: PathBuf::from(if is_stdin { "<stdin>".as_ref() } else { path }),
        has_lines: true,
    };
    let chunks = if is_stdin {
        chunks_of(&source.path, io::stdin())
    } else {
        chunks_of(path, open(path)?)
    };
    Ok((source, chunks))
}

fn format_of(path: &Path) -> InputFormat {
    if path.is_dir() {
        return InputFormat::Run;
    }
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    match extension.to_str() {
        Some("csv") => InputFormat::Csv,
        Some("parquet") => InputFormat::Parquet,
        _ => InputFormat::Jsonl,
    }
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| Error::io("read", path, &error))
}

fn chunks_of(path: &Path, input: impl Read + Send + 'static) -> LineChunks {
    let path = path.to_owned();
    let chunks = InputChunks::new(input);
    Box::new(chunks.map(move |chunk| chunk.map_err(|error| Error::io("read", &path, &error))))
}

/// Reads all rows.
fn read_rows(path: &Path, format: InputFormat) -> Result<Rows> {
    let is_csv = format == InputFormat::Csv;
    let format = if is_csv {
        dataset::Format::Csv
    } else {
        dataset::Format::Parquet
    };
    if path != Path::new("-") {
        // Report it here: the dataset reader would treat the path as relative to a spec.
        std::fs::File::open(path).map_err(|error| Error::io("read", path, &error))?;
        return Rows::read_as(path, format);
    }
    if is_csv {
        return Rows::read_as("/dev/stdin", format);
    }
    Err(Error::usage("parquet cannot be read from standard input").hint("name the file"))
}

/// The rows as JSON lines, each with the number of its line or row in the file.
fn row_chunks(rows: Rows) -> impl Iterator<Item = InputChunk> + Send {
    let mut rows = rows.rows.into_iter().zip(1_u64..);
    std::iter::from_fn(move || {
        let mut bytes = Vec::new();
        let mut numbers = Vec::new();
        for (Row { line, fields }, number) in rows.by_ref() {
            // Serializing a map of JSON values cannot fail.
            let _ = serde_json::to_writer(&mut bytes, &fields);
            bytes.push(b'\n');
            numbers.push(line.unwrap_or(number));
            if bytes.len() >= READ_SIZE {
                break;
            }
        }
        (!numbers.is_empty()).then(|| InputChunk::numbered(bytes, numbers))
    })
}
