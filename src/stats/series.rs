//! Runs over time: trends, change points, repeated tests.

pub(crate) mod mann_kendall;
#[cfg(feature = "command")]
pub(crate) mod pettitt;
pub(crate) mod watch;
