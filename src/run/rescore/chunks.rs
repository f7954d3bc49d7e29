//! Splits a file of records into chunks of whole lines, which threads judge in parallel.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::line::{Rejudge, Seen};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::store::records;

/// Lines of the first chunk: small, so that a few slow verdicts are shared out. Later chunks are larger, as handing
/// them over costs time,
const FEW_LINES: u64 = 4;

/// up to this many lines,
const MANY_LINES: u64 = 64;

/// and this many bytes.
const BYTES: usize = 1 << 17;

/// Some whole lines.
pub(super) struct Chunk {
    bytes: Vec<u8>,
    /// The end of each line.
    ends: Vec<usize>,
    /// The number of the first line, from 1.
    first: u64,
}

/// A chunk whose records are judged.
pub(super) struct RescoredChunk {
    /// The new lines.
    pub(super) lines: Vec<u8>,
    /// The end of each new line.
    pub(super) ends: Vec<usize>,
    /// The result of each record.
    pub(super) seen: Vec<Seen>,
}

/// Why a record was not judged, with its line number, from 1.
pub(super) struct Unjudged {
    line: u64,
    error: Error,
}

impl Unjudged {
    /// The error with the line, unless it is not the line's fault, such as a used-up budget.
    pub(super) fn in_file(self, path: &Path) -> Error {
        match self.error.exit() {
            Exit::Infrastructure => self.error,
            _ => self
                .error
                .at(format_args!("{}:{}", path.display(), self.line)),
        }
    }
}

/// Splits a file into [`Chunk`]s.
pub(super) struct Chunks {
    path: PathBuf,
    file: BufReader<File>,
    next: u64,
    /// Lines of the next chunk.
    lines: u64,
    /// Lines of the largest chunk.
    most: u64,
}

impl Chunks {
    /// The chunks of a `samples.jsonl`.
    pub(super) fn open(path: &Path) -> Result<Self> {
        Ok(Self {
            file: records::open(path)?,
            path: path.to_owned(),
            next: 1,
            lines: FEW_LINES,
            most: MANY_LINES,
        })
    }

    /// One line per chunk, for verdicts that wait for replies.
    #[must_use]
    pub(super) fn singly(self) -> Self {
        Self {
            lines: 1,
            most: 1,
            ..self
        }
    }
}

impl Iterator for Chunks {
    type Item = Result<Chunk>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.next;
        let mut bytes = Vec::new();
        let mut ends = Vec::new();
        let end = first + self.lines;
        self.lines = (self.lines + 1).min(self.most);
        while self.next < end && bytes.len() < BYTES {
            match self.file.read_until(b'\n', &mut bytes) {
                Ok(0) => break,
                Ok(_) => {
                    ends.push(bytes.len());
                    self.next += 1;
                }
                Err(error) => return Some(Err(Error::io("read", &self.path, &error))),
            }
        }
        (!bytes.is_empty()).then_some(Ok(Chunk { bytes, ends, first }))
    }
}

impl Chunk {
    /// Judges every line.
    pub(super) fn judge(&self, judge: &Rejudge) -> Result<RescoredChunk, Unjudged> {
        let mut rescored = RescoredChunk {
            lines: Vec::with_capacity(self.bytes.len() + self.bytes.len() / 4),
            ends: Vec::with_capacity(self.ends.len()),
            seen: Vec::with_capacity(self.ends.len()),
        };
        let mut start = 0;
        for (&end, line) in self.ends.iter().zip(self.first..) {
            let seen = judge.line(&self.bytes[start..end], &mut rescored.lines);
            start = end;
            let seen = seen.map_err(|error| Unjudged { line, error })?;
            rescored.seen.push(seen);
            rescored.ends.push(rescored.lines.len());
        }
        Ok(rescored)
    }
}
