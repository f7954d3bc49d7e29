//! The Berkeley Function Calling Leaderboard: its data, its checker, the benchmark, and its files.
//!
//! `chosen`, `rescored` and `SCORERS` are what rooms below ask of it; `without` answers them where it is not built.

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

/// The scorers that judge calls.
pub(crate) const SCORERS: &[Entry] = &[
    scorer::ast_match::ENTRY,
    checker::ENTRY,
    scorer::trajectory::ENTRY,
];

/// Whether this build has it.
#[cfg(test)]
pub(crate) const IS_BUILT: bool = true;
