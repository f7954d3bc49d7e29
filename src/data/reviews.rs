//! `Verification`: a person's review of an item, as stored on disk.
//!
//! A file of verifications is an object keyed by item id, in a format that existing programs use:
//!
//! ```json
//! {"gen_aime_1": {"problem_id": "gen_aime_1", "scores": {"clarity": 4, "correctness": 5}, "total_score": 4.5,
//!  "status": "approved", "comments": "", "verified_at": "2026-01-02T03:04:05.678Z", "reviewer": "anna",
//!  "format_version": 1}}
//! ```
//!
//! It has the latest review of each item. All reviews are in the journal of each reviewer, whose lines are
//! [`ReviewLine`]s; the file can be rebuilt from them.

mod file;
mod line;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::stats::{as_f64, ratio, wilson95};
use crate::system::file::open_plain;
use crate::system::project::display;

pub(crate) use file::Verifications;
pub(crate) use line::{REVIEW_LINE_VERSION, ReviewEvent, ReviewLine};

/// The format version of a verification:
///
/// - 1: as above.
pub(crate) const REVIEW_VERSION: u32 = 1;

/// Minimum and maximum score of a dimension.
pub(crate) const POINTS: [u8; 2] = [1, 5];

/// The member of a line of a file of questions that says whether a person has filled in the answer.
pub(crate) const REVIEW: &str = "review";

/// The answer is missing.
pub(crate) const NEEDED: &str = "needed";

/// The question is not wanted.
pub(crate) const REJECTED: &str = "rejected";

/// What a line says of itself, if it has no ground truth, whatever else it has.
pub(crate) fn without_answer(line: &Map<String, Value>) -> Option<&'static str> {
    let word = line.get(REVIEW)?.as_str()?;
    [NEEDED, REJECTED].into_iter().find(|known| *known == word)
}

/// The decision on an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewStatus {
    /// Good as it is.
    Approved,
    /// Not usable.
    Rejected,
    /// Usable after changes.
    NeedsRevision,
}

impl ReviewStatus {
    /// All of them, in display order.
    pub const ALL: [Self; 3] = [Self::Approved, Self::Rejected, Self::NeedsRevision];

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::NeedsRevision => "needs_revision",
        }
    }
}

/// One person's review of one item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    /// Id of the item.
    pub problem_id: String,
    /// Scores from 1 to 5, by dimension.
    pub scores: BTreeMap<String, u8>,
    /// The mean of the scores.
    pub total_score: f64,
    /// The decision on the item.
    pub status: ReviewStatus,
    /// Free text.
    pub comments: String,
    /// Time in UTC, as in RFC 3339.
    pub verified_at: String,
    /// Name of the reviewer.
    pub reviewer: String,
    /// The expected answer to a question of production, which has no scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The format version.
    pub format_version: u32,
}

impl Verification {
    /// The unweighted mean of the scores; 0 without scores.
    pub(crate) fn total_of(scores: &BTreeMap<String, u8>) -> f64 {
        let sum: u32 = scores.values().map(|score| u32::from(*score)).sum();
        let count = u32::try_from(scores.len()).unwrap_or(u32::MAX);
        if count == 0 {
            return 0.0;
        }
        // Write 4.333333333333 rather than all digits of the float.
        (f64::from(sum) / f64::from(count) * 1e12).round() / 1e12
    }

    /// Why it is invalid, if so.
    pub(crate) fn fault(&self) -> Option<String> {
        if self.format_version != REVIEW_VERSION {
            let other = self.format_version;
            return Some(format!(
                "it has version {other}, but this evaltest reads {REVIEW_VERSION}"
            ));
        }
        let [lowest, highest] = POINTS;
        let out = |score: &u8| !(lowest..=highest).contains(score);
        if let Some((name, score)) = self.scores.iter().find(|(_, score)| out(score)) {
            return Some(format!(
                "`{name}` is {score}, not from {lowest} to {highest}"
            ));
        }
        if self.scores.is_empty() && self.answer.is_none() {
            return Some("it has no scores".to_owned());
        }
        let total = Self::total_of(&self.scores);
        ((self.total_score - total).abs() > 1e-6).then(|| {
            let given = self.total_score;
            format!("`total_score` is {given}, but the mean of its scores is {total}")
        })
    }
}

