//! Spills rows that need too much memory to an unnamed temporary file, and sorts them there.
//!
//! [`SpillFile`] returns rows by their position, [`SpilledRows`] in insertion order, [`SortedRows`] sorted by key. A few
//! rows of the last two stay in memory without using the disk. A file disappears with its last handle, even if the
//! program is killed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::mem;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::error::{Error, Result, remedy};

/// Bytes buffered before writing.
const HELD: usize = 1 << 18;

/// Bytes sorted in memory at once, including the offsets of rows.
const SORTED: usize = 1 << 21;

/// Bytes per read.
const BUFFER: usize = 1 << 14;

/// Maximum number of files merged at once, because a process may open only a limited number.
const MERGED: usize = 64;

/// The position of a row in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSpan {
    pub(crate) start: u64,
    pub(crate) length: usize,
}

impl RowSpan {
    /// Reads the row.
    pub(crate) fn read(self, file: &mut File) -> io::Result<Vec<u8>> {
        file.seek(SeekFrom::Start(self.start))?;
        // A damaged length must not cause a huge allocation.
        let mut row = Vec::new();
        let length = self.length as u64;
        Read::by_ref(file).take(length).read_to_end(&mut row)?;
        if row.len() < self.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(row)
    }
}

/// An open file for several readers.
#[derive(Clone)]
pub(crate) struct SharedFile(Arc<File>);

impl SharedFile {
    pub(crate) fn new(file: File) -> Self {
        Self(Arc::new(file))
    }

    /// A reader starting at an offset, independent of other readers.
    pub(crate) fn reader(&self, at: u64) -> impl Read + use<> {
        FileReader {
            file: self.clone(),
            at,
        }
    }

    /// Reads the bytes at a position.
    pub(crate) fn bytes(&self, RowSpan { start, length }: RowSpan) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.0.read_exact_at(&mut bytes, start)?;
        Ok(bytes)
    }
}

/// Reads a file from an offset on.
struct FileReader {
    file: SharedFile,
    at: u64,
}

impl Read for FileReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let length = self.file.0.read_at(bytes, self.at)?;
        self.at += length as u64;
        Ok(length)
    }
}

/// A file while rows are appended to it.
#[cfg(any(feature = "inspect", feature = "parquet"))]
#[derive(Debug)]
pub(crate) struct SpillFile {
    file: io::BufWriter<File>,
    length: u64,
}

#[cfg(any(feature = "inspect", feature = "parquet"))]
impl SpillFile {
    pub(crate) fn new() -> Result<Self> {
        let file = tempfile::tempfile().map_err(|error| failed(&error))?;
        Ok(Self {
            file: io::BufWriter::with_capacity(HELD, file),
            length: 0,
        })
    }

    /// Appends a row.
    pub(crate) fn push(&mut self, row: &[u8]) -> Result<RowSpan> {
        self.file.write_all(row).map_err(|error| failed(&error))?;
        let (start, length) = (self.length, row.len());
        self.length += length as u64;
        Ok(RowSpan { start, length })
    }

    /// Another handle, to read rows from once the file is finished.
    pub(crate) fn handle(&self) -> Result<File> {
        let file = self.file.get_ref().try_clone();
        file.map_err(|error| failed(&error))
    }

    /// The whole file, to read rows from.
    pub(crate) fn finish(self) -> Result<File> {
        let file = self.file.into_inner();
        file.map_err(|error| failed(error.error()))
    }
}

/// Rows of bytes in insertion order.
#[derive(Debug, Default)]
pub(crate) struct SpilledRows {
    held: Vec<u8>,
    file: Option<File>,
}

/// Iterates over the rows of a [`SpilledRows`].
pub(crate) struct SpilledRowsReader<'a> {
    bytes: BufReader<Box<dyn Read + 'a>>,
}

