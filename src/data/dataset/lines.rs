//! Reads the text and lines of a file.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};

/// An optional byte order mark at the start of a file.
pub(super) const BOM: &str = "\u{feff}";

/// The whole file as text, without a byte order mark.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let bytes =
        fs::read(path).map_err(|error| Error::io("read", path, &error).hint(super::WRONG_PATH))?;
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + count_newlines(valid);
        invalid_utf8(path, line, column_after(valid))
    })?;
    if text.starts_with(BOM) {
        text.drain(..BOM.len());
    }
    Ok(text)
}

/// The column of the byte after `bytes`, from 1.
pub(super) fn column_after(bytes: &[u8]) -> usize {
    1 + bytes.iter().rev().take_while(|&&b| b != b'\n').count()
}

pub(super) fn invalid_utf8(path: &Path, line: u64, column: usize) -> Error {
    let path = path.display();
    Error::usage(format!("{path}:{line}:{column}: invalid UTF-8")).hint(format!(
        "convert the file: `iconv -f LATIN1 -t UTF-8 '{path}'`"
    ))
}

/// Counts line ends in a chunk.
pub(super) fn count_newlines(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte == b'\n')).sum()
}
