//! `ComparedItems`: how generated items do beside real ones.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CountedShare, JudgeWorth};
use crate::verdict::judged::pairs::PairsSummary;

/// How generated items do beside real ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedItems {
    /// The pairs.
    pub pairs: PairsSummary,
    /// Why pairs could not be read, with how often.
    #[serde(default)]
    pub reasons: BTreeMap<String, u64>,
    /// What the judge is worth beside people.
    #[serde(default)]
    pub worth: JudgeWorth,
    /// What people should know of how it judges.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl ComparedItems {
    /// Pairs with a verdict.
    pub fn read(&self) -> u64 {
        self.pairs.n.saturating_sub(self.pairs.unreadable)
    }

    /// So many pairs of those with a verdict.
    pub fn share(&self, part: u64) -> CountedShare {
        CountedShare::of(part, self.read())
    }
}
