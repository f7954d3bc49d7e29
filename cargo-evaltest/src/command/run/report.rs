//! The report of a command that runs evals: a single run in full; for several runs only problems, then tables of all
//! at the end.

use std::collections::BTreeSet;
use std::path::Path;

use evaltest::engine::report::matrix::{Ranking, document, matrices, rank};
use evaltest::engine::report::render::terminal;
use evaltest::engine::report::render::terminal::Paint;
use evaltest::engine::report::reported::{MaskedTexts, ReportedRun};
use evaltest::engine::report::terminal::overview::{OverviewRow, overview};
use evaltest::engine::report::terminal::{brief, painted, verbose};
use evaltest::engine::run::drive::{Drive, Verbosity};
use evaltest::engine::run::rescore::reload_original;
use evaltest::engine::store::{RunDir, runs_in};
use evaltest::engine::system::terminal::columns;
use evaltest::{Error, Exit, Result, Run};
use serde_json::{Value, json};

use crate::{colour, console};

/// Prints the result of a run: on one screen, or with all that its verdicts rest on.
pub(in crate::command) fn print_run(run: &Run, is_verbose: bool) -> Result<()> {
    let paint = colour::paint();
    console::print(|out| {
        if is_verbose {
            verbose(run, paint, out)
        } else {
            painted(run, paint, out)
        }
    })
}

/// Reports the runs of a command.
pub(in crate::command) struct RunsReport {
    verbosity: Verbosity,
    paint: Paint,
    several: bool,
    rows: Vec<OverviewRow>,
    /// Evals that already have a row.
    known: BTreeSet<String>,
}

impl RunsReport {
    pub(in crate::command) fn new(verbosity: Verbosity, paint: Paint, several: bool) -> Self {
        Self {
            verbosity,
            paint,
            several,
            rows: Vec::new(),
            known: BTreeSet::new(),
        }
    }

    /// Reports a finished run.
    pub(in crate::command) fn run(&mut self, run: &Run) -> Result<()> {
        self.row(run);
        match self.verbosity {
            Verbosity::Verbose => console::print(|out| verbose(run, self.paint, out)),
            Verbosity::Whole => console::print(|out| painted(run, self.paint, out)),
            Verbosity::Brief => console::print(|out| brief(run, self.paint, out)),
            Verbosity::Nothing => Ok(()),
        }
    }

    /// Adds the row of a run that printed its own report.
    pub(in crate::command) fn row(&mut self, run: &Run) {
        self.known.insert(run.eval.clone());
        self.rows.push(OverviewRow::of(run));
    }

    /// Adds the row of an eval that did not run; its error was already printed.
    pub(in crate::command) fn not_run(&mut self, eval: &str, exit: Exit) {
        if self.known.insert(eval.to_owned()) {
            self.rows.push(OverviewRow::not_run(eval, exit));
        }
    }

    /// Reports an eval that could not start.
    pub(in crate::command) fn failed(&mut self, eval: &str, error: &Error) {
        console::complain(error);
        self.not_run(eval, error.exit());
    }

    /// Sets a minimum for the exit code after the last run.
    pub(in crate::command) fn ends_at_least(&mut self, exit: Exit) {
        if let Some(row) = self.rows.last_mut() {
            row.ends_at_least(exit);
        }
    }

    /// Prints the end of the report.
    pub(in crate::command) fn end(&self, exit: Exit) -> Result<()> {
        if self.verbosity == Verbosity::Nothing || !self.several || self.rows.len() < 2 {
            return Ok(());
        }
        let width = columns(&std::io::stdout());
        console::print(|out| overview(&self.rows, exit, width, self.paint, out))
    }
}

/// Prints all runs at the end of a command: as JSON, or rankings only. Does not affect the exit code.
pub(in crate::command) fn report_all(runs: &[Value], exit: Exit, json: bool) -> Result<()> {
    let rankings = rankings(runs).unwrap_or_else(|error| {
        console::note(&format!("the runs are not ranked: {}", error.message()));
        Vec::new()
    });
    if json {
        let mut report = json!({ "runs": runs, "exit_code": exit });
        if !rankings.is_empty() {
            report["matrix"] = json!(rankings);
        }
        return console::print_json(&report);
    }
    let mut rankings = rankings.iter();
    rankings.try_for_each(|ranking| {
        let ranking = document(ranking);
        console::print(|out| terminal::document(&ranking, colour::paint(), out))
    })
}

/// One ranking per spec with several variants that ran, in the order of the runs.
fn rankings(runs: &[Value]) -> Result<Vec<Ranking>> {
    let mut ran = Vec::new();
    for run in runs {
        let dir = RunDir::open(Path::new(run["run_dir"].as_str().unwrap_or_default()))?;
        // Other runs have no ranking; shards are ranked when merged.
        let manifest = dir.manifest()?;
        if manifest.variant.is_some() && manifest.part.is_none() {
            ran.push(ReportedRun::read(dir, MaskedTexts::Hidden)?);
        }
    }
    Ok(matrices(&ran).iter().map(|runs| rank(runs)).collect())
}

/// The runs of this command on disk that are not among `known`, with their recorded verdicts.
pub(super) fn results_of(drive: &Drive, known: &[Value]) -> Result<Vec<Run>> {
    let known: BTreeSet<_> = known
        .iter()
        .filter_map(|run| run["run_dir"].as_str())
        .collect();
    let destination = &drive.destination;
    let root = destination
        .output_root
        .as_ref()
        .or(destination.default_output_root.as_ref());
    let Some(root) = root else {
        return Ok(Vec::new());
    };
    let is_known = |dir: &RunDir| known.contains(dir.path().to_string_lossy().as_ref());
    let is_ours = |dir: &RunDir| {
        let manifest = dir.manifest();
        manifest.is_ok_and(|manifest| manifest.invocation == destination.invocation)
    };
    let dirs = runs_in(root).into_iter();
    let dirs = dirs.filter(|dir| !is_known(dir) && is_ours(dir));
    dirs.map(|dir| reload_original(&dir)).collect()
}
