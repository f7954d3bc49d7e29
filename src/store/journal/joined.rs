//! `JoinedJournal`: joins the journals of several runs into one.
//!
//! Lines are copied unchanged except for index and seal, without parsing: the checksum proves that they are as written.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::lines::each_by;
use super::sealed::{JournalNumber, Unsealed, seal};
use super::{StoredEvent, Unnumbered};
use crate::error::{Error, Result, remedy};
use crate::system::file::open_plain;
use crate::text::hash::Hasher;

/// Bytes per write.
const BUFFER: usize = 1 << 17;

/// Joins journals into one.
pub(crate) struct JoinedJournal {
    path: PathBuf,
    file: BufWriter<File>,
    journal: JournalNumber,
    next_index: u64,
    hash: Hasher,
    /// A reused line buffer.
    line: Vec<u8>,
}

/// The result of adding a journal.
#[derive(Debug)]
pub(crate) struct JoinedPart {
    /// The SHA-256 of the whole file.
    pub(crate) hash: String,
    /// How many damaged lines were left out.
    pub(crate) skipped: usize,
}

impl JoinedJournal {
    /// Creates the empty journal of a run and locks it like a running one.
    pub(crate) fn create(path: &Path, run_id: &str) -> Result<Self> {
        let file = OpenOptions::new().create_new(true).append(true).open(path);
        let file = file.map_err(|error| Error::io("create", path, &error))?;
        // Some file systems have no locks.
        let _ = file.try_lock();
        Ok(Self {
            path: path.to_owned(),
            file: BufWriter::with_capacity(BUFFER, file),
            journal: JournalNumber::of(run_id),
            next_index: 0,
            hash: Hasher::default(),
            line: Vec::new(),
        })
    }

    /// Adds the lines of a journal.
    ///
    /// # Errors
    /// When it cannot be read or this one cannot be written.
    pub(crate) fn add(&mut self, path: &Path) -> Result<JoinedPart> {
        let file = open_plain(path).map_err(|error| Error::io("read", path, &error))?;
        let mut hash = Hasher::default();
        let pass = |line: &[u8]| hash.bytes(line);
        let read = each_by(file, pass, numbered, &mut |_, place: Range<usize>, text| {
            self.copy(text, place)
        });
        let read = read.map_err(|broken| broken.at(path))?;
        Ok(JoinedPart {
            // A torn line is not part of it.
            hash: if read.is_torn {
                String::new()
            } else {
                hash.hex()
            },
            skipped: read.skipped.len(),
        })
    }

    /// Adds a line whose index has its digits at `place`.
    fn copy(&mut self, text: &[u8], place: Range<usize>) -> Result<()> {
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        line.extend_from_slice(&text[..place.start]);
        // Writing to memory cannot fail.
        let _ = write!(line, "{}", self.next_index);
        line.extend_from_slice(&text[place.end..]);
        line.push(b'\n');
        let line = seal(line, self.journal);
        self.next_index += 1;
        self.hash.bytes(&line);
        let written = self.file.write_all(&line);
        self.line = line;
        written.map_err(|error| self.failed(&error))
    }

    /// Syncs the file and returns its SHA-256.
    pub(crate) fn finish(mut self) -> Result<String> {
        let written = self.file.flush();
        let synced = written.and_then(|()| self.file.get_ref().sync_data());
        synced.map_err(|error| self.failed(&error))?;
        Ok(self.hash.hex())
    }

    fn failed(&self, error: &std::io::Error) -> Error {
        let path = self.path.display();
        Error::infrastructure(format!("cannot write `{path}`: {error}"))
            .hint(remedy(error).unwrap_or("free some space, then merge again"))
    }
}

/// The index of an event, and the position of its digits in the line.
fn numbered(line: &Unsealed<'_>) -> Option<(u64, Range<usize>)> {
    let text = &*line.text;
    if line.journal.is_some()
        && let Some(found) = written(text)
    {
        return Some(found);
    }
    // A line of an older version has no checksum: only check that it is an event.
    let event: StoredEvent = serde_json::from_slice(text).ok()?;
    let place = Unnumbered::copy(std::str::from_utf8(text).ok()?)?.place;
    Some((event.event_index, place))
}

/// The same for a line as evaltest writes it, without parsing the rest.
fn written(text: &[u8]) -> Option<(u64, Range<usize>)> {
    /// What follows the id.
    const KEY: &[u8] = br#"","event_index":"#;
    let id = text.strip_prefix(br#"{"sample_id":""#)?;
    let end = id.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    let rest = id[end..].strip_prefix(KEY)?;
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let index = std::str::from_utf8(&rest[..count]).ok()?.parse().ok()?;
    let start = text.len() - rest.len();
    Some((index, start..start + count))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::{EventLog, Kind, each};
    use super::*;

    fn journal(folder: &Path, name: &str, ids: &[&str]) -> PathBuf {
        let path = folder.join(name);
        let (log, _) = EventLog::open(&path, &mut |_| Ok(())).unwrap();
        for id in ids {
            log.append(&StoredEvent::new(id, 0, 1, Kind::Started))
                .unwrap();
        }
        path
    }

    fn ids(path: &Path) -> Vec<(String, u64)> {
        let mut ids = Vec::new();
        each(path, &mut |line| {
            ids.push((line.event.sample_id.clone(), line.event.event_index));
            Ok(())
        })
        .unwrap();
        ids
    }

    #[test]
    fn the_lines_of_all_of_them_are_there_under_new_indexes() {
        let folder = tempfile::tempdir().unwrap();
        let one = journal(folder.path(), "one", &["a", "quoted \" and \\", "ü"]);
        let other = journal(folder.path(), "other", &["b"; 12]);
        let lines = fs::read_to_string(&other).unwrap();
        // One line is damaged, one is duplicate.
        let first = lines.lines().next().unwrap();
        let damaged = lines.replacen("\"attempt\":1", "\"attempt\":7", 1) + first;
        let damaged = damaged.replacen('\n', &format!("\n{}\n", lines.lines().nth(1).unwrap()), 1);
        fs::write(&other, damaged + "\n").unwrap();
        let path = folder.path().join("joined");
        let mut joined = JoinedJournal::create(&path, "e-1").unwrap();
        let found = joined.add(&one).unwrap();
        let hash = |path: &Path| crate::system::file::hash(path).unwrap();
        assert_eq!((found.skipped, found.hash), (0, hash(&one)));
        assert_eq!(joined.add(&other).unwrap().skipped, 2);
        assert!(super::super::is_held(&path));
        assert_eq!(joined.finish().unwrap(), hash(&path));
        let read = ids(&path);
        let indexes: Vec<u64> = read.iter().map(|(_, index)| *index).collect();
        assert_eq!(indexes, (0..15).collect::<Vec<u64>>());
        assert_eq!(read[1].0, "quoted \" and \\");
        assert_eq!(read[2].0, "ü");
        let again = folder.path().join("again");
        let mut joined = JoinedJournal::create(&again, "e-1").unwrap();
        for path in [&one, &other] {
            joined.add(path).unwrap();
        }
        joined.finish().unwrap();
        assert_eq!(fs::read(&again).unwrap(), fs::read(&path).unwrap());
    }
}
