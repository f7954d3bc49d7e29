//! `RunInTheMaking`: a run directory that is made beside its place, by one at a time.
//!
//! Who makes it holds a lock on the folder itself, which is there before anything is in it. What a merge leaves that was
//! killed is held by nobody: the next one takes the folder as it is, and empties it. So no folder is ever removed that
//! somebody else has just made.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind::AlreadyExists;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::store::events::is_held;
use crate::store::files::{self, JOURNAL};
use crate::store::{RunDir, UNFINISHED};
use crate::system::file::is_at;
use crate::system::project::shown;

/// So often the folder may be put into its place, or removed, by others while it is opened.
const TRIES: u32 = 100;

/// A run that is being made beside its place; removed unless it is finished.
pub(crate) struct RunInTheMaking {
    path: PathBuf,
    dir: RunDir,
    is_whole: bool,
    /// Nobody else has it as long as it is open.
    _lock: File,
}

impl RunInTheMaking {
    /// Of a run that will be at this path.
    ///
    /// # Errors
    /// When somebody else makes it, or the folder beside the path can be no such folder.
    pub(super) fn begin(path: &Path) -> Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push(UNFINISHED);
        let beside = PathBuf::from(name);
        let busy = || {
            let message = format!("somebody else merges into `{}`", shown(path));
            Error::usage(message).hint("wait for its end")
        };
        for _ in 0..TRIES {
            match fs::create_dir_all(&beside) {
                Ok(()) => {}
                // It was there a moment before.
                Err(error) if error.kind() == AlreadyExists && !beside.exists() => continue,
                Err(error) => return Err(elsewhere(Error::io("create", &beside, &error))),
            }
            let Ok(lock) = File::open(&beside) else {
                // It was put into its place.
                continue;
            };
            match lock.try_lock() {
                Err(TryLockError::WouldBlock) => return Err(busy()),
                // Where a disk knows no locks, there are none.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            if !is_at(&lock, &beside) {
                continue;
            }
            if is_held(&beside.join(JOURNAL)) {
                return Err(busy());
            }
            empty(&beside)?;
            return Ok(Self {
                path: path.to_owned(),
                dir: RunDir::create_at(&beside)?,
                is_whole: false,
                _lock: lock,
            });
        }
        Err(busy())
    }

    /// Where it is made.
    pub(crate) fn dir(&self) -> &RunDir {
        &self.dir
    }

    /// Where it will be.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// It is whole: puts it into its place.
    pub(crate) fn finish(mut self) -> Result<()> {
        let renamed = fs::rename(self.dir.path(), &self.path);
        renamed.map_err(|error| Error::io("create", &self.path, &error))?;
        self.is_whole = true;
        Ok(())
    }
}

impl Drop for RunInTheMaking {
    fn drop(&mut self) {
        if !self.is_whole {
            // What this merge wrote: it found the folder empty, and holds its lock.
            self.dir.remove();
        }
    }
}

/// Removes what a merge left that was killed.
fn empty(beside: &Path) -> Result<()> {
    let failed = |error| Error::io("remove", beside, &error);
    let entries = fs::read_dir(beside).map_err(|error| Error::io("read", beside, &error))?;
    let entries = entries.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let is_left = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        is_file && files::is_of_run(&name.to_string_lossy())
    };
    if let Some(other) = entries.iter().find(|entry| !is_left(entry)) {
        let message = format!(
            "`{}` is in the way of the merge, and no merge has left it",
            shown(&other.path())
        );
        return Err(Error::usage(message).hint("move it, or name another directory: `-o DIR`"));
    }
    let mut paths = entries.into_iter().map(|entry| entry.path());
    paths.try_for_each(fs::remove_file).map_err(failed)
}

/// Where the folder of the parts can be written by others only, the run can be made somewhere else.
fn elsewhere(error: Error) -> Error {
    if error.hint_text().is_some() {
        return error;
    }
    error.hint("name a directory that can be made: `-o DIR`")
}
