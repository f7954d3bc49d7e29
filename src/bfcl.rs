//! The Berkeley Function Calling Leaderboard: its data, its checker, the benchmark, and its files.

pub(crate) mod checker;
pub(crate) mod data;

pub(crate) mod benchmark;
pub(crate) mod export;
