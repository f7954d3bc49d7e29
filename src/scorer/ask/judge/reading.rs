//! What a judge's reply says, from its text alone.
//!
//! A verdict is read or the reply is unreadable, with a reason; there is no default, no clamping, and neither the first
//! nor the last of two wins. What the reply holds is gathered as claims: the [`objects`] of JSON at its top level, and for
//! choices what stands in its [`lines`]. Two claims that differ make it conflicting, wherever they stand, so that an
//! injected verdict which a judge quotes is never taken for its own. Some claims only ever contradict: those within quotes
//! or within broken JSON, points in prose, and beside a second object what either of them holds deeper in.
//!
//! `patterns`, `rating` and `hello` read as published programs do.

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

/// The rules of this module. Counts up whenever some reply is read otherwise than before, and belongs to the fingerprint
/// of every judge.
pub const VERSION: u32 = 1;

/// What a reply says.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Whether there is a verdict.
    pub status: ReadStatus,
    /// The choice, as it was offered, or the rating. None for rubrics, whose verdict is in `values`.
    pub verdict: Option<Value>,
    /// The points of each dimension, in their order.
    pub values: Option<Map<String, Value>>,
    /// The texts beside them.
    pub comments: Map<String, Value>,
    /// How many backslashes of the JSON were taken for themselves, for TeX has such and forgot to double them.
    pub repaired: u32,
}

/// Whether a reply could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadStatus {
    /// It says one thing.
    Read,
    /// It does not.
    Unreadable(Unread),
}

impl Reading {
    /// Of a reply without a verdict.
    pub fn unreadable(reason: Unread) -> Self {
        Self {
            status: ReadStatus::Unreadable(reason),
            verdict: None,
            values: None,
            comments: Map::new(),
            repaired: 0,
        }
    }

    /// Why there is no verdict, if there is none.
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
