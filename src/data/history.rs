//! `History`: what became of an eval over time, `history.jsonl` beside its snapshots, one [`HistoryLine`] a line.
//!
//! The file is merged by git as a union of lines, so that their order says nothing, nor does it matter whether one stands there
//! twice: lines are in the order of their time, and of two with one id the later counts. Nothing but a whole line is ever
//! added. A line that is none is left out and [named](SkippedLine), wherever it came from: it ends no command, and nobody
//! writes over it.

mod answers;
mod bits;
mod line;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub use answers::{AnswerRow, HistoryAnswers};
pub use bits::AnswerBits;
use jiff::Timestamp;
pub use line::{HistoryGate, HistoryKind, HistoryLatency, HistoryLine, HistorySlice};

use crate::error::{Error, Result};
use crate::system::file::read_plain;
use crate::system::project::shown;
use crate::text::clean;

/// The name of the file beside snapshots.
pub const HISTORY_FILE: &str = "history.jsonl";

/// What a line looks like, counted up whenever a reader of an older version would be misled.
///
/// - 1: the first. What a reader does not know in a line it leaves alone.
pub const HISTORY_VERSION: u32 = 1;

/// So many lines that were left out are named; the others are counted.
const NAMED: usize = 5;

/// What became of an eval over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The file.
    pub path: PathBuf,
    /// The lines in the order of their time, and where that is the same, of their ids; each id of a kind once.
    pub lines: Vec<HistoryLine>,
    /// What is no line of it, in the order of the file.
    pub skipped: Vec<SkippedLine>,
    /// Whether the last line has its end, as all of a file that is not empty should.
    pub is_ended: bool,
}

/// A line that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedLine {
    /// Which, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: String,
    /// What to do about it.
    pub hint: &'static str,
}

impl History {
    /// Reads the history of an eval; an empty one where there is no file.
    ///
    /// # Errors
    /// When the file cannot be read, or is no file. What is wrong with single lines is no error.
    pub fn read(path: &Path, eval: &str) -> Result<Self> {
        match read_plain(path) {
            Ok(text) => Ok(Self::of(&text, path, eval)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::of(b"", path, eval)),
            Err(error) => Err(Error::io("read", path, &error)),
        }
    }

    /// What a text says that is such a file.
    pub fn of(text: &[u8], path: &Path, eval: &str) -> Self {
        // An editor may have put a mark before the first line.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut skipped = Vec::new();
        let mut lines: Vec<(HistoryLine, &[u8])> = Vec::new();
        let mut seen: HashMap<(HistoryKind, String), usize> = HashMap::new();
        for (number, part) in (1..).zip(text.split_inclusive(|byte| *byte == b'\n')) {
            let content = part.trim_ascii();
            if content.is_empty() {
                continue;
            }
            let line = match HistoryLine::of(content, eval) {
                Ok(line) => line,
                Err((why, hint)) => {
                    let line = number;
                    skipped.push(SkippedLine { line, why, hint });
                    continue;
                }
            };
            match seen.entry((line.kind, line.id.clone())) {
                Entry::Vacant(place) => {
                    place.insert(lines.len());
                    lines.push((line, content));
                }
                // Whichever comes first in the file, the same one counts.
                Entry::Occupied(place) => {
                    let there = &mut lines[*place.get()];
                    if (there.0.time, there.1) < (line.time, content) {
                        *there = (line, content);
                    }
                }
            }
        }
        let mut lines: Vec<_> = lines.into_iter().map(|(line, _)| line).collect();
        lines.sort_by(|one, other| one.order().cmp(&other.order()));
        Self {
            path: path.to_owned(),
            lines,
            skipped,
            is_ended: text.is_empty() || text.ends_with(b"\n"),
        }
    }

    /// The runs of it, in the order of their time.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = &HistoryLine> {
        let lines = self.lines.iter();
        lines.filter(|line| line.kind == HistoryKind::Run)
    }

    /// What to tell people at a time that comes before that of a line, if it does: one of the clocks is wrong.
    pub fn ahead_of(&self, now: Timestamp) -> Option<String> {
        let newest = self.lines.last().filter(|line| line.time > now)?;
        Some(format!(
            "{}: its newest line, `{}`, is of {:.0}, and now is {now:.0}: a clock is or was wrong; lines count in the order \
             of their time",
            shown(&self.path),
            clean(&newest.id),
            newest.time,
        ))
    }

    /// What to tell people of the lines that were left out: the first of them, and how many others there are.
    pub fn notices(&self) -> Vec<String> {
        let path = shown(&self.path);
        let named = self.skipped.iter().take(NAMED);
        let named = named.map(|SkippedLine { line, why, hint }| {
            format!("{path}:{line}: left out of the history: {why}; {hint}")
        });
        let others = self.skipped.len().saturating_sub(NAMED);
        let others = (others > 0)
            .then(|| format!("{path}: {others} further lines are left out of the history"));
        named.chain(others).collect()
    }
}

#[cfg(test)]
mod tests;
