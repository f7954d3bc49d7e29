//! Shortcuts: give the same result as a full parser, in a fraction of the time.
//!
//! * [`plain_python`], [`plain_call`]: read the usual calls without a syntax tree;
//! * [`rejected_early`]: rejects texts that cannot be Java or JavaScript, by their tokens;
//! * [`Feasibility`], [`Beginnings`]: detect a beginning after which a parse must fail.
//!
//! Nothing here decides what a text means. The functions of this file are the only entry points, and when the shortcuts
//! are switched off each returns "unknown": then the parsers read everything, and must give the same values, faults and
//! messages. `tests` compares the two, and so does every parity test.

#[cfg(test)]
mod derived_texts;
mod plain_call;
mod plain_python;
mod rejected_early;
#[cfg(test)]
pub(crate) mod switch;
#[cfg(test)]
mod tests;

use super::{DecodeResult, Value, no_call};
use plain_python::Plain;

/// Whether shortcuts are used; only tests switch them off.
#[cfg(not(test))]
const fn is_on() -> bool {
    true
}
#[cfg(test)]
use switch::is_on;

/// The calls of a bracketed Python text, or the fault that it holds none; `None` if unknown.
pub(super) fn python_calls(text: &str) -> Option<DecodeResult<Value>> {
    if !is_on() {
        return None;
    }
    match plain_python::calls(text) {
        Plain::Calls(calls) => Some(Ok(Value::List(calls))),
        Plain::Constants => Some(Err(no_call())),
        Plain::Other => None,
    }
}

/// Reads a Java text that is a single call.
pub(super) fn java_call(text: &str) -> Option<Value> {
    is_on().then(|| plain_call::java(text))?
}

/// Reads a JavaScript text that is a single call, or an object instead of a call.
pub(super) fn javascript_call(text: &str) -> Option<Value> {
    is_on().then(|| plain_call::javascript(text))?
}

/// Whether a text certainly has no Java tree.
pub(super) fn is_no_java(text: &str) -> bool {
    is_on() && rejected_early::in_java(text)
}

/// Whether a text certainly has no JavaScript tree.
pub(super) fn is_no_javascript(text: &str) -> bool {
    is_on() && rejected_early::in_javascript(text)
}

/// Whether a text begins like one whose parse failed.
pub(super) fn begins_lost(text: &str, beginnings: &Beginnings) -> bool {
    is_on() && beginnings.begin(text)
}

/// Whether there will be no tree, whatever follows.
pub(super) fn is_lost(feasibility: Feasibility) -> bool {
    is_on() && feasibility.is_lost()
}

/// The maximum number of stored beginnings, and their maximum length in bytes.
const MOST: usize = 16;
const LONGEST: usize = 64;

/// The beginnings for one language.
#[derive(Default)]
pub(super) struct Beginnings {
    entries: Vec<String>,
    /// The index of the one to replace next.
    oldest: usize,
}

impl Beginnings {
    /// Whether a text starts with one of them.
    fn begin(&self, text: &str) -> bool {
        self.entries.iter().any(|lost| text.starts_with(lost))
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.entries.len()
    }

    /// Stores the part of a text that was read when the parse was lost.
    pub(super) fn remember(&mut self, text: &str, reach: Reach) {
        let Some(end) = reach.0.filter(|&end| end <= LONGEST) else {
            return;
        };
        let lost = &text[..end];
        if self.entries.len() < MOST {
            self.entries.push(lost.to_owned());
        } else {
            lost.clone_into(&mut self.entries[self.oldest]);
            self.oldest = (self.oldest + 1) % MOST;
        }
    }
}

/// How far a text was read; `None` once its end was seen.
#[derive(Clone, Copy)]
pub(super) struct Reach(Option<usize>);

impl Reach {
    /// Nothing was read.
    pub(super) fn new() -> Self {
        Self(Some(0))
    }

