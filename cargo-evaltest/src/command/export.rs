//! `cargo evaltest export`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use evaltest::artifact::{RunDir, read_records};
use evaltest::report::gaia;
use evaltest::{Error, Result};

use crate::console;

/// Write the answers of a run in the format of a leaderboard
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The run directory
    run_dir: PathBuf,

    /// The format
    #[arg(long, value_enum)]
    format: Format,

    /// The file to write; standard output when left out
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Formats of leaderboards.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// JSONL with `task_id`, `model_answer`, `reasoning_trace`
    Gaia,
}

pub(crate) fn run(args: &ExportArgs) -> Result<u8> {
    let records = read_records(&RunDir::open(&args.run_dir)?.file("samples.jsonl"))?;
    let mut text = Vec::new();
    let empty = match args.format {
        Format::Gaia => gaia::write(records, &mut text)?,
    };
    match &args.output {
        None => console::print(|out| out.write_all(&text))?,
        Some(path) => {
            let file = File::create(path).map_err(|error| Error::io("create", path, &error))?;
            let mut file = BufWriter::new(file);
            let written = file.write_all(&text).and_then(|()| file.flush());
            written.map_err(|error| Error::io("write", path, &error))?;
        }
    }
    if empty > 0 {
        console::note(&format!(
            "{empty} samples have no answer and are exported with an empty one"
        ));
    }
    Ok(0)
}
