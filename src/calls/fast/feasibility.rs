//! Whether a parse can still end without an error node, judged by the parser's log.
//!
//! Tree-sitter follows several versions of a parse at once. When the last of them is stuck it continues in two ways: it
//! inserts a missing token, which is no error node, or it enters the error state, and all that follows from that has an
//! error node. So the parse is lost once every remaining version has been in the error state. Comments are the
//! exception: stepping back over only a comment leaves no error node, so a text with one before its first error is
//! never called lost.

/// The state derived from the parser's log so far.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::calls) struct Feasibility {
    /// While an error without an inserted token is handled: the minimum number of versions that come from the error
    /// state.
    spoilt: Option<usize>,
    /// Whether a version may have no error node although it was in the error state, or has reached the end.
    is_open: bool,
    is_lost: bool,
}

impl Feasibility {
    /// Whether there will be an error node, whatever follows.
    pub(super) fn is_lost(self) -> bool {
        self.is_lost
    }

    /// Processes a log message of the parser.
    pub(in crate::calls) fn observe(&mut self, message: &str) {
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

    /// A version continues: `0, version_count:1, state:0, …`.
    fn process(&mut self, process: &str) {
        let spoilt = self.spoilt.take();
        let are_spoilt =
            spoilt.is_some_and(|spoilt| count(process).is_some_and(|count| count <= spoilt));
        let is_spoilt = process.starts_with("0, version_count:1, state:0,");
        self.is_lost |= (are_spoilt || is_spoilt) && !self.is_open;
    }
}

/// The number of versions.
fn count(process: &str) -> Option<usize> {
    let (_, rest) = process.split_once("version_count:")?;
    rest.split_once(',')?.0.parse().ok()
}
