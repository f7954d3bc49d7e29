//! `ScratchFolders`: a folder for each attempt, with copies of the sample's attachments.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::question::{CONFIRM, Question};
use crate::data::{AgentError, FailureKind, TaskFile};
use crate::eval::KeepScratch;
use crate::eval::plan::Plan;
use crate::store::files::SCRATCH;
use crate::store::{Manifest, RunDir};
use crate::system::lock::lock;
use crate::system::project::shown;
use crate::system::remove;
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
            home: dir.file(SCRATCH),
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

/// Makes the folder of an attempt, under a name that nobody had: it can be removed with all that is in it.
pub(super) fn new_folder(home: &Path, name: &str) -> Result<PathBuf, AgentError> {
    remove::make_new_folder(home, name).map_err(|error| {
        let message = format!("cannot make `{}`: {error}", home.join(name).display());
        AgentError::of(FailureKind::NotStarted, message)
    })
}

/// Removes the folders of attempts of a killed run that was to keep none. Gives a notice where something else stands
/// beside them.
pub(super) fn tidy_left(plan: &Plan, manifest: &Manifest, dir: &RunDir) -> Option<String> {
    let home = dir.file(SCRATCH);
    let config = manifest.config.get("keep_scratch");
    let kept_none = config
        .and_then(|keep| keep.as_str())
        .is_none_or(|keep| keep == "never");
    if !kept_none || plan.eval.keep_scratch != KeepScratch::Never || !remove::is_folder(&home) {
        return None;
    }
    let names: HashSet<_> = plan.items.iter().map(|item| file_name(&item.id)).collect();
    for entry in std::fs::read_dir(&home).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && is_of_attempt(&entry.file_name().to_string_lossy(), &names) {
            // An agent's own folder, which its run was to remove with all that is in it.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let is_gone = std::fs::remove_dir(&home).is_ok();
    let notice = || {
        let home = shown(&home);
        format!(
            "`{home}` holds more than the folders of attempts of the killed run: the rest stays"
        )
    };
    (!is_gone).then(notice)
}

/// Whether a folder has the name of an attempt at a sample with one of these names, or of its judge's:
/// `NAME.ATTEMPT`, `NAME.EPOCH.ATTEMPT`, `NAME.judge.KEY.EPOCH.ATTEMPT`, and each with `~NUMBER`.
fn is_of_attempt(folder: &str, names: &HashSet<String>) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (folder, again) = folder.rsplit_once('~').unwrap_or((folder, "2"));
    let Some((name, attempt)) = folder.rsplit_once('.') else {
        return false;
    };
    if !is_number(again) || !is_number(attempt) && attempt != "confirm" {
        return false;
    }
    let of_epoch = || name.rsplit_once('.').filter(|(_, epoch)| is_number(epoch));
    let of_judge = |(name, _): (&str, &str)| {
        let (name, key) = name.rsplit_once('.')?;
        let is_key = key.len() == 8 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(is_key && names.contains(name.strip_suffix(".judge")?))
    };
    let is_one_of_epochs =
        |found: (&str, &str)| names.contains(found.0) || of_judge(found).unwrap_or(false);
    names.contains(name) || of_epoch().is_some_and(is_one_of_epochs)
}

/// Adds or removes a scratch folder, one thread at a time: all of them stand in one folder, for whose lock
/// threads that meet in the kernel spin, at more CPU than starting the agent takes.
fn in_turn<T>(change: impl FnOnce() -> T) -> T {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = lock(&TURN);
    change()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_attempts_are_known_by_the_samples() {
        let names: HashSet<_> = ["a", "b.7"].map(str::to_owned).into();
        let check = |folder: &str, expect| {
            assert_eq!(is_of_attempt(folder, &names), expect, "{folder}");
        };
        for folder in [
            "a.1",
            "a.confirm",
            "a.0.12",
            "b.7.1",
            "b.7.2.1",
            "a.1~2",
            "a.judge.0a1b2c3d.0.1",
        ] {
            check(folder, true);
        }
        for folder in [
            "a",
            "c.1",
            "b.1",
            "a.x",
            "a.1~x",
            "a.1.x",
            "a.judge.0a1b2c3d.1",
            "a.judge.notes.0.1",
            "notes",
        ] {
            check(folder, false);
        }
    }
}
