//! Halves of surrogate pairs, which Python's texts may hold and Rust's may not.
//!
//! A text of a [`Value`](super::Value) is *kept*: a half stands there as one of the last 2,048 characters of the
//! private use planes. Where a text has such a character itself, or the mark, a mark stands in front of it. So
//! different texts of Python stay different, and nearly every text is kept as it is.

use std::borrow::Cow;

use memchr::memmem;

/// Tells that the next character means itself.
const MARK: char = '\u{10f7ff}';

/// The first of the characters that stand for halves; there are as many as halves.
const FIRST: u32 = 0x10_f800;

/// With these bytes mark and stand-ins begin, and few other characters.
const START: [u8; 2] = [0xf4, 0x8f];

/// Whether a text could be kept otherwise than it is.
fn is_special(text: &str) -> bool {
    memmem::find(text.as_bytes(), &START).is_some()
}

/// The character that stands for a half (U+D800 to U+DFFF).
pub fn stand_in(half: u32) -> char {
    char::from_u32(half - 0xd800 + FIRST).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// A text of Rust as it is kept.
pub fn encode(text: &str) -> Cow<'_, str> {
    if !is_special(text) {
        return Cow::Borrowed(text);
    }
    let mut encoded = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        push(Ok(c), &mut encoded);
    }
    Cow::Owned(encoded)
}

/// Appends a character, or a half, to a kept text.
pub fn push(c: Result<char, u32>, encoded: &mut String) {
    match c {
        Ok(c) => {
            if c >= MARK {
                encoded.push(MARK);
            }
            encoded.push(c);
        }
        Err(half) => encoded.push(stand_in(half)),
    }
}

/// The text that is kept, or the first half in it.
pub fn whole(encoded: &str) -> Result<Cow<'_, str>, u32> {
    if !is_special(encoded) {
        return Ok(Cow::Borrowed(encoded));
    }
    characters(encoded)
        .collect::<Result<_, _>>()
        .map(Cow::Owned)
}

/// The text that is kept, with U+FFFD for halves.
pub fn readable(encoded: &str) -> Cow<'_, str> {
    if !is_special(encoded) {
        return Cow::Borrowed(encoded);
    }
    let decoded = |c: Result<char, u32>| c.unwrap_or(char::REPLACEMENT_CHARACTER);
    Cow::Owned(characters(encoded).map(decoded).collect())
}

/// The characters and halves of a kept text: what is one for Python is one here.
pub fn characters(encoded: &str) -> impl Iterator<Item = Result<char, u32>> {
    let mut chars = encoded.chars();
    std::iter::from_fn(move || {
        let c = chars.next()?;
        Some(match u32::from(c).checked_sub(FIRST) {
            Some(place) => Err(place + 0xd800),
            None if c == MARK => Ok(chars.next().unwrap_or(MARK)),
            None => Ok(c),
        })
    })
}

/// A kept text of these characters.
pub fn encoded(characters: impl IntoIterator<Item = Result<char, u32>>) -> String {
    let mut text = String::new();
    for c in characters {
        push(c, &mut text);
    }
    text
}

/// How many characters a kept text has for Python.
pub fn count(encoded: &str) -> usize {
    if is_special(encoded) {
        characters(encoded).count()
    } else {
        encoded.chars().count()
    }
}

/// Each character of a kept text as a text.
pub fn letters(encoded: &str) -> impl Iterator<Item = &str> {
    let mut rest = encoded;
    std::iter::from_fn(move || {
        let mut chars = rest.chars();
        if chars.next()? == MARK {
            chars.next();
        }
        let (letter, after) = rest.split_at(rest.len() - chars.as_str().len());
        rest = after;
        Some(letter)
    })
}

/// A kept text without its first and its last character.
pub fn without_ends(encoded: &str) -> &str {
    let first = letters(encoded).next().map_or(0, str::len);
    let rest = &encoded[first..];
    let last = if is_special(rest) {
        letters(rest).last().map_or(0, str::len)
    } else {
        rest.chars().next_back().map_or(0, char::len_utf8)
    };
    &rest[..rest.len() - last]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        for text in [
            "",
            "é😀",
            "\u{10f7fe}\u{10ffff}",
            "\u{10f7ff}\u{10f7ff}\u{10f800}a",
        ] {
            let encoded = encode(text);
            assert_eq!(whole(&encoded).as_deref(), Ok(text));
            assert_eq!(readable(&encoded), text);
            assert_eq!(count(&encoded), text.chars().count());
            assert_eq!(letters(&encoded).count(), text.chars().count());
            let mut inner = text.chars();
            inner.next();
            inner.next_back();
            assert_eq!(without_ends(&encoded), encode(inner.as_str()));
        }
        for half in [0xd800, 0xdbff, 0xdc00, 0xdfff] {
            let encoded = encoded([Ok('\u{10ffff}'), Err(half), Ok('\u{10f7ff}')]);
            assert_eq!(whole(&encoded), Err(half));
            assert_eq!(readable(&encoded), "\u{10ffff}\u{fffd}\u{10f7ff}");
            assert_eq!((count(&encoded), letters(&encoded).count()), (3, 3));
            assert_eq!(without_ends(&encoded), stand_in(half).to_string());
            assert_ne!(
                encoded,
                encode(&readable(&encoded)),
                "a half is no character"
            );
        }
    }
}
