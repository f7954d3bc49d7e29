//! What a command that ran evals says of them: one at once and whole, of several what is not as it should be, and all of
//! them in a table at the end.

use std::collections::BTreeSet;

use evaltest::engine::report::render::terminal::paint::Paint;
use evaltest::engine::report::terminal::overview::{OverviewRow, overview};
use evaltest::engine::report::terminal::{brief, painted};
use evaltest::engine::run::drive::Telling;
use evaltest::engine::system::terminal::columns;
use evaltest::{Error, Exit, Result, Run};

use crate::console;

/// Tells of the runs of a command.
pub(in crate::command) struct ToldRuns {
    telling: Telling,
    paint: Paint,
    several: bool,
    rows: Vec<OverviewRow>,
    /// Evals that have a row.
    known: BTreeSet<String>,
}

impl ToldRuns {
    pub(in crate::command) fn new(telling: Telling, paint: Paint, several: bool) -> Self {
        Self {
            telling,
            paint,
            several,
            rows: Vec::new(),
            known: BTreeSet::new(),
        }
    }

    /// An eval has run here.
    pub(in crate::command) fn run(&mut self, run: &Run) -> Result<()> {
        self.row(run);
        match self.telling {
            Telling::Whole => console::print(|out| painted(run, self.paint, out)),
            Telling::Brief => console::print(|out| brief(run, self.paint, out)),
            Telling::Nothing => Ok(()),
        }
    }

    /// An eval has run, and has told of itself.
    pub(in crate::command) fn row(&mut self, run: &Run) {
        self.known.insert(run.eval.clone());
        self.rows.push(OverviewRow::of(run));
    }

    /// An eval did not run, and why was told.
    pub(in crate::command) fn not_run(&mut self, eval: &str, exit: Exit) {
        if self.known.insert(eval.to_owned()) {
            self.rows.push(OverviewRow::not_run(eval, exit));
        }
    }

    /// An eval could not start.
    pub(in crate::command) fn failed(&mut self, eval: &str, error: &Error) {
        console::complain(error);
        self.not_run(eval, error.exit());
    }

    /// What came after the last run ended so.
    pub(in crate::command) fn ends_at_least(&mut self, exit: Exit) {
        if let Some(row) = self.rows.last_mut() {
            row.ends_at_least(exit);
        }
    }

    /// The command is at its end.
    pub(in crate::command) fn end(&self, exit: Exit) -> Result<()> {
        if self.telling == Telling::Nothing || !self.several || self.rows.len() < 2 {
            return Ok(());
        }
        let width = columns(&std::io::stdout());
        console::print(|out| overview(&self.rows, exit, width, self.paint, out))
    }
}
