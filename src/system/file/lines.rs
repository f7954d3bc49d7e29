//! Reads lines of a file by offset.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// Reads lines of a file, optimised for offsets close to each other.
#[derive(Debug)]
pub(crate) struct PlacedLines<F = File> {
    file: BufReader<F>,
    /// The current offset; unknown after an error.
    at: Option<u64>,
}

impl<F: Read + Seek> PlacedLines<F> {
    /// For a file at its start; reads `buffer` bytes at once.
    pub(crate) fn new(file: F, buffer: usize) -> Self {
        Self {
            file: BufReader::with_capacity(buffer, file),
            at: Some(0),
        }
    }

    /// The line at an offset, without its line break.
    pub(crate) fn line(&mut self, place: u64) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        match self.at.take() {
            Some(at) => {
                let forward = place.cast_signed() - at.cast_signed();
                self.file.seek_relative(forward)?;
            }
            None => {
                self.file.seek(SeekFrom::Start(place))?;
            }
        }
        let length = self.file.read_until(b'\n', &mut line)?;
        self.at = Some(place + length as u64);
        line.pop_if(|last| *last == b'\n');
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A file whose third read fails.
    struct Faulty(Cursor<&'static [u8]>, u32);

    impl Read for Faulty {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            if self.1 == 3 {
                return Err(io::Error::other("bad block"));
            }
            self.0.read(into)
        }
    }

    impl Seek for Faulty {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn an_error_misplaces_no_line_after_it() {
        let mut lines = PlacedLines::new(Faulty(Cursor::new(b"one\ntwo two\nthree\n"), 0), 4);
        assert_eq!(lines.line(0).unwrap(), b"one");
        assert!(lines.line(4).is_err());
        assert_eq!(lines.line(12).unwrap(), b"three");
        assert_eq!(lines.line(4).unwrap(), b"two two");
        assert_eq!(lines.line(0).unwrap(), b"one");
    }
}
