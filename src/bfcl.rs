//! The Berkeley Function Calling Leaderboard: data, checker, benchmark and files.
//!
//! `chosen`, `rescored` and `SCORERS` are its interface for lower modules; `without` replaces it if the feature is
//! off.

pub(crate) mod checker;
pub(crate) mod data;
pub(crate) mod form;

pub(crate) mod benchmark;
pub(crate) mod export;

mod chosen;
mod rescored;

use crate::scorer::{self, Entry};

pub(crate) use chosen::benchmark;
pub(crate) use rescored::Metrics;

/// The scorers of function calls.
pub(crate) const SCORERS: &[Entry] = &[
    scorer::ast_match::ENTRY,
    checker::ENTRY,
    scorer::trajectory::ENTRY,
];

/// Whether the feature is enabled.
#[cfg(test)]
pub(crate) const IS_BUILT: bool = true;
