//! What a parse may cost. The parser takes quadratic time to go on after errors, so a text with very many of them is
//! given up.

/// A token that is skipped counts 32, an error that may be forgiven (a missing sign, a reading that leads nowhere) one.
const MAX_FAULTS: usize = 2048;
const SKIPPED: usize = 32;

/// What a parse has cost so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effort {
    faults: usize,
}

impl Effort {
    /// Takes in a message of the parser.
    pub(super) fn hear(&mut self, message: &str) {
        if message.starts_with("skip_token") {
            self.faults += SKIPPED;
        } else if message.starts_with("detect_error") {
            self.faults += 1;
        }
    }

    /// Whether it takes too long.
    pub(super) fn is_spent(self) -> bool {
        self.faults > MAX_FAULTS
    }
}
