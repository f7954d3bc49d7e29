//! `Table`: the rows of a file, parsed only while their samples are built.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::columns::{AnyRow, Header};
use super::jsonl::LineSpan;
use super::row_file::{
    KnownRows, MakeSample, PlacedFile, PlacedRows, RowFile, RowKey, SampleFile, SamplePlace,
    TakePlaced,
};
use super::{
    ColumnNames, Field, Filter, Format, Rows, Written, csv, empty, json, jsonl, read_text, scan,
    taken,
};
use crate::data::Sample;
use crate::error::Error;
use crate::system::parallel::in_order;

#[cfg(feature = "parquet")]
use super::spill::{Spill, Spilled};

/// The rows of a file. JSON rows are stored as text, because parsed trees take four times the size of the file. Rows of a
/// large file stay on disk.
pub(crate) struct Table {
    path: PathBuf,
    columns: Vec<String>,
    rows: RowStore,
    /// Columns whose numbers are kept as they are written.
    written: Vec<(Field, Written)>,
    key: Option<RowKey>,
}

enum RowStore {
    Rows(Rows),
    File(RowFile),
    /// The files of one table, in order; none has parts itself.
    Parts(Vec<Table>),
}

/// Files above this size stay on disk. Smaller ones take up to three times their size while they are read.
const LARGE: u64 = 16 << 20;

#[cfg(test)]
thread_local! {
    /// A lower limit for tests, whose files are small.
    pub(crate) static LARGE_HERE: std::cell::Cell<u64> = const { std::cell::Cell::new(LARGE) };
}

#[cfg(test)]
fn large() -> u64 {
    LARGE_HERE.get()
}

#[cfg(not(test))]
const fn large() -> u64 {
    LARGE
}

#[cfg(feature = "bfcl")]
/// Whether the files are too large in total to keep their rows in memory.
pub(crate) fn is_large(files: impl IntoIterator<Item = fs::Metadata>) -> bool {
    let files = files.into_iter().filter(fs::Metadata::is_file);
    files.map(|file| file.len()).sum::<u64>() > large()
}

