//! Exports: a run as data for other programs, one format in each file.
//!
//! A format is a [`DataFormat`]; one more is a file here with its type, and a place in [`FORMATS`]. It takes the records
//! of a [`ReportedRun`] one at a time, so that a run of any size fits into memory. Of a benchmark whose snapshots are masked
//! they have no texts, for files are sent around: what is hidden is hidden there, before any format sees it.
//!
//! The files of leaderboards are submissions, with the answers as they are, and no formats of this kind.

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

/// A format in which a run is written as data.
///
/// ```
/// use evaltest::engine::report::export::{DataFormat, FORMATS};
///
/// let names = FORMATS.iter().copied().map(DataFormat::name);
/// assert!(names.collect::<Vec<_>>().starts_with(&["csv", "otel"]));
/// ```
pub trait DataFormat: Sync {
    /// The name that the command line has.
    fn name(&self) -> &'static str;

    /// What names of its files end in, without the dot.
    fn extension(&self) -> &'static str;

    /// Whether it is text, which may go to standard output.
    fn is_text(&self) -> bool {
        true
    }

    /// Writes the run.
    ///
    /// # Errors
    /// When its records cannot be read or `out` cannot be written.
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

/// The format of this name.
pub fn format(name: &str) -> Option<&'static dyn DataFormat> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// The name that a file of a run has unless another is given: that of the run directory.
pub fn file_name(run: &ReportedRun, format: &dyn DataFormat) -> String {
    let folder = run.dir.path().file_name().unwrap_or_default();
    format!("{}.{}", folder.to_string_lossy(), format.extension())
}

/// The class of an error in a word, as the summary counts it.
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

/// Whether the path of a file names a folder: there is one, or it ends as one.
pub fn names_folder(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with('/')
}
