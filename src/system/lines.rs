//! Lines of a file, read at their places.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

/// Reads lines of a file, which mostly stand near each other.
#[derive(Debug)]
pub(crate) struct PlacedLines {
    file: BufReader<File>,
    at: u64,
}

impl PlacedLines {
    /// Of a file that is at its beginning; `buffer` bytes are read at once.
    pub(crate) fn new(file: File, buffer: usize) -> Self {
        let file = BufReader::with_capacity(buffer, file);
        Self { file, at: 0 }
    }

    /// The line at a place, without its end.
    pub(crate) fn line(&mut self, place: u64) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let forward = place.cast_signed() - self.at.cast_signed();
        self.file.seek_relative(forward)?;
        self.at = place;
        self.at += self.file.read_until(b'\n', &mut line)? as u64;
        line.pop_if(|last| *last == b'\n');
        Ok(line)
    }
}