impl Verifications {
    /// Reads a file like [`Verifications::read`], and checks that it has the latest review of each item in the
    /// journals. Without journals it is read as it is.
    ///
    /// # Errors
    /// With the line of an invalid verification, or of one that differs from the journals.
    pub(crate) fn checked(path: &Path) -> Result<Option<Self>> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.strip_suffix("verifications.json");
        let folder = stem.map(|stem| path.with_file_name(format!("{stem}reviews")));
        let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
            return Self::read(path);
        };
        // Writers hold this lock.
        let held = folder.join(".lock");
        refuse_foreign(&held)?;
        let held = File::open(&held).ok();
        let _held = held.filter(|held| held.lock_shared().is_ok());
        let Some(found) = Self::read(path)? else {
            return Ok(None);
        };
        let (has_journals, current) = current(&folder)?;
        if !has_journals {
            return Ok(Some(found));
        }
        let wrong = |line: u64, why: String| {
            let message = format!("{}:{line}: {why}", display(path));
            let hint = "open it with `cargo evaltest review`, which repairs what a crash left, or keep the file under another name";
            Error::usage(message).hint(hint)
        };
        let journal_dir = display(&folder);
        let mut missing: BTreeSet<&str> = current.keys().map(String::as_str).collect();
        for (line, entry) in &found.0 {
            let reviewed = current.get(&entry.problem_id);
            if reviewed.is_none_or(|reviewed| reviewed.verification.as_ref() != Some(entry)) {
                let why = "differs from the latest review in the journals in";
                let id = &entry.problem_id;
                return Err(wrong(*line, format!("`{id}` {why} `{journal_dir}`")));
            }
            missing.remove(entry.problem_id.as_str());
        }
        match missing.first() {
            Some(id) => {
                let why = format!("it lacks `{id}`, which the journals in `{journal_dir}` have");
                Err(wrong(1, why))
            }
            None => Ok(Some(found)),
        }
    }
}

/// Whether a folder contains journals, and the latest review of each item in them.
fn current(folder: &Path) -> Result<(bool, HashMap<String, ReviewLine>)> {
    let io = |error: std::io::Error| Error::io("read", folder, &error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        paths.push(entry.map_err(io)?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    paths.sort();
    let mut latest = HashMap::<String, ReviewLine>::new();
    for path in &paths {
        let mut current = HashMap::<String, Vec<ReviewLine>>::new();
        for line in JournalText::read(path, JournalPlace::default())?.lines {
            let words = current.entry(line.id.clone()).or_default();
            match line.event {
                ReviewEvent::Submitted => words.push(line),
                ReviewEvent::Undone => drop(words.pop()),
                ReviewEvent::Refused => {}
            }
        }
        for line in current.into_values().filter_map(|mut words| words.pop()) {
            let there = latest.get(&line.id);
            if there.is_none_or(|there| (&line.at, &line.reviewer) > (&there.at, &there.reviewer)) {
                latest.insert(line.id.clone(), line);
            }
        }
    }
    Ok((!paths.is_empty(), latest))
}

/// Statistics of the latest review of each item.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReviewedFigures {
    /// Number of reviewed items.
    pub n: u64,
    /// Number of all items.
    pub of: u64,
    /// n / of, 0 to 1.
    pub share: f64,
    /// The share of reviewed items that is approved.
    pub approved: f64,
    /// Its 95 % Wilson interval `[low, high]`.
    pub approved_ci95: [f64; 2],
    /// The share of reviewed items that is rejected.
    pub rejected: f64,
    /// The share of reviewed items that needs revision.
    pub needs_revision: f64,
    /// The mean of the totals.
    pub total: f64,
    /// The mean of each dimension, over the items that have it.
    pub means: BTreeMap<String, f64>,
    /// Agreement with the judge, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<ReviewedAgreement>,
}

/// Agreement of people and a judge: approval agrees with a pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReviewedAgreement {
    /// Number of reviewed items with a verdict of the judge.
    pub n: u64,
    /// The share of them on which both agree.
    pub share: f64,
    /// Its 95 % Wilson interval `[low, high]`.
    pub ci95: [f64; 2],
}

impl ReviewedFigures {
    /// Those of a file of verifications, of items with these ids; `None` where there is no file, or nothing of them was
    /// reviewed. `judged` says whether the judge lets an item pass.
    ///
    /// # Errors
    /// With the line of an invalid verification, or of one that differs from the journals; also for a file of other
    /// items.
    pub(crate) fn read(
        path: &Path,
        ids: &HashSet<String>,
        judged: &dyn Fn(&str) -> Option<bool>,
    ) -> Result<Option<Self>> {
        let Some(found) = Verifications::checked(path)? else {
            return Ok(None);
        };
        let first = found
            .0
            .first()
            .map(|(line, entry)| (*line, entry.problem_id.clone()));
        let entries = found.0.into_iter().map(|(_, entry)| entry);
        let entries = entries.filter(|entry| ids.contains(&entry.problem_id));
        let entries: Vec<_> = entries.collect();
        let n = entries.len() as u64;
        if n == 0 {
            let Some((line, id)) = first else {
                return Ok(None);
            };
            let message = format!(
                "{}:{line}: item `{id}` is not in the file, and no other reviewed item is",
                display(path)
            );
            let hint = "these are reviews of other items: keep the file and its journals under another name";
            return Err(Error::usage(message).hint(hint));
        }
        let count = |status| {
            let with = entries.iter().filter(|entry| entry.status == status);
            with.count() as u64
        };
        let share = |part: u64| ratio(part, n).unwrap_or_default();
        let mut points = BTreeMap::<&String, (u64, u64)>::new();
        for (name, score) in entries.iter().flat_map(|entry| &entry.scores) {
            let (sum, count) = points.entry(name).or_default();
            *sum += u64::from(*score);
            *count += 1;
        }
        let mean = |(sum, count)| as_f64(sum) / as_f64(count);
        let totals: f64 = entries.iter().map(|entry| entry.total_score).sum();
        let votes = entries.iter().filter_map(|entry| {
            let approves = entry.status == ReviewStatus::Approved;
            Some(approves == judged(&entry.problem_id)?)
        });
        let votes: Vec<bool> = votes.collect();
        let approved = count(ReviewStatus::Approved);
        Ok(Some(Self {
            n,
            of: ids.len() as u64,
            share: ratio(n, ids.len() as u64).unwrap_or_default(),
            approved: share(approved),
            approved_ci95: wilson95(approved, n).unwrap_or([0.0, 1.0]),
            rejected: share(count(ReviewStatus::Rejected)),
            needs_revision: share(count(ReviewStatus::NeedsRevision)),
            total: totals / as_f64(n),
            means: points
                .into_iter()
                .map(|(name, of)| (name.clone(), mean(of)))
                .collect(),
            agreement: ReviewedAgreement::of(&votes),
        }))
    }
}

