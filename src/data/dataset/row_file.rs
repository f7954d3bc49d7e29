//! `RowFile`: rows that are parsed again on demand.
//!
//! A dataset too large for memory is scanned once, and stays in its file. For each row only its position and a hash are
//! stored; the hash detects a changed file.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::jsonl::LineSpan;
use super::literal::{self, Written};
use super::row::Place;
use super::{Field, jsonl};
use crate::data::Sample;
use crate::error::{Error, Result};
use crate::system::file::spill::{RowSpan, SharedFile};

/// A file whose rows are read on demand.
pub(crate) struct RowFile {
    /// The path, for errors.
    path: PathBuf,
    content: Content,
    /// Whether a row is a JSON object.
    pub(super) is_json: bool,
    read: Box<ReadRow>,
    rows: Vec<FileRow>,
}

/// Parses the text of the row at a position.
pub(super) type ReadRow = dyn Fn(Place<'_>, &str) -> Result<Map<String, Value>> + Send + Sync;

/// The bytes of a [`RowFile`].
enum Content {
    File(SharedFile),
    /// A whole file in memory.
    Text(String),
}

/// Up to so many bytes between rows are read together with the rows, however short those are.
const GAP: usize = 1 << 12;

/// The position of a row, and what it was when it was read first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileRow {
    pub(crate) start: u64,
    pub(crate) length: usize,
    /// From 1; 0 in a file without lines.
    pub(crate) line: u64,
    /// CRC-32 of its text, against changes by accident; 0 while that is in memory.
    pub(crate) hash: u32,
}

/// What is known of the rows of a file without reading them.
#[derive(Clone, Debug, Default)]
pub struct KnownRows {
    pub(crate) columns: Vec<String>,
    /// Notes on them for the user.
    pub(crate) notices: Vec<String>,
    /// All of them, in order.
    pub(crate) rows: Vec<FileRow>,
}

/// The bytes of consecutive rows of a file, and what is between them.
struct Texts<'a> {
    rows: &'a RowFile,
    start: u64,
    bytes: Vec<u8>,
}

impl Texts<'_> {
    /// The text of a row; `None` if it changed.
    fn text(&self, row: usize) -> Option<&str> {
        let FileRow { start, length, .. } = self.rows.rows[row];
        let start = usize::try_from(start.checked_sub(self.start)?).ok()?;
        let bytes = self.bytes.get(start..start + length)?;
        self.rows.check_hash(row, bytes).ok()?;
        std::str::from_utf8(bytes).ok()
    }
}

impl RowFile {
    /// A file whose rows are to be added; each row is a JSON object.
    pub(super) fn new(path: &Path, file: &SharedFile) -> Self {
        Self::of(path, Content::File(file.clone()), Vec::new())
    }

    /// A file of JSON objects that is in memory.
    pub(super) fn of_text(path: &Path, text: String, lines: &[LineSpan]) -> Self {
        let row = |line: &LineSpan| FileRow {
            start: line.start as u64,
            length: line.end - line.start,
            line: line.number,
            hash: 0,
        };
        Self::of(path, Content::Text(text), lines.iter().map(row).collect())
    }

    /// A file of JSON objects whose rows are known.
    pub(super) fn of_rows(path: &Path, file: File, rows: Vec<FileRow>) -> Self {
        Self::of(path, Content::File(SharedFile::new(file)), rows)
    }

    fn of(path: &Path, content: Content, rows: Vec<FileRow>) -> Self {
        Self {
            path: path.to_owned(),
            content,
            is_json: true,
            read: Box::new(|place, text| jsonl::fields(place.path, place.line.unwrap_or(0), text)),
            rows,
        }
    }

    /// Sets the parser of rows.
    pub(super) fn read_by(self, read: Box<ReadRow>) -> Self {
        Self {
            is_json: false,
            read,
            ..self
        }
    }

