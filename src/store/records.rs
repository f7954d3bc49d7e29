//! `samples.jsonl` and `errors.jsonl`.
//!
//! Records are spooled as samples end and sorted into dataset order when the run ends, so that none stay in memory: the
//! conclusion of the run sees them on the way.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::Carried;
use super::files::{ERRORS, RECORDS};
use super::journal::past::Foreign;
use super::line_index::LineIndexWriter;
use crate::data::Record;
use crate::data::record::read_abridged;
use crate::error::{Error, Result, remedy};
use crate::system::file::{create_plain, open_plain};
use crate::system::project::display;
use crate::text::hash::Hasher;
use crate::text::splice::with_unknown;
use crate::text::{escape_line_ends, json_line, shell_word};

/// Bytes per read or write.
const BUFFER: usize = 1 << 17;

/// Records in the order in which samples ended.
pub(crate) struct Spool {
    path: PathBuf,
    file: BufWriter<File>,
    length: u64,
    /// By sample; `None` is a zero, which takes no memory until another one is written. Nothing else of a sample stays in
    /// memory.
    places: Vec<Option<LinePlace>>,
}

/// The offset of a line plus 1, doubled; odd if the line belongs into `errors.jsonl`.
type LinePlace = NonZeroU64;

/// Called with a line, its place, and whether it is an error.
type SeeLine<'a> = dyn FnMut(usize, &[u8], bool) -> Result<()> + 'a;

impl Spool {
    /// A spool for `samples` records.
    pub(crate) fn create(path: PathBuf, samples: usize) -> Result<Self> {
        let file = create_plain(&path).map_err(|error| Error::io("create", &path, &error))?;
        // Nothing depends on the spool before the end: a resumed run writes it again.
        let file = BufWriter::with_capacity(BUFFER, file);
        Ok(Self {
            path,
            file,
            length: 0,
            places: vec![None; samples],
        })
    }

    /// Adds the record of the sample with this place in the dataset.
    pub(crate) fn add(&mut self, place: usize, record: &Spooled) -> Result<()> {
        let written = self.file.write_all(&record.line);
        written.map_err(|error| self.failed(&error))?;
        self.places[place] = NonZeroU64::new(((self.length + 1) << 1) | u64::from(record.is_error));
        self.length += record.line.len() as u64;
        Ok(())
    }

    /// Whether the record of this sample is there.
    pub(crate) fn has(&self, place: usize) -> bool {
        self.places[place].is_some()
    }

    /// Writes `samples.jsonl` and `errors.jsonl`, removes the spool, and returns the files' SHA-256. `see` is called
    /// with each record from this place on, [abridged](read_abridged), in dataset order.
    pub(crate) fn finish(
        &mut self,
        folder: &Path,
        from: usize,
        see: &mut dyn FnMut(usize, Record),
    ) -> Result<[(String, String); 2]> {
        self.file.flush().map_err(|error| self.failed(&error))?;
        let mut samples = Sorted::create(folder.join(RECORDS))?;
        let mut errors = Sorted::create(folder.join(ERRORS))?;
        self.lines(&mut |slot, line, is_error| {
            samples.write(line)?;
            if is_error {
                errors.write(line)?;
            }
            if slot >= from {
                see(slot, self.read(line)?);
            }
            Ok(())
        })?;
        let hashes = [
            (RECORDS.to_owned(), samples.finish()?),
            (ERRORS.to_owned(), errors.finish()?),
        ];
        // The file that `create` made.
        let _ = std::fs::remove_file(&self.path);
        Ok(hashes)
    }

    /// Visits each existing record, [abridged](read_abridged), in dataset order.
    pub(crate) fn so_far(&mut self, see: &mut dyn FnMut(usize, Record)) -> Result<()> {
        self.file.flush().map_err(|error| self.failed(&error))?;
        self.lines(&mut |slot, line, _| {
            see(slot, self.read(line)?);
            Ok(())
        })
    }

    /// Visits the lines of the flushed file in dataset order, and whether each is an error.
    fn lines(&self, see: &mut SeeLine<'_>) -> Result<()> {
        let file = File::open(&self.path).map_err(|error| self.failed(&error))?;
        // Samples end nearly in dataset order: the next line is nearly always in the buffer.
        let mut spool = BufReader::with_capacity(BUFFER, file);
        let mut line = Vec::new();
        let mut at = 0;
        for (slot, place) in self.places.iter().enumerate() {
            let Some(place) = place.map(NonZeroU64::get) else {
                continue;
            };
            let (offset, is_error) = ((place >> 1) - 1, place & 1 == 1);
            line.clear();
            spool
                .seek_relative(offset.cast_signed() - at)
                .and_then(|()| spool.read_until(b'\n', &mut line))
                .map_err(|error| self.failed(&error))?;
            at = offset.cast_signed() + (line.len() as u64).cast_signed();
            see(slot, &line, is_error)?;
        }
        Ok(())
    }

    fn read(&self, line: &[u8]) -> Result<Record> {
        read_abridged(line).map_err(|error| {
            Error::infrastructure(format!("cannot read `{}`: {error}", self.path.display()))
                .hint("continue the run with `--resume`")
        })
    }

    fn failed(&self, error: &std::io::Error) -> Error {
        failed(&self.path, error)
    }
}

/// A serialised record: threads prepare theirs in parallel.
pub(crate) struct Spooled {
    line: Vec<u8>,
    is_error: bool,
}

impl Spooled {
    pub(crate) fn of(record: &Record) -> Result<Self> {
        let mut line = json_line(record).map_err(|error| {
            Error::infrastructure(format!("a record cannot be written: {error}"))
        })?;
        line.push(b'\n');
        Ok(Self {
            line,
            is_error: record.result.status.is_error(),
        })
    }

