//! Files: written whole or not at all, hashed, and where a path leads.

use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::text::hash::{Hasher, LineHasher};

/// Makes the folder of runs, ignored by git.
pub(crate) fn make_root(root: &Path) -> Result<()> {
    // A folder that holds other things is the user's: git must go on seeing them.
    let is_ours = fs::read_dir(root).map_or(true, |mut entries| entries.next().is_none());
    fs::create_dir_all(root).map_err(|error| {
        Error::io("create", root, &error).hint("name another folder for runs: `--output-root DIR`")
    })?;
    if is_ours {
        let ignore = root.join(".gitignore");
        fs::write(&ignore, "*\n").map_err(|error| Error::io("write", &ignore, &error))?;
    }
    Ok(())
}

/// Writes a file, all of it or none.
pub(crate) fn write_atomically(path: &Path, content: &[u8]) -> Result<()> {
    write_atomically_by(path, |out| out.write_all(content))
}

/// The same of what is written bit by bit.
pub fn write_atomically_by(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let mut file = NewFile::beside(path)?;
    write(&mut file).map_err(|error| Error::io("write", path, &error))?;
    file.put(path)
}

/// A file that is written beside its place, and put there when it is whole. It is removed if it is dropped before.
#[derive(Debug)]
pub struct NewFile {
    file: BufWriter<fs::File>,
    /// `NAME.PROCESS.NUMBER.tmp`. This process made it, under a name that nobody had.
    temporary: PathBuf,
    is_put: bool,
}

impl NewFile {
    /// Makes an empty file beside `path`.
    ///
    /// # Errors
    /// When the folder is missing or cannot be written.
    pub fn beside(path: &Path) -> Result<Self> {
        static WRITES: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = WRITES.fetch_add(1, Ordering::Relaxed);
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(format!(".{}.{number}.tmp", std::process::id()));
            let temporary = path.with_file_name(name);
            match fs::File::create_new(&temporary) {
                // Left by a process with the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io("write", path, &error)),
                Ok(file) => {
                    return Ok(Self {
                        file: BufWriter::new(file),
                        temporary,
                        is_put: false,
                    });
                }
            }
        }
    }

    /// Puts the file in its place, over what is there.
    ///
    /// # Errors
    /// When it cannot be written to its end or renamed.
    pub fn put(mut self, path: &Path) -> Result<()> {
        let put = self.file.flush();
        let put = put.and_then(|()| fs::rename(&self.temporary, path));
        self.is_put = put.is_ok();
        put.map_err(|error| Error::io("write", path, &error))
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_put {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Whether the end of a file's name is the one that a [`NewFile`] has.
pub(crate) fn is_temporary(end: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = end
        .strip_prefix('.')
        .and_then(|end| end.strip_suffix(".tmp"));
    let numbers = numbers.and_then(|numbers| numbers.split_once('.'));
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// Opens a file anew for writing, unless there is a link, a pipe or the like.
pub(crate) fn create_plain(path: &Path) -> io::Result<fs::File> {
    match fs::symlink_metadata(path) {
        Ok(about) if !about.is_file() => Err(io::Error::other("it is no file")),
        _ => fs::File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path),
    }
}

/// Removes the [`NewFile`]s of `path` that killed programs left. Nobody may be writing to `path`.
pub(crate) fn remove_unfinished(path: &Path) {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return;
    };
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_left = |entry: &fs::DirEntry| {
        let other = entry.file_name();
        let end = other.as_encoded_bytes().strip_prefix(name);
        let end = end.and_then(|end| str::from_utf8(end).ok());
        end.is_some_and(is_temporary) && entry.file_type().is_ok_and(|it| it.is_file())
    };
    for entry in entries.flatten().filter(is_left) {
        // What cannot be removed is in nobody's way.
        let _ = fs::remove_file(entry.path());
    }
}

/// `path` made absolute, symbolic links kept.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(|error| Error::io("resolve", path, &error))?;
    Ok(tidy(&path))
}

/// The way from a folder to a file, as a relative path.
pub(crate) fn between(folder: &Path, file: &Path) -> Result<PathBuf> {
    let (folder, file) = (absolute(folder)?, absolute(file)?);
    let same = folder.components().zip(file.components());
    let same = same.take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(same).map(|_| Component::ParentDir);
    Ok(up.chain(file.components().skip(same)).collect())
}

/// The path without `.`, and without `..` where that leads back to where it came from, as it does not behind a
/// symbolic link: `evals/../data/x.csv` is `data/x.csv`.
pub(crate) fn tidy(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        let leads_back = part == Component::ParentDir
            && matches!(tidied.components().next_back(), Some(Component::Normal(_)))
            && !tidied.is_symlink();
        match part {
            Component::CurDir => {}
            _ if leads_back => drop(tidied.pop()),
            part => tidied.push(part),
        }
    }
    tidied
}

/// Opens a file that evaltest or its user wrote down. To open a pipe is to wait for whoever writes into it, and a device has
/// no end: neither is what was written.
pub(crate) fn open_plain(path: &Path) -> io::Result<fs::File> {
    refuse_other(path)?;
    fs::File::open(path)
}

