//! Runs and the Function Calling Leaderboard: its results become a run, its own program judges one.

mod import;
pub mod official;

pub use import::{Import, Imported, Mode};