    /// Adds members of an earlier part of the run that only another version knows.
    pub(crate) fn with_unknown(mut self, foreign: &Foreign) -> Self {
        for old in foreign.records() {
            if let Ok(line) = std::str::from_utf8(&self.line) {
                self.line = with_unknown(line, &old).into_bytes();
                escape_line_ends(&mut self.line, 0);
            }
        }
        self
    }
}

/// A file of lines in dataset order, written to a temporary file and renamed.
pub(crate) struct Sorted {
    path: PathBuf,
    /// Removed if dropped before it is complete; only the holder of the journal writes here.
    temporary: TempPath,
    file: BufWriter<File>,
    hash: Hasher,
    index: Option<LineIndexWriter>,
}

impl Sorted {
    pub(crate) fn create(path: PathBuf) -> Result<Self> {
        let temporary = path.with_extension("jsonl.tmp");
        let file =
            create_plain(&temporary).map_err(|error| Error::io("create", &temporary, &error))?;
        let removed = TempPath::try_from_path(&temporary);
        Ok(Self {
            index: path.ends_with(RECORDS).then(|| LineIndexWriter::new(&path)),
            path,
            temporary: removed.map_err(|error| Error::io("create", &temporary, &error))?,
            file: BufWriter::with_capacity(BUFFER, file),
            hash: Hasher::default(),
        })
    }

    /// Adds whole lines.
    pub(crate) fn write(&mut self, line: &[u8]) -> Result<()> {
        self.hash.bytes(line);
        if let Some(index) = &mut self.index {
            let mut start = 0;
            for end in memchr::memchr_iter(b'\n', line) {
                index.add(&line[start..=end]);
                start = end + 1;
            }
        }
        let written = self.file.write_all(line);
        written.map_err(|error| failed(&self.path, &error))
    }

    /// Renames the file to its final name and returns its SHA-256.
    pub(crate) fn finish(mut self) -> Result<String> {
        // An empty file, such as an error file without errors, need not be synced.
        let sync = |file: &File| match file.metadata()?.len() {
            0 => Ok(()),
            _ => file.sync_data(),
        };
        self.file
            .flush()
            .and_then(|()| sync(self.file.get_ref()))
            .and_then(|()| Ok(self.temporary.persist(&self.path)?))
            .map_err(|error| failed(&self.path, &error))?;
        let hash = self.hash.hex();
        if let Some(index) = &mut self.index {
            index.finish(&hash);
        }
        Ok(hash)
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::infrastructure(format!("cannot write `{}`: {error}", path.display()))
        .hint(remedy(error).unwrap_or("free some space, then continue the run with `--resume`"))
}

/// Opens a `samples.jsonl`.
pub(crate) fn open(path: &Path) -> Result<BufReader<File>> {
    let file = open_plain(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            let dir = path.parent().unwrap_or(Path::new("DIR"));
            Error::usage(format!("`{}` is missing", path.display())).hint(format!(
                "rebuild it from the journal: cargo evaltest repair {}",
                shell_word(&display(dir))
            ))
        }
        _ => Error::io("open", path, &error),
    })?;
    Ok(BufReader::with_capacity(BUFFER, file))
}

/// The records of a `samples.jsonl`, one at a time, without those of perturbed questions.
pub fn read(path: &Path) -> Result<impl Iterator<Item = Result<Record>> + use<>> {
    let records = read_by(path, |line| serde_json::from_slice(line))?;
    Ok(records.filter(is_unperturbed))
}

/// The records of a `samples.jsonl`, one at a time, each with unknown members.
pub fn read_carried(path: &Path) -> Result<impl Iterator<Item = Result<Carried<Record>>> + use<>> {
    read_by(path, Carried::parse)
}

/// The same, [abridged](read_abridged), which takes a fraction of the time.
pub(crate) fn read_lean(path: &Path) -> Result<impl Iterator<Item = Result<Record>> + use<>> {
    Ok(read_all_lean(path)?.filter(is_unperturbed))
}

/// The same with the records of perturbed questions.
pub(crate) fn read_all_lean(path: &Path) -> Result<impl Iterator<Item = Result<Record>> + use<>> {
    read_by(path, read_abridged)
}

/// Whether a record is of a question as the dataset has it. An error stays.
fn is_unperturbed(record: &Result<Record>) -> bool {
    record
        .as_ref()
        .map_or(true, |record| record.perturb.is_none())
}

/// The records whose lines satisfy a predicate.
pub(crate) fn read_where<W: Fn(&[u8]) -> bool>(
    path: &Path,
    is_wanted: W,
) -> Result<impl Iterator<Item = Result<Record>> + use<W>> {
    let parse = move |line: &[u8]| {
        if is_wanted(line) {
            serde_json::from_slice(line).map(Some)
        } else {
            Ok(None)
        }
    };
    Ok(read_by(path, parse)?.filter_map(Result::transpose))
}

fn read_by<T, P: Fn(&[u8]) -> serde_json::Result<T>>(
    path: &Path,
    parse: P,
) -> Result<impl Iterator<Item = Result<T>> + use<T, P>> {
    let lines = open(path)?.split(b'\n').enumerate();
    let path = path.to_owned();
    Ok(lines.map(move |(number, line)| {
        let line = line.map_err(|error| Error::io("read", &path, &error))?;
        parse(&line).map_err(|error| {
            Error::usage(format!(
                "{}:{}: not a record: {error}",
                path.display(),
                number + 1
            ))
        })
    }))
}
