//! Reads a judge's reply, from its text alone.
//!
//! A reply has a verdict or is unreadable, with a reason. There is no default and no clamping, and of two different
//! verdicts neither is taken. The reply is scanned for claims: the [`objects`] of JSON at its top level, and for
//! choices also its [`lines`]. Two different claims make it conflicting, wherever they are, so that a quoted injected
//! verdict is never taken for the judge's own. Some claims can only contradict: those within quotes or broken JSON,
//! points in prose, and if there are several objects, members nested deeper in them.
//!
//! `patterns`, `rating` and `hello` read replies like published programs.

mod choices;
#[cfg(feature = "command")]
mod hello;
mod lines;
mod name;
pub(crate) mod objects;
mod patterns;
mod rating;
pub(crate) mod reply;
mod rubric;
mod strays;

use serde_json::{Map, Value};

pub use crate::data::Unread;
pub use choices::choices;
#[cfg(feature = "command")]
pub use hello::{helloagents_judge, helloagents_winner};
pub use patterns::{pattern, patterns};
pub use rating::rating;
pub use rubric::rubric;

/// The version of this module's rules, part of every judge's fingerprint. Increment it when some reply is read
/// differently.
pub const VERSION: u32 = 1;

/// The content of a reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Whether there is a verdict.
    pub status: ReadStatus,
    /// The choice, spelled as offered, or the rating. `None` for rubrics, whose verdict is in `values`.
    pub verdict: Option<Value>,
    /// The points of each dimension, in order.
    pub values: Option<Map<String, Value>>,
    /// The comments next to the verdict.
    pub comments: Map<String, Value>,
    /// How many backslashes of the JSON were taken as literal, from TeX that was not escaped.
    pub repaired: u32,
}

/// Whether a reply could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadStatus {
    /// It has exactly one verdict.
    Read,
    /// It has not, for this reason.
    Unreadable(Unread),
}

impl Reading {
    /// The reading of a reply without a verdict.
    pub fn unreadable(reason: Unread) -> Self {
        Self {
            status: ReadStatus::Unreadable(reason),
            verdict: None,
            values: None,
            comments: Map::new(),
            repaired: 0,
        }
    }

    /// Why there is no verdict; `None` if there is one.
    pub fn reason(&self) -> Option<Unread> {
        match self.status {
            ReadStatus::Read => None,
            ReadStatus::Unreadable(reason) => Some(reason),
        }
    }

    fn of_verdict(verdict: impl Into<Value>) -> Self {
        Self {
            status: ReadStatus::Read,
            verdict: Some(verdict.into()),
            values: None,
            comments: Map::new(),
            repaired: 0,
        }
    }

    fn of_values(values: Map<String, Value>) -> Self {
        Self {
            status: ReadStatus::Read,
            verdict: None,
            values: Some(values),
            comments: Map::new(),
            repaired: 0,
        }
    }
}

#[cfg(test)]
mod tests;
