//! Statistics and clearing of a cache.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;

use super::answers::EXTENSION;
use crate::error::{Error, Result};
use crate::system::file::is_temporary;

/// Statistics of a cache folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Contents {
    /// The number of answers.
    pub answers: u64,
    /// Their total size in bytes.
    pub bytes: u64,
    /// When the oldest was stored.
    pub oldest: Option<SystemTime>,
    /// When the newest was stored.
    pub newest: Option<SystemTime>,
}

/// What was removed from a cache folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cleared {
    /// The number of answers.
    pub answers: u64,
    /// Their total size in bytes.
    pub bytes: u64,
}

/// Counts the answers in a folder, which need not exist.
///
/// # Errors
/// When the folder cannot be read.
pub fn contents(folder: &Path) -> Result<Contents> {
    let mut contents = Contents::default();
    each(folder, |file| {
        if file.is_answer {
            contents.answers += 1;
            contents.bytes += file.bytes;
            contents.oldest = Some(
                contents
                    .oldest
                    .map_or(file.stored_at, |old| old.min(file.stored_at)),
            );
            contents.newest = contents.newest.max(Some(file.stored_at));
        }
        Ok(())
    })?;
    Ok(contents)
}

/// Removes the answers in a folder that are older than `older_than`, or all of them. Foreign files stay.
///
/// # Errors
/// When the folder cannot be read, or a file cannot be removed.
pub fn clear(folder: &Path, older_than: Option<Duration>) -> Result<Cleared> {
    let now = SystemTime::now();
    let is_old = |stored_at: SystemTime, age: Duration| {
        now.duration_since(stored_at).is_ok_and(|past| past >= age)
    };
    let mut cleared = Cleared::default();
    each(folder, |file| {
        // Keep what another run is writing right now; remove leftovers of killed runs.
        let age = if file.is_answer {
            older_than
        } else {
            Some(Duration::from_hours(1))
        };
        if age.is_some_and(|age| !is_old(file.stored_at, age)) {
            return Ok(());
        }
        match fs::remove_file(&file.path) {
            Ok(()) if file.is_answer => {
                cleared.answers += 1;
                cleared.bytes += file.bytes;
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &file.path, &error));
            }
            _ => {}
        }
        if let Some(bucket) = file.path.parent() {
            // Fails unless it is empty.
            let _ = fs::remove_dir(bucket);
        }
        Ok(())
    })?;
    Ok(cleared)
}

/// A file of ours.
struct Found {
    path: PathBuf,
    bytes: u64,
    stored_at: SystemTime,
    /// Otherwise it is an unfinished write.
    is_answer: bool,
}

/// Visits our files, which are recognised by path and name: a key of 64 digits in the subfolder of its first two.
/// Follows no links.
fn each(folder: &Path, mut visit: impl FnMut(Found) -> Result<()>) -> Result<()> {
    for bucket in entries(folder)? {
        let name = bucket.file_name();
        let bucket_name = name.as_encoded_bytes();
        let is_folder = bucket.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || name.len() != 2 || !is_hex(&name.to_string_lossy()) {
            continue;
        }
        for entry in entries(&bucket.path())? {
            let name = entry.file_name();
            let Some((key, rest)) = name.to_str().and_then(|name| name.split_once('.')) else {
                continue;
            };
            let Some(end) = rest.strip_prefix(EXTENSION) else {
                continue;
            };
            let is_ours = end.is_empty() || is_temporary(end);
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            let is_key = key.len() == 64 && is_hex(key) && key.as_bytes().starts_with(bucket_name);
            if !is_key || !is_ours || !is_file {
                continue;
            }
            // Gone meanwhile.
            let Ok(about) = entry.metadata() else {
                continue;
            };
            visit(Found {
                path: entry.path(),
                bytes: about.len(),
                stored_at: about.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                is_answer: end.is_empty(),
            })?;
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<DirEntry>> {
    let read = fs::read_dir(folder).and_then(Iterator::collect);
    match read {
        Ok(entries) => Ok(entries),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::io("read", folder, &error)),
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_are_counted_and_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let key = |digit: &str| digit.repeat(64);
        let put = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "12345").unwrap();
        };
        put(&format!("aa/{}.answer", key("a")));
        put(&format!("bb/{}.answer", key("b")));
        let foreign = [
            format!("bb/{}.answer.12.0.tmp", key("c")),
            format!("bb/{}.embedding", key("b")),
            "bb/notes.answer".to_owned(),
            "thesis/chapter1.answer".to_owned(),
            ".gitignore".to_owned(),
        ];
        for name in &foreign {
            put(name);
        }
        std::os::unix::fs::symlink(folder.path().join("thesis"), folder.path().join("cc")).unwrap();
        let found = contents(folder.path()).unwrap();
        assert_eq!((found.answers, found.bytes), (2, 10));
        assert!(found.oldest <= found.newest && found.oldest.is_some());
        let day = Some(Duration::from_hours(24));
        assert_eq!(clear(folder.path(), day).unwrap(), Cleared::default());
        let all = Cleared {
            answers: 2,
            bytes: 10,
        };
        assert_eq!(clear(folder.path(), None).unwrap(), all);
        assert!(!folder.path().join("aa").exists(), "an empty bucket goes");
        for name in foreign {
            assert!(folder.path().join(&name).exists(), "{name}");
        }
        assert_eq!(
            contents(&folder.path().join("none")).unwrap(),
            Contents::default()
        );
    }
}
