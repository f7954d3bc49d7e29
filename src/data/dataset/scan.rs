//! Scans a file with a JSON object per line in one pass, without keeping the rows in memory.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use super::ColumnNames;
use super::jsonl;
use super::lines::{BOM, invalid_utf8};
use super::row_file::RowFile;
use crate::error::{Error, Result};
use crate::system::file::spill::SharedFile;

/// Bytes per read.
pub(super) const BUFFER: usize = 1 << 16;

/// The rows of an open file with an object per line, and their columns. `check_first` may reject the first row.
pub(super) fn lines(
    path: &Path,
    file: File,
    check_first: impl Fn(&str) -> Result<()>,
) -> Result<(RowFile, Vec<String>)> {
    let mut columns = ColumnNames::default();
    let mut is_first = true;
    let rows = rows_of(path, file, &mut |number, line| {
        let row = line.trim_ascii();
        if std::mem::take(&mut is_first) {
            check_first(row)?;
        }
        if !columns.add(row) {
            // Invalid, or it contains Python's `NaN` or `Infinity`.
            let fields = jsonl::fields(path, number, row)?;
            fields.keys().for_each(|key| columns.name(key));
        }
        Ok(())
    })?;
    Ok((rows, columns.names))
}

#[cfg(feature = "bfcl")]
/// The rows of a file with one per line; `see` gets each non-blank line with its number.
pub(crate) fn rows(path: &Path, see: &mut dyn FnMut(u64, &str) -> Result<()>) -> Result<RowFile> {
    let open = File::open(path).map_err(|error| Error::io("read", path, &error))?;
    rows_of(path, open, see)
}

fn rows_of(
    path: &Path,
    file: File,
    see: &mut dyn FnMut(u64, &str) -> Result<()>,
) -> Result<RowFile> {
    let failed = |error| Error::io("read", path, &error);
    let file = SharedFile::new(file);
    let mut rows = RowFile::new(path, &file);
    let mut reader = BufReader::with_capacity(BUFFER, file.reader(0));
    let mut bytes = Vec::new();
    let mut start = 0;
    for number in 1_u64.. {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
            break;
        }
        let all = std::str::from_utf8(&bytes)
            .map_err(|error| invalid_utf8(path, number, 1 + error.valid_up_to()))?;
        let text = if number == 1 {
            all.strip_prefix(BOM).unwrap_or(all)
        } else {
            all
        };
        let row = text.trim_ascii();
        if !row.is_empty() {
            see(number, text.strip_suffix('\n').unwrap_or(text))?;
            let before = row.as_ptr().addr() - all.as_ptr().addr();
            rows.add(start + before as u64, Some(number), row.as_bytes());
        }
        start += bytes.len() as u64;
    }
    Ok(rows)
}

/// Whether the first non-blank byte of a file starts an array.
pub(super) fn is_array(file: &mut File) -> std::io::Result<bool> {
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let mut is_start = true;
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(false);
        }
        let text = match bytes.strip_prefix(BOM.as_bytes()) {
            Some(text) if is_start => text,
            _ => bytes,
        };
        if let Some(first) = text.trim_ascii_start().first() {
            return Ok(*first == b'[');
        }
        is_start = false;
        let length = bytes.len();
        reader.consume(length);
    }
}