impl Table {
    /// Reads a file like [`Rows::read`].
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        Self::read_above(path, large())
    }

    /// Reads the files of one table in order; `name` stands for all of them in messages.
    pub(crate) fn read_files(name: &Path, files: &[PathBuf]) -> Result<Self, Error> {
        if let [file] = files {
            return Self::read(file);
        }
        let large = large() / files.len().max(1) as u64;
        let parts = files.iter().map(|file| Self::read_above(file, large));
        let parts: Vec<_> = parts.collect::<Result<_, Error>>()?;
        let mut columns = ColumnNames::default();
        let names = parts.iter().flat_map(|part| &part.columns);
        names.for_each(|column| columns.name(column));
        Ok(Self {
            path: name.to_owned(),
            columns: columns.names,
            rows: RowStore::Parts(parts),
            written: Vec::new(),
            key: None,
        })
    }

    /// The same with a limit above which rows stay on disk.
    pub(super) fn read_above(path: &Path, large: u64) -> Result<Self, Error> {
        super::refuse_endless(path)?;
        let format = Format::of(path)?;
        #[cfg(feature = "parquet")]
        if format == Format::Parquet {
            return Self::of_parquet(path, large);
        }
        let is_large = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > large);
        if is_large && let Some(table) = Self::of_file(path, format)? {
            return Ok(table);
        }
        match format {
            Format::Jsonl => {
                let text = read_text(path)?;
                let lines = jsonl::spans(&text);
                Self::of_lines(path, text, &lines)
            }
            Format::Json => {
                let (text, lines) = json::spans(path, read_text(path)?)?;
                Self::of_lines(path, text, &lines)
            }
            format => Ok(Self::of_rows(Rows::read_as(path, format)?)),
        }
    }

    /// Reads parquet, whose file size says little about its rows, and which has no random access.
    #[cfg(feature = "parquet")]
    fn of_parquet(path: &Path, large: u64) -> Result<Self, Error> {
        let mut spill = Spill::new(path, large);
        super::parquet::each(path, &mut |fields| spill.add(fields))?;
        match spill.finish()? {
            Spilled::Rows(rows) if rows.rows.is_empty() => Err(empty(path)),
            Spilled::Rows(rows) => Ok(Self::of_rows(rows)),
            Spilled::File(rows, columns) => Ok(Self {
                path: path.to_owned(),
                columns,
                rows: RowStore::File(rows),
                written: Vec::new(),
                key: None,
            }),
        }
    }

    fn of_rows(rows: Rows) -> Self {
        Self {
            path: rows.path.clone(),
            columns: rows.columns().into_iter().map(str::to_owned).collect(),
            rows: RowStore::Rows(rows),
            written: Vec::new(),
            key: None,
        }
    }

    /// The table of a file with random access to its rows; `None` if it has none.
    fn of_file(path: &Path, format: Format) -> Result<Option<Self>, Error> {
        super::lines::check_file_encoding(path)?;
        let open = || File::open(path).map_err(|error| Error::io("read", path, &error));
        let (rows, columns) = match format {
            Format::Jsonl => scan::lines(path, open()?, |_| Ok(()))?,
            Format::Json => {
                let mut file = open()?;
                let is_array = scan::is_array(&mut file);
                if is_array.map_err(|error| Error::io("read", path, &error))? {
                    return Ok(None);
                }
                scan::lines(path, file, |first| json::check_first(path, first))?
            }
            Format::Csv => csv::scan(path, open()?)?,
            Format::Parquet => return Ok(None),
        };
        if rows.len() == 0 {
            return Err(empty(path));
        }
        Ok(Some(Self {
            path: path.to_owned(),
            columns,
            rows: RowStore::File(rows),
            written: Vec::new(),
            key: None,
        }))
    }

    fn of_lines(path: &Path, text: String, lines: &[LineSpan]) -> Result<Self, Error> {
        let mut columns = ColumnNames::default();
        for &LineSpan { number, start, end } in lines {
            let line = &text[start..end];
            if !columns.add(line) {
                // Invalid, or it contains Python's `NaN` or `Infinity`.
                let fields = jsonl::fields(path, number, line)?;
                fields.keys().for_each(|key| columns.name(key));
            }
        }
        if lines.is_empty() {
            return Err(empty(path));
        }
        Ok(Self {
            path: path.to_owned(),
            columns: columns.names,
            rows: RowStore::File(RowFile::of_text(path, text, lines)),
            written: Vec::new(),
            key: None,
        })
    }

    /// Keeps the numbers of a column as the file writes them, as texts.
    #[must_use]
    pub(crate) fn written(mut self, field: &Field, written: Written) -> Self {
        if let RowStore::Parts(parts) = self.rows {
            let parts = parts.into_iter().map(|part| part.written(field, written));
            self.rows = RowStore::Parts(parts.collect());
        } else {
            self.written.push((field.clone(), written));
        }
        self
    }

    /// Parses nothing but the key of each row of a JSON file. A sample is then to be read again by its place.
    #[must_use]
    pub(crate) fn by_key(self, key: RowKey) -> Self {
        match self.rows {
            RowStore::File(ref rows) if rows.is_json => Self {
                key: Some(key),
                ..self
            },
            _ => self,
        }
    }

    /// Whether only keys are read.
    pub(crate) fn is_by_key(&self) -> bool {
        self.key.is_some()
    }

    /// A file of JSON objects whose rows are known.
    pub(crate) fn known(path: &Path, known: &KnownRows) -> Result<Self, Error> {
        let file = File::open(path).map_err(|error| Error::io("read", path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            columns: known.columns.clone(),
            rows: RowStore::File(RowFile::of_rows(path, file, known.rows.clone())),
            written: Vec::new(),
            key: None,
        })
    }

    /// Its rows, of which samples are made on demand; `None` if they are not in one file.
    pub(crate) fn placed(self, make: Box<MakeSample>) -> Option<PlacedFile> {
        let RowStore::File(rows) = self.rows else {
            return None;
        };
        Some(PlacedFile(Arc::new(SampleFile {
            rows,
            make,
            written: self.written,
            key: None,
        })))
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// All columns, in order of first appearance.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    pub(crate) fn header(&self) -> Header<'_> {
        Header {
            path: &self.path,
            columns: self.columns.iter().map(String::as_str).collect(),
            rows: self,
        }
    }

    /// Like [`Table::each_sample`], limited to the samples that pass a filter; `see` gets all.
    pub(crate) fn each_filtered(
        self,
        filter: &Filter,
        make: impl Fn(Map<String, Value>, usize) -> Result<Sample, Error> + Send + Sync + 'static,
        mut see: impl FnMut(&Sample),
        take: &mut TakePlaced<'_>,
    ) -> Result<(), Error> {
        let mut filter = filter.stream();
        self.each_sample(make, &mut |sample, place| {
            see(&sample);
            if filter.passes(&sample.id) {
                take(sample, place)
            } else {
                Ok(())
            }
        })?;
        filter.finish()
    }

    /// Builds a sample of each row and its index in parallel, and passes them on in the order of the file. Ids must be
    /// unique, which is checked at the end. Errors of `make` need not name the position of the row.
    pub(super) fn each_sample(
        self,
        make: impl Fn(Map<String, Value>, usize) -> Result<Sample, Error> + Send + Sync + 'static,
        take: &mut TakePlaced<'_>,
    ) -> Result<(), Error> {
        let Self {
            rows, written, key, ..
        } = self;
        match rows {
            RowStore::Rows(rows) => {
                let samples = rows.into_samples(make)?.into_iter();
                samples
                    .into_iter()
                    .try_for_each(|sample| take(sample, None))
            }
            RowStore::File(rows) => {
                let make = Box::new(make);
                each_placed(
                    SampleFile {
                        rows,
                        make,
                        written,
                        key,
                    },
                    take,
                )
            }
            RowStore::Parts(parts) => {
                each_of_parts(parts, &(Arc::new(make) as Arc<MakeSample>), take)
            }
        }
    }
}

