//! The list of report formats. Separate from their trait, so that formats do not depend on the list.

#[cfg(feature = "command")]
pub mod ci;
#[cfg(feature = "command")]
pub mod gaia;
#[cfg(feature = "command")]
pub mod github;
#[cfg(feature = "command")]
pub mod gitlab;
#[cfg(feature = "command")]
pub(crate) mod html;
#[cfg(feature = "command")]
pub mod junit;
#[cfg(feature = "command")]
pub mod markdown;
#[cfg(feature = "command")]
pub(super) mod place;

use super::format::ReportFormat;
use crate::error::{Error, Result, nearest};
use crate::text::clean;
use github::GithubReport;
use github::PrComment;
use gitlab::GitlabReport;
use html::HtmlReport;
use junit::JunitReport;
use markdown::MarkdownReport;

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
        let message = format!("unknown report format `{}`", clean(name));
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
