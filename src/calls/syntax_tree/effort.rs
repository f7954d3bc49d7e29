//! Limits the cost of a parse to work proportional to the length of a text.
//!
//! Errors recovered without an error node cost no more than other tokens. What grows is an error node, which is copied
//! with all its content whenever a version leaves the error state, and an unterminated comment or string, which is
//! scanned to the end from many places. A text with very many of these takes quadratic time. Repetitive answers of
//! models do not, because versions with error nodes are dropped as soon as a better one is found.

/// The cost allowed for any text, and for each of its bytes. The former covers 8,000 returns from the error state.
const FREE: usize = 1 << 19;
const FREE_PER_BYTE: usize = 16;

/// A return from the error state costs 1, plus 1 for this many earlier returns: about the time it takes to copy their
/// nodes.
const COPIED: usize = 64;

/// This many examined characters cost 1.
const LEXED: usize = 8;

/// The cost of a parse so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    returns: usize,
    lexed: usize,
    spent: usize,
    free: usize,
}

impl Effort {
    /// No cost yet, for a text of `length` bytes.
    pub(super) fn new(length: usize) -> Self {
        Self {
            returns: 0,
            lexed: 0,
            spent: 0,
            free: FREE + FREE_PER_BYTE * length,
        }
    }

    /// Processes a log message of the parser.
    pub(super) fn observe(&mut self, message: &str) {
        if message.starts_with("recover_to_previous") {
            self.returns += 1;
            self.spent += 1 + self.returns / COPIED;
        }
    }

    /// Processes a log message of the lexer, which logs each character.
    pub(super) fn lex(&mut self) {
        self.lexed += 1;
        self.spent += usize::from(self.lexed.is_multiple_of(LEXED));
    }

    /// Whether the limit is exceeded.
    pub(super) fn is_spent(self) -> bool {
        self.spent > self.free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returns(length: usize) -> usize {
        let mut effort = Effort::new(length);
        let mut count = 0;
        while !effort.is_spent() {
            effort.observe("recover_to_previous state:1, depth:2");
            effort.observe("skip_token symbol:identifier");
            count += 1;
        }
        count
    }

    #[test]
    fn effort_limit_grows_with_text_length() {
        assert!(returns(0) > 8_000);
        // Each line of twenty bytes has one.
        assert!(returns(20 * 20_000) > 20_000);
        // The limit stays proportional, although the work grows quadratically.
        assert!(returns(1 << 24) < 4 * returns(1 << 20) + 1_000);
        let mut effort = Effort::new(1);
        for _ in 0..LEXED * (FREE + FREE_PER_BYTE) {
            effort.lex();
        }
        assert!(!effort.is_spent());
        for _ in 0..LEXED {
            effort.lex();
        }
        assert!(effort.is_spent());
    }
}
