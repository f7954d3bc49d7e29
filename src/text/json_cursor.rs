//! A cursor over JSON as Python's `json` module reads it. It checks the grammar and finds where things are, without
//! building values.
//!
//! Beyond the standard it accepts the bare words `NaN`, `Infinity` and `-Infinity`, escapes of lone surrogates, and
//! duplicate keys. Skipping a value uses no stack, however deep it is. Callers interpret the tokens: `calls` makes
//! Python values of them, `cargo evaltest score` looks for members of a line.

mod raw;

use std::fmt;

use super::json_special;
use crate::error::Error;

pub use raw::Raw;

/// A position in a JSON text.
#[derive(Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    place: usize,
    /// The containers around the current value, innermost last. Reused to save the allocation.
    open: Vec<u8>,
}

/// What was expected where the text stops being JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unexpected {
    /// A value.
    Value,
    /// A string.
    String,
    /// The end of a string.
    Quote,
    /// An escape in place of a control character.
    Control,
    /// A valid escape.
    Escape,
    /// The digits of a `\u`.
    Hex,
    /// A digit of a number.
    Digit,
    /// An object key.
    Key,
    /// The colon between key and value.
    Colon,
    /// The next member of an object, or its end.
    Object,
    /// The next item of an array, or its end.
    Array,
}

/// A number in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonNumber {
    /// The position after it.
    pub end: usize,
    /// Whether it is finite, without fraction or exponent.
    pub(crate) is_integer: bool,
    /// Whether a fraction or an exponent without digits follows, which is an error if the whole text must be JSON. If
    /// only the start of the text must be JSON, the number ends before it.
    pub(crate) breaks_off: bool,
}

/// A value that is a bare word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonWord {
    /// `null`
    Null,
    /// `true`
    True,
    /// `false`
    False,
    /// `NaN`
    NaN,
    /// `Infinity`
    Infinity,
}

const WORDS: [(&str, JsonWord); 5] = [
    ("null", JsonWord::Null),
    ("true", JsonWord::True),
    ("false", JsonWord::False),
    ("NaN", JsonWord::NaN),
    ("Infinity", JsonWord::Infinity),
];

impl<'a> Cursor<'a> {
    /// A cursor at the start of `text`. `open` is a buffer for the open containers.
    pub fn new(text: &'a str, open: Vec<u8>) -> Self {
        Self {
            text,
            place: 0,
            open,
        }
    }

    /// Returns the buffer that [`Cursor::new`] took.
    pub fn into_buffer(mut self) -> Vec<u8> {
        self.open.clear();
        self.open
    }

    /// The position, in bytes from the start.
    #[inline]
    pub fn place(&self) -> usize {
        self.place
    }

    /// Goes back to an earlier position.
    #[inline]
    pub fn back_to(&mut self, place: usize) {
        self.place = place;
    }

