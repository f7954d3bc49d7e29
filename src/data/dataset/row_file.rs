//! `RowFile`: rows that stay on disk and are read again on demand.
//!
//! A dataset too large for memory is scanned once. For each row only its position and a hash are stored; the hash
//! detects a changed file.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value};

use super::literal::{self, Written};
use super::row::Place;
use super::{Field, jsonl};
use crate::data::Sample;
use crate::error::{Error, Result};
use crate::system::file::spill::RowSpan;
use crate::system::lock;

/// A file whose rows are read on demand.
pub(crate) struct RowFile {
    /// The path, for errors.
    path: PathBuf,
    file: Arc<Mutex<File>>,
    read: Box<ReadRow>,
    rows: Vec<FileRow>,
    hashes: RandomState,
}

/// Parses the text of the row at a position.
pub(super) type ReadRow = dyn Fn(Place<'_>, &str) -> Result<Map<String, Value>> + Send + Sync;

/// A row.
struct FileRow {
    span: RowSpan,
    /// From 1; 0 in a file without lines.
    line: u64,
    hash: u64,
}

impl RowFile {
    /// A file whose rows are to be added; each row is a JSON object.
    pub(super) fn new(path: &Path, file: File) -> Self {
        Self {
            path: path.to_owned(),
            file: Arc::new(Mutex::new(file)),
            read: Box::new(|place, text| jsonl::fields(place.path, place.line.unwrap_or(0), text)),
            rows: Vec::new(),
            hashes: RandomState::new(),
        }
    }

    /// Sets the parser of rows.
    pub(super) fn read_by(self, read: Box<ReadRow>) -> Self {
        Self { read, ..self }
    }

    /// A reader starting at an offset, independent of other readers.
    pub(super) fn reader(&self, at: u64) -> impl Read + use<> {
        FileReader {
            file: Arc::clone(&self.file),
            at,
        }
    }

    /// Reads `length` bytes at an offset.
    pub(super) fn bytes(&self, start: u64, length: usize) -> io::Result<Vec<u8>> {
        RowSpan { start, length }.read(&mut lock(&self.file))
    }

    /// Adds the next row: its offset, its line (`None` in a file without lines) and its text.
    pub(super) fn add(&mut self, start: u64, line: Option<u64>, text: &[u8]) {
        let length = text.len();
        self.rows.push(FileRow {
            span: RowSpan { start, length },
            line: line.unwrap_or(0),
            hash: self.hashes.hash_one(text),
        });
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Size of a row in bytes.
    pub(super) fn size(&self, row: usize) -> usize {
        self.rows[row].span.length
    }

    /// Position of a row, for errors.
    pub(crate) fn place(&self, row: usize) -> Place<'_> {
        let line = self.rows.get(row).map(|row| row.line);
        Place {
            path: &self.path,
            line: line.filter(|line| *line > 0),
            index: row,
        }
    }

    /// Reads the text of a row again.
    ///
    /// # Errors
    /// If the row changed.
    pub(crate) fn text(&self, row: usize) -> Result<String> {
        let FileRow { span, hash, .. } = self.rows[row];
        let bytes = match span.read(&mut lock(&self.file)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(self.changed(row));
            }
            Err(error) => {
                return Err(
                    Error::infrastructure(format!("cannot be read: {error}")).at(self.place(row))
                );
            }
        };
        if self.hashes.hash_one(bytes.as_slice()) != hash {
            return Err(self.changed(row));
        }
        String::from_utf8(bytes).map_err(|_| self.changed(row))
    }

    /// Reads the columns of a row again.
    pub(super) fn fields(&self, row: usize) -> Result<Map<String, Value>> {
        self.written_fields(row, &[])
    }

    /// The same with numbers as they are written in these columns.
    pub(super) fn written_fields(
        &self,
        row: usize,
        columns: &[(Field, Written)],
    ) -> Result<Map<String, Value>> {
        let text = self.text(row)?;
        let mut fields = (self.read)(self.place(row), &text)?;
        literal::keep(&mut fields, &text, columns);
        Ok(fields)
    }

    fn changed(&self, row: usize) -> Error {
        Error::infrastructure("the row is no longer what it was when the dataset was read")
            .at(self.place(row))
            .hint("leave the dataset alone while it is read, and start again")
    }
}

