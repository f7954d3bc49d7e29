//! `RunInTheMaking`: builds a run directory next to its final path, one process at a time.
//!
//! The builder locks the folder itself, before anything is in it. The folder of a killed merge is unlocked: the next
//! merge takes it over and empties it. So no folder is removed that another process has just made.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind::AlreadyExists;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::store::events::is_held;
use crate::store::files::{self, JOURNAL};
use crate::store::{RunDir, UNFINISHED};
use crate::system::file::is_at;
use crate::system::project::display;

/// Retries if other processes move or remove the folder while it is being opened.
const TRIES: u32 = 100;

/// A run directory that is being built next to its final path; removed unless finished.
pub(crate) struct RunInTheMaking {
    path: PathBuf,
    dir: RunDir,
    is_whole: bool,
    /// Held as long as it is open.
    _lock: File,
}

impl RunInTheMaking {
    /// For a run that will be at this path.
    ///
    /// # Errors
    /// When another process is building it, or the folder next to the path cannot be made.
    pub(super) fn begin(path: &Path) -> Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push(UNFINISHED);
        let staging_dir = PathBuf::from(name);
        let busy = || {
            let message = format!("somebody else merges into `{}`", display(path));
            Error::usage(message).hint("wait for its end")
        };
        for _ in 0..TRIES {
            match fs::create_dir_all(&staging_dir) {
                Ok(()) => {}
                // It existed a moment ago.
                Err(error) if error.kind() == AlreadyExists && !staging_dir.exists() => continue,
                Err(error) => return Err(elsewhere(Error::io("create", &staging_dir, &error))),
            }
            let Ok(lock) = File::open(&staging_dir) else {
                // It was moved into place.
                continue;
            };
            match lock.try_lock() {
                Err(TryLockError::WouldBlock) => return Err(busy()),
                // Some file systems have no locks.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            if !is_at(&lock, &staging_dir) {
                continue;
            }
            if is_held(&staging_dir.join(JOURNAL)) {
                return Err(busy());
            }
            empty(&staging_dir)?;
            return Ok(Self {
                path: path.to_owned(),
                dir: RunDir::create_at(&staging_dir)?,
                is_whole: false,
                _lock: lock,
            });
        }
        Err(busy())
    }

    /// Where it is being built.
    pub(crate) fn dir(&self) -> &RunDir {
        &self.dir
    }

    /// Its final path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the complete run into place.
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
            // Written by this merge: it found the folder empty, and holds its lock.
            self.dir.remove();
        }
    }
}

/// Removes leftovers of a killed merge.
fn empty(staging_dir: &Path) -> Result<()> {
    let failed = |error| Error::io("remove", staging_dir, &error);
    let entries =
        fs::read_dir(staging_dir).map_err(|error| Error::io("read", staging_dir, &error))?;
    let entries = entries.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let is_of_merge = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        is_file && files::is_of_run(&name.to_string_lossy())
    };
    if let Some(other) = entries.iter().find(|entry| !is_of_merge(entry)) {
        let message = format!(
            "`{}` is in the way of the merge, and no merge has left it",
            display(&other.path())
        );
        return Err(Error::usage(message).hint("move it, or name another directory: `-o DIR`"));
    }
    let mut paths = entries.into_iter().map(|entry| entry.path());
    paths.try_for_each(fs::remove_file).map_err(failed)
}

/// Adds a hint to build the run elsewhere if the folder of the parts is not writable.
fn elsewhere(error: Error) -> Error {
    if error.hint_text().is_some() {
        return error;
    }
    error.hint("name a directory that can be made: `-o DIR`")
}
