//! The Berkeley Function Calling Leaderboard: its data, its checker, the benchmark, its files and its own program.

pub mod checker;
pub mod data;

pub mod benchmark;
pub mod export;
pub mod official;
