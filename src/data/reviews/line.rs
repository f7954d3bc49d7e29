//! `ReviewLine`: a line of a reviewer's journal.

use serde::{Deserialize, Serialize};

use super::{REVIEW_VERSION, Verification};
use crate::data::labels::LabelChoice;

/// What a reviewer did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReviewEvent {
    /// Said something of an item: `verification`.
    Submitted,
    /// The same, over what had been said meanwhile in another window: it is kept, and does not count.
    Refused,
    /// Took the last word on an item back.
    Undone,
}

/// A line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReviewLine {
    pub(crate) event: ReviewEvent,
    /// The item.
    pub(crate) id: String,
    /// Who.
    pub(crate) reviewer: String,
    /// When.
    pub(crate) at: String,
    /// A hash of what the item said.
    pub(crate) item: String,
    /// How the item came to be looked at.
    pub(crate) chosen: LabelChoice,
    /// What the lot was drawn with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,
    /// The version of the item that was seen.
    pub(crate) version: u64,
    /// What was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) verification: Option<Verification>,
    /// The shape of the line.
    pub(crate) format_version: u32,
}

impl ReviewLine {
    /// Reads a line, or says what is wrong with it.
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, String> {
        let line: Self = serde_json::from_slice(bytes)
            .map_err(|error| format!("it is no line of a review: {error}"))?;
        if line.format_version != REVIEW_VERSION {
            let other = line.format_version;
            return Err(format!(
                "it is of version {other}, and this evaltest knows {REVIEW_VERSION}"
            ));
        }
        let said = line.verification.as_ref();
        if let Some(why) = said.and_then(Verification::fault) {
            return Err(why);
        }
        let needs = line.event != ReviewEvent::Undone;
        if said.is_some() != needs || said.is_some_and(|said| said.problem_id != line.id) {
            return Err("it is no line of a review".to_owned());
        }
        Ok(line)
    }
}
