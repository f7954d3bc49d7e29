//! `PieceLines`: reads the records of a piece line by line.
//!
//! Pieces are read in parallel, in chunks: with few pieces the files stay open, with many each is opened per chunk.
//! Data is hashed as it is read, so that nothing is read twice.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use memchr::memchr;

use crate::system::file::open_plain;
use crate::text::hash::Hasher;

/// Most files open at once.
const MOST_OPEN: usize = 64;
/// Bytes of buffers for all pieces together.
const MEMORY: usize = 16 << 20;
/// Bytes per read.
const CHUNK: usize = 128 << 10;
/// Bytes per read with very many pieces.
const SMALLEST: usize = 4 << 10;

/// The records of a piece.
pub(super) struct PieceLines {
    path: PathBuf,
    file: Option<File>,
    stays_open: bool,
    chunk: usize,
    buffer: Vec<u8>,
    /// The start of the next line in the buffer.
    start: usize,
    /// How much of the file was read.
    read: u64,
    is_over: bool,
    hash: Hasher,
}

impl PieceLines {
    /// The reader of one of `pieces` files.
    pub(super) fn new(path: PathBuf, pieces: usize) -> Self {
        Self {
            path,
            file: None,
            stays_open: pieces <= MOST_OPEN,
            chunk: (MEMORY / pieces.max(1)).clamp(SMALLEST, CHUNK),
            buffer: Vec::new(),
            start: 0,
            read: 0,
            is_over: false,
            hash: Hasher::default(),
        }
    }

    /// The next line with its end; `None` at the end. A last line without a line end counts.
    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let mut searched = self.start;
        let end = loop {
            let found = memchr(b'\n', &self.buffer[searched..]);
            if let Some(found) = found {
                break searched + found + 1;
            }
            searched = self.buffer.len() - self.start;
            if self.is_over || !self.fill()? {
                break self.buffer.len();
            }
        };
        if end == self.start {
            // Free its memory.
            self.buffer = Vec::new();
            self.start = 0;
            self.file = None;
            return Ok(None);
        }
        let line = &self.buffer[self.start..end];
        self.start = end;
        Ok(Some(line))
    }

    /// The SHA-256 of what was read.
    pub(super) fn hash(self) -> String {
        self.hash.hex()
    }

    /// Reads more after the unread rest; whether there was more.
    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let mut file = if let Some(file) = self.file.take() {
            file
        } else {
            let mut file = open_plain(&self.path)?;
            file.seek(SeekFrom::Start(self.read))?;
            file
        };
        let before = self.buffer.len();
        self.buffer.resize(before + self.chunk, 0);
        let count = loop {
            match file.read(&mut self.buffer[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let count = count.inspect_err(|_| self.buffer.truncate(before))?;
        self.buffer.truncate(before + count);
        self.hash.bytes(&self.buffer[before..]);
        self.read += count as u64;
        self.is_over = count == 0;
        if self.stays_open && count > 0 {
            self.file = Some(file);
        }
        Ok(count > 0)
    }
}
