//! An index of the lines of a large `samples.jsonl` or `events.jsonl`: those of one sample are read by their places, and
//! each is checked alone instead of the whole file.
//!
//! A run of a million samples leaves gigabytes. A small file is read whole and has no index; nor has one of an older
//! version. The index is binary: [`MAGIC`], for each line of the file its [`Entry`], then the SHA-256 of the file and a
//! CRC-32 of all that. If it does not match the file, the file is read whole, as without an index.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use tempfile::TempPath;

use crate::system::file::lines::PlacedLines;
use crate::system::file::{create_plain, open_plain};

/// The first bytes; the last digit is the version.
const MAGIC: &[u8] = b"evaltest lines 1";
/// Bytes of the entry of a line.
const ENTRY: usize = 12;
/// Bytes of entries below which no index is written: some five thousand lines.
const SMALL: usize = 1 << 16;
/// Bytes per read or write.
const BUFFER: usize = 1 << 16;
/// The beginning of a line of a sample.
const START: &[u8] = br#"{"sample_id":""#;

/// The entry of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// The CRC-32 of the sample's id, as it is written in the line.
    id: u32,
    /// Bytes with the line break.
    length: u32,
    /// The CRC-32 of these.
    sum: u32,
}

impl Entry {
    /// The entry of a line with its break; `None` if it does not begin with an id.
    fn of(line: &[u8]) -> Option<Self> {
        let id = id_of(line)?;
        Some(Self {
            id: crc32fast::hash(id),
            length: u32::try_from(line.len()).ok()?,
            sum: crc32fast::hash(line),
        })
    }

    fn bytes(self) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        let numbers = [self.id, self.length, self.sum];
        for (bytes, number) in bytes.chunks_exact_mut(4).zip(numbers) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    fn read(bytes: &[u8; ENTRY]) -> Self {
        let (numbers, _) = bytes.as_chunks::<4>();
        let [id, length, sum] = [0, 1, 2].map(|place| u32::from_le_bytes(numbers[place]));
        Self { id, length, sum }
    }
}

/// The id that a line begins with, in its escapes.
fn id_of(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(START)?;
    let mut is_escaped = false;
    let end = rest.iter().position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    Some(&rest[..end?])
}

/// Where the index of a file is.
fn index_of(path: &Path) -> PathBuf {
    path.with_extension("index")
}

/// Writes the index of a file, line by line. A fault costs the index, and nothing else.
pub(super) struct LineIndexWriter {
    path: PathBuf,
    /// Entries that are in no file yet.
    entries: Vec<u8>,
    file: Option<IndexFile>,
    is_faulty: bool,
}

struct IndexFile {
    file: BufWriter<File>,
    temporary: TempPath,
    sum: Hasher,
}

impl IndexFile {
    fn create(path: &Path) -> io::Result<Self> {
        let temporary = path.with_extension("index.tmp");
        let file = create_plain(&temporary)?;
        let mut file = Self {
            file: BufWriter::with_capacity(BUFFER, file),
            temporary: TempPath::try_from_path(&temporary)?,
            sum: Hasher::new(),
        };
        file.write(MAGIC)?;
        Ok(file)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.file.write_all(bytes)
    }
}

impl LineIndexWriter {
    /// For the file at `path`. Nothing is written until that is large.
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: index_of(path),
            entries: Vec::new(),
            file: None,
            is_faulty: false,
        }
    }

    /// Adds the next line of the file, with its line break.
    pub(super) fn add(&mut self, line: &[u8]) {
        match Entry::of(line) {
            Some(entry) => self.entries.extend(entry.bytes()),
            None => self.give_up(),
        }
        if self.is_faulty {
            self.give_up();
        } else if self.entries.len() >= SMALL {
            self.is_faulty = self.spill().is_err();
        }
    }

    /// Writes none: a reader would leave out some of the lines.
    pub(super) fn give_up(&mut self) {
        self.is_faulty = true;
        self.entries = Vec::new();
    }

    fn spill(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(IndexFile::create(&self.path)?),
        };
        file.write(&self.entries)?;
        self.entries.clear();
        Ok(())
    }

    /// Writes the index of the file, which is complete and has this SHA-256.
    pub(super) fn finish(&mut self, hash: &str) {
        if self.file.is_some() && !self.is_faulty {
            let _ = self.write_end(hash);
        }
        self.file = None;
    }

    fn write_end(&mut self, hash: &str) -> io::Result<()> {
        self.spill()?;
        if let Some(mut index) = self.file.take() {
            index.write(hash.as_bytes())?;
            let sum = index.sum.clone().finalize();
            index.file.write_all(&sum.to_le_bytes())?;
            index.file.flush()?;
            index.temporary.persist(&self.path)?;
        }
        Ok(())
    }
}

