//! `Raw`: a value as written in a JSON text.

use std::borrow::Cow;

use super::Cursor;

/// A value of the text. The layout has no padding, which would slow down copies.
#[derive(Clone, Copy, Debug)]
#[repr(usize)]
pub enum Raw<'a> {
    /// A string without escapes: the text between its quotes.
    Plain(&'a str),
    /// A string with escapes: the raw text between its quotes.
    Escaped(&'a str),
    /// Any other value, as written.
    Other(&'a str),
}

impl<'a> Raw<'a> {
    /// Whether it is this string, with or without escapes.
    #[inline]
    pub fn is(&self, other: &str) -> bool {
        match self {
            Self::Plain(raw) => *raw == other,
            Self::Escaped(raw) => unescaped(raw, char::REPLACEMENT_CHARACTER).0 == other,
            Self::Other(_) => false,
        }
    }

    /// The text of a string, and whether a lone surrogate was replaced by U+FFFD.
    #[inline]
    pub fn text(&self) -> Option<(Cow<'a, str>, bool)> {
        match self {
            Self::Plain(raw) => Some((Cow::Borrowed(raw), false)),
            Self::Escaped(raw) => {
                let (text, replaced) = unescaped(raw, char::REPLACEMENT_CHARACTER);
                Some((Cow::Owned(text), replaced))
            }
            Self::Other(_) => None,
        }
    }

    /// The text of a string, with `half` in place of lone surrogates.
    pub fn text_with(&self, half: char) -> Option<Cow<'a, str>> {
        match self {
            Self::Plain(raw) => Some(Cow::Borrowed(raw)),
            Self::Escaped(raw) => Some(Cow::Owned(unescaped(raw, half).0)),
            Self::Other(_) => None,
        }
    }

    /// The value as written, or a string's text.
    #[inline]
    pub fn content(&self) -> Cow<'a, str> {
        match self {
            Self::Plain(raw) | Self::Other(raw) => Cow::Borrowed(raw),
            Self::Escaped(raw) => Cow::Owned(unescaped(raw, char::REPLACEMENT_CHARACTER).0),
        }
    }

    /// Whether it is `null`.
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Other("null"))
    }

    /// The kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        let Self::Other(text) = self else {
            return "a string";
        };
        match text.as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ => "a number",
        }
    }
}

/// Unescapes a string whose grammar was checked; also returns whether a lone surrogate was replaced by `half`.
fn unescaped(raw: &str, half: char) -> (String, bool) {
    let mut text = String::with_capacity(raw.len());
    let mut replaced = false;
    let push = |c: Result<char, u32>, text: &mut String| {
        replaced |= c.is_err();
        text.push(c.unwrap_or(half));
    };
    // Cannot fail or meet a quote: the cursor that found the string has read it to its end.
    let _ = Cursor::new(raw, Vec::new()).unescape(&mut text, push);
    (text, replaced)
}
