//! `JournalText`: the content of a review journal, and the state of its last line.
//!
//! Reading never changes the file. Only a verified journal may be repaired by its writer: a foreign file among the
//! journals is an error.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::de::IgnoredAny;

use super::ReviewLine;
use crate::error::{Error, Result};
use crate::system::file::open_plain;
use crate::system::project::display;

/// Prefix of every line.
const BEGIN: &[u8] = b"{\"event\":";

/// A position up to which a journal was read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JournalPlace {
    /// Offset after the last complete line.
    pub(crate) read: u64,
    /// Number of lines up to there.
    pub(crate) lines: u64,
    /// Whether the last line is complete but lacks its line feed, which an editor may have removed.
    pub(crate) unended: bool,
}

/// The lines written since a position.
#[derive(Debug, Default)]
pub(crate) struct JournalText {
    pub(crate) lines: Vec<ReviewLine>,
    pub(crate) place: JournalPlace,
    /// An incomplete line left by a crash.
    pub(crate) torn: Vec<u8>,
}

impl JournalText {
    /// Reads a journal from a position; empty if the file does not exist.
    ///
    /// # Errors
    /// With the line that is not a review, or if the path is not a file.
    pub(crate) fn read(path: &Path, from: JournalPlace) -> Result<Self> {
        let io = |error: std::io::Error| Error::io("read", path, &error);
        refuse_foreign(path)?;
        let mut found = Self {
            place: from,
            ..Self::default()
        };
        if !path.exists() {
            return Ok(found);
        }
        let mut file = open_plain(path).map_err(io)?;
        if file.metadata().map_err(io)?.len() < from.read {
            let message = format!("`{}` is shorter than it was", path.display());
            return Err(Error::usage(message).hint("begin again with `cargo evaltest review`"));
        }
        file.seek(SeekFrom::Start(from.read)).map_err(io)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(io)?;
        let mut text = &*text;
        if from.unended && text.starts_with(b"\n") {
            text = &text[1..];
            found.place.read += 1;
            found.place.unended = false;
        }
        for part in text.split_inclusive(|byte| *byte == b'\n') {
            let wrong = |why: String| {
                let place = format!("{}:{}", display(path), found.place.lines + 1);
                let hint = "nothing was written over it: mend the line, or move the file away and begin anew";
                Error::usage(format!("{place}: {why}")).hint(hint)
            };
            let is_ended = part.ends_with(b"\n");
            let line = part.trim_ascii();
            let is_truncated = !is_ended && serde_json::from_slice::<IgnoredAny>(line).is_err();
            if is_truncated {
                let prefix = line.len().min(BEGIN.len());
                if found.place.lines == 0 && line[..prefix] != BEGIN[..prefix] {
                    return Err(wrong("it is no line of a review".to_owned()));
                }
                found.torn.extend(part);
                break;
            }
            if !line.is_empty() {
                found.lines.push(ReviewLine::of(line).map_err(wrong)?);
            }
            found.place.read += part.len() as u64;
            found.place.lines += 1;
            found.place.unended = !is_ended;
        }
        Ok(found)
    }
}

/// Returns an error if the path is not a regular file, such as a link or a pipe: no review created it, and writes
/// would go elsewhere.
///
/// # Errors
/// If the path is something else.
pub(crate) fn refuse_foreign(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(about) if !about.is_file() => {
            let is = if about.is_symlink() {
                "is a link"
            } else {
                "is no file"
            };
            let message = format!("`{}` {is}, and no review made it", display(path));
            Err(Error::usage(message).hint("nothing was written to it: move it away"))
        }
        // Opening it will report the error.
        _ => Ok(()),
    }
}
