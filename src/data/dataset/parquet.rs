//! `.parquet`: the format of the published GAIA. Requires the cargo feature `parquet`.

mod pages;
mod unpack;

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::FileReader;
use parquet::record::Field;
use serde_json::{Map, Number, Value};

use self::pages::LongPages;
use super::columns::text;
use super::row::Row;
use crate::error::{Error, Result};
use crate::system::{lock, panics};
use unpack::BUFFER;

/// Pages of this size or more are not loaded into memory as a whole.
const LARGE_PAGE: u64 = 4 << 20;

/// Reads all rows.
pub(super) fn rows(path: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    each(path, &mut |fields| {
        rows.push(Row { line: None, fields });
        Ok(())
    })?;
    Ok(rows)
}

/// Passes on the rows of a file one by one. Stops at an error of `take`.
pub(super) fn each(
    path: &Path,
    take: &mut dyn FnMut(Map<String, Value>) -> Result<()>,
) -> Result<()> {
    let file = File::open(path)
        .map_err(|error| Error::io("read", path, &error).hint(super::WRONG_PATH))?;
    // The reader has assertions that fail on some damaged files.
    let mut taken = Ok(());
    let mut take = |fields| {
        taken = take(fields);
        taken.is_ok()
    };
    let read = panics::catch(|| read(file, LARGE_PAGE, &mut take));
    taken?;
    let reason = match read {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "its content is invalid".to_owned(),
    };
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    let reason = reason.trim_start_matches("Parquet error: ");
    Err(Error::usage(format!(
        "`{}`: damaged or unreadable parquet: {reason}",
        path.display()
    ))
    .hint("compare its size with the original, and fetch the file again"))
}

/// Passes on rows as long as they are wanted.
fn read(
    file: File,
    large: u64,
    take: &mut dyn FnMut(Map<String, Value>) -> bool,
) -> Result<(), ParquetError> {
    let spool = Arc::new(ValueSpool::new());
    let reader = LongPages::new(file, &spool, large)?;
    check_places(&reader)?;
    let groups = reader.metadata().row_groups();
    let rows = reader.get_row_iter(None)?;
    for row in rows.with_batch_size(batch(groups)) {
        if !take(object(row?.into_columns(), &spool)?) {
            break;
        }
    }
    Ok(())
}

/// Number of rows decoded at once: fewer if they are long.
fn batch(groups: &[RowGroupMetaData]) -> usize {
    let longest = groups.iter().map(|group| {
        let rows = group.num_rows().max(1);
        group.total_byte_size().max(1) / rows
    });
    let longest = longest.max().unwrap_or(1).max(1);
    usize::try_from((BATCH_BYTES / longest).clamp(1, BATCH)).unwrap_or(1)
}

/// Maximum number of rows, and approximate number of bytes, decoded at once.
const BATCH: i64 = 1024;
const BATCH_BYTES: i64 = 1 << 20;

/// Returns an error for column chunks at negative offsets, on which the reader panics. The panic would be caught, but
/// its message would be printed.
fn check_places(reader: &impl FileReader) -> Result<(), ParquetError> {
    let groups = reader.metadata().row_groups();
    for column in groups.iter().flat_map(RowGroupMetaData::columns) {
        let start = column
            .dictionary_page_offset()
            .unwrap_or(column.data_page_offset());
        if start < 0 || column.compressed_size() < 0 {
            let name = column.column_path().string();
            return Err(ParquetError::General(format!(
                "column `{name}` cannot be located in the file"
            )));
        }
    }
    Ok(())
}

fn object(
    columns: Vec<(String, Field)>,
    spool: &ValueSpool,
) -> Result<Map<String, Value>, ParquetError> {
    columns
        .into_iter()
        .map(|(name, field)| Ok((name, value(field, spool)?)))
        .collect()
}