impl SpilledRows {
    /// Adds a row, concatenated from `parts`.
    pub(crate) fn push(&mut self, parts: &[&[u8]]) -> Result<()> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let head = u32::try_from(length);
        let head = head.map_err(|_| Error::infrastructure("a row of 4 GiB cannot be kept"))?;
        self.held.extend_from_slice(&head.to_le_bytes());
        for part in parts {
            self.held.extend_from_slice(part);
        }
        if self.held.len() >= HELD {
            self.write_held().map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// Writes all buffered bytes to the file.
    fn put_away(mut self) -> Result<Self> {
        self.write_held().map_err(|error| failed(&error))?;
        self.held = Vec::new();
        Ok(self)
    }

    fn write_held(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.write_all(&self.held)?;
        self.held.clear();
        Ok(())
    }

    /// Iterates over the rows from the first. Only one reader at a time.
    pub(crate) fn rows(&self) -> Result<SpilledRowsReader<'_>> {
        let held = Cursor::new(&self.held);
        let bytes: Box<dyn Read + '_> = match &self.file {
            None => Box::new(held),
            Some(file) => {
                let rewound = file.try_clone().and_then(|mut file| {
                    file.seek(SeekFrom::Start(0))?;
                    Ok(file)
                });
                Box::new(rewound.map_err(|error| failed(&error))?.chain(held))
            }
        };
        Ok(SpilledRowsReader {
            bytes: BufReader::with_capacity(BUFFER, bytes),
        })
    }
}

impl SpilledRowsReader<'_> {
    /// Reads the next row into `row`; false after the last.
    pub(crate) fn next_into(&mut self, row: &mut Vec<u8>) -> Result<bool> {
        self.read_into(row).map_err(|error| failed(&error))
    }

    fn read_into(&mut self, row: &mut Vec<u8>) -> io::Result<bool> {
        row.clear();
        let mut head = [0; 4];
        match self.bytes.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            other => other?,
        }
        row.resize(u32::from_le_bytes(head) as usize, 0);
        self.bytes.read_exact(row)?;
        Ok(true)
    }
}

/// Rows sorted by key; rows with the same key in insertion order.
#[derive(Debug)]
pub(crate) struct SortedRows {
    /// Bytes sorted in memory at once.
    at_once: usize,
    /// Buffered keys and rows; `places` has the start of each key, and the start and end of its row.
    held: Vec<u8>,
    places: Vec<[usize; 3]>,
    sorted: Vec<SpilledRows>,
}

impl Default for SortedRows {
    fn default() -> Self {
        Self {
            at_once: SORTED,
            held: Vec::new(),
            places: Vec::new(),
            sorted: Vec::new(),
        }
    }
}

impl SortedRows {
    /// Adds a row, concatenated from `parts`.
    pub(crate) fn push(&mut self, key: &[u8], parts: &[&[u8]]) -> Result<()> {
        let begin = self.held.len();
        self.held.extend_from_slice(key);
        let row = self.held.len();
        for part in parts {
            self.held.extend_from_slice(part);
        }
        self.places.push([begin, row, self.held.len()]);
        if self.held.len() + size_of_val(&*self.places) < self.at_once {
            return Ok(());
        }
        let sorted = self.sort_held()?.put_away()?;
        self.sorted.push(sorted);
        if self.sorted.len() == MERGED {
            let parts = mem::take(&mut self.sorted);
            let mut whole = SpilledRows::default();
            let mut merged = MergedRows::of(&parts)?;
            while let Some(next) = merged.next_row()? {
                whole.push(&[&next.bytes])?;
            }
            self.sorted.push(whole.put_away()?);
        }
        Ok(())
    }

    /// Sorts the buffered rows and clears the buffer.
    fn sort_held(&mut self) -> Result<SpilledRows> {
        let held = &self.held;
        self.places
            .sort_by_key(|[begin, row, _]| &held[*begin..*row]);
        let mut sorted = SpilledRows::default();
        for [begin, row, end] in &self.places {
            let key = u32::try_from(row - begin).unwrap_or(u32::MAX);
            sorted.push(&[&key.to_le_bytes(), &held[*begin..*end]])?;
        }
        self.held.clear();
        self.places.clear();
        Ok(sorted)
    }

    /// Passes each key with its row to `see`.
    pub(crate) fn each(mut self, mut see: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        let mut sorted = self.merged()?;
        while let Some(next) = sorted.next_row()? {
            see(next.key(), next.row())?;
        }
        Ok(())
    }

    /// Iterates over the rows in ascending order of keys.
    pub(crate) fn merged(&mut self) -> Result<MergedRows<'_>> {
        if !self.places.is_empty() {
            let last = self.sort_held()?;
            self.sorted.push(last);
        }
        (self.held, self.places) = Default::default();
        MergedRows::of(&self.sorted)
    }
}

/// Merges the rows of a [`SortedRows`].
pub(crate) struct MergedRows<'a> {
    sorted: Vec<SpilledRowsReader<'a>>,
    /// The next row of each part.
    next: BinaryHeap<Reverse<KeyedRow>>,
    given: Option<KeyedRow>,
}

