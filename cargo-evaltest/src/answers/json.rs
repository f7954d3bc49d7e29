//! A reader for JSON as Python's `json` module reads it: a cursor that checks the grammar and tells where
//! things stand, without building values.
//!
//! Beyond the standard it takes the bare words `NaN`, `Infinity` and `-Infinity`, and escapes of lone
//! surrogates. Nesting of any depth takes no stack.

use std::borrow::Cow;

use evaltest::text::json_special;
use evaltest::{Error, Result};

use super::escape::unescaped;

/// A place in a text that holds JSON.
pub(super) struct Cursor<'a> {
    text: &'a str,
    place: usize,
    /// The containers around the current value, innermost last; kept to save the allocation.
    open: Vec<u8>,
}

/// A value of the text. Without padding, which makes copies of it wait.
#[derive(Clone, Copy, Debug)]
#[repr(usize)]
pub(super) enum Raw<'a> {
    /// A string that is what stands between its quotes.
    Plain(&'a str),
    /// A string with escapes, between its quotes.
    Escaped(&'a str),
    /// Anything else, as it stands there.
    Other(&'a str),
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, open: Vec<u8>) -> Self {
        Self {
            text,
            place: 0,
            open,
        }
    }

    /// Gives back the buffer that [`Cursor::new`] took.
    pub(super) fn into_buffer(mut self) -> Vec<u8> {
        self.open.clear();
        self.open
    }

    pub(super) fn place(&self) -> usize {
        self.place
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.place).copied()
    }

    #[inline]
    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.place += 1;
        }
    }

    /// Steps over the byte if it comes next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.place += usize::from(found);
        found
    }

    pub(super) fn at_end(&self) -> bool {
        self.place == self.text.len()
    }

    /// The error that something else should stand here.
    pub(super) fn expected(&self, what: &str) -> Error {
        let before = self.text.get(..self.place).unwrap_or(self.text);
        // The space skipped last may be the line break, which no editor shows as a column.
        let column = before.trim_end_matches(['\r', '\n']).chars().count() + 1;
        Error::usage(format!("broken JSON in column {column}: expected {what}"))
    }

    /// Reads a string, its opening quote included.
    #[expect(
        clippy::inline_always,
        reason = "a call would pass the value through memory"
    )]
    #[inline(always)]
    fn string(&mut self) -> Result<Raw<'a>> {
        let start = self.place + 1;
        if self.peek() == Some(b'"')
            && let rest = &self.text.as_bytes()[start..]
            && let Some(length) = json_special(rest)
            && rest[length] == b'"'
        {
            self.place = start + length + 1;
            return Ok(Raw::Plain(&self.text[start..start + length]));
        }
        self.string_with_escapes()
    }

    #[inline(never)]
    fn string_with_escapes(&mut self) -> Result<Raw<'a>> {
        if !self.eat(b'"') {
            return Err(self.expected("a string"));
        }
        let start = self.place;
        loop {
            let rest = &self.text.as_bytes()[self.place..];
            let Some(run) = json_special(rest) else {
                self.place = self.text.len();
                return Err(self.expected("`\"`"));
            };
            self.place += run;
            match rest[run] {
                b'"' => {
                    self.place += 1;
                    return Ok(Raw::Escaped(&self.text[start..self.place - 1]));
                }
                b'\\' => self.escape()?,
                _ => return Err(self.expected("a control character to be escaped")),
            }
        }
    }

    fn escape(&mut self) -> Result<()> {
        self.place += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.place += 1;
                Ok(())
            }
            Some(b'u') => {
                self.place += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.expected("four hexadecimal digits after `\\u`"));
                    }
                    self.place += 1;
                }
                Ok(())
            }
            _ => Err(self.expected("an escape such as `\\n` or `\\\\`")),
        }
    }

    /// Reads a value of any kind.
    #[expect(
        clippy::inline_always,
        reason = "a call would pass the value through memory"
    )]
    #[inline(always)]
    pub(super) fn value(&mut self) -> Result<Raw<'a>> {
        if self.peek() == Some(b'"') {
            return self.string();
        }
        self.other()
    }

    fn other(&mut self) -> Result<Raw<'a>> {
        let start = self.place;
        self.scalar_or_open()?;
        while let Some(&container) = self.open.last() {
            self.skip_space();
            if self.eat(b',') {
                self.skip_space();
                self.member(container)?;
            } else if self.eat(container + 2) {
                // In ASCII `]` is two behind `[`, and `}` two behind `{`.
                self.open.pop();
            } else {
                return Err(self.expected(match container {
                    b'{' => "`,` or `}`",
                    _ => "`,` or `]`",
                }));
            }
        }
        Ok(Raw::Other(&self.text[start..self.place]))
    }

    /// A key, if it is a member of an object, and the start of its value.
    fn member(&mut self, container: u8) -> Result<()> {
        if container == b'{' {
            self.key()?;
        }
        self.scalar_or_open()
    }

    /// Reads a key, its colon and the space around that.
    #[expect(
        clippy::inline_always,
        reason = "a call would pass the value through memory"
    )]
    #[inline(always)]
    pub(super) fn key(&mut self) -> Result<Raw<'a>> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a key in double quotes"));
        }
        let key = self.string()?;
        self.skip_space();
        if !self.eat(b':') {
            return Err(self.expected("`:`"));
        }
        self.skip_space();
        Ok(key)
    }

    /// Reads a scalar, or enters containers up to the first scalar or empty container in them.
    fn scalar_or_open(&mut self) -> Result<()> {
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
                Some(b'-' | b'0'..=b'9') => return self.number(),
                _ => return self.word(),
            }
        }
    }

    fn word(&mut self) -> Result<()> {
        let rest = &self.text[self.place..];
        for word in ["null", "true", "false", "NaN", "Infinity"] {
            if rest.starts_with(word) {
                self.place += word.len();
                return Ok(());
            }
        }
        Err(self.expected("a value"))
    }

    fn number(&mut self) -> Result<()> {
        if self.eat(b'-') && self.text[self.place..].starts_with("Infinity") {
            self.place += "Infinity".len();
            return Ok(());
        }
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            if !self.eat(b'-') {
                self.eat(b'+');
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.place;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.place += 1;
        }
        if self.place == start {
            return Err(self.expected("a digit"));
        }
        Ok(())
    }
}