    /// The parser read from `place` to `end`, or asked for text past the end.
    pub(super) fn extend(&mut self, text: &str, place: usize, end: usize) {
        self.0 = self
            .0
            .filter(|_| place < text.len())
            .map(|known| known.max(end));
    }
}

#[cfg(test)]
mod beginnings_tests {
    use super::*;
    use crate::calls::syntax_tree::TreeReader;
    use crate::calls::syntax_tree::tests::LANGUAGES;

    #[test]
    fn lost_beginning_is_stored_and_recognized() {
        for language in LANGUAGES {
            let mut reader = TreeReader::new(&language()).unwrap();
            let text = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
            assert!(reader.tree(text).is_none());
            assert_eq!(reader.lost.count(), 1);
            assert!(reader.lost.begin(text));
            assert!(reader.tree(&text.replace("{}", "{\"a\": 1}")).is_none());
            assert_eq!(reader.lost.count(), 1);
            for number in 0..40 {
                assert!(reader.tree(&format!("<t{number}>\n{{")).is_none());
            }
            assert!(reader.lost.count() <= MOST);
            assert!(reader.tree("f(a=1);").is_some());
        }
    }
}

// Whether a parse can still end without an error node, judged by the parser's log.
//
// Tree-sitter follows several versions of a parse at once. When the last of them is stuck it continues in two ways: it
// inserts a missing token, which is no error node, or it enters the error state, and all that follows from that has an
// error node. So the parse is lost once every remaining version has been in the error state. Comments are the
// exception: stepping back over only a comment leaves no error node, so a text with one before its first error is
// never called lost.

/// The state derived from the parser's log so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Feasibility {
    /// While an error without an inserted token is handled: the minimum number of versions that come from the error
    /// state.
    spoilt: Option<usize>,
    /// Whether a version may have no error node although it was in the error state, or has reached the end.
    is_open: bool,
    is_lost: bool,
}

impl Feasibility {
    /// Whether there will be an error node, whatever follows.
    fn is_lost(self) -> bool {
        self.is_lost
    }

    /// Processes a log message of the parser.
    pub(super) fn observe(&mut self, message: &str) {
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

/// Everything before `place` is read.
struct CodeCursor<'a> {
    text: &'a str,
    place: usize,
}

impl<'a> CodeCursor<'a> {
    #[inline]
    fn new(text: &'a str) -> Self {
        Self { text, place: 0 }
    }

    #[inline]
    fn place(&self) -> usize {
        self.place
    }

    /// Moves to a position, which must be the start of a character or the end.
    #[inline]
    fn go_to(&mut self, place: usize) {
        self.place = place;
    }

    /// Skips bytes.
    #[inline]
    fn skip(&mut self, bytes: usize) {
        self.place += bytes;
    }

    #[inline]
    fn is_at_end(&self) -> bool {
        self.place == self.text.len()
    }

    /// The text read since a position.
    #[inline]
    fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.place]
    }

    /// The text that remains.
    #[inline]
    fn rest(&self) -> &'a str {
        &self.text[self.place..]
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.place).copied()
    }

    #[inline]
    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.place += usize::from(found);
        found
    }

    /// Skips spaces and line breaks, which have no meaning in brackets. Other white space is left to the parser.
    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\n') = self.peek() {
            self.place += 1;
        }
    }

    #[inline]
    fn eat_while(&mut self, is_in: impl Fn(u8) -> bool) -> &'a str {
        let start = self.place;
        while self.peek().is_some_and(&is_in) {
            self.place += 1;
        }
        self.since(start)
    }

    /// An ASCII word that starts with a letter, and goes on with letters and digits.
    #[inline]
    fn word(&mut self, is_letter: impl Fn(u8) -> bool) -> Option<&'a str> {
        self.peek().filter(|&byte| is_letter(byte))?;
        Some(self.eat_while(|byte| is_letter(byte) || byte.is_ascii_digit()))
    }
}
