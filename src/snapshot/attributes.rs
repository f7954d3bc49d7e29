//! Git attributes for the files in a snapshot folder.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, Result};
use crate::system::file::{read_plain, write_atomically};

/// The file name of [`ATTRIBUTES`].
pub const ATTRIBUTES_FILE: &str = ".gitattributes";

/// Makes git keep the line ends of snapshots on every machine, and keep all history lines of both branches in a merge.
pub const ATTRIBUTES: &str =
    "*.snap text eol=lf\n_baseline.json text eol=lf\nhistory.jsonl text eol=lf merge=union\n";

/// Writes the file, or adds missing attributes of histories to an existing one.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write_attributes(folder: &Path) -> Result<()> {
    let path = folder.join(ATTRIBUTES_FILE);
    let there = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return write_atomically(&path, ATTRIBUTES.as_bytes());
        }
        // A link or folder belongs to somebody else.
        Ok(about) if !about.is_file() => return Ok(()),
        _ => read_plain(&path).map_err(|error| Error::io("read", &path, &error))?,
    };
    let Some(ours) = ATTRIBUTES.lines().last() else {
        return Ok(());
    };
    let name = ours.split(' ').next().unwrap_or_default().as_bytes();
    let mut lines = there.split(|byte| *byte == b'\n');
    if lines.any(|line| line.trim_ascii_start().starts_with(name)) {
        return Ok(());
    }
    let mut text = there.clone();
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text.extend_from_slice(ours.as_bytes());
    text.push(b'\n');
    write_atomically(&path, &text)
}
