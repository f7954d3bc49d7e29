//! Confidence intervals.

pub(crate) mod accuracy;
#[cfg(feature = "command")]
pub(crate) mod bootstrap;
pub(crate) mod bounded;
pub(crate) mod clusters;
pub(crate) mod fall;
pub(crate) mod finite;
pub(crate) mod halves;
pub(crate) mod powered;
