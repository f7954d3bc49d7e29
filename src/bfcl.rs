//! The Berkeley Function Calling Leaderboard: its data, its checker, the benchmark, and its files.

pub mod checker;
pub mod data;

pub mod benchmark;
pub mod export;
