//! `FileLock`: one process at a time.

use std::fs::{File, OpenOptions};
use std::path::Path;

use crate::data::reviews::refuse_foreign;
use crate::error::{Error, Result};

/// Held until it is dropped, or the process ends in any way.
#[derive(Debug)]
pub(super) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Waits for it.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let io = |error: std::io::Error| Error::io("lock", path, &error);
        // To open a pipe is to wait for whoever reads from it.
        refuse_foreign(path)?;
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(io)?;
        file.lock().map_err(io)?;
        Ok(Self { _file: file })
    }
}
