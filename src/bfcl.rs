//! The Berkeley Function Calling Leaderboard: its data, its checker, its files and its own program.

pub mod data;
