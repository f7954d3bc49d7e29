//! `ReviewedItems`: what people say of generated items.

use serde::{Deserialize, Serialize};

use super::{CountedShare, DimensionPoints};

/// What people say of generated items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewedItems {
    /// Items with a verification, of all.
    pub reviewed: CountedShare,
    /// Approved, of those that were reviewed.
    pub approved: CountedShare,
    /// Rejected, of those.
    pub rejected: CountedShare,
    /// To be revised, of those.
    pub needs_revision: CountedShare,
    /// Points of each dimension.
    pub dimensions: Vec<DimensionPoints>,
    /// How far reviewers agree, where several looked at the same items: in words.
    pub agreement: Option<String>,
}
