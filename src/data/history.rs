//! `History`: the results of an eval over time, in `history.jsonl` next to its snapshots, with one [`HistoryLine`] per
//! line.
//!
//! Git merges the file as a union of lines, so order and duplicates are irrelevant: lines are sorted by time, and of
//! two with the same id the later one counts. The file is only ever appended to, by whole lines. An invalid line is
//! skipped and [reported](SkippedLine); it is no error, and is never overwritten.

mod bits;
mod line;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::system::file::read_plain;
use crate::system::project::display;
use crate::text::clean;

pub use bits::AnswerBits;
pub use line::{HistoryGate, HistoryKind, HistoryLatency, HistoryLine, HistorySlice};

/// The name of the file beside snapshots.
pub const HISTORY_FILE: &str = "history.jsonl";

/// The version of a line; incremented when an older reader would misinterpret it.
///
/// - 1: the first. Readers ignore unknown members.
pub const HISTORY_VERSION: u32 = 1;

/// Maximum number of skipped lines reported; the rest is counted.
const NAMED: usize = 5;

/// The history of an eval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Path of the file.
    pub path: PathBuf,
    /// The lines sorted by time, then by id; each id of a kind once.
    pub lines: Vec<HistoryLine>,
    /// Invalid lines, in the order of the file.
    pub skipped: Vec<SkippedLine>,
    /// Whether the last line ends in a line feed, as it should.
    pub is_ended: bool,
}

/// An invalid line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedLine {
    /// Line number, from 1.
    pub line: u64,
    /// The reason.
    pub why: String,
    /// What to do about it.
    pub hint: &'static str,
}

impl History {
    /// Reads the history of an eval; empty if there is no file.
    ///
    /// # Errors
    /// If the file cannot be read or is not a file. Invalid lines are no error.
    pub fn read(path: &Path, eval: &str) -> Result<Self> {
        match read_plain(path) {
            Ok(text) => Ok(Self::of(&text, path, eval)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::of(b"", path, eval)),
            Err(error) => Err(Error::io("read", path, &error)),
        }
    }

    /// Parses the content of such a file.
    pub fn of(text: &[u8], path: &Path, eval: &str) -> Self {
        // An editor may have added a byte order mark.
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
                // The result does not depend on their order in the file.
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

    /// The runs, sorted by time.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = &HistoryLine> {
        let lines = self.lines.iter();
        lines.filter(|line| line.kind == HistoryKind::Run)
    }

    /// A warning if the newest line is later than `now`: one of the clocks is wrong.
    pub fn ahead_of(&self, now: Timestamp) -> Option<String> {
        let newest = self.lines.last().filter(|line| line.time > now)?;
        Some(format!(
            "{}: its newest line, `{}`, is of {:.0}, and now is {now:.0}: a clock is or was wrong; lines count in the order \
             of their time",
            display(&self.path),
            clean(&newest.id),
            newest.time,
        ))
    }

    /// Warnings about skipped lines: the first ones, and the number of others.
    pub fn notices(&self) -> Vec<String> {
        let path = display(&self.path);
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

/// Which samples were correct, in the order of their ids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistoryAnswers {
    /// Hash of the ids and inputs: only lines with the same hash have bits for the same samples.
    pub samples: String,
    /// Number of samples.
    pub count: usize,
    /// One row per run and epoch.
    pub runs: Vec<AnswerRow>,
}

/// One answer to each sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerRow {
    /// Whether it is correct.
    pub right: AnswerBits,
    /// Whether there is a verdict on a newly requested answer: a cached answer is no new evidence. `None` if this
    /// holds for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<AnswerBits>,
}

impl AnswerRow {
    /// A row of verdicts; `None` if there are none.
    pub fn of(verdicts: &[Option<bool>]) -> Self {
        let right = verdicts.iter().map(|verdict| *verdict == Some(true));
        let known = verdicts.iter().map(Option::is_some);
        Self {
            right: right.collect(),
            known: verdicts.contains(&None).then(|| known.collect()),
        }
    }

    /// The verdict on a sample's answer, if known.
    pub fn verdict(&self, place: usize) -> Option<bool> {
        let is_known = self.known.as_ref().is_none_or(|known| known.get(place));
        is_known.then(|| self.right.get(place))
    }
}

impl HistoryAnswers {
    /// Why the value is invalid, if so.
    fn fault(&self) -> Option<&'static str> {
        let bits = |row: &AnswerRow| {
            let known = row.known.as_ref();
            row.right.is_of(self.count) && known.is_none_or(|known| known.is_of(self.count))
        };
        (!self.runs.iter().all(bits)).then_some("its `answers` are not those of so many samples")
    }

    /// The numbers of correct answers and of known verdicts of a sample.
    pub fn of_sample(&self, place: usize) -> (u32, u32) {
        let verdicts = self.runs.iter().filter_map(|row| row.verdict(place));
        verdicts.fold((0, 0), |(right, known), verdict| {
            (right + u32::from(verdict), known + 1)
        })
    }
}

#[cfg(test)]
mod tests;
