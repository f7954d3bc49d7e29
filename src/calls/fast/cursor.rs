//! A cursor over source text, for all languages here.

/// Everything before `place` is read.
pub(super) struct CodeCursor<'a> {
    text: &'a str,
    place: usize,
}

impl<'a> CodeCursor<'a> {
    #[inline]
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, place: 0 }
    }

    #[inline]
    pub(super) fn place(&self) -> usize {
        self.place
    }

    /// Moves to a position, which must be the start of a character or the end.
    #[inline]
    pub(super) fn go_to(&mut self, place: usize) {
        self.place = place;
    }

    /// Skips bytes.
    #[inline]
    pub(super) fn skip(&mut self, bytes: usize) {
        self.place += bytes;
    }

    #[inline]
    pub(super) fn is_at_end(&self) -> bool {
        self.place == self.text.len()
    }

    /// The text read since a position.
    #[inline]
    pub(super) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.place]
    }

    /// The text that remains.
    #[inline]
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.place..]
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.place).copied()
    }

    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.place += usize::from(found);
        found
    }

    /// Skips spaces and line breaks, which have no meaning in brackets. Other white space is left to the parser.
    #[inline]
    pub(super) fn space(&mut self) {
        while let Some(b' ' | b'\n') = self.peek() {
            self.place += 1;
        }
    }

    #[inline]
    pub(super) fn eat_while(&mut self, is_in: impl Fn(u8) -> bool) -> &'a str {
        let start = self.place;
        while self.peek().is_some_and(&is_in) {
            self.place += 1;
        }
        self.since(start)
    }

    /// An ASCII word that starts with a letter, and goes on with letters and digits.
    #[inline]
    pub(super) fn word(&mut self, is_letter: impl Fn(u8) -> bool) -> Option<&'a str> {
        self.peek().filter(|&byte| is_letter(byte))?;
        Some(self.eat_while(|byte| is_letter(byte) || byte.is_ascii_digit()))
    }
}
