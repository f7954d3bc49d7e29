//! A folder among the temporary files that lasts as long as a sandbox is used. Its name tells whose it is, so that the
//! watch finds it when that program is killed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The folder; it is removed when it is dropped.
#[derive(Debug)]
pub(super) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    pub(super) fn new() -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("evaltest-{}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder)?;
        Ok(Self(folder))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
