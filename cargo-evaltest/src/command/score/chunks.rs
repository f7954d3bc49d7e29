//! The input as chunks of whole lines.

use std::io::{self, ErrorKind, Read};

/// How much is asked of the input at once. Small enough for the second-level cache.
const READ_SIZE: usize = 128 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Some whole lines; the last of the file may lack its line break.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    /// The number of the first line, from 1.
    pub(super) first_line: u64,
}

/// Cuts an input into [`Chunk`]s, without a byte order mark at its start.
///
/// A chunk goes out as soon as a line is complete, so a slow pipe is scored line by line. It holds more
/// than one read only while a single line does.
pub(super) struct Chunks<R> {
    input: R,
    /// What was read of the next line.
    rest: Vec<u8>,
    next_line: u64,
    ended: bool,
}

impl<R: Read> Chunks<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            rest: Vec::new(),
            next_line: 1,
            ended: false,
        }
    }

    fn chunk(&mut self, mut bytes: Vec<u8>) -> Chunk {
        let first_line = self.next_line;
        self.next_line += bytes
            .split(|&byte| byte == b'\n')
            .skip(1)
            .fold(0, |lines, _| lines + 1);
        if first_line == 1 && bytes.starts_with(BOM) {
            bytes.drain(..BOM.len());
        }
        Chunk { bytes, first_line }
    }

    /// Reads once, behind what is there, and tells how much.
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

impl<R: Read> Iterator for Chunks<R> {
    type Item = io::Result<Chunk>;

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
                    let end = bytes[old..].iter().rposition(|&byte| byte == b'\n');
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

    /// Gives one part per read.
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
        let chunks: Vec<(String, u64)> = Chunks::new(Parts(parts.to_vec()))
            .map(|chunk| chunk.expect("no fault"))
            .map(|chunk| {
                let text = String::from_utf8(chunk.bytes).expect("a text");
                (text, chunk.first_line)
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
        let chunks: Vec<u8> = Chunks::new(text.as_bytes())
            .flat_map(|chunk| chunk.expect("no fault").bytes)
            .collect();
        assert!(chunks == text.as_bytes());
    }
}
