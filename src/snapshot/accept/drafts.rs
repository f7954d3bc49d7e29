//! `Drafts`: the snapshots of a baseline under construction. Drafts are on disk; only their offsets are in memory.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::snapshot::{Content, SnapshotHeader};
use crate::system::lines::PlacedLines;

/// Size of the write buffer in bytes.
const WRITTEN: usize = 1 << 17;

/// Size of the read buffer in bytes; small, as runs may have their samples in different orders.
const READ: usize = 1 << 14;

/// A snapshot of a baseline under construction.
#[derive(Serialize, Deserialize)]
pub(super) struct Draft {
    pub(super) content: Content,
    /// Its header, if one of the added runs has it.
    pub(super) header: Option<SnapshotHeader>,
}

/// The snapshots of a baseline under construction.
pub(super) struct Drafts {
    places: HashMap<Box<str>, u64>,
    /// An unnamed temporary file, removed on drop.
    file: BufWriter<File>,
    length: u64,
    /// Bytes that are flushed and can be read.
    written: u64,
    reader: PlacedLines,
}

impl Drafts {
    /// No drafts yet; the file is created in this folder, or in the temporary folder if it is not writable.
    pub(super) fn new(folder: &Path) -> Result<Self> {
        let begin = || {
            let file = tempfile::NamedTempFile::new_in(folder);
            let file = file.or_else(|_| tempfile::NamedTempFile::new())?;
            let reader = PlacedLines::new(file.reopen()?, READ);
            Ok((file.into_file(), reader))
        };
        let (file, reader) = begin().map_err(|error| failed(&error))?;
        Ok(Self {
            places: HashMap::new(),
            file: BufWriter::with_capacity(WRITTEN, file),
            length: 0,
            written: 0,
            reader,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }

    /// Stores the draft of a sample, replacing any earlier one.
    pub(super) fn put(&mut self, id: &str, draft: &Draft) -> Result<()> {
        let written = serde_json::to_vec(draft).map_err(std::io::Error::from);
        let written = written.and_then(|mut line| {
            line.push(b'\n');
            self.file.write_all(&line)?;
            Ok(line.len() as u64)
        });
        let written = written.map_err(|error| failed(&error))?;
        self.places.insert(id.into(), self.length);
        self.length += written;
        Ok(())
    }

    /// The draft of a sample.
    pub(super) fn get(&mut self, id: &str) -> Result<Option<Draft>> {
        let Some(place) = self.places.get(id).copied() else {
            return Ok(None);
        };
        self.read(place).map(Some)
    }

    /// The samples, in the order in which their drafts can be [read](Self::read).
    pub(super) fn take_places(&mut self) -> Vec<(Box<str>, u64)> {
        let mut places: Vec<_> = std::mem::take(&mut self.places).into_iter().collect();
        places.sort_unstable_by_key(|(_, place)| *place);
        places
    }

    /// The draft at an offset.
    pub(super) fn read(&mut self, place: u64) -> Result<Draft> {
        let mut read = || {
            if place >= self.written {
                self.file.flush()?;
                self.written = self.length;
            }
            Ok(serde_json::from_slice(&self.reader.line(place)?)?)
        };
        read().map_err(|error| failed(&error))
    }
}

fn failed(error: &std::io::Error) -> Error {
    Error::infrastructure(format!("cannot keep what is accepted on disk: {error}"))
        .hint("free some space, and accept again: what was written already stays as it is")
}
