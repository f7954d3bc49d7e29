//! `Source`: what sections read.

use crate::report::figures::RunFigures;
use crate::report::reported::ReportedRun;
use crate::verdict::summary::Summary;

/// How much a section says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What fits on a terminal.
    Brief,
    /// Everything.
    Full,
}

/// What a section reads.
#[derive(Clone, Copy)]
pub(in crate::report) struct Source<'a> {
    /// The figures of the run.
    pub(in crate::report) summary: &'a Summary,
    /// The run and what is known of its single samples, where a report reads them.
    pub(in crate::report) run: Option<(&'a ReportedRun, &'a RunFigures)>,
    /// How much is said.
    pub(in crate::report) detail: Detail,
}

impl<'a> Source<'a> {
    /// A summary without its run.
    pub(in crate::report) fn of(summary: &'a Summary, detail: Detail) -> Self {
        Self {
            summary,
            run: None,
            detail,
        }
    }

    /// A run whose samples were read.
    pub(in crate::report) fn of_run(run: &'a ReportedRun, figures: &'a RunFigures) -> Self {
        Self {
            summary: &run.summary,
            run: Some((run, figures)),
            detail: Detail::Full,
        }
    }

    pub(super) fn is_brief(&self) -> bool {
        self.detail == Detail::Brief
    }

    /// The scorers and the judges among them, the one that decides first.
    pub(super) fn decides(&self, name: &str) -> bool {
        self.summary.scorer.as_deref() == Some(name)
    }
}

/// A number with four decimals at most.
pub(super) fn number(number: f64) -> String {
    ((number * 1e4).round() / 1e4).to_string()
}

/// How many flipped or failed samples are listed; the rest is counted.
pub(crate) const LISTED: usize = 20;

/// `1 error`, `2 errors`
pub fn errors_of(count: u64) -> String {
    format!("{count} error{}", if count == 1 { "" } else { "s" })
}

/// ", epoch 2"; nothing for the first, which is 0.
pub fn in_epoch(epoch: u32) -> String {
    match epoch {
        0 => String::new(),
        epoch => format!(", epoch {epoch}"),
    }
}