    /// Adds the next row: its offset, its line (`None` in a file without lines) and its text.
    pub(super) fn add(&mut self, start: u64, line: Option<u64>, text: &[u8]) {
        self.rows.push(FileRow {
            start,
            length: text.len(),
            line: line.unwrap_or(0),
            hash: crc32fast::hash(text),
        });
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Size of a row in bytes.
    pub(super) fn size(&self, row: usize) -> usize {
        self.rows[row].length
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

    /// Position and hash of a row.
    fn row(&self, row: usize) -> Result<FileRow> {
        let known = self.rows[row];
        let hash = match &self.content {
            Content::File(_) => known.hash,
            Content::Text(_) => crc32fast::hash(self.text(row)?.as_bytes()),
        };
        Ok(FileRow { hash, ..known })
    }

    /// Reads the text of a row again.
    ///
    /// # Errors
    /// If the row changed.
    pub(crate) fn text(&self, row: usize) -> Result<Cow<'_, str>> {
        let FileRow { start, length, .. } = self.rows[row];
        let file = match &self.content {
            Content::File(file) => file,
            Content::Text(text) => {
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                let text = text.get(start..start.saturating_add(length));
                return text.map(Cow::Borrowed).ok_or_else(|| self.changed(row));
            }
        };
        let bytes = match file.bytes(RowSpan { start, length }) {
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
        self.check_hash(row, &bytes)?;
        let text = String::from_utf8(bytes).map_err(|_| self.changed(row))?;
        Ok(Cow::Owned(text))
    }

    /// Checks that these are the bytes that the row had when it was read first.
    fn check_hash(&self, row: usize, bytes: &[u8]) -> Result<()> {
        if crc32fast::hash(bytes) == self.rows[row].hash {
            Ok(())
        } else {
            Err(self.changed(row))
        }
    }

    /// The texts of consecutive rows, read at once: one read for each row would take as long as parsing it.
    fn texts(&self, rows: Range<usize>) -> Option<Texts<'_>> {
        let (Content::File(file), Some(last)) = (&self.content, rows.clone().last()) else {
            return None;
        };
        let (first, last) = (self.rows[rows.start], self.rows[last]);
        let length = (last.start + last.length as u64).checked_sub(first.start)?;
        let length = usize::try_from(length).ok()?;
        let rows_alone: usize = rows.clone().map(|row| self.size(row)).sum();
        if length.saturating_sub(rows_alone) > rows_alone.max(GAP) {
            return None;
        }
        let span = RowSpan {
            start: first.start,
            length,
        };
        Some(Texts {
            rows: self,
            start: first.start,
            bytes: file.bytes(span).ok()?,
        })
    }

    /// Reads the columns of a row again.
    pub(super) fn fields(&self, row: usize) -> Result<Map<String, Value>> {
        (self.read)(self.place(row), &self.text(row)?)
    }

    fn changed(&self, row: usize) -> Error {
        Error::infrastructure("the row changed after the dataset was read")
            .at(self.place(row))
            .hint("do not change the dataset during a run, and start again")
    }
}

/// Makes a sample of a row and its index.
pub(super) type MakeSample = dyn Fn(Map<String, Value>, usize) -> Result<Sample> + Send + Sync;

/// A [`RowFile`] with the conversion of its rows to samples.
pub(super) struct SampleFile {
    pub(super) rows: RowFile,
    pub(super) make: Box<MakeSample>,
    /// Columns whose numbers are kept as they are written.
    pub(super) written: Vec<(Field, Written)>,
    /// What is read of a row before it is known whether it is asked, if not all.
    pub(super) key: Option<RowKey>,
}

/// The columns of the id and the slices of a row, which decide whether it is asked.
pub(crate) struct RowKey {
    pub(crate) columns: Vec<String>,
    /// Makes a sample with nothing else.
    pub(crate) make: Box<MakeSample>,
}

/// Rows of which samples can be built again.
pub(crate) trait PlacedRows: Send + Sync {
    /// Builds the sample of a row.
    ///
    /// # Errors
    /// If the row changed.
    fn sample(&self, row: usize) -> Result<Sample>;

    /// The row itself, to be found again by another process; `None` if its samples are no rows of one file.
    fn row(&self, row: usize) -> Option<FileRow> {
        let _ = row;
        None
    }
}

impl SampleFile {
    /// Builds the samples of consecutive rows; with a [`RowKey`], nothing else of them.
    pub(super) fn samples(&self, rows: Range<usize>) -> Vec<Result<Sample>> {
        let texts = self.rows.texts(rows.clone());
        let sample = |row| match texts.as_ref().and_then(|texts| texts.text(row)) {
            Some(text) => self.first(row, text),
            // It says what is wrong with this row.
            None => self.first(row, &self.rows.text(row)?),
        };
        rows.map(sample).collect()
    }

