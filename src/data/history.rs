//! `History`: the results of an eval over time, in `history.jsonl` next to its snapshots, with one [`HistoryLine`] per
//! line.
//!
//! Git merges the file as a union of lines, so order and duplicates are irrelevant: lines are sorted by time, and of
//! two with the same id the later one counts. The file is only ever appended to, by whole lines. An invalid line is
//! skipped and [reported](SkippedLine), and never overwritten. Alerts need a history without
//! [damaged](History::refuse_damage) lines.

mod line;

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::system::file::read_plain;
use crate::system::project::display;
use crate::text::clean;

pub use line::{HistoryGate, HistoryKind, HistoryLatency, HistoryLine, HistorySlice};

/// The name of the file beside snapshots.
pub const HISTORY_FILE: &str = "history.jsonl";

/// The version of a line; incremented when an older reader would misinterpret it.
///
/// - 1: the first. Readers ignore unknown members.
/// - 2: a line ends with a checksum, `sum`.
pub const HISTORY_VERSION: u32 = 2;

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
    /// Whether it is not what evaltest wrote, or is no line of a history; else it is of another version or eval.
    pub is_damaged: bool,
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
                Err(fault) => {
                    skipped.push(SkippedLine {
                        line: number,
                        ..fault
                    });
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
            "{}: its newest line, `{}`, is from {:.0}, but now is {now:.0}: a clock is or was wrong; lines are \
             ordered by their time",
            display(&self.path),
            clean(&newest.id),
            newest.time,
        ))
    }

    /// Refuses a history with a damaged line: alerts on the others could be silent about what it says.
    ///
    /// # Errors
    /// With the first damaged line.
    pub fn refuse_damage(&self) -> Result<()> {
        let mut skipped = self.skipped.iter();
        match skipped.find(|skipped| skipped.is_damaged) {
            Some(SkippedLine {
                line, why, hint, ..
            }) => {
                let place = format!("{}:{line}", display(&self.path));
                let message = format!("the alerts cannot be judged on a damaged history: {why}");
                Err(Error::usage(message).at(place).hint(*hint))
            }
            None => Ok(()),
        }
    }

    /// Warnings about skipped lines: the first ones, and the number of others.
    pub fn notices(&self) -> Vec<String> {
        let path = display(&self.path);
        let named = self.skipped.iter().take(NAMED);
        let named = named.map(
            |SkippedLine {
                 line, why, hint, ..
             }| { format!("{path}:{line}: left out of the history: {why}; {hint}") },
        );
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
        (!self.runs.iter().all(bits)).then_some("its `answers` do not match its number of samples")
    }

    /// The numbers of correct answers and of known verdicts of a sample.
    pub fn of_sample(&self, place: usize) -> (u32, u32) {
        let verdicts = self.runs.iter().filter_map(|row| row.verdict(place));
        verdicts.fold((0, 0), |(right, known), verdict| {
            (right + u32::from(verdict), known + 1)
        })
    }
}

/// One bit per sample; the first is the highest bit of the first byte.
///
/// Uses standard base64 with padding, so that any program can read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerBits(Vec<u8>);

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl FromIterator<bool> for AnswerBits {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut bytes = Vec::new();
        for (place, bit) in bits.into_iter().enumerate() {
            if place % 8 == 0 {
                bytes.push(0);
            }
            if let Some(last) = bytes.last_mut() {
                *last |= u8::from(bit) << (7 - place % 8);
            }
        }
        Self(bytes)
    }
}

impl AnswerBits {
    /// The bit of a sample; false if out of range.
    pub fn get(&self, place: usize) -> bool {
        let byte = self.0.get(place / 8).copied().unwrap_or_default();
        byte >> (7 - place % 8) & 1 == 1
    }

    /// Whether the length matches this number of samples.
    fn is_of(&self, count: usize) -> bool {
        self.0.len() == count.div_ceil(8)
    }

    fn text(&self) -> String {
        let mut text = String::with_capacity(self.0.len().div_ceil(3) * 4);
        for three in self.0.chunks(3) {
            let byte = |place: usize| u32::from(three.get(place).copied().unwrap_or_default());
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for place in 0..4 {
                let digit = bits >> (18 - 6 * place) & 63;
                let digit = if place > three.len() {
                    b'='
                } else {
                    DIGITS[digit as usize]
                };
                text.push(char::from(digit));
            }
        }
        text
    }

    fn of(text: &str) -> Option<Self> {
        let digits = text.trim_end_matches('=').as_bytes();
        if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
            return None;
        }
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
        for four in digits.chunks(4) {
            let mut bits = 0;
            for digit in four {
                bits = bits << 6 | u32::from(value(*digit)?);
            }
            let missing = 4 - four.len();
            let [_, three @ ..] = (bits << (6 * missing)).to_be_bytes();
            bytes.extend_from_slice(&three[..3 - missing]);
        }
        Some(Self(bytes))
    }
}

/// The value of a base64 digit.
fn value(digit: u8) -> Option<u8> {
    Some(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

impl Serialize for AnswerBits {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text())
    }
}

impl<'a> Deserialize<'a> for AnswerBits {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<'a, str>::deserialize(from)?;
        Self::of(&text).ok_or_else(|| D::Error::custom("its `answers` are not base64"))
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod bits_tests {
    use super::*;

    #[test]
    fn bits_come_back_as_they_went() {
        for count in 0..70 {
            let bits: Vec<bool> = (0..count).map(|place| place * place % 7 < 3).collect();
            let written: AnswerBits = bits.iter().copied().collect();
            let read = AnswerBits::of(&written.text()).unwrap();
            assert_eq!(read, written);
            assert!(read.is_of(count));
            let again: Vec<bool> = (0..count).map(|place| read.get(place)).collect();
            assert_eq!(again, bits);
            assert!(!read.get(count + 8));
        }
        // As other programs write it.
        let bits: AnswerBits = [true, false, true].into_iter().collect();
        assert_eq!(bits.text(), "oA==");
        for wrong in ["o", "oA", "oA=", "oA==A", "o===", "ä===", "oA==\n", "===="] {
            assert_eq!(AnswerBits::of(wrong), None, "{wrong}");
        }
    }
}
