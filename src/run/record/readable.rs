//! `Readable`: a run whose files are verified, including one that was killed.

use std::fs;
use std::io;

use super::repaired::make_again;
use crate::error::{Error, Result};
use crate::store::files::{JOURNAL, MANIFEST, PLACES};
use crate::store::{Manifest, RestoredFolder, RunDir, RunStatus, going_on};
use crate::system::file::refuse_other;
use crate::system::project::display;
use crate::text::shell_word;

/// A run whose files are verified.
pub struct Readable {
    /// The directory. For a killed run, with files restored from its journal, which exist as long as this value.
    pub dir: RunDir,
    /// Notices about the run.
    pub notices: Vec<String>,
}

/// Checks that the files of a run are as it wrote them. Those of a killed run are restored from its journal, in another
/// folder.
///
/// # Errors
/// When a file was changed, with the file and the command that restores it; when the run is still running; when the
/// spec or dataset of a killed run is missing.
pub fn readable(dir: RunDir) -> Result<Readable> {
    let manifest = dir.manifest()?;
    if manifest.status != RunStatus::Running || manifest.parent.is_some() {
        let notices = dir.check()?;
        return Ok(Readable { dir, notices });
    }
    if dir.is_going_on() {
        return Err(going_on(&display(dir.path())));
    }
    from_journal(&dir, &manifest)
}

/// Like [`readable`], but also accepts a run in progress, as far as it is. Also returns whether it is in progress.
///
/// # Errors
/// See [`readable`].
pub fn readable_so_far(dir: RunDir) -> Result<(Readable, bool)> {
    let manifest = dir.manifest()?;
    let is_open = manifest.status == RunStatus::Running && manifest.parent.is_none();
    if is_open && dir.is_going_on() {
        return Ok((from_journal(&dir, &manifest)?, true));
    }
    // It may have ended since.
    Ok((readable(dir)?, false))
}

/// A run that has no files yet except its journal.
fn from_journal(dir: &RunDir, manifest: &Manifest) -> Result<Readable> {
    let name = display(dir.path());
    let resume = format!("cargo evaltest run --resume {}", shell_word(&name));
    let failed = |error: &dyn std::fmt::Display| {
        let message =
            format!("run `{name}` was killed, and cannot be read from its journal: {error}");
        Error::usage(message).hint(format!("continue it: {resume}"))
    };
    let folder = copied(dir).map_err(|error| failed(&error))?;
    let made = make_again(folder.path(), manifest);
    let made = made.map_err(|error| failed(&error.message()))?;
    let mut notices: Vec<_> = dir.foreign_manifest(manifest).into_iter().collect();
    notices.push(format!(
        "run `{name}` was killed: it is read from its journal {}; continue it: {resume}",
        made.description()
    ));
    let dir = dir.restored_in(folder);
    Ok(Readable { dir, notices })
}

/// Copies what a run is restored from.
fn copied(dir: &RunDir) -> io::Result<RestoredFolder> {
    let folder = RestoredFolder::new()?;
    for file in [MANIFEST, JOURNAL, PLACES] {
        let from = dir.file(file);
        let copied = refuse_other(&from).and_then(|()| fs::copy(from, folder.path().join(file)));
        match copied {
            Err(error) if file == MANIFEST || error.kind() != io::ErrorKind::NotFound => {
                return Err(error);
            }
            _ => {}
        }
    }
    Ok(folder)
}
