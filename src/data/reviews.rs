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

mod checked;
mod figures;
mod file;
mod journal_text;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::labels::LabelChoice;

pub use figures::{ReviewedAgreement, ReviewedFigures};
pub(crate) use file::Verifications;
pub(crate) use journal_text::{JournalPlace, JournalText, refuse_foreign};

/// The format version of a verification and of a journal line:
///
/// - 1: as above.
pub(crate) const REVIEW_VERSION: u32 = 1;

/// Minimum and maximum score of a dimension.
pub(crate) const POINTS: [u8; 2] = [1, 5];

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
            let given = self.total_score;
            format!("`total_score` is {given}, and the mean of its scores {total}")
        })
    }
}

/// The action of a reviewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReviewEvent {
    /// Submitted the review `verification`.
    Submitted,
    /// The same, but another window submitted meanwhile: stored without effect.
    Refused,
    /// Withdrew the latest review of an item.
    Undone,
}

/// A line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReviewLine {
    pub(crate) event: ReviewEvent,
    /// Id of the item.
    pub(crate) id: String,
    /// Name of the reviewer.
    pub(crate) reviewer: String,
    /// Time of the action.
    pub(crate) at: String,
    /// Hash of the item's content.
    pub(crate) item: String,
    /// How the item was selected.
    pub(crate) chosen: LabelChoice,
    /// The seed of the random draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,
    /// The version of the item's review that the page showed.
    pub(crate) version: u64,
    /// The review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) verification: Option<Verification>,
    /// The format version of the line.
    pub(crate) format_version: u32,
}

impl ReviewLine {
    /// Parses a line, or returns the reason why it is invalid.
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, String> {
        let line: Self = serde_json::from_slice(bytes)
            .map_err(|error| format!("it is no line of a review: {error}"))?;
        if line.format_version != REVIEW_VERSION {
            let other = line.format_version;
            return Err(format!(
                "it is of version {other}, and this evaltest knows {REVIEW_VERSION}"
            ));
        }
        let verification = line.verification.as_ref();
        if let Some(why) = verification.and_then(Verification::fault) {
            return Err(why);
        }
        let needs = line.event != ReviewEvent::Undone;
        if verification.is_some() != needs
            || verification.is_some_and(|verification| verification.problem_id != line.id)
        {
            return Err("it is no line of a review".to_owned());
        }
        Ok(line)
    }
}