impl ReviewedAgreement {
    /// Computes the agreement, one boolean per item; `None` without items.
    fn of(same: &[bool]) -> Option<Self> {
        let n = same.len() as u64;
        let agreed = same.iter().filter(|same| **same).count() as u64;
        Some(Self {
            n,
            share: ratio(agreed, n)?,
            ci95: wilson95(agreed, n)?,
        })
    }
}

// The content of a review journal, and the state of its last line.
//
// Reading never changes the file. Only a verified journal may be repaired by its writer: a foreign file among the
// journals is an error.

/// Prefix of every line.
const BEGIN: &[u8] = b"{\"event\":";

/// A position up to which a journal was read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JournalPlace {
    /// Offset after the last complete line.
    pub(crate) read: u64,
    /// Number of lines up to there.
    pub(crate) lines: u64,
    /// Whether the last line is complete but lacks its line feed, which an editor may have removed.
    pub(crate) unended: bool,
}

/// The lines written since a position.
#[derive(Debug, Default)]
pub(crate) struct JournalText {
    pub(crate) lines: Vec<ReviewLine>,
    pub(crate) place: JournalPlace,
    /// An incomplete line left by a crash.
    pub(crate) torn: Vec<u8>,
}

impl JournalText {
    /// Reads a journal from a position; empty if the file does not exist.
    ///
    /// # Errors
    /// With the line that is not a review, or if the path is not a file.
    pub(crate) fn read(path: &Path, from: JournalPlace) -> Result<Self> {
        let io = |error: std::io::Error| Error::io("read", path, &error);
        refuse_foreign(path)?;
        let mut found = Self {
            place: from,
            ..Self::default()
        };
        if !path.exists() {
            return Ok(found);
        }
        let mut file = open_plain(path).map_err(io)?;
        if file.metadata().map_err(io)?.len() < from.read {
            let message = format!("`{}` is shorter than it was", path.display());
            return Err(Error::usage(message).hint("begin again with `cargo evaltest review`"));
        }
        file.seek(SeekFrom::Start(from.read)).map_err(io)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(io)?;
        let mut text = &*text;
        if from.unended && text.starts_with(b"\n") {
            text = &text[1..];
            found.place.read += 1;
            found.place.unended = false;
        }
        for part in text.split_inclusive(|byte| *byte == b'\n') {
            let wrong = |why: String| {
                let place = format!("{}:{}", display(path), found.place.lines + 1);
                let hint =
                    "it was not overwritten: fix the line, or move the file away and start over";
                Error::usage(format!("{place}: {why}")).hint(hint)
            };
            let is_ended = part.ends_with(b"\n");
            let line = part.trim_ascii();
            let is_truncated = !is_ended && serde_json::from_slice::<IgnoredAny>(line).is_err();
            if is_truncated {
                let prefix = line.len().min(BEGIN.len());
                if found.place.lines == 0 && line[..prefix] != BEGIN[..prefix] {
                    return Err(wrong("it is not a line of a review".to_owned()));
                }
                found.torn.extend(part);
                break;
            }
            if !line.is_empty() {
                found.lines.push(ReviewLine::of(line).map_err(wrong)?);
            }
            found.place.read += part.len() as u64;
            found.place.lines += 1;
            found.place.unended = !is_ended;
        }
        Ok(found)
    }
}

/// Returns an error if the path is not a regular file, such as a link or a pipe: no review created it, and writes
/// would go elsewhere.
///
/// # Errors
/// If the path is something else.
pub(crate) fn refuse_foreign(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(about) if !about.is_file() => {
            let is = if about.is_symlink() {
                "is a link"
            } else {
                "is not a file"
            };
            let message = format!("`{}` {is}, and was not made by a review", display(path));
            Err(Error::usage(message).hint("it was not changed: move it away"))
        }
        // Opening it will report the error.
        _ => Ok(()),
    }
}
