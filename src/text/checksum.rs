//! Checksums of what is on disk as JSON: the last member of a file or of a line.
//!
//! A file has `"checksum": "…"`, the SHA-256 of all bytes before the preceding comma. White space between tokens does
//! not count in a file that is committed, because formatters and version control change it. A line has `"sum":"…"`, the
//! CRC-32 of all bytes before the preceding comma; in a line that people fill in, of the other members.
//!
//! A checksum detects damage. Somebody who edits the file can write a new one.

use serde::Serialize;

use super::hash::Hasher;

/// Name of the member of a file.
pub(crate) const MEMBER: &str = "checksum";
/// Hex digits of SHA-256.
const DIGITS: usize = 64;
/// How many bytes are hashed at once.
const CHUNK: usize = 64 << 10;

/// Which bytes of a file count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// All, and the file must end as it was written.
    Bytes,
    /// All but white space between tokens.
    Tokens,
}

/// What the checksum of a text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// The text has none.
    Missing,
    /// It is that of the text.
    Right,
    /// It is not that of the text.
    Wrong,
}

impl Checksum {
    /// Why a text is not as it was written, if so. `is_required` says whether its version has a checksum.
    pub(crate) fn fault(self, is_required: bool) -> Option<&'static str> {
        match self {
            Self::Missing if is_required => Some("it lacks its checksum"),
            Self::Missing | Self::Right => None,
            Self::Wrong => {
                Some("it was changed after it was written: its checksum is that of other content")
            }
        }
    }
}

/// Adds the checksum to an object of pretty JSON, which ends with `}` on a line of its own.
pub(crate) fn add(text: &mut Vec<u8>, coverage: Coverage) {
    let inside = text.trim_ascii_end();
    let inside = inside.strip_suffix(b"}").unwrap_or(inside);
    let length = inside.trim_ascii_end().len();
    text.truncate(length);
    let sum = sum(text, coverage);
    text.extend(end(&sum).bytes());
}

/// What follows the covered part of a file.
fn end(sum: &str) -> String {
    format!(",\n  \"{MEMBER}\": \"{sum}\"\n}}\n")
}

/// Checks the checksum of a file.
pub(crate) fn check(text: &[u8], coverage: Coverage) -> Checksum {
    let Some((covered, digits)) = split(text) else {
        return Checksum::Missing;
    };
    let sum = sum(covered, coverage);
    let is_same = match coverage {
        Coverage::Tokens => digits == sum.as_bytes(),
        Coverage::Bytes => text[covered.len()..] == *end(&sum).as_bytes(),
    };
    if is_same {
        Checksum::Right
    } else {
        Checksum::Wrong
    }
}

/// The covered part of a file and the digits of its checksum.
fn split(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let before =
        |text: &'_ [u8], end: &[u8]| text.trim_ascii_end().strip_suffix(end).map(<[u8]>::len);
    let text = &text[..before(text, b"}")?];
    let text = &text[..before(text, b"\"")?];
    let (text, digits) = text.split_at_checked(text.len().checked_sub(DIGITS)?)?;
    let text = text.strip_suffix(b"\"")?;
    let text = &text[..before(text, b":")?];
    let text = &text[..before(text, format!("\"{MEMBER}\"").as_bytes())?];
    Some((&text[..before(text, b",")?], digits))
}

fn sum(text: &[u8], coverage: Coverage) -> String {
    let mut hasher = Hasher::default();
    let (mut is_inside, mut is_escaped) = (false, false);
    let mut is_token = |byte: &u8| {
        let was_inside = is_inside;
        is_inside ^= *byte == b'"' && !is_escaped;
        is_escaped = was_inside && *byte == b'\\' && !is_escaped;
        was_inside || !byte.is_ascii_whitespace()
    };
    match coverage {
        Coverage::Bytes => hasher.bytes(text),
        // A file may be large.
        Coverage::Tokens => text.chunks(CHUNK).for_each(|chunk| {
            let tokens: Vec<u8> = chunk.iter().copied().filter(&mut is_token).collect();
            hasher.bytes(&tokens);
        }),
    }
    hasher.hex()
}

