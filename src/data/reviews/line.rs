//! `ReviewLine`: a line of a reviewer's journal.

use serde::{Deserialize, Serialize};

use super::Verification;
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
