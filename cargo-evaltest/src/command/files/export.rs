//! `cargo evaltest export`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use evaltest::engine::eval::spec;
use evaltest::engine::figure::counted;
use evaltest::engine::report::document::Document;
use evaltest::engine::report::formats::gaia::{self, Checked, GaiaExport, Traces};
use evaltest::engine::report::render::markdown;
use evaltest::engine::report::reported::MaskedTexts;
use evaltest::engine::store::{Manifest, RunDir, files, read_records, stamp};
use evaltest::engine::system::file::NewFile;
use evaltest::engine::system::project::display;
use evaltest::{Benchmark, Error, Exit, Gaia, Registry, Result};

use crate::console;
use crate::runs::{named_or_last, note_part, read_run};

pub(crate) mod bfcl;
mod data;

use bfcl::ModelArgs;

/// Export a run for other programs or a leaderboard
///
/// For a leaderboard, also writes a guide to submitting the file; `--check` checks such a file.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The run directory; default: the last run
    run_dir: Option<PathBuf>,

    /// The format
    #[arg(long, value_enum)]
    format: ExportFormat,

    /// The file to write, or the folder for a file with a default name, `gaia_level<N|all>_result_<time>.jsonl` or
    /// `<run directory>.<extension>`; default: the current folder. `-` is standard output, for text formats. `bfcl`:
    /// the folder; default: a new one in the current folder
    #[arg(long, value_name = "FILE|DIR", conflicts_with = "check")]
    output: Option<PathBuf>,

    /// The epoch to export, from 0
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "check")]
    epoch: u32,

    /// Export questions, answers and ground truths even if the eval's snapshots are masked. Leaderboard formats always
    /// have the answers
    #[arg(long, conflicts_with = "check")]
    show_texts: bool,

    #[command(flatten)]
    model: ModelArgs,

    /// Omit the text before the answer (`reasoning_trace`)
    #[arg(long, conflicts_with = "check")]
    no_trace: bool,

    /// Do not export; check that this file has each id of the dataset once, with an answer. The exit code is 1 if not
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,

    /// The dataset for `--check`: a spec, or a file or folder in GAIA's layout; default: that of the run
    #[arg(long, alias = "spec", value_name = "SPEC|PATH", requires = "check")]
    dataset: Option<PathBuf>,

    /// The split of the dataset
    #[arg(long, requires = "dataset")]
    split: Option<String>,

    /// Print the result of `--check` as JSON
    #[arg(long, requires = "check")]
    json: bool,
}

/// Formats of leaderboards, and those that have the whole run.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ExportFormat {
    /// JSONL with `task_id`, `model_answer`, `reasoning_trace`
    Gaia,
    /// Result files, score files and tables of the Berkeley Function Calling Leaderboard; needs `--model-name`
    Bfcl,
    /// An OpenTelemetry event `gen_ai.evaluation.result` for each verdict, as OTLP/JSON lines
    Otel,
    /// A row for each answer; texts that a spreadsheet could read as a formula start with an apostrophe
    Csv,
    /// The same rows with typed columns and unchanged texts
    Parquet,
    /// An Inspect log (`.eval`) for `inspect view`
    Inspect,
}

impl ExportFormat {
    /// Name of a format that exports the whole run.
    fn data(self) -> Option<&'static str> {
        match self {
            Self::Gaia | Self::Bfcl => None,
            Self::Otel => Some("otel"),
            Self::Csv => Some("csv"),
            Self::Parquet => Some("parquet"),
            Self::Inspect => Some("inspect"),
        }
    }

    /// Checks before a run starts that it can be exported in this format.
    pub(crate) fn check(self, model: &ModelArgs) -> Result<()> {
        match self {
            Self::Bfcl => model.model().map(drop),
            _ => Ok(()),
        }
    }

    /// Exports a finished run into the current folder and returns the path.
    pub(crate) fn export(self, dir: &RunDir, model: &ModelArgs) -> Result<PathBuf> {
        if let Some(name) = self.data() {
            return data::to_file(dir, data::named(name)?, MaskedTexts::Hidden, None);
        }
        Ok(match self {
            Self::Bfcl => bfcl::to_folder(dir, &model.options(dir)?, None)?.0,
            _ => to_file(dir, 0, Traces::Written, None)?.0,
        })
    }
}