/// Precedes the digits of a line.
const BEFORE_SUM: &[u8] = br#","sum":""#;
/// Follows them.
const AFTER_SUM: &[u8] = br#""}"#;
/// How many there are.
const SUM_DIGITS: usize = 8;

/// Adds the checksum to a line, an object of JSON without a line feed.
pub(crate) fn add_to_line(line: &mut Vec<u8>) {
    let length = line.trim_ascii_end().len();
    debug_assert!(line[..length].ends_with(b"}"));
    line.truncate(length.saturating_sub(1));
    let sum = crc32fast::hash(line);
    line.extend(BEFORE_SUM);
    line.extend(format!("{sum:08x}").bytes());
    line.extend(AFTER_SUM);
}

/// The checksum of some members of a line, whose others are filled in by people.
pub(crate) fn of_members(members: &impl Serialize) -> String {
    // Text, numbers and tuples of them can be written.
    let text = serde_json::to_vec(members).unwrap_or_default();
    format!("{:08x}", crc32fast::hash(&text))
}

/// Checks the checksum of a line.
pub(crate) fn check_line(line: &[u8]) -> Checksum {
    let split = || {
        let text = line.trim_ascii_end().strip_suffix(AFTER_SUM)?;
        let (text, digits) = text.split_at_checked(text.len().checked_sub(SUM_DIGITS)?)?;
        Some((text.strip_suffix(BEFORE_SUM)?, digits))
    };
    match split() {
        None => Checksum::Missing,
        Some((text, digits)) if digits == format!("{:08x}", crc32fast::hash(text)).as_bytes() => {
            Checksum::Right
        }
        Some(_) => Checksum::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const PLAIN: &str = "{\n  \"run \\\"id\": \"e 1\",\n  \"artifacts\": {}\n}\n";

    fn file(coverage: Coverage) -> Vec<u8> {
        let mut text = PLAIN.as_bytes().to_vec();
        assert_eq!(check(&text, coverage), Checksum::Missing);
        add(&mut text, coverage);
        assert_eq!(check(&text, coverage), Checksum::Right);
        let value: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(value["run \"id"], "e 1");
        text
    }

    /// No change of one bit leaves JSON with a right checksum, except where it changes white space that does not count.
    fn flip_each_bit(
        whole: &[u8],
        sum: impl Fn(&[u8]) -> Checksum,
        is_blank: impl Fn(usize) -> bool,
    ) {
        for bit in 0..whole.len() * 8 {
            let mut other = whole.to_vec();
            other[bit / 8] ^= 1 << (bit % 8);
            let is_json = serde_json::from_slice::<Value>(&other).is_ok();
            assert!(
                !is_json || sum(&other) != Checksum::Right || is_blank(bit / 8),
                "{bit}"
            );
        }
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        let whole = file(Coverage::Bytes);
        flip_each_bit(&whole, |text| check(text, Coverage::Bytes), |_| false);
        let whole = file(Coverage::Tokens);
        let is_blank = |place: usize| whole[place].is_ascii_whitespace();
        flip_each_bit(&whole, |text| check(text, Coverage::Tokens), is_blank);
        let mut line = br#"{"id":"a","n":1}"#.to_vec();
        assert_eq!(check_line(&line), Checksum::Missing);
        add_to_line(&mut line);
        assert_eq!(check_line(&line), Checksum::Right);
        assert_eq!(check_line(&[&line[..], b"\r"].concat()), Checksum::Right);
        flip_each_bit(&line, check_line, |_| false);
    }

    #[test]
    fn white_space_between_tokens_counts_where_every_byte_does() {
        for (coverage, expect) in [
            (Coverage::Bytes, Checksum::Wrong),
            (Coverage::Tokens, Checksum::Right),
        ] {
            let text = String::from_utf8(file(coverage)).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            for other in [
                text.replace('\n', "\r\n"),
                format!("{text}\n"),
                value.to_string(),
            ] {
                assert_eq!(check(other.as_bytes(), coverage), expect, "{other}");
            }
            let other = text.replace("e 1", "e  1");
            assert_eq!(check(other.as_bytes(), coverage), Checksum::Wrong);
        }
    }
}
