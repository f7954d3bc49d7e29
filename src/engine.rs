//! What `cargo evaltest` builds on beside a run: what is wrong with an agent, results of the leaderboard.
//!
//! Without a promise of stability.

pub mod doctor;
#[cfg(feature = "bfcl")]
pub mod leaderboard;
