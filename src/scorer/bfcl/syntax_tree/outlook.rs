//! Whether a parse can still end without an error node, by what the parser says of itself.
//!
//! Tree-sitter follows several readings of a text at once. When the last of them is stuck it goes on in two ways: it
//! makes up a missing sign, which is forgiven, or it enters the error state, and all that comes of that has an error
//! node. So nothing can be mended once every reading left has been in the error state. Comments are the exception:
//! stepping back over nothing but a comment leaves no error node, so a text with one before its first error is never
//! called lost.

/// What a parser has said so far.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Outlook {
    /// Whether an error is being handled.
    is_stuck: bool,
    /// Whether a sign was made up for it.
    is_mended: bool,
    /// How many readings are known to come of the error state, of those there are while it is handled.
    spoilt: usize,
    /// Whether a reading may be without an error node though it was in the error state, or has come to the end.
    is_open: bool,
    is_lost: bool,
    faults: usize,
}

/// What a parse may cost before it is given up: a token that is skipped counts 32, an error that may be forgiven (a
/// missing sign, a reading that leads nowhere) one.
const MAX_FAULTS: usize = 2048;
const SKIPPED: usize = 32;

impl Outlook {
    /// Whether there will be an error node, whatever comes.
    pub(super) fn is_lost(self) -> bool {
        self.is_lost
    }

    /// Whether it takes too long.
    pub(super) fn is_endless(self) -> bool {
        self.faults > MAX_FAULTS
    }

    /// Takes in a message of the parser.
    pub(super) fn hear(&mut self, message: &str) {
        if let Some(process) = message.strip_prefix("process version:") {
            self.process(process);
        } else if message.starts_with("resume version:") {
            (self.is_stuck, self.is_mended, self.spoilt) = (true, false, 1);
        } else if message.starts_with("recover_with_missing") {
            self.is_mended = true;
        } else if message.starts_with("recover_to_previous") {
            self.spoilt += 1;
        } else if message.starts_with("skip_token") {
            self.faults += SKIPPED;
        } else if message.starts_with("detect_error") {
            self.faults += 1;
        } else if message.starts_with("accept")
            || (message.starts_with("lexed_lookahead") && message.contains("comment"))
        {
            self.is_open = true;
        }
    }

    /// A reading goes on: `0, version_count:1, state:0, …`.
    fn process(&mut self, process: &str) {
        let is_only = process.starts_with("0, version_count:1,");
        let all_spoilt = if self.is_stuck && !self.is_mended {
            count(process).is_some_and(|count| count <= self.spoilt)
        } else {
            is_only && process.contains(" state:0,")
        };
        self.is_lost |= all_spoilt && !self.is_open;
        self.is_stuck = false;
    }
}

/// How many readings there are.
fn count(process: &str) -> Option<usize> {
    let (_, rest) = process.split_once("version_count:")?;
    rest.split_once(',')?.0.parse().ok()
}
