//! Runs over time: trends, changes of level, repeated looks.

pub(crate) mod mann_kendall;
#[cfg(feature = "command")]
pub(crate) mod pettitt;
pub(crate) mod watch;