/// Converts a field to JSON. Times, dates and decimals become texts; so do bytes, as UTF-8 or else hexadecimal. NaN
/// and infinity become null.
fn value(field: Field, spool: &ValueSpool) -> Result<Value, ParquetError> {
    Ok(match field {
        Field::Null => Value::Null,
        Field::Bool(value) => value.into(),
        Field::Byte(n) => n.into(),
        Field::Short(n) => n.into(),
        Field::Int(n) => n.into(),
        Field::Long(n) => n.into(),
        Field::UByte(n) => n.into(),
        Field::UShort(n) => n.into(),
        Field::UInt(n) => n.into(),
        Field::ULong(n) => n.into(),
        Field::Float16(n) => short_float(&n.to_string()),
        Field::Float(n) => short_float(&n.to_string()),
        Field::Double(n) => Number::from_f64(n).into(),
        Field::Str(text) => match spool.long(text.as_bytes())? {
            Some(bytes) => String::from_utf8(bytes)
                .map_err(|error| ParquetError::General(error.to_string()))?
                .into(),
            None => text.into(),
        },
        Field::Bytes(bytes) => {
            let long = spool.long(bytes.data())?;
            let bytes = long.as_deref().unwrap_or(bytes.data());
            match std::str::from_utf8(bytes) {
                Ok(text) => text.into(),
                Err(_) => hexadecimal(bytes).into(),
            }
        }
        Field::Decimal(_)
        | Field::Date(_)
        | Field::TimeMillis(_)
        | Field::TimeMicros(_)
        | Field::TimestampMillis(_)
        | Field::TimestampMicros(_) => field.to_string().into(),
        Field::Group(row) => object(row.into_columns(), spool)?.into(),
        Field::ListInternal(list) => {
            let elements = list.elements().iter().cloned();
            let values: Result<Vec<_>, _> = elements.map(|field| value(field, spool)).collect();
            values?.into()
        }
        Field::MapInternal(map) => {
            let entry = |(key, field): &(Field, Field)| {
                let key = text(value(key.clone(), spool)?).unwrap_or_default();
                Ok((key, value(field.clone(), spool)?))
            };
            let entries: Result<Map<_, _>, ParquetError> =
                map.entries().iter().map(entry).collect();
            entries?.into()
        }
    })
}

/// The number with the shortest digits: a 32-bit 0.1 becomes 0.1, not 0.10000000149011612.
fn short_float(digits: &str) -> Value {
    digits.parse().ok().and_then(Number::from_f64).into()
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;

    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
pub(crate) mod tests;

/// Maximum length of a value that is left in place: a reference is not much shorter.
const SHORT: u32 = 64;

/// Long values in an unnamed file, created on first use.
struct ValueSpool {
    /// Prefix of references. It is random, so that no value of a file can be mistaken for a reference.
    mark: String,
    written: Mutex<SpooledValues>,
}

#[derive(Default)]
struct SpooledValues {
    file: Option<File>,
    at: u64,
}

impl ValueSpool {
    fn new() -> Self {
        Self {
            mark: format!("{:016x}", RandomState::new().hash_one(())),
            written: Mutex::default(),
        }
    }

    /// Drops all values; no references to them may be left.
    fn clear(&self) {
        *lock(&self.written) = SpooledValues::default();
    }

    /// Copies length-prefixed values, replacing each long one by a reference.
    fn shorten(&self, values: &mut impl Read, page: &mut Vec<u8>) -> io::Result<()> {
        let mut written = lock(&self.written);
        let mut at = written.at;
        let file = match &mut written.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(at))?;
        let mut out = BufWriter::with_capacity(BUFFER, file);
        let mut head = Vec::new();
        loop {
            head.clear();
            values.by_ref().take(4).read_to_end(&mut head)?;
            if head.is_empty() {
                break;
            }
            let truncated = |_| io::Error::from(io::ErrorKind::InvalidData);
            let length = u32::from_le_bytes(head.as_slice().try_into().map_err(truncated)?);
            let mut value = values.by_ref().take(length.into());
            if length <= SHORT {
                page.extend(&head);
                value.read_to_end(page)?;
            } else {
                let reference = format!("{}{at:016x}{length:08x}", self.mark);
                page.extend(u32::try_from(reference.len()).unwrap_or(0).to_le_bytes());
                page.extend(reference.as_bytes());
                at += io::copy(&mut value, &mut out)?;
            }
            if value.limit() > 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        out.flush()?;
        drop(out);
        written.at = at;
        Ok(())
    }

    /// The value behind a reference; `None` if `value` is not a reference.
    fn long(&self, value: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let Some((at, length)) = self.place(value) else {
            return Ok(None);
        };
        let mut written = lock(&self.written);
        let file = written.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        file.seek(SeekFrom::Start(at))?;
        let mut value = vec![0; length];
        file.read_exact(&mut value)?;
        Ok(Some(value))
    }

    fn place(&self, value: &[u8]) -> Option<(u64, usize)> {
        let place = value.strip_prefix(self.mark.as_bytes())?;
        let (at, length) = std::str::from_utf8(place).ok()?.split_at_checked(16)?;
        let at = u64::from_str_radix(at, 16).ok()?;
        Some((at, usize::from_str_radix(length, 16).ok()?))
    }
}
