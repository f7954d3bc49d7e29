//! The generating stage: its run, files and figures.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::figures::{CountedShare, GeneratedItems, ItemCheckCount, TopicCount};
use crate::error::Result;
use crate::exit::Exit;
use crate::generate::{GeneratedFiles, GenerationStatistics, generate, write_generated};
use crate::report::event::Observer;
use crate::run::drive::{Drive, Prepared};
use crate::store::RunDir;
use crate::system::cancel::Cancel;

/// The result of the generating stage.
#[derive(Debug)]
pub(super) struct GeneratedStage {
    /// The run directory.
    pub(super) dir: RunDir,
    /// The item file.
    pub(super) items: Option<PathBuf>,
    report: Option<PathBuf>,
    /// The figures of the stage.
    pub(super) figures: GeneratedItems,
    /// Why it stopped early, if it did.
    stopped: Option<String>,
    /// How the stage ended.
    pub(super) exit: Exit,
}

impl GeneratedStage {
    /// The item file and the number of items, for the later stages; else why there are none.
    pub(super) fn for_stages(&self) -> std::result::Result<(&Path, u64), String> {
        match (&self.stopped, &self.items) {
            (Some(why), _) => {
                let line = why.lines().next().unwrap_or_default();
                Err(format!("generating stopped early: {line}"))
            }
            (None, Some(items)) if self.figures.accepted > 0 => Ok((items, self.figures.accepted)),
            _ => Err(self.figures.failure.clone().unwrap_or_default()),
        }
    }

    /// The names of the written files.
    pub(super) fn file_names(&self) -> Vec<String> {
        let paths = [&self.items, &self.report].into_iter().flatten();
        let names = paths.filter_map(|path| path.file_name());
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }
}

/// Runs the stage.
pub(super) fn run(
    drive: &Drive,
    prepared: Prepared,
    cancel: &Cancel,
    observer: Arc<Observer<'static>>,
) -> Result<GeneratedStage> {
    let made = generate(drive, prepared, cancel, observer)?;
    let dir = RunDir::open(&made.run.dir)?;
    of_files(dir, made.files)
}

/// The result of a finished run; writes its files again, unchanged.
pub(super) fn made(dir: &RunDir) -> Result<GeneratedStage> {
    of_files(dir.clone(), write_generated(dir)?)
}

fn of_files(dir: RunDir, files: GeneratedFiles) -> Result<GeneratedStage> {
    let run = super::stage_run::StageRun::read(&dir)?;
    let mut figures = figures(&files.statistics);
    figures.failure = failure(&figures, &run.failures());
    let own = if figures.failure.is_some() {
        Exit::Infrastructure
    } else {
        Exit::Passed
    };
    Ok(GeneratedStage {
        stopped: files.statistics.stop_reason.clone(),
        items: Some(files.items),
        report: Some(files.report),
        exit: own.max(run.exit()),
        figures,
        dir,
    })
}

/// Why there is no item, if there is none.
fn failure(figures: &GeneratedItems, failures: &str) -> Option<String> {
    if figures.accepted > 0 {
        return None;
    }
    let mut message = "no item was accepted".to_owned();
    if figures.refused > 0 {
        message = format!("{message}: each reply was refused");
    }
    if figures.errors > 0 {
        let (errors, requested) = (figures.errors, figures.requested);
        message = format!("{message}; {errors} of {requested} without a reply ({failures})");
    }
    Some(message)
}

fn figures(of: &GenerationStatistics) -> GeneratedItems {
    let checks = of.checks.iter().map(|check| ItemCheckCount {
        name: check.name.clone(),
        passed: CountedShare::of(check.checked.saturating_sub(check.failed), check.checked),
    });
    let topics = of.topics.topics.iter().map(|topic| TopicCount {
        topic: topic.topic.clone(),
        requested: topic.requested,
        reached: CountedShare::of(topic.reached, of.items.accepted),
    });
    let solver = of.solver.as_ref();
    GeneratedItems {
        requested: of.items.requested,
        accepted: of.items.accepted,
        errors: of.items.errors,
        failure: None,
        refused: of.replies.refused,
        reasons: of.replies.reasons.clone(),
        checks: checks.collect(),
        topics: topics.collect(),
        topics_p: of.topics.p,
        solver: solver.map(|solver| CountedShare::of(solver.agrees, solver.solved)),
    }
}
