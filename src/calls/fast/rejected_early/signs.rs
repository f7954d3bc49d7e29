//! Tokenizes a text exactly as the parser does, as long as the parser still has a version without an error.

#[derive(Clone, Copy, PartialEq)]
pub(super) enum BraceLanguage {
    Java,
    JavaScript,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sign<'a> {
    Word(&'a str),
    Number,
    /// A string in quotes.
    Text,
    /// A string in backticks.
    Template,
    Mark(u8),
    /// Not a token of the language.
    Broken,
    /// The end, or something that is not analysed.
    Unsure,
}

impl Sign<'_> {
    /// Whether this is certainly neither the required mark nor a comment before it.
    pub(super) fn is_not(self, mark: u8) -> bool {
        match self {
            Self::Word(word) => word != "await",
            Self::Mark(found) => found != mark,
            Self::Unsure => false,
            Self::Number | Self::Text | Self::Template | Self::Broken => true,
        }
    }
}

/// Reads tokens.
pub(super) struct Signs<'a> {
    text: &'a str,
    place: usize,
    language: BraceLanguage,
}

impl<'a> Signs<'a> {
    pub(super) fn new(text: &'a str, language: BraceLanguage) -> Self {
        Self {
            text,
            place: 0,
            language,
        }
    }

    fn at(&self, place: usize) -> Option<u8> {
        self.text.as_bytes().get(place).copied()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.at(self.place)
    }

    fn skip_while(&mut self, is_in: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&is_in) {
            self.place += 1;
        }
    }

    pub(super) fn next(&mut self) -> Sign<'a> {
        self.skip_while(is_space);
        let start = self.place;
        let Some(byte) = self.peek() else {
            return Sign::Unsure;
        };
        self.place += 1;
        let next = self.peek();
        let is_java = self.language == BraceLanguage::Java;
        match byte {
            _ if is_word_start(byte) => {
                self.skip_while(is_word);
                match self.peek() {
                    Some(b'\\' | 0x80..) => Sign::Unsure,
                    _ => Sign::Word(&self.text[start..self.place]),
                }
            }
            b'0'..=b'9' => {
                self.skip_while(|byte| byte.is_ascii_digit());
                if self.peek() == Some(b'.') {
                    self.place += 1;
                    self.skip_while(|byte| byte.is_ascii_digit());
                }
                match self.peek() {
                    Some(byte) if is_word(byte) || matches!(byte, b'.' | b'\\' | 0x80..) => {
                        Sign::Unsure
                    }
                    _ => Sign::Number,
                }
            }
            b'"' | b'\'' if is_java => self.java_text(byte),
            b'"' | b'\'' => self.javascript_text(byte),
            b'`' if !is_java => self.template(),
            b'`' | b'#' | b'\\' if is_java => Sign::Broken,
            b'#' => lone_hash(next),
            b'/' if matches!(next, Some(b'/' | b'*')) => Sign::Unsure,
            // After the name in `let x` no value has ended, and a `;` may be inserted before a regular expression.
            b'/' | b'<' | b'@' if !is_java => Sign::Unsure,
            // In `.5.a` the second point is not part of a number.
            b'.' if next.is_some_and(|byte| byte.is_ascii_digit()) => Sign::Unsure,
            // `-->` starts a comment.
            b'>' if !is_java && self.text[..start].ends_with("--") => Sign::Unsure,
            b'!'..=b'~' if byte != b'\\' => Sign::Mark(byte),
            _ => Sign::Unsure,
        }
    }

    /// The position of the first byte that ends a string or leaves it to the parser.
    fn text_end(&self, is_end: impl Fn(u8) -> bool) -> usize {
        let bytes = self.text.as_bytes();
        let mut place = self.place;
        while let Some(&byte) = bytes.get(place) {
            if byte == b'\\' {
                // Not a numeric escape, nor Java's `\{`.
                match bytes.get(place + 1) {
                    Some(b'0'..=b'9' | b'x' | b'u' | b'{') => break,
                    Some(b' '..=b'~') => place += 1,
                    _ => break,
                }
            } else if is_end(byte) || (byte < b' ' && !is_space(byte)) {
                break;
            }
            place += 1;
        }
        place
    }

    /// A string, possibly over several lines, or a character literal, which may have any number of characters on one
    /// line.
    fn java_text(&mut self, quote: u8) -> Sign<'a> {
        let start = self.place;
        let is_char = quote == b'\'';
        self.place = self.text_end(|byte| byte == quote || (is_char && byte == b'\n'));
        let is_empty = self.place == start;
        match self.peek() {
            Some(b'\'') if is_char && is_empty => Sign::Broken,
            // A triple quote.
            Some(b'"') if is_empty && self.at(self.place + 1) == Some(b'"') => Sign::Unsure,
            Some(byte) if byte == quote => {
                self.place += 1;
                Sign::Text
            }
            None | Some(b'\n') if is_char => Sign::Broken,
            _ => Sign::Unsure,
        }
    }

    /// A string on one line.
    fn javascript_text(&mut self, quote: u8) -> Sign<'a> {
        self.place = self.text_end(|byte| byte == quote || matches!(byte, b'\n' | b'\r'));
        match self.peek() {
            Some(byte) if byte == quote => {
                self.place += 1;
                Sign::Text
            }
            Some(b'\n' | b'\r') => self.not_closed(quote, Sign::Text),
            _ => Sign::Unsure,
        }
    }

    fn template(&mut self) -> Sign<'a> {
        let start = self.place;
        self.place = self.text_end(|byte| matches!(byte, b'`' | b'$'));
        match self.peek() {
            Some(b'`') => {
                self.place += 1;
                Sign::Template
            }
            None if !self.text[start..].contains('\\') => {
                self.place = start;
                self.not_closed(b'`', Sign::Template)
            }
            _ => Sign::Unsure,
        }
    }

    /// Without a closing quote the next token is read as outside the string. The parser may insert a quote before a
    /// token that continues a value, but not before another value.
    fn not_closed(&mut self, quote: u8, sign: Sign<'a>) -> Sign<'a> {
        self.skip_while(is_space);
        match self.peek() {
            Some(b'#') => lone_hash(self.at(self.place + 1)),
            Some(byte) if is_word(byte) => Sign::Broken,
            Some(byte) if byte != quote && !matches!(byte, b'/' | b'\\' | 0x80..) => sign,
            _ => Sign::Unsure,
        }
    }
}

/// A JavaScript `#`, which starts private names and the `#!` line.
fn lone_hash(next: Option<u8>) -> Sign<'static> {
    match next {
        // The parser treats DEL as a letter.
        Some(b'!' | b'\\' | 0x7f..) => Sign::Unsure,
        Some(byte) if is_word_start(byte) => Sign::Unsure,
        _ => Sign::Broken,
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$')
}

fn is_word(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit()
}
