//! `InterimAnalysis`: an interim analysis for gates that may stop a run early.

use serde::{Deserialize, Serialize};

/// An interim analysis, over the samples so far, for gates that may stop a run early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InterimAnalysis {
    /// The number of the analysis, 1 to `of`.
    #[serde(rename = "look")]
    pub number: u32,
    /// The number of analyses; the last is over all samples.
    pub of: u32,
}

impl InterimAnalysis {
    /// Analysis `number` of `of`.
    pub fn new(number: u32, of: u32) -> Self {
        let of = of.max(1);
        Self {
            number: number.clamp(1, of),
            of,
        }
    }

    /// Its index, from 0.
    pub(crate) fn index(self) -> usize {
        self.number as usize - 1
    }

    /// Whether samples remain to be asked.
    pub(crate) fn is_early(self) -> bool {
        self.number < self.of
    }
}
