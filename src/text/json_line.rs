//! JSON on one line, for every reader's definition of a line end, and without commands to CI logs.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use memchr::memchr3_iter;
use serde::Serialize;

use crate::printable::{is_mark, is_unseen};

/// A value as JSON on one line, see [`escape_line_ends`], without a line end.
pub(crate) fn json_line(value: &(impl Serialize + ?Sized)) -> serde_json::Result<Vec<u8>> {
    let mut json = Vec::with_capacity(CAPACITY);
    serde_json::to_writer(&mut json, value)?;
    escape_line_ends(&mut json, 0);
    Ok(json)
}

/// Bytes of most records and events.
const CAPACITY: usize = 2048;

/// Escapes U+0085, U+2028 and U+2029, where Python's `splitlines` and others end a line, and anything that a CI log
/// takes for a command anywhere in a line. Applies to the JSON from `start` on, where these only occur in strings.
pub fn escape_line_ends(json: &mut Vec<u8>, start: usize) {
    let written = json.get(start..).unwrap_or_default();
    let mut found = memchr3_iter(0xc2, 0xe2, b'#', written)
        .filter_map(|place| Some((place, line_end(&written[place..])?)))
        .peekable();
    let Some((first, _)) = found.peek().copied() else {
        return;
    };
    let (mut escaped, mut done) = (Vec::with_capacity(written.len() - first + 64), first);
    for (place, (length, escape)) in found {
        escaped.extend_from_slice(&written[done..place]);
        escaped.extend_from_slice(escape);
        done = place + length;
    }
    escaped.extend_from_slice(&written[done..]);
    json.truncate(start + first);
    json.append(&mut escaped);
}

/// Escapes JSON as it is written piece by piece. Relies on serde writing text between escapes in one piece.
pub(crate) struct EscapedLineEnds<'a>(pub(crate) &'a mut dyn Write);

impl Write for EscapedLineEnds<'_> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        let mut escaped = json.to_vec();
        escape_line_ends(&mut escaped, 0);
        self.0.write_all(&escaped)?;
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The length and the escape of the first character, if it must be escaped.
fn line_end(json: &[u8]) -> Option<(usize, &'static [u8])> {
    match json {
        [0xc2, 0x85, ..] => Some((2, b"\\u0085")),
        [0xe2, 0x80, 0xa8, ..] => Some((3, b"\\u2028")),
        [0xe2, 0x80, 0xa9, ..] => Some((3, b"\\u2029")),
        [b'#', ..] if is_mark(json) => Some((1, b"\\u0023")),
        _ => None,
    }
}

/// JSON for display: also escapes what a terminal or a CI log would act on, and invisible characters.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    let is_hostile = |(place, c): (usize, char)| match c {
        '#' => is_mark(&json.as_bytes()[place..]),
        // The characters below are JSON's white space; JSON escapes the other ones itself.
        '\x7f'.. => is_unseen(c),
        _ => false,
    };
    if !json.char_indices().any(is_hostile) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for (place, c) in json.char_indices() {
        if is_hostile((place, c)) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_line_of_json_is_one_to_every_reader() {
        let value = json!({"a\u{2028}": "é\u{85}\u{2029}\u{a9}\u{2026}\u{2028}"});
        let line = String::from_utf8(json_line(&value).unwrap()).unwrap();
        assert_eq!(
            line,
            "{\"a\\u2028\":\"é\\u0085\\u2029\u{a9}\u{2026}\\u2028\"}"
        );
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
        let mut lines = "\u{2028}[\"\u{2028}\"]".as_bytes().to_vec();
        escape_line_ends(&mut lines, 3);
        assert_eq!(lines, "\u{2028}[\"\\u2028\"]".as_bytes());
        let mut command = b"[\"##[error]x ## [1]\"]".to_vec();
        escape_line_ends(&mut command, 0);
        assert_eq!(command, b"[\"\\u0023#[error]x ## [1]\"]");
        // Truncated in the middle of a character.
        let mut truncated = b"\xe2\x80".to_vec();
        escape_line_ends(&mut truncated, 0);
        assert_eq!(truncated, b"\xe2\x80");
    }

    #[test]
    fn escaped_json_is_safe_and_lossless() {
        let value = json!({"##[x": "a\u{200b}\u{9b}\u{7f}\u{e0041}é\u{2028}", "b": "##vso[y"});
        let text = value.to_string();
        let escaped = escape_json(&text);
        let expect = "{\"\\u0023#[x\":\"a\\u200b\\u009b\\u007f\\udb40\\udc41é\\u2028\",\"b\":\"\\u0023#vso[y\"}";
        assert_eq!(escaped, expect);
        assert_eq!(serde_json::from_str::<Value>(&escaped).unwrap(), value);
        assert!(matches!(escape_json("{\n}"), Cow::Borrowed("{\n}")));
    }
}
