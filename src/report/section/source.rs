//! `Source`: the input of sections.

use crate::report::figures::RunFigures;
use crate::report::reported::ReportedRun;
use crate::text::shell_word;
use crate::verdict::summary::Summary;

/// The level of detail of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What fits on a terminal.
    Brief,
    /// Everything.
    Full,
}

/// The input of a section.
#[derive(Clone, Copy)]
pub(in crate::report) struct Source<'a> {
    /// The figures of the run.
    pub(in crate::report) summary: &'a Summary,
    /// The run with data about single samples, if the report reads them.
    pub(in crate::report) run: Option<(&'a ReportedRun, &'a RunFigures)>,
    /// The level of detail.
    pub(in crate::report) detail: Detail,
}

impl<'a> Source<'a> {
    /// A source with only a summary.
    pub(in crate::report) fn of(summary: &'a Summary, detail: Detail) -> Self {
        Self {
            summary,
            run: None,
            detail,
        }
    }

    /// A source with a run and its samples.
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

    /// Whether this scorer is the deciding one.
    pub(super) fn decides(&self, name: &str) -> bool {
        self.summary.scorer.as_deref() == Some(name)
    }
}

/// A number with at most four decimals.
pub(super) fn number(number: f64) -> String {
    ((number * 1e4).round() / 1e4).to_string()
}

/// Maximum number of flipped or failed samples listed; the rest is counted.
pub(crate) const LISTED: usize = 20;

/// `1 error`, `2 errors`
pub fn errors_of(count: u64) -> String {
    format!("{count} error{}", if count == 1 { "" } else { "s" })
}

/// ", epoch 2"; empty for the first epoch, which is 0.
pub fn in_epoch(epoch: u32) -> String {
    match epoch {
        0 => String::new(),
        epoch => format!(", epoch {epoch}"),
    }
}

/// Inserts a run, given as its directory or id, into the commands of a message.
pub(in crate::report) fn in_run(message: &str, run: &str) -> String {
    let run = shell_word(run);
    ["run --resume", "rescore", "show", "judge calibrate"]
        .into_iter()
        .fold(message.to_owned(), |message, command| {
            let general = format!("cargo evaltest {command} RUN_DIR");
            message.replace(&general, &format!("cargo evaltest {command} {run}"))
        })
}