pub(crate) fn run(args: &ExportArgs) -> Result<Exit> {
    check_format(args)?;
    if let Some(file) = &args.check {
        return check(args, file);
    }
    let dir = named_or_last(args.run_dir.as_deref())?;
    note_part(&dir)?;
    let output = args.output.as_deref();
    if let Some(name) = args.format.data() {
        let (format, texts) = (data::named(name)?, args.texts());
        if output == Some(Path::new("-")) {
            data::to_stdout(&dir, format, texts)?;
        } else {
            let file = data::to_file(&dir, format, texts, output)?;
            console::print(|out| writeln!(out, "{}", display(&file)))?;
        }
        return Ok(Exit::Passed);
    }
    if matches!(args.format, ExportFormat::Bfcl) {
        let options = args.model.options(&dir)?;
        let (folder, _) = bfcl::to_folder(&dir, &options, output)?;
        console::print(|out| writeln!(out, "{}", display(&folder)))?;
        return Ok(Exit::Passed);
    }
    let traces = if args.no_trace {
        Traces::Excluded
    } else {
        Traces::Written
    };
    if output == Some(Path::new("-")) {
        return to_stdout(&dir, args.epoch, traces);
    }
    let (file, guide) = to_file(&dir, args.epoch, traces, output)?;
    console::print(|out| {
        writeln!(out, "{}", display(&file))?;
        writeln!(out, "{}", display(&guide))
    })?;
    Ok(Exit::Passed)
}

impl ExportArgs {
    fn texts(&self) -> MaskedTexts {
        if self.show_texts {
            MaskedTexts::Visible
        } else {
            MaskedTexts::Hidden
        }
    }
}

/// Returns an error for options that the format does not have.
fn check_format(args: &ExportArgs) -> Result<()> {
    use ExportFormat::{Bfcl, Gaia};
    let (is_gaia, is_bfcl) = (matches!(args.format, Gaia), matches!(args.format, Bfcl));
    let is_data = args.format.data().is_some();
    let model = &args.model;
    let to_stdout = args.output.as_deref() == Some(Path::new("-"));
    let given = [
        (is_bfcl, model.model_name.is_some(), "--model-name"),
        (
            is_bfcl,
            model.underscore_to_dot.is_some(),
            "--underscore-to-dot",
        ),
        (is_gaia, args.check.is_some(), "--check"),
        (is_gaia, args.no_trace, "--no-trace"),
        (is_gaia, args.epoch > 0, "--epoch"),
        (!is_bfcl, to_stdout, "--output -"),
        (is_data, args.show_texts, "--show-texts"),
    ];
    let strange = given
        .iter()
        .filter(|(fits, is_given, _)| *is_given && !fits);
    let strange: Vec<&str> = strange.map(|(.., name)| *name).collect();
    match &strange[..] {
        [] => Ok(()),
        names => Err(Error::usage(format!(
            "`{}` does not apply to this format",
            names.join("`, `")
        ))
        .hint("cargo evaltest export --help")),
    }
}

/// Returns an error for an epoch that the run does not have.
fn check_epoch(manifest: &Manifest, epoch: u32) -> Result<()> {
    let epochs = manifest.epochs;
    if epoch < epochs {
        return Ok(());
    }
    let message = format!("the run has {epochs} epochs, so there is no epoch {epoch}");
    Err(Error::usage(message).hint(format!(
        "the last is `--epoch {}`",
        epochs.saturating_sub(1)
    )))
}

fn to_stdout(dir: &RunDir, epoch: u32, traces: Traces) -> Result<Exit> {
    check_epoch(&dir.manifest()?, epoch)?;
    let records = read_records(&dir.file(files::RECORDS))?;
    let mut text = Vec::new();
    let exported = gaia::write(records, epoch, traces, &mut text)?;
    console::print_data(|out| out.write_all(&text))?;
    note(&exported);
    Ok(Exit::Passed)
}

