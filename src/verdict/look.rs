//! `EarlyLook`: a look of the gates that may stop a run early.

use serde::{Deserialize, Serialize};

/// A look of the gates that may stop a run early, at the samples so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EarlyLook {
    /// The number of the look, 1 to `of`.
    #[serde(rename = "look")]
    pub number: u32,
    /// How many there are; the last is at all samples.
    pub of: u32,
}

impl EarlyLook {
    /// That with this number of so many.
    pub fn new(number: u32, of: u32) -> Self {
        let of = of.max(1);
        Self {
            number: number.clamp(1, of),
            of,
        }
    }

    /// Its place among the looks.
    pub(crate) fn index(self) -> usize {
        self.number as usize - 1
    }

    /// Whether samples are left that were not asked.
    pub(crate) fn is_early(self) -> bool {
        self.number < self.of
    }
}
