//! Intervals: how far a figure may be from what more answers would show.

pub(crate) mod accuracy;
#[cfg(feature = "command")]
pub(crate) mod bootstrap;
pub(crate) mod bounded;
pub(crate) mod clusters;
pub(crate) mod fall;
pub(crate) mod finite;
pub(crate) mod halves;
pub(crate) mod powered;
