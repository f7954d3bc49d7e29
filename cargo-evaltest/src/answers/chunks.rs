//! Reads the input as chunks of whole lines.

use std::io::{self, ErrorKind, Read};
use std::str;

use evaltest::{Error, Result};
use memchr::{memchr, memchr_iter, memrchr};

/// Bytes per read. Small enough for the L2 cache.
pub(super) const READ_SIZE: usize = 128 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Whole lines; the last line of the file may lack its line break.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InputChunk {
    pub(crate) bytes: Vec<u8>,
    numbers: Numbers,
}

/// Line numbers, from 1.
#[derive(Debug, PartialEq, Eq)]
enum Numbers {
    From(u64),
    Of(Vec<u64>),
}

impl InputChunk {
    /// Consecutive lines.
    pub(crate) fn new(bytes: Vec<u8>, first_line: u64) -> Self {
        Self {
            bytes,
            numbers: Numbers::From(first_line),
        }
    }

    /// Lines with these numbers.
    pub(super) fn numbered(bytes: Vec<u8>, numbers: Vec<u64>) -> Self {
        Self {
            bytes,
            numbers: Numbers::Of(numbers),
        }
    }

    /// Number of the line at index `place` of the chunk.
    fn number(&self, place: usize) -> u64 {
        match &self.numbers {
            Numbers::From(first) => first + place as u64,
            Numbers::Of(numbers) => numbers.get(place).copied().unwrap_or_default(),
        }
    }

    /// Passes each line to `next` with its number, bytes and, if it is UTF-8, its text, until `next` returns false.
    pub(crate) fn lines(&self, mut next: impl FnMut(u64, &[u8], Result<&str>) -> bool) {
        let mut place = 0;
        let mut next = |bytes, text| {
            place += 1;
            next(self.number(place - 1), bytes, text)
        };
        if let Ok(text) = simdutf8::basic::from_utf8(&self.bytes) {
            let mut rest = text;
            while !rest.is_empty() {
                let end = memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
                let line;
                (line, rest) = rest.split_at(end);
                if !next(line.as_bytes(), Ok(line)) {
                    return;
                }
            }
        } else {
            // A line is not UTF-8; the others are still valid.
            let mut lines = self.bytes.split_inclusive(|&byte| byte == b'\n');
            let _ = lines.all(|line| next(line, utf8(line)));
        }
    }
}

fn utf8(line: &[u8]) -> Result<&str> {
    str::from_utf8(line).map_err(|error| {
        let byte = error.valid_up_to() + 1;
        Error::usage(format!("invalid UTF-8 at byte {byte} of the line"))
    })
}

/// Splits an input into [`InputChunk`]s and strips a leading byte order mark.
///
/// A chunk is returned as soon as a line is complete, so a slow pipe is scored line by line. A chunk is larger than
/// one read only while a single line is.
pub(super) struct InputChunks<R> {
    input: R,
    /// The start of the next line.
    rest: Vec<u8>,
    next_line: u64,
    ended: bool,
}

impl<R: Read> InputChunks<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            rest: Vec::new(),
            next_line: 1,
            ended: false,
        }
    }

    fn chunk(&mut self, mut bytes: Vec<u8>) -> InputChunk {
        let first_line = self.next_line;
        self.next_line += memchr_iter(b'\n', &bytes).count() as u64;
        if first_line == 1 && bytes.starts_with(BOM) {
            bytes.drain(..BOM.len());
        }
        InputChunk::new(bytes, first_line)
    }

    /// Appends one read to `bytes` and returns its size.
    fn read(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let old = bytes.len();
        bytes.resize(old + READ_SIZE, 0);
        loop {
            match self.input.read(&mut bytes[old..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(count) => {
                    bytes.truncate(old + count);
                    return Ok(count);
                }
            }
        }
    }
}

impl<R: Read> Iterator for InputChunks<R> {
    type Item = io::Result<InputChunk>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let mut bytes = std::mem::take(&mut self.rest);
        loop {
            let old = bytes.len();
            match self.read(&mut bytes) {
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
                Ok(0) => {
                    self.ended = true;
                    return (!bytes.is_empty()).then(|| Ok(self.chunk(bytes)));
                }
                Ok(_) => {
                    let end = memrchr(b'\n', &bytes[old..]);
                    if let Some(end) = end {
                        self.rest = bytes.split_off(old + end + 1);
                        return Some(Ok(self.chunk(bytes)));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one part per read.
    struct Parts(Vec<&'static str>);

    impl Read for Parts {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let part = self.0.remove(0).as_bytes();
            buffer[..part.len()].copy_from_slice(part);
            Ok(part.len())
        }
    }

    fn check(parts: &[&'static str], expect: &[(&str, u64)]) {
        let chunks: Vec<(String, u64)> = InputChunks::new(Parts(parts.to_vec()))
            .map(|chunk| chunk.expect("no fault"))
            .map(|chunk| {
                let number = chunk.number(0);
                let text = String::from_utf8(chunk.bytes).expect("a text");
                (text, number)
            })
            .collect();
        let chunks: Vec<(&str, u64)> = chunks.iter().map(|(text, n)| (&**text, *n)).collect();
        assert_eq!(chunks, expect);
    }

    #[test]
    fn lines_stay_whole_and_are_counted() {
        check(&[], &[]);
        check(&["a\nb\n"], &[("a\nb\n", 1)]);
        check(
            &["a\nb", "c", "d\n\ne"],
            &[("a\n", 1), ("bcd\n\n", 2), ("e", 4)],
        );
        check(&["a"], &[("a", 1)]);
        check(
            &["\u{feff}a\n", "\u{feff}b\n"],
            &[("a\n", 1), ("\u{feff}b\n", 2)],
        );
    }

    #[test]
    fn a_line_may_be_longer_than_a_read() {
        let text = format!("{}\nx\n", "a".repeat(3 * READ_SIZE + 7));
        let chunks: Vec<u8> = InputChunks::new(text.as_bytes())
            .flat_map(|chunk| chunk.expect("no fault").bytes)
            .collect();
        assert!(chunks == text.as_bytes());
    }
}
