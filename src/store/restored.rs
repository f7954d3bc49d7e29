//! `RestoredFolder`: a temporary folder with the restored files of a killed run, while they are read.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::TempDir;

use super::files::is_made_by_run;
use crate::system::file::open_plain;
use crate::system::remove;

/// Prefix of the folder's name.
const PREFIX: &str = "evaltest-restored-";
/// A file that users of the folder lock.
const USED: &str = "used";

/// A folder that is removed on drop.
#[derive(Debug)]
pub(crate) struct RestoredFolder {
    folder: TempDir,
    /// The lock, which ends with the process.
    _used: File,
}

impl RestoredFolder {
    /// Creates a folder. Removes those of killed readers.
    pub(crate) fn new() -> io::Result<Self> {
        Self::below(&std::env::temp_dir())
    }

    fn below(root: &Path) -> io::Result<Self> {
        // The folder of temporary files may be unlistable.
        for entry in fs::read_dir(root).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_string_lossy().starts_with(PREFIX) && is_abandoned(&entry.path()) {
                remove::if_all_ours(&entry.path(), &|path, kind| {
                    path == USED && kind.is_file() || is_made_by_run(path, kind)
                });
            }
        }
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root)?;
        // Locked before it gets its final name.
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

/// Whether a folder is unused. One without the file is being created. Other programs use the temporary folder, too, and
/// opening a pipe would block.
fn is_abandoned(path: &Path) -> bool {
    open_plain(&path.join(USED)).is_ok_and(|used| used.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_killed_readers_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let used = RestoredFolder::below(root.path()).unwrap();
        let abandoned = root.path().join("evaltest-restored-left");
        fs::create_dir(&abandoned).unwrap();
        fs::write(abandoned.join(USED), "").unwrap();
        fs::write(abandoned.join("events.jsonl"), "").unwrap();
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
        assert!(!abandoned.exists() && mine.join(USED).exists());
        assert!(new.exists() && other.exists() && used.path().exists());
        let path = another.path().to_owned();
        drop(another);
        assert!(!path.exists());
    }
}
