//! Reads the text and lines of a file.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};

/// An optional byte order mark at the start of a file.
pub(super) const BOM: &str = "\u{feff}";

/// The whole file as text, without a byte order mark.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let bytes =
        fs::read(path).map_err(|error| Error::io("read", path, &error).hint(super::WRONG_PATH))?;
    check_encoding(path, &bytes)?;
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

/// Refuses UTF-16, by the beginning of a file.
pub(super) fn check_encoding(path: &Path, bytes: &[u8]) -> Result<()> {
    let Some(encoding) = utf16(bytes) else {
        return Ok(());
    };
    let path = path.display();
    let error = Error::usage(format!("`{path}` is in UTF-16, but must be UTF-8"));
    Err(error.hint(format!(
        "convert the file: `iconv -f {encoding} -t UTF-8 '{path}' > NEW_FILE`, and name that"
    )))
}

/// The name of the encoding of a text in UTF-16: it has a byte order mark, or every second byte is 0, as in texts that
/// begin with a few ASCII characters.
fn utf16(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Some("UTF-16");
    }
    let pairs = bytes.as_chunks::<2>().0;
    let pairs = &pairs[..pairs.len().min(4)];
    let all = |zero: usize| {
        pairs
            .iter()
            .all(|pair| pair[zero] == 0 && pair[1 - zero] != 0)
    };
    match pairs.len() {
        0 | 1 => None,
        _ if all(1) => Some("UTF-16LE"),
        _ if all(0) => Some("UTF-16BE"),
        _ => None,
    }
}

/// Like [`check_encoding`], of a file that is not in memory.
pub(super) fn check_file_encoding(path: &Path) -> Result<()> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).and_then(|file| file.take(8).read_to_end(&mut bytes));
    file.map_err(|error| Error::io("read", path, &error))?;
    check_encoding(path, &bytes)
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

#[cfg(test)]
mod tests {
    use super::super::tests::read;

    #[test]
    fn utf16_is_told_as_such() {
        let check = |text: &str, units: fn(u16) -> [u8; 2], name: &str| {
            let bytes: Vec<u8> = text.encode_utf16().flat_map(units).collect();
            for file in ["a.csv", "a.jsonl", "a.json"] {
                let error = read(file, &bytes).unwrap_err();
                assert!(
                    error.message().ends_with("is in UTF-16, but must be UTF-8"),
                    "{error}"
                );
                let hint = error.hint_text().unwrap_or_default();
                assert!(
                    hint.contains(&format!("iconv -f {name} -t UTF-8 ")),
                    "{hint}"
                );
            }
        };
        check("\u{feff}id,q\n1,é\n", u16::to_le_bytes, "UTF-16");
        check("\u{feff}id,q\n1,é\n", u16::to_be_bytes, "UTF-16");
        check("id,q\n1,é\n", u16::to_le_bytes, "UTF-16LE");
        check("{\"id\": 1}", u16::to_be_bytes, "UTF-16BE");
    }
}
