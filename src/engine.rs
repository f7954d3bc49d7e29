//! What `cargo evaltest` builds on beside a run: what an eval has, and what is wrong with an agent.
//!
//! Without a promise of stability.

pub mod doctor;
pub mod listing;
