//! `cargo evaltest report`.

use std::fs::{self, File};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use evaltest::engine::report::format::{ReportAudience, ReportFormat};
use evaltest::engine::report::formats::{FORMATS, format_named, format_of_file};
use evaltest::engine::report::reported::{MaskedTexts, ReportedRun};
use evaltest::engine::store::stamp;
use evaltest::engine::system::file::NewFile;
use evaltest::engine::system::project::display;
use evaltest::{Error, Exit, Result};

use crate::console;
use crate::run_ids::typed_folder;
use crate::runs::{named_or_last, read_run};

/// Write a report: Markdown, HTML, JUnit, PR comment, …
///
/// Figures and verdicts are those at the end of the run, also for a run directory copied from another machine. Questions,
/// answers and expected answers of a masked eval are omitted unless `--show-texts` is set.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Run directories, parts of their names, or names of evals (their last runs); default: the last run
    #[arg(value_name = "RUN_DIR", value_parser = typed_folder())]
    runs: Vec<PathBuf>,

    /// The readers
    #[arg(long, value_enum, default_value_t = ReaderArg::Developer)]
    audience: ReaderArg,

    /// The format; default: from the file name's extension, else `md`. Repeatable, each with its own `-o`
    #[arg(long = "format", value_name = "FORMAT", value_parser = formats())]
    formats: Vec<String>,

    /// The file to write, or a folder for a file with a default name; default: standard output
    #[arg(short, long = "output", value_name = "FILE|DIR")]
    outputs: Vec<PathBuf>,

    /// Show questions and answers even if the eval's snapshots are masked
    #[arg(long)]
    show_texts: bool,
}

/// [`ReportAudience`] as an option.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ReaderArg {
    /// People who work on the agent: everything, with samples
    Developer,
    /// People who decide on a release
    Product,
    /// People who use the agent
    User,
}

impl From<ReaderArg> for ReportAudience {
    fn from(reader: ReaderArg) -> Self {
        match reader {
            ReaderArg::Developer => Self::Developer,
            ReaderArg::Product => Self::Product,
            ReaderArg::User => Self::User,
        }
    }
}

/// The formats by name, with descriptions.
fn formats() -> impl TypedValueParser<Value = String> {
    let formats = FORMATS.iter();
    PossibleValuesParser::new(
        formats.map(|format| PossibleValue::new(format.name()).help(format.about())),
    )
}

pub(crate) fn run(args: &ReportArgs) -> Result<Exit> {
    let wanted = wanted(args)?;
    let texts = if args.show_texts {
        MaskedTexts::Visible
    } else {
        MaskedTexts::Hidden
    };
    let dirs = match &*args.runs {
        [] => vec![named_or_last(None)?],
        named => named
            .iter()
            .map(|path| read_run(path))
            .collect::<Result<_>>()?,
    };
    let runs = dirs.into_iter().map(|dir| ReportedRun::read(dir, texts));
    let runs = runs.collect::<Result<Vec<_>>>()?;
    for (format, output) in wanted {
        let audience = args.audience.into();
        match output {
            Some(output) => {
                let file = to_file(&runs, format, audience, output)?;
                console::print(|out| writeln!(out, "{}", display(&file)))?;
            }
            None => to_stdout(&runs, format, audience)?,
        }
    }
    Ok(Exit::Passed)
}

/// A format and its output file.
type Wanted<'a> = (&'static dyn ReportFormat, Option<&'a Path>);

fn wanted(args: &ReportArgs) -> Result<Vec<Wanted<'_>>> {
    let mut wanted = Vec::new();
    let several = args.formats.len().max(args.outputs.len()).max(1);
    for place in 0..several {
        let output = args.outputs.get(place).map(PathBuf::as_path);
        let format = match (args.formats.get(place), output) {
            (Some(name), _) => format_named(name)?,
            (None, Some(file)) => of_file(file)?,
            (None, None) => format_named("md")?,
        };
        if output.is_none() && several > 1 {
            let message = format!("format `{}` has no output file", format.name());
            return Err(Error::usage(message)
                .hint("with several formats, give each `--format` its own `-o`"));
        }
        if !format.has_audiences() && !matches!(args.audience, ReaderArg::Developer) {
            let message = format!("`--audience` does not apply to format `{}`", format.name());
            return Err(Error::usage(message).hint("leave it out"));
        }
        wanted.push((format, output));
    }
    Ok(wanted)
}

