//! `ScratchFolders`: a folder for each attempt, with copies of the sample's attachments.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::data::{AgentError, FailureKind, TaskFile};
use crate::eval::KeepScratch;
use crate::eval::plan::Plan;
use crate::run::session::question::{CONFIRM, Question};
use crate::store::RunDir;
use crate::store::files::SCRATCH;
use crate::system::lock::lock;
use crate::system::project::shown;
use crate::system::remove;
use crate::text::name::file_name;
use crate::text::shell_word;

/// Makes the folders of attempts, and removes them.
pub(in crate::run) struct ScratchFolders {
    plan: Arc<Plan>,
    /// Where they are made.
    home: PathBuf,
}

/// What an attempt is given on disk.
#[derive(Default)]
pub(in crate::run) struct AttemptFiles {
    pub(in crate::run) folder: Option<PathBuf>,
    /// The copies of the attachments.
    pub(in crate::run) files: Vec<TaskFile>,
}

impl ScratchFolders {
    pub(in crate::run) fn new(plan: Arc<Plan>, dir: &RunDir) -> Self {
        Self {
            plan,
            home: dir.file(SCRATCH),
        }
    }

    /// Makes the folder of an attempt and copies the attachments into it, unless nobody needs it.
    pub(in crate::run) fn prepare(
        &self,
        question: &Question,
        attempt: u32,
    ) -> Result<AttemptFiles, AgentError> {
        let sample = &question.item.sample;
        let needs_folder = self.plan.eval.agent.needs_scratch() || !sample.files.is_empty();
        if !needs_folder {
            return Ok(AttemptFiles::default());
        }
        let attempt = if attempt == CONFIRM {
            "confirm".to_owned()
        } else {
            attempt.to_string()
        };
        let epoch = match self.plan.eval.epochs {
            1 => String::new(),
            _ => format!(".{}", question.epoch),
        };
        let name = format!("{}{epoch}.{attempt}", file_name(&sample.id));
        let folder = in_turn(|| new_folder(&self.home, &name))?;
        let copies = sample.files.iter().map(|file| {
            self.plan.truths.resolve(file)?;
            file.copy_into(&folder)
        });
        match copies.collect::<Result<Vec<_>, _>>() {
            Ok(files) => Ok(AttemptFiles {
                folder: Some(folder),
                files,
            }),
            Err(error) => {
                self.tidy(&folder, true);
                Err(error)
            }
        }
    }

    /// Removes the folder of an attempt, which [`prepare`](Self::prepare) made, unless it is to be kept.
    pub(in crate::run) fn tidy(&self, folder: &Path, failed: bool) {
        let keep = match self.plan.eval.keep_scratch {
            KeepScratch::Always => true,
            KeepScratch::Failed => failed,
            KeepScratch::Never => false,
        };
        if !keep {
            // What cannot be removed (an agent may have taken the rights away) stays; it harms nothing.
            if in_turn(|| std::fs::remove_dir(folder)).is_err() {
                let _ = std::fs::remove_dir_all(folder);
            }
        }
    }
}

/// Makes the folder of an attempt, under a name that nobody had: it can be removed with all that is in it.
pub(in crate::run) fn new_folder(home: &Path, name: &str) -> Result<PathBuf, AgentError> {
    remove::make_new_folder(home, name).map_err(|error| {
        let message = format!("cannot make `{}`: {error}", home.join(name).display());
        AgentError::of(FailureKind::NotStarted, message)
    })
}

/// Removes the empty folders that attempts of a killed run left. Gives a notice where something is left: an agent's files
/// and those of people look alike.
pub(in crate::run) fn tidy_left(plan: &Plan, dir: &RunDir) -> Option<String> {
    let home = dir.file(SCRATCH);
    if plan.eval.keep_scratch != KeepScratch::Never || !remove::is_folder(&home) {
        return None;
    }
    let is_gone = remove::ours_in(&home, &|_, kind| kind.is_dir()).unwrap_or(false);
    (!is_gone).then(|| {
        let home = shown(&home);
        let command = shell_word(&home);
        format!("`{home}` holds files of attempts that were killed; if nobody needs them: rm -r {command}")
    })
}

/// Adds or removes a scratch folder, one thread at a time: all of them stand in one folder, for whose lock
/// threads that meet in the kernel spin, at more CPU than starting the agent takes.
fn in_turn<T>(change: impl FnOnce() -> T) -> T {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = lock(&TURN);
    change()
}