impl<'a> Raw<'a> {
    /// Whether it is this string, however it is spelt.
    #[inline]
    pub(super) fn is(&self, other: &str) -> bool {
        match self {
            Self::Plain(raw) => *raw == other,
            Self::Escaped(raw) => unescaped(raw).0 == other,
            Self::Other(_) => false,
        }
    }

    /// The text of a string, and whether a lone surrogate had to be replaced by U+FFFD.
    pub(super) fn text(&self) -> Option<(Cow<'a, str>, bool)> {
        match self {
            Self::Plain(raw) => Some((Cow::Borrowed(raw), false)),
            Self::Escaped(raw) => {
                let (text, replaced) = unescaped(raw);
                Some((Cow::Owned(text), replaced))
            }
            Self::Other(_) => None,
        }
    }

    /// The value as it stands there; of a string its text.
    pub(super) fn content(&self) -> Cow<'a, str> {
        match self {
            Self::Plain(raw) | Self::Other(raw) => Cow::Borrowed(raw),
            Self::Escaped(raw) => Cow::Owned(unescaped(raw).0),
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Other("null"))
    }

    /// What it is, for messages.
    pub(super) fn kind(&self) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<()> {
        let mut cursor = Cursor::new(text, Vec::new());
        cursor.value()?;
        if cursor.at_end() {
            Ok(())
        } else {
            Err(cursor.expected("the end"))
        }
    }

    #[test]
    fn reads_what_python_reads() {
        for text in [
            "0",
            "-0",
            "12.50e+7",
            "1E-3",
            "true",
            "null",
            "NaN",
            "-Infinity",
            "Infinity",
            "\"\"",
            r#""é\n\"\u00e9\ud800""#,
            "[]",
            "[ ]",
            "{ }",
            "[1,[2 , {}],{\"a\" :\t[]}]",
            "{\"a\":{\"b\":[NaN,-Infinity]},\"a\":1}",
        ] {
            assert!(read(text).is_ok(), "{text}");
        }
        let deep = 100_000;
        assert!(read(&format!("{}{}", "[".repeat(deep), "]".repeat(deep))).is_ok());
    }

    #[test]
    fn names_the_column_of_a_fault() {
        let check = |text: &str, expect: &str| {
            let error = read(text).expect_err(text);
            assert_eq!(error.message(), format!("broken JSON in column {expect}"));
        };
        check("", "1: expected a value");
        check("[1,]", "4: expected a value");
        check("[1 2]", "4: expected `,` or `]`");
        check("[1}", "3: expected `,` or `]`");
        check("{\"é\":1]", "7: expected `,` or `}`");
        check("{\"a\":1,}", "8: expected a key in double quotes");
        check("{a:1}", "2: expected a key in double quotes");
        check("{\"a\"}", "5: expected `:`");
        check("\"a", "3: expected `\"`");
        check("\"\t\"", "2: expected a control character to be escaped");
        check(r#""\x""#, "3: expected an escape such as `\\n` or `\\\\`");
        check(
            r#""\u00g0""#,
            "6: expected four hexadecimal digits after `\\u`",
        );
        check("01", "2: expected the end");
        check("1.", "3: expected a digit");
        check("-", "2: expected a digit");
        check("1e+", "4: expected a digit");
        check("-NaN", "2: expected a digit");
        check("nul", "1: expected a value");
        check("'a'", "1: expected a value");
    }

    #[test]
    fn decodes_strings() {
        let check = |text: &str, expect: &str, replaced: bool| {
            let string = Cursor::new(text, Vec::new()).string().expect("a string");
            assert_eq!(string.text(), Some((expect.into(), replaced)));
            assert!(string.is(expect));
        };
        check(r#""é\"\\\/\b\f\n\r\tx""#, "é\"\\/\x08\x0c\n\r\tx", false);
        check(r#""\u00e9\u0000\uD83D\ude00!""#, "é\0😀!", false);
        check(r#""\ud83d\u0041\ude00x""#, "\u{fffd}A\u{fffd}x", true);
        check(r#""\ud83d\\ude00\ud83d""#, "\u{fffd}\\ude00\u{fffd}", true);
    }
}