/// The format for a file name's extension.
fn of_file(file: &Path) -> Result<&'static dyn ReportFormat> {
    let Some(extension) = file.extension().filter(|_| !is_folder(file)) else {
        return format_named("md");
    };
    format_of_file(&extension.to_string_lossy()).ok_or_else(|| {
        let message = format!("no format has the file extension of `{}`", display(file));
        Error::usage(message).hint("name it: --format md")
    })
}

fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with('/')
}

fn to_stdout(
    runs: &[ReportedRun],
    format: &dyn ReportFormat,
    audience: ReportAudience,
) -> Result<()> {
    if std::io::stdout().is_terminal() {
        // Render to memory first: a partial report after an error must not look like a report.
        let mut text = Vec::new();
        format.write(runs, audience, &mut text)?;
        return console::print_data(|out| out.write_all(&text));
    }
    let mut failed = None;
    console::print_data(|out| {
        let mut out = WatchedWriter { out, failed: None };
        if let Err(error) = format.write(runs, audience, &mut out) {
            match out.failed {
                // Such as a closed pipe.
                Some(kind) => return Err(kind.into()),
                None => failed = Some(error),
            }
        }
        Ok(())
    })?;
    failed.map_or(Ok(()), Err)
}

/// A writer that stores its first error.
pub(crate) struct WatchedWriter<'a> {
    pub(crate) out: &'a mut dyn Write,
    pub(crate) failed: Option<std::io::ErrorKind>,
}

impl Write for WatchedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes);
        written.inspect_err(|error| self.failed = Some(error.kind()))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let flushed = self.out.flush();
        flushed.inspect_err(|error| self.failed = Some(error.kind()))
    }
}

/// Writes the file atomically and returns its path.
pub(crate) fn to_file(
    runs: &[ReportedRun],
    format: &dyn ReportFormat,
    audience: ReportAudience,
    output: &Path,
) -> Result<PathBuf> {
    let names_itself = is_folder(output);
    let folder = if names_itself {
        output
    } else {
        let folder = output.parent();
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or(Path::new("."))
    };
    fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
    let mut out = NewFile::for_path(&folder.join("report"))?;
    format.write(runs, audience, &mut out)?;
    let file = if names_itself {
        unused(folder, &file_name(runs), format.extension())?
    } else {
        output.to_owned()
    };
    out.put(&file)?;
    Ok(file)
}

/// Creates a new file `<name>.<end>`, or `<name>_2.<end>` and so on, because several runs may end in one second.
fn unused(folder: &Path, name: &str, end: &str) -> Result<PathBuf> {
    let mut file = folder.join(format!("{name}.{end}"));
    let mut number = 1_u32;
    loop {
        match File::create_new(&file) {
            Ok(_) => return Ok(file),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                number += 1;
                file = folder.join(format!("{name}_{number}.{end}"));
            }
            Err(error) => return Err(Error::io("write", &file, &error)),
        }
    }
}

/// `<benchmark>_report_<time>`, or `report_<time>` for several runs.
fn file_name(runs: &[ReportedRun]) -> String {
    let stamp = stamp();
    match runs {
        [run] => {
            let plain = |c: char| {
                if c.is_alphanumeric() || c == '-' {
                    c
                } else {
                    '_'
                }
            };
            let benchmark: String = match &*run.manifest.benchmark {
                known @ ("bfcl" | "gaia") => known.to_owned(),
                _ => run.manifest.eval.chars().map(plain).collect(),
            };
            format!("{benchmark}_report_{stamp}")
        }
        _ => format!("report_{stamp}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_report_is_written_over_another() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["gaia_1.md", "gaia_1_2.md", "gaia_1_3.md"] {
            let file = unused(dir.path(), "gaia_1", "md").unwrap();
            assert_eq!(file, dir.path().join(name));
        }
    }
}