/// The ids of a part.
struct PartIds {
    path: PathBuf,
    ids: HashSet<String>,
}

/// Like [`Table::each_sample`], of several files in turn. Ids must be unique in all of them.
fn each_of_parts(
    parts: Vec<Table>,
    make: &Arc<MakeSample>,
    take: &mut TakePlaced<'_>,
) -> Result<(), Error> {
    let mut before = 0;
    let mut earlier: Vec<Arc<PartIds>> = Vec::new();
    for part in parts {
        let path = part.path.clone();
        let (make, known) = (Arc::clone(make), earlier.clone());
        let sample: Box<MakeSample> = Box::new(move |fields, index| {
            let sample = make(fields, before + index)?;
            match known.iter().find(|part| part.ids.contains(&sample.id)) {
                None => Ok(sample),
                Some(part) => Err(taken(&sample.id, part.path.display())),
            }
        });
        let mut ids = HashSet::new();
        part.each_sample(sample, &mut |sample, place| {
            ids.insert(sample.id.clone());
            take(sample, place)
        })?;
        before += ids.len();
        earlier.push(Arc::new(PartIds { path, ids }));
    }
    Ok(())
}

/// Passes on a sample of each row with its place. Ids must be unique.
fn each_placed(file: SampleFile, take: &mut TakePlaced<'_>) -> Result<(), Error> {
    let file = Arc::new(file);
    let placed: Arc<dyn PlacedRows> = Arc::<SampleFile>::clone(&file);
    let rows = file.rows.len();
    let mut ids = Ids::default();
    let mut next = 0;
    let mut take = |sample: Sample| {
        ids.add(&sample.id);
        next += 1;
        take(sample, Some(SamplePlace::new(&placed, next - 1)))
    };
    if rows <= CHUNK {
        (0..rows).try_for_each(|row| take(file.sample(row)?))?;
    } else {
        let mut start = 0;
        let chunks = std::iter::from_fn(|| {
            let chunk = start..chunk_end(start, rows, &|row| file.rows.size(row));
            start = chunk.end;
            (!chunk.is_empty()).then_some(Ok(chunk))
        });
        let make = |rows: Range<usize>| file.samples(rows);
        in_order(chunks, make, |samples| {
            samples.into_iter().try_for_each(|sample| take(sample?))
        })?;
    }
    match ids.twice(|row| Ok(file.sample(row)?.id))? {
        None => Ok(()),
        Some((id, first, second)) => {
            Err(taken(&id, file.rows.place(first)).at(file.rows.place(second)))
        }
    }
}

/// End of a chunk of rows from `start` on that is large enough for another thread, but not too large to queue.
fn chunk_end(start: usize, rows: usize, size: &dyn Fn(usize) -> usize) -> usize {
    let mut bytes = 0;
    let is_room = |row: &usize| {
        let is_room = bytes < CHUNK_BYTES;
        bytes += size(*row);
        is_room
    };
    start + (start..rows.min(start + CHUNK)).take_while(is_room).count()
}

impl AnyRow for Table {
    fn any(&self, is: &dyn Fn(&Map<String, Value>) -> bool) -> bool {
        match &self.rows {
            RowStore::Rows(rows) => rows.any(is),
            RowStore::File(rows) => {
                // An invalid row is an error when its sample is built.
                (0..rows.len()).any(|row| rows.fields(row).is_ok_and(|fields| is(&fields)))
            }
            RowStore::Parts(parts) => parts.iter().any(|part| part.any(is)),
        }
    }
}

