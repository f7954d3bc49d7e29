//! `JournalText`: what a file says that is a journal of a review, and how it ends.
//!
//! It is read, and never changed. Only what is proven to be a journal may be mended by whoever writes to it: a file that
//! somebody else wrote, and put among journals, is refused as it is.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::de::IgnoredAny;

use super::ReviewLine;
use crate::error::{Error, Result};
use crate::system::file::open_plain;
use crate::system::project::shown;

/// How every line begins.
const BEGIN: &[u8] = b"{\"event\":";

/// Up to where a journal was read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JournalPlace {
    /// The end of its last whole line.
    pub(crate) read: u64,
    /// How many lines that are.
    pub(crate) lines: u64,
    /// Whether the last one is whole, and its end is missing: an editor may have taken it.
    pub(crate) unended: bool,
}

/// What was written since a place.
#[derive(Debug, Default)]
pub(crate) struct JournalText {
    pub(crate) lines: Vec<ReviewLine>,
    pub(crate) place: JournalPlace,
    /// What a crash left of a line.
    pub(crate) torn: Vec<u8>,
}

impl JournalText {
    /// Reads a journal from a place; nothing where there is no file.
    ///
    /// # Errors
    /// With the line of what no reviewer wrote, and for what is no file.
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
                let place = format!("{}:{}", shown(path), found.place.lines + 1);
                let hint = "nothing was written over it: mend the line, or move the file away and begin anew";
                Error::usage(format!("{place}: {why}")).hint(hint)
            };
            let is_ended = part.ends_with(b"\n");
            let line = part.trim_ascii();
            let is_cut = !is_ended && serde_json::from_slice::<IgnoredAny>(line).is_err();
            if is_cut {
                let begun = line.len().min(BEGIN.len());
                if found.place.lines == 0 && line[..begun] != BEGIN[..begun] {
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

/// Refuses what is there and is no file of its own, such as a link to one or a pipe: no review made it, and what is written to
/// it would be written elsewhere.
///
/// # Errors
/// Where something else is there.
pub(crate) fn refuse_foreign(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(about) if !about.is_file() => {
            let is = if about.is_symlink() {
                "is a link"
            } else {
                "is no file"
            };
            let message = format!("`{}` {is}, and no review made it", shown(path));
            Err(Error::usage(message).hint("nothing was written to it: move it away"))
        }
        // Whoever opens it will see.
        _ => Ok(()),
    }
}
