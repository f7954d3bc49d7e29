//! `Readable`: a run whose files can be believed, also one that was killed.

use std::fs;
use std::io;

use super::repaired::make_again;
use crate::error::{Error, Result};
use crate::store::files::{JOURNAL, MANIFEST, PLACES};
use crate::store::{Manifest, RestoredFolder, RunDir, RunStatus, going_on};
use crate::system::file::refuse_other;
use crate::system::project::shown;
use crate::text::shell_word;

/// A run whose files can be believed.
pub struct Readable {
    /// It; of one that was killed, with files made again from its journal, as long as this value lives.
    pub dir: RunDir,
    /// What people should know of it.
    pub notices: Vec<String>,
}

/// Checks that the files of a run are what it wrote. Those of a run that was killed are made from its journal, elsewhere.
///
/// # Errors
/// When they are not, with the file and what makes it again; when the run is going on; when the spec or the dataset of a
/// run that was killed is not here.
pub fn readable(dir: RunDir) -> Result<Readable> {
    let manifest = dir.manifest()?;
    if manifest.status != RunStatus::Running || manifest.parent.is_some() {
        let notices = dir.check()?;
        return Ok(Readable { dir, notices });
    }
    if dir.is_going_on() {
        return Err(going_on(&shown(dir.path())));
    }
    from_journal(&dir, &manifest)
}

/// As [`readable`], also of a run that is going on: as far as it came. Whether it is, stands beside it.
///
/// # Errors
/// As [`readable`].
pub fn readable_so_far(dir: RunDir) -> Result<(Readable, bool)> {
    let manifest = dir.manifest()?;
    let is_open = manifest.status == RunStatus::Running && manifest.parent.is_none();
    if is_open && dir.is_going_on() {
        return Ok((from_journal(&dir, &manifest)?, true));
    }
    // It may have ended since.
    Ok((readable(dir)?, false))
}

/// A run that has no files of its own yet but its journal.
fn from_journal(dir: &RunDir, manifest: &Manifest) -> Result<Readable> {
    let name = shown(dir.path());
    let resume = format!("cargo evaltest run --resume {}", shell_word(&name));
    let failed = |error: &dyn std::fmt::Display| {
        let message =
            format!("run `{name}` was killed, and cannot be read from its journal: {error}");
        Error::usage(message).hint(format!("go on with it: {resume}"))
    };
    let folder = copied(dir).map_err(|error| failed(&error))?;
    let made = make_again(folder.path(), manifest);
    let made = made.map_err(|error| failed(&error.message()))?;
    let mut notices: Vec<_> = dir.changed_manifest().into_iter().collect();
    notices.push(format!(
        "run `{name}` was killed: it is read from its journal {}; go on with it: {resume}",
        made.told()
    ));
    let dir = dir.restored_in(folder);
    Ok(Readable { dir, notices })
}

/// What a run is made again from, elsewhere.
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
