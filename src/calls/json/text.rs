//! Escapes in JSON strings.

use std::fmt::Write as _;

use memchr::memchr;

use super::super::half;
use crate::text::json_special;

/// Writes a text in quotes. Stand-ins for lone surrogates become escapes.
pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(place) = special(rest.as_bytes()) {
        out.push_str(&rest[..place]);
        let letter = half::letters(&rest[place..]).next().unwrap_or_default();
        for c in half::characters(letter) {
            write_escaped(c, out);
        }
        rest = &rest[place + letter.len()..];
    }
    out.push_str(rest);
    out.push('"');
}

/// The position of the first byte that needs an escape or may need one: stand-ins for surrogates are in the last plane,
/// whose characters start with this byte.
fn special(bytes: &[u8]) -> Option<usize> {
    let special = json_special(bytes);
    let before = &bytes[..special.unwrap_or(bytes.len())];
    if before.is_ascii() {
        return special;
    }
    memchr(0xf4, before).or(special)
}

fn write_escaped(c: Result<char, u32>, out: &mut String) {
    let c = match c {
        Ok(c) => c,
        Err(half) => {
            let _ = write!(out, "\\u{half:04x}");
            return;
        }
    };
    let _ = match c {
        '"' => out.write_str("\\\""),
        '\\' => out.write_str("\\\\"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        '\x08' => out.write_str("\\b"),
        '\x0c' => out.write_str("\\f"),
        '\0'..' ' => write!(out, "\\u{:04x}", u32::from(c)),
        c => out.write_char(c),
    };
}

#[cfg(test)]
mod tests {
    use super::write_text;
    use crate::calls::half::{encode, stand_in};

    #[test]
    fn escapes_wherever_they_stand() {
        let half = stand_in(0xd800).to_string();
        let encode = |c: char| encode(&c.to_string()).into_owned();
        for (c, expect) in [
            (encode('"'), "\\\""),
            (encode('\\'), "\\\\"),
            (encode('\0'), "\\u0000"),
            (encode('\x1f'), "\\u001f"),
            (encode('é'), "é"),
            (encode('\u{10ffff}'), "\u{10ffff}"),
            (encode('\u{10f7ff}'), "\u{10f7ff}"),
            (half, "\\ud800"),
        ] {
            for place in 0..20 {
                let (before, after) = ("é".repeat(place), "a".repeat(20 - place));
                let mut out = String::new();
                write_text(&format!("{before}{c}{after}\""), &mut out);
                assert_eq!(out, format!("\"{before}{expect}{after}\\\"\""));
            }
        }
    }
}
