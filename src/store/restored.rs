//! `RestoredFolder`: where the files of a killed run are made again to be read, for as long as somebody reads them.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::TempDir;

use super::files::is_made_by_run;
use crate::system::file::open_plain;
use crate::system::remove;

/// How the name of such a folder begins.
const PREFIX: &str = "evaltest-restored-";
/// Locked by whoever uses the folder.
const USED: &str = "used";

/// A folder that goes with this value.
#[derive(Debug)]
pub(crate) struct RestoredFolder {
    folder: TempDir,
    /// The lock, which goes with the process.
    _used: File,
}

impl RestoredFolder {
    /// A new one. Those of readers that were killed are removed.
    pub(crate) fn new() -> io::Result<Self> {
        Self::below(&std::env::temp_dir())
    }

    fn below(root: &Path) -> io::Result<Self> {
        // A folder of temporary files may be one that nobody can list.
        for entry in fs::read_dir(root).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_string_lossy().starts_with(PREFIX) && is_left(&entry.path()) {
                remove::if_all_ours(&entry.path(), &|path, kind| {
                    path == USED && kind.is_file() || is_made_by_run(path, kind)
                });
            }
        }
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root)?;
        // Whoever finds it under its name finds it locked.
        let unlocked = folder.path().join("unlocked");
        let used = File::create(&unlocked)?;
        used.lock()?;
        fs::rename(unlocked, folder.path().join(USED))?;
        Ok(Self {
            folder,
            _used: used,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Whether nobody uses a folder. One without the file is just being made. Others write among temporary files, too, and
/// whoever opens a pipe waits.
fn is_left(path: &Path) -> bool {
    open_plain(&path.join(USED)).is_ok_and(|used| used.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_readers_left_is_removed_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let used = RestoredFolder::below(root.path()).unwrap();
        let left = root.path().join("evaltest-restored-left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join(USED), "").unwrap();
        fs::write(left.join("events.jsonl"), "").unwrap();
        let mine = root.path().join("evaltest-restored-mine");
        fs::create_dir(&mine).unwrap();
        fs::write(mine.join(USED), "").unwrap();
        fs::write(mine.join("notes.txt"), "").unwrap();
        let (new, other) = (
            root.path().join("evaltest-restored-new"),
            root.path().join("other"),
        );
        fs::create_dir(&new).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join(USED), "").unwrap();
        let pipe = root.path().join("evaltest-restored-pipe");
        fs::create_dir(&pipe).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(pipe.join(USED))
            .status();
        assert!(made.unwrap().success());
        let another = RestoredFolder::below(root.path()).unwrap();
        assert!(pipe.exists());
        assert!(!left.exists() && mine.join(USED).exists());
        assert!(new.exists() && other.exists() && used.path().exists());
        let path = another.path().to_owned();
        drop(another);
        assert!(!path.exists());
    }
}
