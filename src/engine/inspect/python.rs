//! Reads JSON written by Python: `NaN`, `Infinity` and `-Infinity` outside of strings become null.

use std::io::{self, BufRead, Read};

/// Passes JSON through, with null for invalid numbers.
pub(super) struct PythonNumbers<R> {
    from: R,
    state: PythonState,
    /// Output that is pending.
    ready: &'static [u8],
}

#[derive(Clone, Copy, PartialEq)]
enum PythonState {
    Json,
    /// A minus, of a number or of `-Infinity`.
    Minus,
    /// The letters of `NaN` or `Infinity`, replaced by null.
    Word,
    Text,
    /// After a backslash.
    Escape,
}

impl<R: BufRead> PythonNumbers<R> {
    pub(super) fn new(from: R) -> Self {
        Self {
            from,
            state: PythonState::Json,
            ready: b"",
        }
    }

    /// Handles a byte: what to output in its place, if not itself.
    fn next(&mut self, byte: u8) -> Option<&'static [u8]> {
        if self.state == PythonState::Word && byte.is_ascii_alphabetic() {
            return Some(b"");
        }
        let was_minus = self.state == PythonState::Minus;
        let (state, instead): (_, Option<&'static [u8]>) = match (self.state, byte) {
            (PythonState::Text, b'\\') => (PythonState::Escape, None),
            (PythonState::Text, b'"') => (PythonState::Json, None),
            (PythonState::Escape | PythonState::Text, _) | (_, b'"') => (PythonState::Text, None),
            (_, b'-') if !was_minus => (PythonState::Minus, Some(b"")),
            (_, b'N' | b'I') => (PythonState::Word, Some(b"null")),
            (_, _) => (PythonState::Json, None),
        };
        let is_number = was_minus && state != PythonState::Word;
        self.state = state;
        match (is_number, instead) {
            // The minus was held back.
            (true, _) => match DIGITS.get(usize::from(byte.wrapping_sub(b'0'))) {
                Some(digit) => Some(digit),
                None => Some(b"-"),
            },
            (false, instead) => instead,
        }
    }
}

/// A minus with the following digit.
const DIGITS: [&[u8]; 10] = [
    b"-0", b"-1", b"-2", b"-3", b"-4", b"-5", b"-6", b"-7", b"-8", b"-9",
];

impl<R: BufRead> Read for PythonNumbers<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        while written < into.len() {
            if let Some((first, rest)) = self.ready.split_first() {
                into[written] = *first;
                self.ready = rest;
                written += 1;
                continue;
            }
            let available = self.from.fill_buf()?;
            let Some(&byte) = available.first() else {
                break;
            };
            // Strings are most of the input.
            if self.state == PythonState::Text {
                let room = &available[..available.len().min(into.len() - written)];
                let plain = memchr::memchr2(b'"', b'\\', room).unwrap_or(room.len());
                if plain > 0 {
                    into[written..written + plain].copy_from_slice(&room[..plain]);
                    self.from.consume(plain);
                    written += plain;
                    continue;
                }
            }
            self.from.consume(1);
            if let Some(instead) = self.next(byte) {
                self.ready = instead;
            } else {
                into[written] = byte;
                written += 1;
            }
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn what_is_no_number_is_null_outside_of_texts() {
        fn check(text: &str, expect: &str) {
            // Split by buffers of any size.
            for size in 1..=text.len().max(1) {
                let from = BufReader::with_capacity(size, text.as_bytes());
                let mut read = String::new();
                PythonNumbers::new(from).read_to_string(&mut read).unwrap();
                assert_eq!(read, expect, "{size}");
            }
        }
        check("", "");
        check(
            r#"{"a":NaN,"b":[Infinity, -Infinity]}"#,
            r#"{"a":null,"b":[null, null]}"#,
        );
        check(
            r#"{"NaN":"NaN \" -Infinity \\","n":-1.5e-3}"#,
            r#"{"NaN":"NaN \" -Infinity \\","n":-1.5e-3}"#,
        );
        check("[-0,-9,true,null]", "[-0,-9,true,null]");
    }
}
