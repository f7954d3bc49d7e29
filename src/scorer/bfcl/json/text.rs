//! Texts in JSON: what in them is escaped, and how.

use std::fmt::Write as _;

use super::super::value::lone_surrogate;

/// Whether a byte stands for something else in a string, or not at all.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "without branches, so that many bytes are compared at once"
)]
pub(super) fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < b' ')
}

/// Where the first byte of a kind stands.
pub(super) fn find(bytes: &[u8], is_one: impl Fn(u8) -> bool) -> Option<usize> {
    let (blocks, _) = bytes.as_chunks::<16>();
    let has_one = |block: &&[u8; 16]| {
        block
            .iter()
            .fold(false, |found, &byte| found | is_one(byte))
    };
    let start = 16 * blocks.iter().take_while(|block| !has_one(block)).count();
    let rest = bytes[start..].iter().position(|&byte| is_one(byte));
    rest.map(|place| start + place)
}

/// A text in quotes.
pub(in super::super) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    // All that is to be escaped starts with one of these bytes; surrogates stand in the last plane, whose
    // characters start with 0xf4.
    while let Some(place) = find(rest.as_bytes(), |byte| (byte == 0xf4) | is_special(byte)) {
        out.push_str(&rest[..place]);
        let mut chars = rest[place..].chars();
        if let Some(c) = chars.next() {
            write_escaped(c, out);
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn write_escaped(c: char, out: &mut String) {
    let _ = match c {
        '"' => out.write_str("\\\""),
        '\\' => out.write_str("\\\\"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        '\x08' => out.write_str("\\b"),
        '\x0c' => out.write_str("\\f"),
        '\0'..' ' => write!(out, "\\u{:04x}", u32::from(c)),
        c => match lone_surrogate(c) {
            Some(code) => write!(out, "\\u{code:04x}"),
            None => out.write_char(c),
        },
    };
}

#[cfg(test)]
mod tests {
    use super::{find, is_special};

    #[test]
    fn every_byte_is_found_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for place in 0..40 {
                let mut bytes = [b'a'; 40];
                bytes[place] = byte;
                let expect = is_special(byte).then_some(place);
                assert_eq!(find(&bytes, is_special), expect, "{byte} {place}");
            }
        }
    }
}
