//! The list of report formats. Separate from their trait, so that formats do not depend on the list.

use super::format::ReportFormat;
use super::github::GithubReport;
use super::github::PrComment;
use super::gitlab::GitlabReport;
use super::html::HtmlReport;
use super::junit::JunitReport;
use super::markdown::MarkdownReport;
use crate::error::{Error, Result, nearest};
use crate::text::clean;

/// All formats, in the order of the help.
pub const FORMATS: &[&dyn ReportFormat] = &[
    &MarkdownReport,
    &HtmlReport,
    &JunitReport,
    &GithubReport,
    &PrComment,
    &GitlabReport,
];

/// The format with this name.
///
/// # Errors
/// If there is none; the message suggests the most similar name.
pub fn format_named(name: &str) -> Result<&'static dyn ReportFormat> {
    let found = FORMATS.iter().find(|format| format.name() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
        let message = format!("there is no report format `{}`", clean(name));
        let hint = match nearest(name, names.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("one of {}", names.join(", ")),
        };
        Error::usage(message).hint(hint)
    })
}

/// The format with this file extension.
pub fn format_of_file(extension: &str) -> Option<&'static dyn ReportFormat> {
    let of_file = |format: &&&dyn ReportFormat| format.extension() == extension;
    FORMATS.iter().find(of_file).copied()
}
