//! What a parse may cost: work in proportion to the length of a text.
//!
//! Errors that are forgiven cost no more than other tokens, however many there are. What grows is an error node that is
//! made anew with all that it has whenever a reading leaves the error state, and a comment or text without end that is
//! looked through to the end of all from many places. A text with very many of these takes quadratic time; those of
//! models that repeat themselves do not, for readings with error nodes end there as soon as a better one is found.

/// What any text may cost, and a byte of it besides. Up to 8,000 returns from the error state are within the former.
const FREE: usize = 1 << 19;
const FREE_PER_BYTE: usize = 16;

/// A return from the error state costs one, and one more for so many before it: about as long as it takes to copy
/// what they left.
const COPIED: usize = 64;

/// So many characters that are looked at cost one.
const LEXED: usize = 8;

/// What a parse has cost so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    returns: usize,
    lexed: usize,
    spent: usize,
    free: usize,
}

impl Effort {
    /// Nothing yet, of a text of so many bytes.
    pub(super) fn new(length: usize) -> Self {
        Self {
            returns: 0,
            lexed: 0,
            spent: 0,
            free: FREE + FREE_PER_BYTE * length,
        }
    }

    /// Takes in a message of the parser.
    pub(super) fn hear(&mut self, message: &str) {
        if message.starts_with("recover_to_previous") {
            self.returns += 1;
            self.spent += 1 + self.returns / COPIED;
        }
    }

    /// Takes in a message of the lexer, which has one for each character.
    pub(super) fn lex(&mut self) {
        self.lexed += 1;
        self.spent += usize::from(self.lexed.is_multiple_of(LEXED));
    }

    /// Whether it takes too long.
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
            effort.hear("recover_to_previous state:1, depth:2");
            effort.hear("skip_token symbol:identifier");
            count += 1;
        }
        count
    }

    #[test]
    fn more_is_free_where_more_is_said() {
        assert!(returns(0) > 8_000);
        // A line of twenty bytes has one.
        assert!(returns(20 * 20_000) > 20_000);
        // The work, which grows with the square of that, is in proportion.
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