/// Maximum number of rows per chunk; enough to be worth another thread.
const CHUNK: usize = 64;

/// Bytes of rows above which a chunk is complete.
const CHUNK_BYTES: usize = 128 << 10;

/// Hashes of ids with their positions: needs a fraction of the memory of the ids.
#[derive(Default)]
pub(super) struct Ids {
    state: RandomState,
    seen: Vec<(u64, usize)>,
}

impl Ids {
    pub(super) fn add(&mut self, id: &str) {
        self.seen.push((self.state.hash_one(id), self.seen.len()));
    }

    /// The first duplicate id with both positions. `id` reads the id at a position again.
    pub(super) fn twice(
        mut self,
        mut id: impl FnMut(usize) -> Result<String, Error>,
    ) -> Result<Option<(String, usize, usize)>, Error> {
        self.seen.sort_unstable();
        let mut found: Option<(String, usize, usize)> = None;
        for same_hash in self
            .seen
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|same_hash| same_hash.len() > 1)
        {
            let mut firsts = HashMap::new();
            for &(_, place) in same_hash {
                let id = id(place)?;
                let Some(&first) = firsts.get(&id) else {
                    firsts.insert(id, place);
                    continue;
                };
                if found.as_ref().is_none_or(|(_, _, second)| place < *second) {
                    found = Some((id, first, place));
                }
                break;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn read(text: &str) -> Result<(Vec<String>, Vec<Sample>), Error> {
        let (_folder, path) = file("rows.jsonl", text);
        let table = Table::read(&path)?;
        let columns = table.columns.clone();
        let make = |mut fields: Map<String, Value>, index: usize| {
            let id = fields
                .remove("id")
                .map_or(index.to_string(), |id| id.to_string());
            Ok(Sample {
                metadata: fields,
                ..Sample::new(id, "?")
            })
        };
        let mut samples = Vec::new();
        table.each_sample(make, &mut |sample, _| {
            samples.push(sample);
            Ok(())
        })?;
        Ok((columns, samples))
    }

    #[test]
    fn rows_are_those_that_the_whole_file_has() {
        let text =
            "\u{feff}{\"b\": 1, \"a\": {\"x\": [1]}}\r\n\n {\"c\": NaN, \"a\": \"\\u00e9\"}\n";
        let (columns, samples) = read(text).unwrap();
        assert_eq!(columns, ["b", "a", "c"]);
        let (_folder, path) = file("rows.jsonl", text);
        let rows = Rows::read(&path).unwrap();
        assert_eq!(rows.columns(), columns);
        let fields: Vec<_> = samples.into_iter().map(|sample| sample.metadata).collect();
        let expect: Vec<_> = rows.rows.into_iter().map(|row| row.fields).collect();
        assert_eq!(fields, expect);
    }

    #[test]
    fn a_broken_row_is_found_whether_its_keys_are_read_or_its_values() {
        fn check(text: &str, expect: &str) {
            let error = read(text).unwrap_err();
            assert!(error.message().contains(expect), "{error}");
        }
        check("", "the dataset is empty");
        check(
            "{}\n[1]",
            "rows.jsonl:2: a row is an object, found an array",
        );
        check("{}\n\n{\"a\": 1", "rows.jsonl:3:7: broken JSON: EOF");
        check("{}\n{\"a\": \"\\ud800\"}", "rows.jsonl:2:");
        check("{}\n{\"a\": 1e999}", "broken JSON: number out of range");
    }

    #[test]
    fn of_several_ids_that_are_there_twice_the_first_is_named() {
        let text = "{\"id\":1}\n{\"id\":2}\n\n{\"id\":2}\n{\"id\":1}\n{\"id\":2}\n";
        let error = read(text).unwrap_err();
        let message = error.message();
        assert!(
            message.contains("rows.jsonl:4: the id `2` is taken"),
            "{message}"
        );
        assert!(message.ends_with("rows.jsonl:2"), "{message}");
    }
}

#[cfg(test)]
mod ids_tests {
    use super::*;

    #[test]
    fn ids_whose_hashes_are_equal_are_no_duplicates() {
        let ids = Ids {
            seen: vec![(7, 0), (7, 1), (3, 2), (7, 3)],
            ..Ids::default()
        };
        let names = ["a", "b", "c", "b"];
        let twice = ids.twice(|place| Ok(names[place].to_owned())).unwrap();
        assert_eq!(twice, Some(("b".to_owned(), 1, 3)));
    }
}
