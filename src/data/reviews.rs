//! `Verification`: what a person says of an item, as it stands on disk.
//!
//! A file of verifications is an object by the ids of items, in the shape of programs that people have already:
//!
//! ```json
//! {"gen_aime_1": {"problem_id": "gen_aime_1", "scores": {"clarity": 4, "correctness": 5}, "total_score": 4.5,
//!  "status": "approved", "comments": "", "verified_at": "2026-01-02T03:04:05.678Z", "reviewer": "anna",
//!  "format_version": 1}}
//! ```
//!
//! It has the latest word on each item. All that anybody said stands in a journal of each reviewer, whose lines are
//! [`ReviewLine`]s; from them the file can be made again.

mod checked;
mod figures;
mod file;
mod journal_text;
mod line;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use figures::{ReviewedAgreement, ReviewedFigures};
pub(crate) use file::Verifications;
pub(crate) use journal_text::{JournalPlace, JournalText, refuse_foreign};
pub(crate) use line::{ReviewEvent, ReviewLine};

/// What a verification and a line of a journal look like. Another number is another shape:
///
/// - 1: as above.
pub(crate) const REVIEW_VERSION: u32 = 1;

/// The lowest and the highest score of a dimension.
pub(crate) const POINTS: [u8; 2] = [1, 5];

/// What is to become of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewStatus {
    /// It is good as it is.
    Approved,
    /// It is of no use.
    Rejected,
    /// It would be good once it is changed.
    NeedsRevision,
}

impl ReviewStatus {
    /// All of them, in the order in which they are offered.
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

/// What one person says of one item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    /// The id of the item.
    pub problem_id: String,
    /// From 1 to 5, by dimension.
    pub scores: BTreeMap<String, u8>,
    /// Their mean.
    pub total_score: f64,
    /// What is to become of the item.
    pub status: ReviewStatus,
    /// In words.
    pub comments: String,
    /// When, in UTC, as RFC 3339 has it.
    pub verified_at: String,
    /// Who.
    pub reviewer: String,
    /// The shape of all this.
    pub format_version: u32,
}

impl Verification {
    /// The mean of scores, each of which counts the same; 0 of none.
    pub(crate) fn total_of(scores: &BTreeMap<String, u8>) -> f64 {
        let sum: u32 = scores.values().map(|score| u32::from(*score)).sum();
        let count = u32::try_from(scores.len()).unwrap_or(u32::MAX);
        if count == 0 {
            return 0.0;
        }
        // 4.333333333333 rather than all that a float has.
        (f64::from(sum) / f64::from(count) * 1e12).round() / 1e12
    }

    /// What is wrong with one that was read, if anything is.
    pub(crate) fn fault(&self) -> Option<String> {
        if self.format_version != REVIEW_VERSION {
            let other = self.format_version;
            return Some(format!(
                "it is of version {other}, and this evaltest knows {REVIEW_VERSION}"
            ));
        }
        let [lowest, highest] = POINTS;
        let out = |score: &u8| !(lowest..=highest).contains(score);
        if let Some((name, score)) = self.scores.iter().find(|(_, score)| out(score)) {
            return Some(format!(
                "`{name}` is {score}, and not from {lowest} to {highest}"
            ));
        }
        if self.scores.is_empty() {
            return Some("it has no scores".to_owned());
        }
        let total = Self::total_of(&self.scores);
        ((self.total_score - total).abs() > 1e-6).then(|| {
            let said = self.total_score;
            format!("`total_score` is {said}, and the mean of its scores {total}")
        })
    }
}