/// A key followed by its row.
#[derive(Debug, Default)]
pub(crate) struct KeyedRow {
    bytes: Vec<u8>,
    key: usize,
    source: usize,
}

impl KeyedRow {
    pub(crate) fn key(&self) -> &[u8] {
        &self.bytes[4..4 + self.key]
    }

    pub(crate) fn row(&self) -> &[u8] {
        &self.bytes[4 + self.key..]
    }
}

impl PartialEq for KeyedRow {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for KeyedRow {}

impl PartialOrd for KeyedRow {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for KeyedRow {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.key(), self.source).cmp(&(other.key(), other.source))
    }
}

impl<'a> MergedRows<'a> {
    /// Merges sorted parts; for equal keys the earlier part comes first.
    fn of(parts: &'a [SpilledRows]) -> Result<Self> {
        let mut merged = Self {
            sorted: Vec::new(),
            next: BinaryHeap::new(),
            given: None,
        };
        for part in parts {
            merged.sorted.push(part.rows()?);
            merged.read(KeyedRow {
                source: merged.sorted.len() - 1,
                ..KeyedRow::default()
            })?;
        }
        Ok(merged)
    }

    /// Reads the next row of a part, reusing a buffer.
    fn read(&mut self, mut room: KeyedRow) -> Result<()> {
        if self.sorted[room.source].next_into(&mut room.bytes)? {
            let head = room.bytes.first_chunk::<4>().copied().unwrap_or_default();
            room.key = u32::from_le_bytes(head) as usize;
            self.next.push(Reverse(room));
        }
        Ok(())
    }

    /// The remaining row with the smallest key; valid until the next call.
    pub(crate) fn next_row(&mut self) -> Result<Option<&KeyedRow>> {
        if let Some(given) = self.given.take() {
            self.read(given)?;
        }
        self.given = self.next.pop().map(|Reverse(row)| row);
        Ok(self.given.as_ref())
    }

    /// The row returned last.
    pub(crate) fn given(&self) -> Option<&KeyedRow> {
        self.given.as_ref()
    }
}

fn failed(error: &io::Error) -> Error {
    let folder = std::env::temp_dir();
    Error::infrastructure(format!(
        "cannot store rows in a temporary file in `{}`: {error}",
        folder.display()
    ))
    .hint(remedy(error).unwrap_or("name another folder with free space: TMPDIR=DIR"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_came_however_many_they_are() {
        for count in [0_u32, 3, 200_000] {
            let mut spill = SpilledRows::default();
            for number in 0..count {
                spill.push(&[b"row ", &number.to_le_bytes()]).unwrap();
            }
            assert_eq!(spill.file.is_some(), count > 3);
            // Twice, to test reading again.
            for _ in 0..2 {
                let (mut rows, mut row) = (spill.rows().unwrap(), Vec::new());
                for number in 0..count {
                    assert!(rows.next_into(&mut row).unwrap());
                    assert_eq!(row, [b"row ", &number.to_le_bytes()[..]].concat());
                }
                assert!(!rows.next_into(&mut row).unwrap());
            }
        }
    }

    #[test]
    fn sorted_rows_come_in_the_order_of_their_keys() {
        // In memory, in a few files, and in more files than are merged at once.
        for (count, at_once) in [
            (0_u32, SORTED),
            (5, SORTED),
            (300_000, SORTED),
            (20_000, 4_096),
        ] {
            let mut spill = SortedRows {
                at_once,
                ..SortedRows::default()
            };
            for number in 0..count {
                // Each key occurs twice, in shuffled order.
                let key = number.wrapping_mul(7_919) % count.div_ceil(2);
                let row = number.to_le_bytes();
                spill.push(&key.to_be_bytes(), &[&row, &[7; 12]]).unwrap();
            }
            assert_eq!(spill.sorted.is_empty(), count <= 5);
            assert!(spill.sorted.len() < MERGED);
            let (mut seen, mut last) = (0, (Vec::new(), 0));
            spill
                .each(|key, row| {
                    seen += 1;
                    let number = u32::from_le_bytes(*row.first_chunk().unwrap());
                    let next = (key.to_vec(), number);
                    assert!(seen == 1 || last < next, "{last:?} {next:?}");
                    assert_eq!(row[4..], [7; 12]);
                    last = next;
                    Ok(())
                })
                .unwrap();
            assert_eq!(seen, count);
        }
    }
}
