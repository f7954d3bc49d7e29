//! Files of the cache: checksums of downloads, and atomic writes.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::BLOBS;
use super::address::is_hex;
use crate::error::{Error, Result};
use crate::system::file;
use crate::text::hash;

/// The Hub's hash of a file's content. It is the blob's name in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Checksum {
    /// Git blob hash: SHA-1 of a header with the length, and the content.
    Git(String),
    /// Of a file in LFS: SHA-256 of the content.
    Sha256(String),
}

impl Checksum {
    /// Parses an `ETag`; `None` if it is not a checksum, so that it is always a safe file name.
    pub(super) fn of_etag(etag: &str) -> Option<Self> {
        let etag = etag.trim();
        let etag = etag.strip_prefix("W/").unwrap_or(etag).trim_matches('"');
        if is_hex(etag, 40) {
            return Some(Self::Git(etag.to_owned()));
        }
        is_hex(etag, 64).then(|| Self::Sha256(etag.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Git(text) | Self::Sha256(text) => text,
        }
    }

    /// Whether a file has this content.
    pub(super) fn fits(&self, path: &Path) -> std::io::Result<bool> {
        let mut file = File::open(path)?;
        let found = match self {
            Self::Git(_) => {
                let mut hasher = Sha1::new();
                hasher.update(format!("blob {}\0", file.metadata()?.len()));
                read(&mut file, &mut |part| hasher.update(part))?;
                hash::hex(&hasher.finalize())
            }
            Self::Sha256(_) => {
                let mut hasher = Sha256::new();
                read(&mut file, &mut |part| hasher.update(part))?;
                hash::hex(&hasher.finalize())
            }
        };
        Ok(found == self.as_str())
    }
}

fn read(file: &mut File, part: &mut dyn FnMut(&[u8])) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(()),
            n => part(&buffer[..n]),
        }
    }
}

/// An exclusive lock on a file while this value exists, by `flock` like `huggingface_hub`.
pub(super) struct Lock(#[expect(dead_code, reason = "dropping it unlocks")] File);

impl Lock {
    /// Waits for the lock. On a file system without locks, concurrent downloads corrupt each other, which the checksum
    /// detects.
    pub(super) fn take(path: &Path) -> Result<Self> {
        make_folder(path)?;
        let mut options = File::options();
        let file = options.create(true).truncate(false).write(true).open(path);
        let file = file.map_err(|error| Error::io("open", path, &error))?;
        match file.lock() {
            Err(error) if error.kind() != ErrorKind::Unsupported => {
                Err(Error::io("lock", path, &error))
            }
            _ => Ok(Self(file)),
        }
    }
}

/// Creates the parent folder of a file.
pub(super) fn make_folder(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    fs::create_dir_all(folder).map_err(|error| {
        Error::io("make the folder", folder, &error)
            .hint("set `HF_HOME` to a folder that can be written to")
    })
}

/// Writes a file atomically.
pub(super) fn replace(path: &Path, content: &[u8]) -> Result<()> {
    make_folder(path)?;
    file::write_atomically(path, content)
}

/// Marks the folder as a cache, so that backup programs skip it. Errors are ignored.
pub(super) fn tag(cache: &Path) {
    const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
        # This file is a cache directory tag: https://bford.info/cachedir/\n";
    let path = cache.join("CACHEDIR.TAG");
    if !path.exists() {
        let _ = fs::write(path, TAG);
    }
}

/// Links a file of a snapshot to its blob; `depth` is the number of folders between it and the dataset's folder.
pub(super) fn link(at: &Path, checksum: &Checksum, depth: usize) -> Result<()> {
    make_folder(at)?;
    let mut to: PathBuf = std::iter::repeat_n("..", depth).collect();
    to.push(BLOBS);
    to.push(checksum.as_str());
    let draft = draft(at);
    // Replaces a dangling link; a link made by another process is equal.
    let made = file::symlink(&to, &draft).and_then(|()| {
        // The link created above.
        fs::rename(&draft, at).inspect_err(|_| drop(fs::remove_file(&draft)))
    });
    made.map_err(|error| Error::io("write", at, &error))
}

/// A temporary name next to a path, unique across threads and processes.
fn draft(path: &Path) -> PathBuf {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{number}.tmp", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_git_and_of_large_storage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, "hello\n").unwrap();
        let check = |etag: &str, expect: bool| {
            let checksum = Checksum::of_etag(etag).unwrap();
            assert_eq!(checksum.fits(&path).unwrap(), expect, "{etag}");
        };
        // `git hash-object`, `sha256sum`.
        check("\"ce013625030ba8dba906f756967f9e9ca394464a\"", true);
        check("W/\"ce013625030ba8dba906f756967f9e9ca394464a\"", true);
        let sha = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
        check(sha, true);
        check(&"0".repeat(40), false);
        check(&"0".repeat(64), false);
        for etag in ["", "\"\"", "../x", "abc", &"g".repeat(40), &"A".repeat(64)] {
            assert_eq!(Checksum::of_etag(etag), None, "{etag}");
        }
    }

    #[test]
    fn links_are_relative_and_replace_broken_ones() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("snapshots/c/2023/x");
        let one = Checksum::of_etag(&"1".repeat(40)).unwrap();
        let two = Checksum::of_etag(&"2".repeat(64)).unwrap();
        link(&at, &one, 3).unwrap();
        link(&at, &two, 3).unwrap();
        let expect = Path::new("../../../blobs").join(two.as_str());
        assert_eq!(fs::read_link(&at).unwrap(), expect);
        assert_eq!(fs::read_dir(at.parent().unwrap()).unwrap().count(), 1);
    }
}
