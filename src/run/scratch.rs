//! `ScratchFolders`: a folder for each attempt, with copies of the sample's attachments.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::question::{CONFIRM, Question};
use crate::data::{AgentError, FailureKind, TaskFile};
use crate::eval::KeepScratch;
use crate::eval::plan::Plan;
use crate::store::RunDir;
use crate::system::lock::lock;
use crate::text::name::file_name;

/// Makes the folders of attempts, and removes them.
pub(super) struct ScratchFolders {
    plan: Arc<Plan>,
    /// Where they are made.
    home: PathBuf,
}

/// What an attempt is given on disk.
#[derive(Default)]
pub(super) struct AttemptFiles {
    pub(super) folder: Option<PathBuf>,
    /// The copies of the attachments.
    pub(super) files: Vec<TaskFile>,
}

impl ScratchFolders {
    pub(super) fn new(plan: Arc<Plan>, dir: &RunDir) -> Self {
        Self {
            plan,
            home: dir.file("scratch"),
        }
    }

    /// Makes the folder of an attempt and copies the attachments into it, unless nobody needs it.
    pub(super) fn prepare(
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
        let folder = self.home.join(name);
        let made = in_turn(|| std::fs::create_dir_all(&folder));
        made.map_err(|error| {
            AgentError::of(
                FailureKind::NotStarted,
                format!("cannot make `{}`: {error}", folder.display()),
            )
        })?;
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

    /// Removes the folder of an attempt, unless it is to be kept.
    pub(super) fn tidy(&self, folder: &Path, failed: bool) {
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

/// Adds or removes a scratch folder, one thread at a time: all of them stand in one folder, for whose lock
/// threads that meet in the kernel spin, at more CPU than starting the agent takes.
fn in_turn<T>(change: impl FnOnce() -> T) -> T {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = lock(&TURN);
    change()
}
