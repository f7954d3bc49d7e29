//! Files: atomic writes, hashes, and resolution of paths.

pub(crate) mod alongside;
pub(crate) mod lines;
pub(crate) mod remove;
pub(crate) mod spill;

use std::fs::Permissions;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io};

use rustix::fs::OFlags;
use tempfile::{Builder, TempDir};

use crate::error::{Error, Result};
use crate::system::process::is_dead;
use crate::text::hash::{Hasher, LineHasher};

/// Creates the folder of runs, with a `.gitignore`.
pub(crate) fn make_root(root: &Path) -> Result<()> {
    // A non-empty folder belongs to the user and must stay visible to git.
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

/// Writes a file atomically.
pub(crate) fn write_atomically(path: &Path, content: &[u8]) -> Result<()> {
    write_atomically_by(path, |out| out.write_all(content))
}

/// The same for content written in pieces.
pub fn write_atomically_by(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let mut file = NewFile::for_path(path)?;
    write(&mut file).map_err(|error| Error::io("write", path, &error))?;
    file.put(path)
}

/// A temporary file next to its destination, renamed when it is complete. Removed if dropped before.
#[derive(Debug)]
pub struct NewFile {
    file: BufWriter<fs::File>,
    /// `NAME.PROCESS.NUMBER.tmp`, created exclusively by this process.
    temporary: PathBuf,
    is_put: bool,
}

impl NewFile {
    /// Creates an empty file next to `path`.
    ///
    /// # Errors
    /// If the folder does not exist or is not writable.
    pub fn for_path(path: &Path) -> Result<Self> {
        static WRITES: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = WRITES.fetch_add(1, Ordering::Relaxed);
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(format!(".{}.{number}.tmp", std::process::id()));
            let temporary = path.with_file_name(name);
            match fs::File::create_new(&temporary) {
                // Left by a process with the same id.
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

    /// Moves the file to its destination, replacing an existing one.
    ///
    /// # Errors
    /// If it cannot be written completely or renamed.
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

/// Whether a file name has the suffix of a [`NewFile`].
pub(crate) fn is_temporary(end: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = end
        .strip_prefix('.')
        .and_then(|end| end.strip_suffix(".tmp"));
    let numbers = numbers.and_then(|numbers| numbers.split_once('.'));
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// The name of the file that a process was writing when it was killed, if this is the name of its [`NewFile`].
pub(crate) fn abandoned(name: &str) -> Option<&str> {
    let (rest, _) = name.strip_suffix(".tmp")?.rsplit_once('.')?;
    let (rest, process) = rest.rsplit_once('.')?;
    (is_temporary(&name[rest.len()..]) && is_dead(process)).then_some(rest)
}

/// Creates or truncates a file, unless the path is a link, a pipe or similar.
pub(crate) fn create_plain(path: &Path) -> io::Result<fs::File> {
    match fs::symlink_metadata(path) {
        Ok(about) if !about.is_file() => Err(not_a_file()),
        _ => fs::File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path),
    }
}

/// Removes [`NewFile`]s of `path` left by killed processes. No process may be writing `path`.
pub(crate) fn remove_unfinished(path: &Path) {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return;
    };
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_unfinished = |entry: &fs::DirEntry| {
        let other = entry.file_name();
        let end = other.as_encoded_bytes().strip_prefix(name);
        let end = end.and_then(|end| str::from_utf8(end).ok());
        end.is_some_and(is_temporary) && entry.file_type().is_ok_and(|it| it.is_file())
    };
    for entry in entries.flatten().filter(is_unfinished) {
        // Leftover files do no harm.
        let _ = fs::remove_file(entry.path());
    }
}

/// Makes `path` absolute without resolving symbolic links.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(|error| Error::io("resolve", path, &error))?;
    Ok(tidy(&path))
}

/// The relative path from a folder to a file.
pub(crate) fn between(folder: &Path, file: &Path) -> Result<PathBuf> {
    let (folder, file) = (absolute(folder)?, absolute(file)?);
    let same = folder.components().zip(file.components());
    let same = same.take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(same).map(|_| Component::ParentDir);
    Ok(up.chain(file.components().skip(same)).collect())
}

/// Removes `.`, and `..` unless it follows a symbolic link: `evals/../data/x.csv` becomes `data/x.csv`.
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

/// Opens a file written by evaltest or its user. Pipes and devices are errors, because they could block or never end.
pub(crate) fn open_plain(path: &Path) -> io::Result<fs::File> {
    Ok(opened_plain(path)?.0)
}

/// Reads such a file.
pub(crate) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    let (file, length) = opened_plain(path)?;
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(usize::try_from(length).map_or(0, |length| length.saturating_add(1)))?;
    // `File::read_to_end` would look up the length and the position again.
    file.take(u64::MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens such a file and returns its length, too. Checks the open file: a look-up of its path before took a twentieth of a
/// test run with ten thousand snapshots.
fn opened_plain(path: &Path) -> io::Result<(fs::File, u64)> {
    // Otherwise opening a pipe may block.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let options = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .clone();
    let file = options.open(path)?;
    let about = file.metadata()?;
    if about.is_file() {
        Ok((file, about.len()))
    } else {
        Err(not_a_file())
    }
}

fn not_a_file() -> io::Error {
    io::Error::other("it is not a file")
}

/// The same for a file given on the command line, which may be a pipe from a shell's `<(…)`, because that ends.
pub(crate) fn read_given(path: &Path) -> io::Result<Vec<u8>> {
    let is_handed = ["/dev/fd", "/dev/stdin", "/proc"];
    if !is_handed.iter().any(|start| path.starts_with(start)) {
        refuse_other(path)?;
    }
    fs::read(path)
}

/// Returns an error if the path exists and is not a regular file.
pub(crate) fn refuse_other(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(about) if !about.is_file() => Err(not_a_file()),
        // Opening it will report the error.
        _ => Ok(()),
    }
}

/// SHA-256 of a file's content.
pub(crate) fn hash(path: &Path) -> io::Result<String> {
    let mut hasher = Hasher::default();
    read(path, |bytes| hasher.bytes(bytes))?;
    Ok(hasher.hex())
}

/// The length and the CRC-32 of a file's content, against changes by accident: one in four billion is missed.
pub(crate) fn checksum(path: &Path) -> io::Result<(u64, u32)> {
    let mut sum = crc32fast::Hasher::new();
    let mut length = 0;
    read(path, |bytes| {
        sum.update(bytes);
        length += bytes.len() as u64;
    })?;
    Ok((length, sum.finalize()))
}

/// SHA-256 of a file's content unchanged, and with normalised line ends if it is a text.
pub(crate) fn hashes(path: &Path) -> io::Result<[String; 2]> {
    /// Git considers a file binary if its first bytes, this many, contain a zero.
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

/// Creates a symbolic link `at` a path, pointing to the relative path `to`.
#[cfg(feature = "http")]
pub(crate) fn symlink(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

/// Whether two paths are the same file, such as a hard link.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let file = |path: &Path| {
        let data = path.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((data.dev(), data.ino()))
    };
    one == other || file(one).is_some_and(|one| file(other) == Some(one))
}

/// Whether two files have the same non-empty content. They are only read if they have the same length.
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

/// Whether a path has only plain components, so that it stays inside a folder it is joined to.
pub(crate) fn is_inside(path: &Path) -> bool {
    path.components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Whether a path currently refers to this open file or folder.
pub(crate) fn is_at(file: &fs::File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let of = |about: fs::Metadata| (about.dev(), about.ino());
    let there = path.metadata().ok().map(of);
    there.is_some() && file.metadata().ok().map(of) == there
}

/// Whether an open file still has a name in a folder.
pub(crate) fn has_name(file: &fs::File) -> bool {
    use std::os::unix::fs::MetadataExt;

    file.metadata().is_ok_and(|about| about.nlink() > 0)
}

// A temporary folder that is removed after use. Its name has the process id, so that the watchdog finds it if the
// program is killed, and a random part.

/// The folder, created exclusively and removed on drop.
#[derive(Debug)]
pub(crate) struct TemporaryFolder(TempDir);

impl TemporaryFolder {
    pub(crate) fn new() -> io::Result<Self> {
        let prefix = format!("evaltest-{}-", std::process::id());
        // A sandbox may use another user, who needs access.
        let open = Permissions::from_mode(0o755);
        let mut folder = Builder::new();
        Ok(Self(folder.prefix(&prefix).permissions(open).tempdir()?))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_process_left_has_the_name_of_its_file() {
        let own = format!("a.snap.{}.0.tmp", std::process::id());
        for (name, expect) in [
            // No process has so large an id.
            ("a.snap.2000000000.0.tmp", Some("a.snap")),
            (&*own, None),
            ("a.snap.tmp", None),
            ("a.snap.0.1.tmp", None),
            ("2000000000.0.tmp", None),
            ("a.x.0.tmp", None),
            ("a.2000000000.0.snap", None),
        ] {
            assert_eq!(abandoned(name), expect, "{name}");
        }
    }

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

#[cfg(test)]
mod temporary_folder_tests {
    use super::*;

    #[test]
    fn what_stands_there_under_the_next_name_is_in_nobodys_way() {
        let prefix = format!("evaltest-{}-", std::process::id());
        let stale: Vec<_> = (0..64)
            .map(|number| std::env::temp_dir().join(format!("{prefix}{number}")))
            .filter(|path| std::fs::create_dir(path).is_ok())
            .collect();
        let made = TemporaryFolder::new();
        for path in stale {
            std::fs::remove_dir(path).unwrap();
        }
        let made = made.unwrap();
        let name = made.path().file_name().unwrap().to_str().unwrap();
        // The prefix that the watchdog looks for.
        assert!(name.starts_with(&prefix), "{name}");
        let path = made.path().to_owned();
        assert!(path.is_dir());
        drop(made);
        assert!(!path.exists());
    }
}
