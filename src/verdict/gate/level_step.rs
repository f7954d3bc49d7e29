//! `LevelStep`: a pair of adjacent levels, as in `difficulty_drop(1->2)`.

use std::fmt;

use crate::error::{Error, Result};

/// A pair of adjacent levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LevelStep {
    pub(crate) from: String,
    pub(crate) to: String,
}

impl LevelStep {
    /// Reads `1->2`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let levels = text.split_once("->");
        let levels = levels.map(|(from, to)| [from, to].map(|level| level.trim().to_owned()));
        match levels {
            Some([from, to]) if !from.is_empty() && !to.is_empty() => Ok(Self { from, to }),
            _ => Err(Error::usage(format!("`{text}` names no two levels"))
                .hint("write both: `difficulty_drop(1->2) <= 0.3`")),
        }
    }
}

/// As in the parentheses of a gate.
impl fmt::Display for LevelStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}->{}", self.from, self.to)
    }
}
