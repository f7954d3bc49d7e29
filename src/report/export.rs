//! Exports: a run as data for other programs, one format per file.
//!
//! A format is a [`DataFormat`]; to add one, add a file with its type here, and an entry in [`FORMATS`]. It gets the
//! records of a [`ReportedRun`] one at a time, so that memory use does not depend on the run's size. For masked
//! benchmarks the records contain no texts, because files are shared: texts are removed before any format sees them.
//!
//! Leaderboard files are submissions with unmasked answers, and are not formats of this kind.

mod csv;
#[cfg(feature = "inspect")]
mod inspect;
mod otel;
#[cfg(feature = "parquet")]
mod parquet;
mod scores;
mod table;

use std::io::{self, Write};
use std::path::Path;

use super::reported::ReportedRun;
use crate::data::{AgentError, Status};
use crate::error::{Error, Result};

/// A format to export runs as data.
///
/// ```
/// use evaltest::engine::report::export::{DataFormat, FORMATS};
///
/// let names = FORMATS.iter().copied().map(DataFormat::name);
/// assert!(names.collect::<Vec<_>>().starts_with(&["csv", "otel"]));
/// ```
pub trait DataFormat: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Its file extension, without the dot.
    fn extension(&self) -> &'static str;

    /// Whether it is a text format, which may be written to standard output.
    fn is_text(&self) -> bool {
        true
    }

    /// Writes the run.
    ///
    /// # Errors
    /// If its records cannot be read or `out` cannot be written.
    fn write(&self, run: &ReportedRun, out: &mut dyn Write) -> Result<()>;
}

/// All formats.
pub const FORMATS: &[&dyn DataFormat] = &[
    &csv::CsvExport,
    &otel::OtelExport,
    #[cfg(feature = "inspect")]
    &inspect::InspectExport,
    #[cfg(feature = "parquet")]
    &parquet::ParquetExport,
];

/// The format with this name.
pub fn format(name: &str) -> Option<&'static dyn DataFormat> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// Default file name of a run: that of its run directory.
pub fn file_name(run: &ReportedRun, format: &dyn DataFormat) -> String {
    let folder = run.dir.path().file_name().unwrap_or_default();
    format!("{}.{}", folder.to_string_lossy(), format.extension())
}

/// The kind of an error, as counted in the summary.
fn error_kind(status: Status, error: &AgentError) -> String {
    if status == Status::ScorerFailed {
        return status.as_str().to_owned();
    }
    let kind = serde_json::to_value(error.kind).unwrap_or_default();
    kind.as_str().unwrap_or_default().to_owned()
}

fn unwritten(error: &io::Error) -> Error {
    let error_text = format!("the export cannot be written: {error}");
    let failed = Error::infrastructure(error_text);
    match crate::error::remedy(error) {
        Some(remedy) => failed.hint(remedy),
        None => failed,
    }
}

/// Whether a path is a folder: it exists, or the path ends like one.
pub fn names_folder(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with('/')
}