/// Reads a file handle shared with other readers.
struct FileReader {
    file: Arc<Mutex<File>>,
    at: u64,
}

impl Read for FileReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut file = lock(&self.file);
        file.seek(SeekFrom::Start(self.at))?;
        let length = file.read(bytes)?;
        self.at += length as u64;
        Ok(length)
    }
}

/// The row from which a sample can be built again.
#[derive(Clone)]
pub struct SamplePlace {
    file: Arc<dyn Fn(usize) -> Result<Sample> + Send + Sync>,
    row: usize,
}

/// Takes samples one by one, with the row they come from if it can be read again.
pub(crate) type TakePlaced<'a> = dyn FnMut(Sample, Option<SamplePlace>) -> Result<()> + 'a;

impl SamplePlace {
    /// The place of a row; `file` builds samples from its rows.
    pub(crate) fn new(
        file: &Arc<dyn Fn(usize) -> Result<Sample> + Send + Sync>,
        row: usize,
    ) -> Self {
        Self {
            file: Arc::clone(file),
            row,
        }
    }

    /// Builds the sample again.
    ///
    /// # Errors
    /// If its row changed.
    pub(crate) fn sample(&self) -> Result<Sample> {
        (self.file)(self.row)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Table;
    use super::super::tests::file;
    use super::*;

    /// The samples of a file with their places; the column `id` is the id, and the others are metadata.
    fn placed(path: &Path) -> Vec<(Sample, SamplePlace)> {
        let table = Table::read_above(path, 0).unwrap();
        let make = |mut fields: Map<String, Value>, _: usize| {
            let id = fields.remove("id").unwrap_or_default();
            let mut sample = Sample::new(id.to_string(), "?");
            sample.metadata = fields;
            Ok(sample)
        };
        let mut samples = Vec::new();
        let take = &mut |sample, place: Option<SamplePlace>| {
            samples.push((sample, place.expect("a place")));
            Ok(())
        };
        table.each_sample(make, take).unwrap();
        samples
    }

    #[test]
    fn a_row_that_changes_is_named_and_never_taken_for_the_one_it_was() {
        let check = |name: &str, text: &str, to: &str, expect: &str| {
            let (_folder, path) = file(name, text);
            let samples = placed(&path);
            let again = |row: usize| samples[row].1.sample();
            for (row, (sample, _)) in samples.iter().enumerate() {
                assert_eq!(format!("{sample:?}"), format!("{:?}", again(row).unwrap()));
            }
            // Modify the file in place: replacing it would leave the open file unchanged.
            let changed = text.replace("two", to);
            fs::write(&path, changed).unwrap();
            assert!(again(0).is_ok());
            let error = again(1).unwrap_err();
            let place = format!("{}{expect}", path.display());
            assert!(error.message().starts_with(&place), "{error}");
            assert_eq!(error.exit(), crate::Exit::Infrastructure);
            fs::write(&path, "").unwrap();
            assert!(again(0).unwrap_err().message().contains("no longer"));
        };
        let jsonl = "{\"id\":1,\"q\":\"one\"}\n\n{\"id\":2,\"q\":\"two\"}\n";
        let row = "the row is no longer what it was when the dataset was read";
        check("a.jsonl", jsonl, "TWO", &format!(":3: {row}"));
        check("a.jsonl", jsonl, "\u{e9}", &format!(":3: {row}"));
        check("a.json", jsonl, "other", &format!(":3: element 2: {row}"));
        let csv = "id,q\n1,one\n2,\"two\"\n";
        check("a.csv", csv, "2wo", &format!(":3: {row}"));
        check("a.csv", csv, "\"\"o", &format!(":3: {row}"));
    }
}