    fn first(&self, row: usize, text: &str) -> Result<Sample> {
        let key = self.key.as_ref();
        let few = key.and_then(|key| Some((key, jsonl::few_fields(text, &key.columns)?)));
        match few {
            Some((key, fields)) => {
                (key.make)(fields, row).map_err(|error| error.at(self.rows.place(row)))
            }
            None => self.sample_of(row, text),
        }
    }

    fn sample_of(&self, row: usize, text: &str) -> Result<Sample> {
        let place = self.rows.place(row);
        let mut fields = (self.rows.read)(place, text)?;
        literal::keep(&mut fields, text, &self.written);
        (self.make)(fields, row).map_err(|error| error.at(place))
    }
}

impl PlacedRows for SampleFile {
    fn sample(&self, row: usize) -> Result<Sample> {
        self.sample_of(row, &self.rows.text(row)?)
    }

    fn row(&self, row: usize) -> Option<FileRow> {
        self.rows.row(row).ok()
    }
}

impl<F: Fn(usize) -> Result<Sample> + Send + Sync> PlacedRows for F {
    fn sample(&self, row: usize) -> Result<Sample> {
        self(row)
    }
}

/// A file whose rows become samples on demand.
pub struct PlacedFile(pub(crate) Arc<dyn PlacedRows>);

/// The row from which a sample can be built again.
#[derive(Clone)]
pub struct SamplePlace {
    rows: Arc<dyn PlacedRows>,
    row: usize,
}

/// Takes samples one by one, with the row they come from if it can be read again.
pub(crate) type TakePlaced<'a> = dyn FnMut(Sample, Option<SamplePlace>) -> Result<()> + 'a;

impl SamplePlace {
    /// The place of a row.
    pub(crate) fn new(rows: &Arc<dyn PlacedRows>, row: usize) -> Self {
        Self {
            rows: Arc::clone(rows),
            row,
        }
    }

    /// Builds the sample again.
    ///
    /// # Errors
    /// If its row changed.
    pub(crate) fn sample(&self) -> Result<Sample> {
        self.rows.sample(self.row)
    }

    /// See [`PlacedRows::row`].
    pub(crate) fn row(&self) -> Option<FileRow> {
        self.rows.row(self.row)
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
            assert!(again(0).unwrap_err().message().contains("changed"));
        };
        let jsonl = "{\"id\":1,\"q\":\"one\"}\n\n{\"id\":2,\"q\":\"two\"}\n";
        let row = "the row changed after the dataset was read";
        check("a.jsonl", jsonl, "TWO", &format!(":3: {row}"));
        check("a.jsonl", jsonl, "\u{e9}", &format!(":3: {row}"));
        check("a.json", jsonl, "other", &format!(":3: element 2: {row}"));
        let csv = "id,q\n1,one\n2,\"two\"\n";
        check("a.csv", csv, "2wo", &format!(":3: {row}"));
        check("a.csv", csv, "\"\"o", &format!(":3: {row}"));
    }

    #[test]
    fn rows_that_are_read_at_once_are_those_that_are_read_alone() {
        let row = |number: u32| {
            // Some rows are far apart.
            let end = "\n".repeat(if number.is_multiple_of(100) {
                90_000
            } else {
                1
            });
            format!("{{\"id\": {number}, \"q\": \"\u{e9}\"}}\r{end}")
        };
        let (_folder, path) = file("a.jsonl", (0..300).map(row).collect::<String>());
        let open = File::open(&path).unwrap();
        let (rows, _) = super::super::scan::lines(&path, open, |_| Ok(())).unwrap();
        let texts = rows.texts(101..165).expect("rows that are together");
        for row in 101..165 {
            assert_eq!(texts.text(row), Some(&*rows.text(row).unwrap()));
        }
        assert!(rows.texts(64..128).is_none(), "they are far apart");
        let samples = placed(&path);
        assert_eq!(samples.len(), 300);
        for (number, (sample, place)) in samples.iter().enumerate() {
            assert_eq!(sample.id, number.to_string());
            assert_eq!(
                format!("{sample:?}"),
                format!("{:?}", place.sample().unwrap())
            );
        }
    }
}
