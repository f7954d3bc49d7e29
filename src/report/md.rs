//! `MarkdownReport`: runs as Markdown, for each audience.

use std::io::Write;

use super::format::{ReportAudience, ReportFormat, unwritten};
use super::markdown;
use super::reported::ReportedRun;
use crate::error::Result;

/// Runs as Markdown.
pub(crate) struct MarkdownReport;

impl ReportFormat for MarkdownReport {
    fn name(&self) -> &'static str {
        "md"
    }

    fn about(&self) -> &'static str {
        "Markdown, to read and to send"
    }

    fn extension(&self) -> &'static str {
        "md"
    }

    fn has_audiences(&self) -> bool {
        true
    }

    fn write(
        &self,
        runs: &[ReportedRun],
        _audience: ReportAudience,
        out: &mut dyn Write,
    ) -> Result<()> {
        for run in runs {
            markdown::summary(&run.summary, out).map_err(|error| unwritten(&error))?;
        }
        Ok(())
    }
}