    /// The text between two positions.
    #[inline]
    pub fn between(&self, start: usize, end: usize) -> &'a str {
        &self.text[start..end]
    }

    /// The next byte.
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.place).copied()
    }

    /// Skips white space.
    #[inline]
    pub fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.place += 1;
        }
    }

    /// Consumes the byte if it comes next.
    #[inline]
    pub fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.place += usize::from(found);
        found
    }

    /// Whether the end of the text is reached.
    #[inline]
    pub fn at_end(&self) -> bool {
        self.place == self.text.len()
    }

    /// The error that `what` was expected here.
    pub fn expected(&self, what: impl fmt::Display) -> Error {
        let before = self.text.get(..self.place).unwrap_or(self.text);
        // The space skipped last may be a line break, which editors do not show as a column.
        let column = before.trim_end_matches(['\r', '\n']).chars().count() + 1;
        Error::usage(format!("broken JSON in column {column}: expected {what}"))
    }

    /// Reads a string without escapes, quotes included, if one comes next. Fails if it does not end.
    #[expect(
        clippy::inline_always,
        reason = "a call would pass the value through memory"
    )]
    #[inline(always)]
    pub(crate) fn plain_string(&mut self) -> Result<Option<&'a str>, Unexpected> {
        let start = self.place + 1;
        if self.peek() != Some(b'"') {
            return Err(Unexpected::String);
        }
        let rest = &self.text.as_bytes()[start..];
        let Some(length) = json_special(rest) else {
            return Err(Unexpected::Quote);
        };
        if rest[length] != b'"' {
            return Ok(None);
        }
        self.place = start + length + 1;
        Ok(Some(&self.text[start..start + length]))
    }

    /// Reads a string, quotes included.
    #[expect(
        clippy::inline_always,
        reason = "a call would pass the value through memory"
    )]
    #[inline(always)]
    pub fn string(&mut self) -> Result<Raw<'a>, Unexpected> {
        if let Ok(Some(plain)) = self.plain_string() {
            return Ok(Raw::Plain(plain));
        }
        self.string_with_escapes()
    }

    #[inline(never)]
    fn string_with_escapes(&mut self) -> Result<Raw<'a>, Unexpected> {
        if !self.eat(b'"') {
            return Err(Unexpected::String);
        }
        let start = self.place;
        loop {
            let rest = &self.text.as_bytes()[self.place..];
            let Some(run) = json_special(rest) else {
                self.place = self.text.len();
                return Err(Unexpected::Quote);
            };
            self.place += run;
            match rest[run] {
                b'"' => {
                    self.place += 1;
                    return Ok(Raw::Escaped(&self.text[start..self.place - 1]));
                }
                b'\\' => self.escape().map(drop)?,
                _ => return Err(Unexpected::Control),
            }
        }
    }

    /// Unescapes the rest of a string. Returns whether it ends with a quote, which is then consumed, or with the text.
    /// `push` appends each unescaped character or lone surrogate.
    pub fn unescape(
        &mut self,
        out: &mut String,
        mut push: impl FnMut(Result<char, u32>, &mut String),
    ) -> Result<bool, Unexpected> {
        loop {
            let rest = &self.text.as_bytes()[self.place..];
            let Some(run) = json_special(rest) else {
                out.push_str(&self.text[self.place..]);
                self.place = self.text.len();
                return Ok(false);
            };
            out.push_str(&self.text[self.place..self.place + run]);
            self.place += run;
            match rest[run] {
                b'"' => {
                    self.place += 1;
                    return Ok(true);
                }
                b'\\' => {
                    let code = self.escape()?;
                    let c = match char::from_u32(code) {
                        Some(c) => Some(c),
                        None => self.joined(code)?,
                    };
                    push(c.ok_or(code), out);
                }
                _ => return Err(Unexpected::Control),
            }
        }
    }

    /// Reads an escape, starting at its backslash: a character, or half of a surrogate pair.
    #[inline]
    fn escape(&mut self) -> Result<u32, Unexpected> {
        self.place += 1;
        let c = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.place += 1;
                return self.hex();
            }
            _ => return Err(Unexpected::Escape),
        };
        self.place += 1;
        Ok(c.into())
    }

    fn hex(&mut self) -> Result<u32, Unexpected> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or(Unexpected::Hex)?;
            self.place += 1;
        }
        Ok(code)
    }

    /// The character of a surrogate pair whose first half was read, if the second half follows.
    fn joined(&mut self, high: u32) -> Result<Option<char>, Unexpected> {
        let start = self.place;
        if (0xd800..0xdc00).contains(&high) && self.text[start..].starts_with("\\u") {
            let low = self.escape()?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(code));
            }
            self.place = start;
        }
        Ok(None)
    }

    /// Reads a value of any kind.
    #[expect(
        clippy::inline_always,
        reason = "a call would pass the value through memory"
    )]
    #[inline(always)]
    pub fn value(&mut self) -> Result<Raw<'a>, Unexpected> {
        if self.peek() == Some(b'"') {
            return self.string();
        }
        self.other()
    }

    fn other(&mut self) -> Result<Raw<'a>, Unexpected> {
        let start = self.place;
        self.scalar_or_open()?;
        while let Some(&container) = self.open.last() {
            self.skip_space();
            if self.eat(b',') {
                self.skip_space();
                self.member(container)?;
            } else if self.eat(container + 2) {
                // In ASCII `]` is `[` plus two, and `}` is `{` plus two.
                self.open.pop();
            } else {
                return Err(match container {
                    b'{' => Unexpected::Object,
                    _ => Unexpected::Array,
                });
            }
        }
        Ok(Raw::Other(&self.text[start..self.place]))
    }

    /// In an object, reads the key and the space before the value.
    fn member(&mut self, container: u8) -> Result<(), Unexpected> {
        if container == b'{' {
            self.key()?;
        }
        self.scalar_or_open()
    }

    /// Reads a key and its colon, and the space around the colon.
    #[expect(
        clippy::inline_always,
        reason = "a call would pass the value through memory"
    )]
    #[inline(always)]
    pub fn key(&mut self) -> Result<Raw<'a>, Unexpected> {
        if self.peek() != Some(b'"') {
            return Err(Unexpected::Key);
        }
        let key = self.string()?;
        self.colon()?;
        Ok(key)
    }

    /// Reads the colon after a key and the space around it.
    #[inline]
    pub fn colon(&mut self) -> Result<(), Unexpected> {
        self.skip_space();
        if !self.eat(b':') {
            return Err(Unexpected::Colon);
        }
        self.skip_space();
        Ok(())
    }

    /// Reads a scalar, or enters containers up to the first scalar or empty container.
    fn scalar_or_open(&mut self) -> Result<(), Unexpected> {
        loop {
            match self.peek() {
                Some(b'"') => return self.string().map(drop),
                Some(open @ (b'{' | b'[')) => {
                    self.place += 1;
                    self.skip_space();
                    if self.eat(open + 2) {
                        return Ok(());
                    }
                    self.open.push(open);
                    if open == b'{' {
                        self.key()?;
                    }
                }
                Some(b'-' | b'0'..=b'9') => {
                    let is_whole = !self.number()?.breaks_off;
                    return is_whole.then_some(()).ok_or(Unexpected::Digit);
                }
                _ => return self.word().map(drop),
            }
        }
    }

    /// Reads a bare word.
    #[inline]
    pub fn word(&mut self) -> Result<JsonWord, Unexpected> {
        let rest = &self.text.as_bytes()[self.place..];
        for (name, word) in WORDS {
            if rest.starts_with(name.as_bytes()) {
                self.place += name.len();
                return Ok(word);
            }
        }
        Err(Unexpected::Value)
    }

    /// Reads a number.
    #[expect(
        clippy::inline_always,
        reason = "a call would pass the number through memory"
    )]
    #[inline(always)]
    pub fn number(&mut self) -> Result<JsonNumber, Unexpected> {
        if self.eat(b'-') && self.text.as_bytes()[self.place..].starts_with(b"Infinity") {
            self.place += "Infinity".len();
            return Ok(self.number_to(self.place, false));
        }
        // A leading zero is the whole number; a digit after it is a separate fault.
        if !self.eat(b'0') && !self.digits() {
            return Err(Unexpected::Digit);
        }
        let whole = self.place;
        if self.eat(b'.') && !self.digits() {
            return Ok(self.number_to(whole, true));
        }
        let end = self.place;
        if self.eat(b'e') || self.eat(b'E') {
            if !self.eat(b'-') {
                self.eat(b'+');
            }
            if !self.digits() {
                return Ok(self.number_to(end, end == whole));
            }
        }
        Ok(self.number_to(self.place, self.place == whole))
    }

    #[inline]
    fn number_to(&self, end: usize, is_integer: bool) -> JsonNumber {
        JsonNumber {
            end,
            is_integer,
            breaks_off: end < self.place,
        }
    }

    /// Skips digits; returns whether there were any.
    #[inline]
    fn digits(&mut self) -> bool {
        let start = self.place;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.place += 1;
        }
        self.place > start
    }
}

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value => "a value",
            Self::String => "a string",
            Self::Quote => "`\"`",
            Self::Control => "a control character to be escaped",
            Self::Escape => "an escape such as `\\n` or `\\\\`",
            Self::Hex => "four hexadecimal digits after `\\u`",
            Self::Digit => "a digit",
            Self::Key => "a key in double quotes",
            Self::Colon => "`:`",
            Self::Object => "`,` or `}`",
            Self::Array => "`,` or `]`",
        })
    }
}

#[cfg(test)]
mod tests;
