//! Power: what a comparison can detect, and how many answers that takes.

pub(crate) mod detect;
pub(crate) mod plan;
pub(crate) mod rates;
