//! `ScratchFolders`: a folder for each attempt, with copies of the sample's attachments.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::data::{AgentError, FailureKind, TaskFile};
use crate::eval::KeepScratch;
use crate::eval::plan::Plan;
use crate::run::session::question::{CONFIRM, Question};
use crate::store::RunDir;
use crate::store::files::SCRATCH;
use crate::system::file::remove;
use crate::system::lock;
use crate::system::project::display;
use crate::text::file_name;
use crate::text::shell_word;

/// Creates and removes the folders of attempts.
pub(in crate::run) struct ScratchFolders {
    plan: Arc<Plan>,
    /// The parent folder.
    root: PathBuf,
}

/// The files of one attempt.
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
            root: dir.file(SCRATCH),
        }
    }

    /// Creates the folder of an attempt and copies the attachments into it, unless it is not needed.
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
        let epoch = match self.plan.trials() {
            1 => String::new(),
            _ => format!(".{}", question.epoch),
        };
        let name = format!("{}{epoch}.{attempt}", file_name(&sample.id));
        let folder = in_turn(|| new_folder(&self.root, &name))?;
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

    /// Removes the folder of an attempt, made by [`prepare`](Self::prepare), unless it is to be kept.
    pub(in crate::run) fn tidy(&self, folder: &Path, failed: bool) {
        let keep = match self.plan.eval.keep_scratch {
            KeepScratch::Always => true,
            KeepScratch::Failed => failed,
            KeepScratch::Never => false,
        };
        if !keep {
            // A folder that cannot be removed (the agent may have changed permissions) stays, which is harmless.
            if in_turn(|| std::fs::remove_dir(folder)).is_err() {
                let _ = std::fs::remove_dir_all(folder);
            }
        }
    }
}

/// Creates the folder of an attempt under a new name, so that it is safe to remove with its contents.
pub(in crate::run) fn new_folder(root: &Path, name: &str) -> Result<PathBuf, AgentError> {
    remove::make_new_folder(root, name).map_err(|error| {
        let message = format!("cannot make `{}`: {error}", root.join(name).display());
        AgentError::of(FailureKind::NotStarted, message)
    })
}

/// Removes empty attempt folders of killed runs. Gives a notice if any are not empty: an agent's files cannot be told
/// from a person's.
pub(in crate::run) fn remove_abandoned(plan: &Plan, dir: &RunDir) -> Option<String> {
    let root = dir.file(SCRATCH);
    if plan.eval.keep_scratch != KeepScratch::Never || !remove::is_folder(&root) {
        return None;
    }
    let is_gone = remove::ours_in(&root, &|_, kind| kind.is_dir()).unwrap_or(false);
    (!is_gone).then(|| {
        let root = display(&root);
        let command = shell_word(&root);
        format!("`{root}` has files of killed attempts; if you do not need them: rm -r {command}")
    })
}

/// Adds or removes a scratch folder, one thread at a time. All are in one folder; threads that contend for its kernel
/// lock spin and use more CPU than starting the agent takes.
fn in_turn<T>(change: impl FnOnce() -> T) -> T {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = lock(&TURN);
    change()
}
