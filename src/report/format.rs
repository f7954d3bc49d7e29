//! `ReportFormat`: a format for reports on runs.
//!
//! To add one, add a file in `formats/` with a type that implements [`ReportFormat`], and an entry in
//! [`FORMATS`](super::formats::FORMATS): the command line, its help and the page of commands use the list.

use std::io::Write;

use super::reported::ReportedRun;
use crate::error::{Error, Result};

/// The audience of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportAudience {
    /// Developers of the agent: everything, with samples.
    #[default]
    Developer,
    /// People who decide on a release: accuracy and its change, cost, outages, improvements and regressions, risks.
    Product,
    /// Users of the agent: one page in plain words.
    User,
}

impl ReportAudience {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Developer, Self::Product, Self::User];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Developer => "developer",
            Self::Product => "product",
            Self::User => "user",
        }
    }
}

/// A format for reports on runs.
///
/// ```
/// use evaltest::engine::report::formats::{FORMATS, format_named};
///
/// let markdown = format_named("md").unwrap();
/// assert_eq!(markdown.extension(), "md");
/// assert!(FORMATS.iter().any(|format| format.name() == markdown.name()));
/// ```
pub trait ReportFormat: Sync {
    /// Its name on the command line, such as `md`.
    fn name(&self) -> &'static str;

    /// A short description.
    fn about(&self) -> &'static str;

    /// Its file extension, without the dot.
    fn extension(&self) -> &'static str;

    /// Whether the content depends on the [`ReportAudience`].
    fn has_audiences(&self) -> bool {
        false
    }

    /// Writes the report on these runs.
    ///
    /// # Errors
    /// If a run cannot be read, or the output cannot be written.
    fn write(
        &self,
        runs: &[ReportedRun],
        audience: ReportAudience,
        out: &mut dyn Write,
    ) -> Result<()>;
}

/// The error for a report that cannot be written.
pub(crate) fn unwritten(error: &std::io::Error) -> Error {
    Error::infrastructure(format!("the report cannot be written: {error}"))
}
