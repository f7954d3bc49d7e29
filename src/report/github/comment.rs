//! `PrComment`: the comment on a pull request, updated for each commit.

use std::io::Write;

use super::written;
use crate::error::Result;
use crate::report::ci::UnstartedEval;
use crate::report::format::{ReportAudience, ReportFormat, unwritten};
use crate::report::render::markdown::Page;
use crate::report::reported::ReportedRun;

/// GitHub's limit in characters; used as a limit in bytes, which is stricter.
const ROOM: usize = 65_536;

/// The comment on a pull request.
pub(crate) struct PrComment;

impl ReportFormat for PrComment {
    fn name(&self) -> &'static str {
        "pr-comment"
    }

    fn about(&self) -> &'static str {
        "Markdown as a comment on a pull request, with a mark by which it is found again"
    }

    fn extension(&self) -> &'static str {
        "md"
    }

    fn write(
        &self,
        runs: &[ReportedRun],
        _audience: ReportAudience,
        out: &mut dyn Write,
    ) -> Result<()> {
        write(runs, &[], out)
    }
}

/// Writes the comment on a command's runs and on evals without a run.
///
/// # Errors
/// If a run cannot be read, or the output cannot be written.
pub fn write(runs: &[ReportedRun], unstarted: &[UnstartedEval], out: &mut dyn Write) -> Result<()> {
    let mark = mark(runs, unstarted);
    let page = Page::new(ROOM - mark.len());
    let text = written(runs, unstarted, page)?;
    out.write_all(format!("{mark}{text}").as_bytes())
        .map_err(|error| unwritten(&error))
}

/// A hidden line that identifies the comment. Eval names cannot contain the end of an HTML comment.
fn mark(runs: &[ReportedRun], unstarted: &[UnstartedEval]) -> String {
    let name = match (runs, unstarted) {
        ([one], []) => &*one.manifest.eval,
        _ => "all",
    };
    format!("<!-- evaltest:{name} -->\n")
}
