//! Whether a parse can still end without an error node, by what the parser says of itself.
//!
//! Tree-sitter follows several readings of a text at once. When the last of them is stuck it goes on in two ways: it
//! makes up a missing sign, which is forgiven, or it enters the error state, and all that comes of that has an error
//! node. So nothing can be mended once every reading left has been in the error state. Comments are the exception:
//! stepping back over nothing but a comment leaves no error node, so a text with one before its first error is never
//! called lost.

/// What a parser has said so far.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::calls) struct Outlook {
    /// While an error is handled for which no sign was made up: how many readings come of the error state, at least.
    spoilt: Option<usize>,
    /// Whether a reading may be without an error node though it was in the error state, or has come to the end.
    is_open: bool,
    is_lost: bool,
}

impl Outlook {
    /// Whether there will be an error node, whatever comes.
    pub(super) fn is_lost(self) -> bool {
        self.is_lost
    }

    /// Takes in a message of the parser.
    pub(in crate::calls) fn hear(&mut self, message: &str) {
        if let Some(process) = message.strip_prefix("process version:") {
            self.process(process);
        } else if message.starts_with("resume version:") {
            self.spoilt = Some(1);
        } else if message.starts_with("recover_with_missing") {
            self.spoilt = None;
        } else if message.starts_with("recover_to_previous") {
            self.spoilt = self.spoilt.map(|spoilt| spoilt + 1);
        } else if message.starts_with("accept")
            || (message.starts_with("lexed_lookahead") && message.contains("comment"))
        {
            self.is_open = true;
        }
    }

    /// A reading goes on: `0, version_count:1, state:0, …`.
    fn process(&mut self, process: &str) {
        let spoilt = self.spoilt.take();
        let are_spoilt =
            spoilt.is_some_and(|spoilt| count(process).is_some_and(|count| count <= spoilt));
        let is_spoilt = process.starts_with("0, version_count:1, state:0,");
        self.is_lost |= (are_spoilt || is_spoilt) && !self.is_open;
    }
}

/// How many readings there are.
fn count(process: &str) -> Option<usize> {
    let (_, rest) = process.split_once("version_count:")?;
    rest.split_once(',')?.0.parse().ok()
}
