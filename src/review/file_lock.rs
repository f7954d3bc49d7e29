//! `FileLock`: an exclusive lock across processes.

use std::fs::{File, OpenOptions};
use std::path::Path;

use crate::data::reviews::refuse_foreign;
use crate::error::{Error, Result};

/// Released when dropped, or when the process ends in any way.
#[derive(Debug)]
pub(super) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Waits for the lock.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let io = |error: std::io::Error| Error::io("lock", path, &error);
        // Opening a pipe would block until somebody reads from it.
        refuse_foreign(path)?;
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(io)?;
        file.lock().map_err(io)?;
        Ok(Self { _file: file })
    }
}
