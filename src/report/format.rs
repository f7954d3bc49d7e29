//! `ReportFormat`: a form in which runs are reported.
//!
//! A new one is a file in this folder with a type that implements [`ReportFormat`], and a line in
//! [`FORMATS`](super::formats::FORMATS): the command line, its help and the page of commands take it from there.

use std::io::Write;

use super::reported::ReportedRun;
use crate::error::{Error, Result};

/// Who reads a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportAudience {
    /// Who mends the agent: everything, with samples.
    #[default]
    Developer,
    /// Who decides whether it is released: accuracy and its change, cost, outages, what got better and worse, risk.
    Product,
    /// Who uses it: one page in plain words.
    User,
}

impl ReportAudience {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Developer, Self::Product, Self::User];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Developer => "developer",
            Self::Product => "product",
            Self::User => "user",
        }
    }
}

/// A form in which runs are reported.
///
/// ```
/// use evaltest::engine::report::formats::{FORMATS, format_named};
///
/// let markdown = format_named("md").unwrap();
/// assert_eq!(markdown.extension(), "md");
/// assert!(FORMATS.iter().any(|format| format.name() == markdown.name()));
/// ```
pub trait ReportFormat: Sync {
    /// The word on the command line, such as `md`.
    fn name(&self) -> &'static str;

    /// What it is, in half a line.
    fn about(&self) -> &'static str;

    /// How names of its files end, without the dot.
    fn extension(&self) -> &'static str;

    /// Whether it is another text for each [`ReportAudience`].
    fn has_audiences(&self) -> bool {
        false
    }

    /// Writes the report of these runs.
    ///
    /// # Errors
    /// When a run cannot be read, or nothing can be written.
    fn write(
        &self,
        runs: &[ReportedRun],
        audience: ReportAudience,
        out: &mut dyn Write,
    ) -> Result<()>;
}

/// What went wrong where a report is written to.
pub(crate) fn unwritten(error: &std::io::Error) -> Error {
    Error::infrastructure(format!("the report cannot be written: {error}"))
}