/// The lines of a sample in the file at `path`, which has this SHA-256, without their breaks. `None` without an index of
/// just this file, and if any of the lines is not as it was written.
pub(super) fn lines_of(path: &Path, hash: &str, id: &str) -> Option<Vec<Vec<u8>>> {
    let id = serde_json::to_string(id).ok()?;
    let id = id.strip_prefix('"')?.strip_suffix('"')?.as_bytes();
    let mut file = open_plain(path).ok()?;
    let entries = entries(&index_of(path), hash)?;
    let wanted = crc32fast::hash(id);
    let (mut length, mut found) = (0, Vec::new());
    let (entries, _) = entries.as_chunks::<ENTRY>();
    for entry in entries.iter().map(Entry::read) {
        if entry.id == wanted {
            found.push((length, entry));
        }
        length += u64::from(entry.length);
    }
    if file.metadata().ok()?.len() != length {
        return None;
    }
    let mut placed = PlacedLines::new(&mut file, BUFFER);
    let mut lines = Vec::new();
    for (place, entry) in found {
        let mut line = placed.line(place).ok()?;
        line.push(b'\n');
        if Entry::of(&line) != Some(entry) {
            return None;
        }
        line.pop();
        // Two ids may have one CRC.
        if id_of(&line) == Some(id) {
            lines.push(line);
        }
    }
    Some(lines)
}

/// The entries of the index of a file with this SHA-256, if it is one.
fn entries(path: &Path, hash: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_plain(path).ok()?;
    BufReader::new(file).read_to_end(&mut bytes).ok()?;
    let (rest, sum) = bytes.split_last_chunk::<4>()?;
    if crc32fast::hash(rest).to_le_bytes() != *sum {
        return None;
    }
    let inner = rest.strip_prefix(MAGIC)?.strip_suffix(hash.as_bytes())?;
    let (start, length) = (MAGIC.len(), inner.len());
    bytes.truncate(start + length);
    bytes.drain(..start);
    bytes.len().is_multiple_of(ENTRY).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of two lines for each of many samples, in a folder, with its index.
    fn indexed(folder: &Path, samples: usize) -> PathBuf {
        let path = folder.join("events.jsonl");
        let mut index = LineIndexWriter::new(&path);
        let mut text = String::new();
        for number in (0..samples).chain(0..samples) {
            let line = format!(
                "{{\"sample_id\":\"q\\\"{number}\",\"at\":{}}}\n",
                text.len()
            );
            index.add(line.as_bytes());
            text += &line;
        }
        index.finish("5a");
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn lines_of_a_sample_are_found_and_each_is_checked() {
        let folder = tempfile::tempdir().unwrap();
        let path = indexed(folder.path(), 3000);
        let lines = |id: &str| lines_of(&path, "5a", id);
        let found = lines("q\"2999").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let all = text.lines().filter(|line| line.contains("2999\""));
        assert_eq!(
            found,
            all.map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>()
        );
        assert_eq!(lines("q\"3000"), Some(Vec::new()));
        assert_eq!(lines_of(&path, "5b", "q\"2999"), None);
        // Damage elsewhere is none of its lines; the length shows lines that are gone or were added.
        std::fs::write(&path, text.replacen("\"at\":0", "\"at\":1", 1)).unwrap();
        assert_eq!(lines("q\"2999").unwrap(), found);
        assert_eq!(lines("q\"0"), None);
        std::fs::write(&path, text.clone() + "\n").unwrap();
        assert_eq!(lines("q\"2999"), None);
        std::fs::write(&path, text).unwrap();
        let index = index_of(&path);
        let mut bytes = std::fs::read(&index).unwrap();
        bytes[100] ^= 1;
        std::fs::write(&index, &bytes).unwrap();
        assert_eq!(lines("q\"2999"), None);
    }

    #[test]
    fn a_small_file_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = indexed(folder.path(), 100);
        assert!(!index_of(&path).exists());
        let mut other = LineIndexWriter::new(&path);
        for _ in 0..9000 {
            other.add(b"{\"sample_id\":\"a\"}\n");
        }
        other.add(b"{\"id\":1}\n");
        other.finish("5a");
        drop(other);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