/// The content of such a file.
pub(crate) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    refuse_other(path)?;
    fs::read(path)
}

/// The same of a file that a command is given, which may be what a shell hands over by `<(…)`: that has an end.
pub(crate) fn read_given(path: &Path) -> io::Result<Vec<u8>> {
    let is_handed = ["/dev/fd", "/dev/stdin", "/proc"];
    if !is_handed.iter().any(|start| path.starts_with(start)) {
        refuse_other(path)?;
    }
    fs::read(path)
}

/// Refuses what is there and is no file.
pub(crate) fn refuse_other(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(about) if !about.is_file() => Err(io::Error::other("it is no file")),
        // Whoever opens it will see.
        _ => Ok(()),
    }
}

/// SHA-256 of a file's content.
pub(crate) fn hash(path: &Path) -> io::Result<String> {
    let mut hasher = Hasher::default();
    read(path, |bytes| hasher.bytes(bytes))?;
    Ok(hasher.hex())
}

/// SHA-256 of a file's content as it is, and whichever line ends a checkout gave it if it is a text.
pub(crate) fn hashes(path: &Path) -> io::Result<[String; 2]> {
    /// Version control takes a file for a text if it has no zero among so many first bytes.
    const LOOKED_AT: usize = 8000;
    let (mut whole, mut lines) = (Hasher::default(), LineHasher::default());
    let mut is_text = None;
    read(path, |bytes| {
        whole.bytes(bytes);
        if *is_text.get_or_insert_with(|| !bytes.iter().take(LOOKED_AT).any(|byte| *byte == 0)) {
            lines.bytes(bytes);
        }
    })?;
    let whole = whole.hex();
    let lines = match is_text {
        Some(true) => lines.hex(),
        _ => whole.clone(),
    };
    Ok([whole, lines])
}

fn read(path: &Path, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    read_while(path, |bytes| {
        take(bytes);
        Ok(true)
    })
}

fn read_while(path: &Path, mut take: impl FnMut(&[u8]) -> io::Result<bool>) -> io::Result<()> {
    let mut reader = open_plain(path)?;
    let mut buffer = vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(()),
            n if take(&buffer[..n])? => {}
            _ => return Ok(()),
        }
    }
}

/// Makes a symbolic link `at` a place, to what is found at `to` from there.
#[cfg(feature = "http")]
pub(crate) fn symlink(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

/// Whether two paths are names of one file, such as a hard link.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let file = |path: &Path| {
        let data = path.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((data.dev(), data.ino()))
    };
    one == other || file(one).is_some_and(|one| file(other) == Some(one))
}

/// Whether two files have the same content, of which there is some. Only files of one length are read.
pub(crate) fn is_copy(one: &Path, other: &Path) -> bool {
    let length = |path: &Path| {
        let data = path.metadata().ok().filter(fs::Metadata::is_file)?;
        Some(data.len()).filter(|length| *length > 0)
    };
    length(one).is_some_and(|one| length(other) == Some(one))
        && has_same_bytes(one, other).unwrap_or(false)
}

fn has_same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    let mut other = BufReader::with_capacity(64 << 10, open_plain(other)?);
    let mut is_same = true;
    read_while(one, |mut bytes| {
        while is_same && !bytes.is_empty() {
            let there = other.fill_buf()?;
            let both = there.len().min(bytes.len());
            is_same = both > 0 && there[..both] == bytes[..both];
            other.consume(both);
            bytes = &bytes[both..];
        }
        Ok(is_same)
    })?;
    Ok(is_same)
}

/// Whether a path has only plain components, so that joined to a folder it stays below it.
pub(crate) fn is_inside(path: &Path) -> bool {
    path.components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Whether an open file or folder is what a path names now.
pub(crate) fn is_at(file: &fs::File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let of = |about: fs::Metadata| (about.dev(), about.ino());
    let there = path.metadata().ok().map(of);
    there.is_some() && file.metadata().ok().map(of) == there
}

/// Whether an open file still has a name in some folder.
pub(crate) fn has_name(file: &fs::File) -> bool {
    use std::os::unix::fs::MetadataExt;

    file.metadata().is_ok_and(|about| about.nlink() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_same_content_of_which_there_is_some() {
        let folder = tempfile::tempdir().unwrap();
        let check = |one: &[u8], other: &[u8], expect: bool| {
            let [one, other] = [("one", one), ("other", other)].map(|(name, content)| {
                let path = folder.path().join(name);
                fs::write(&path, content).unwrap();
                path
            });
            assert_eq!(is_copy(&one, &other), expect);
        };
        check(b"same", b"same", true);
        check(b"same", b"some", false);
        check(b"same", b"same\n", false);
        check(b"", b"", false);
        let long = vec![b'x'; 300_001];
        check(&long, &long, true);
        let mut other = long.clone();
        other[300_000] = b'y';
        check(&long, &other, false);
        assert!(!is_copy(folder.path(), folder.path()));
        assert!(!is_copy(
            &folder.path().join("one"),
            &folder.path().join("none")
        ));
    }
}