/// Writes the file and the guide next to it; returns their paths.
fn to_file(
    dir: &RunDir,
    epoch: u32,
    traces: Traces,
    output: Option<&Path>,
) -> Result<(PathBuf, PathBuf)> {
    let manifest = dir.manifest()?;
    check_epoch(&manifest, epoch)?;
    let records = read_records(&dir.file(files::RECORDS))?;
    let output = output.unwrap_or(Path::new("."));
    let names_folder = output.is_dir() || output.to_string_lossy().ends_with('/');
    let folder = if names_folder {
        output
    } else {
        output.parent().unwrap_or(Path::new("."))
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
    // The file name depends on the content.
    let mut out = NewFile::for_path(&folder.join("gaia_result"))?;
    let exported = gaia::write(records, epoch, traces, &mut out)?;
    let file = if names_folder {
        free(
            folder,
            &gaia::file_name(exported.level.as_deref(), &stamp()),
        )
    } else {
        output.to_owned()
    };
    let file = std::path::absolute(&file).unwrap_or(file);
    out.put(&file)?;
    let guide = file.with_extension("guide.md");
    let names = (display(&file), display(dir.path()));
    write(&guide, |out| {
        let text = gaia::guide(&manifest, &exported, (&names.0, &names.1));
        let written = markdown::document(&text, 1, out);
        written.map_err(|error| Error::io("write", &guide, &error))
    })?;
    note(&exported);
    Ok((file, guide))
}

fn write<T>(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let file = File::create(path).map_err(|error| Error::io("create", path, &error))?;
    let mut file = BufWriter::new(file);
    let written = content(&mut file)?;
    file.flush()
        .map_err(|error| Error::io("write", path, &error))?;
    Ok(written)
}

/// An unused file name, so that two exports in one second do not collide.
fn free(folder: &Path, name: &str) -> PathBuf {
    let stem = name.trim_end_matches(".jsonl");
    let names = (2..).map(|number| format!("{stem}-{number}.jsonl"));
    let mut names = std::iter::once(name.to_owned()).chain(names);
    let name = names.find(|name| !folder.join(name).exists());
    folder.join(name.unwrap_or_default())
}

fn note(exported: &GaiaExport) {
    let notes = [
        (
            exported.empty,
            "sample",
            "without an answer: exported with an empty one",
        ),
        (exported.redacted, "answer", "with a redacted secret"),
    ];
    for (count, noun, what) in notes.iter().filter(|(count, ..)| *count > 0) {
        console::note(&format!("{} {what}", counted(*count as u64, noun)));
    }
}

fn check(args: &ExportArgs, file: &Path) -> Result<Exit> {
    let ids = match (&args.dataset, &args.run_dir) {
        (Some(dataset), _) => ids_of(dataset, args.split.as_deref())?,
        (None, Some(run)) => ids_of_run(&read_run(run)?)?,
        // The last run may cover only part of the eval.
        (None, None) => {
            return Err(Error::usage("no dataset is named")
                .hint("name the run, or the dataset: `--dataset PATH`"));
        }
    };
    let checked = gaia::check(file, ids.iter().map(String::as_str))?;
    if args.json {
        console::print_json(&checked)?;
    } else {
        console::print_document(&text(file, &checked))?;
    }
    Ok(if checked.is_clean() {
        Exit::Passed
    } else {
        Exit::Failed
    })
}

/// The ids of a spec's samples, or of a dataset in GAIA's layout.
fn ids_of(path: &Path, split: Option<&str>) -> Result<BTreeSet<String>> {
    let extension = path.extension().unwrap_or_default();
    let samples = if extension == "yaml" || extension == "yml" {
        if split.is_some() {
            return Err(Error::usage(
                "`--split` applies to a dataset path; a spec names its own split",
            )
            .hint("leave `--split` out, or name the dataset"));
        }
        spec::load_any(path, &Registry::new(), &[])?.samples()?
    } else {
        let gaia = Gaia::open(path)?;
        match split {
            Some(split) => gaia.split(split).samples()?,
            None => gaia.samples()?,
        }
    };
    Ok(samples.into_iter().map(|sample| sample.id).collect())
}

/// Ids of a run's dataset: from its spec if available, otherwise from the records.
fn ids_of_run(dir: &RunDir) -> Result<BTreeSet<String>> {
    let manifest = dir.manifest()?;
    let overrides: Vec<_> = manifest
        .overrides
        .iter()
        .filter(|change| change.key.starts_with("benchmark"))
        .cloned()
        .collect();
    let spec = manifest.spec.as_deref().filter(|spec| spec.is_file());
    let samples = spec.and_then(|spec| {
        let eval = spec::load_any(spec, &Registry::new(), &overrides).ok()?;
        eval.samples().ok()
    });
    if let Some(samples) = samples {
        return Ok(samples.into_iter().map(|sample| sample.id).collect());
    }
    if !manifest.whole {
        console::note(
            "the run covers only a part of its eval and its spec was not found: the other samples are not checked; \
             name the dataset with `--dataset PATH`",
        );
    }
    let records = read_records(&dir.file(files::RECORDS))?;
    records.map(|record| Ok(record?.sample_id)).collect()
}

fn text(file: &Path, checked: &Checked) -> Document {
    let (lines, samples) = (checked.lines, checked.samples);
    let file = file.display();
    let mut text = Document::new(format!("{file}: {lines} lines for {samples} samples"));
    let kinds = [
        ("missing", &checked.missing),
        ("duplicate", &checked.duplicate),
        ("unknown", &checked.unknown),
        ("empty answer", &checked.empty),
    ];
    let kinds = kinds.into_iter().filter(|(_, ids)| !ids.is_empty());
    text.list(kinds.map(|(kind, ids)| format!("{kind} ({}): {}", ids.len(), ids.join(", "))));
    let malformed = checked.malformed.iter();
    text.list(malformed.map(|(line, why)| format!("line {line}: {why}")));
    if checked.is_clean() {
        text.paragraph("every id once, every answer filled");
    }
    text
}
