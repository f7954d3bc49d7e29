//! `ReviewLine`: a line of a reviewer's journal.

use serde::{Deserialize, Serialize};

use super::{REVIEW_VERSION, Verification};
use crate::data::labels::LabelChoice;

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
