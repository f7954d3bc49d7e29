//! Splits pieces of any size into lines, in linear time.

/// Data that is not a whole line yet.
#[derive(Default)]
pub(super) struct Incoming {
    bytes: Vec<u8>,
    /// The start of the next line.
    start: usize,
    /// No line ends before this position.
    searched: usize,
}

impl Incoming {
    /// The buffer to append pieces to.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The next whole line, without its end.
    pub(super) fn next_line(&mut self) -> Option<Vec<u8>> {
        let rest = &self.bytes[self.searched..];
        let Some(length) = rest.iter().position(|&byte| byte == b'\n') else {
            // Moved once per piece, not once per line.
            self.bytes.drain(..self.start);
            self.start = 0;
            self.searched = self.bytes.len();
            return None;
        };
        let end = self.searched + length;
        let line = self.bytes[self.start..end].to_vec();
        self.start = end + 1;
        self.searched = self.start;
        Some(line)
    }

    /// The length of the unfinished line.
    pub(super) fn pending(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// The unfinished line, at the end of the input.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.drain(..self.start);
        (self.start, self.searched) = (0, 0);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_reassembled_from_any_chunks() {
        let text = b"one\n\ntwo\nthree";
        for size in 1..=text.len() {
            let mut incoming = Incoming::default();
            let mut lines = Vec::new();
            for piece in text.chunks(size) {
                incoming.buffer().extend_from_slice(piece);
                while let Some(line) = incoming.next_line() {
                    lines.push(line);
                }
            }
            assert_eq!(lines, [&b"one"[..], b"", b"two"], "{size}");
            assert_eq!(incoming.pending(), 5);
            assert_eq!(incoming.rest(), b"three");
        }
    }
}
