//! Scorers that ask others: `command` a program, `judge` a model, `jury` several models, `solver` a model that solves a
//! generated problem, `semantic` an endpoint.
//!
//! They are separate from the pure rules, which use no files, clock, processes or environment.

/// The version of the rules in `judge::reading`. Increment it when some reply is read differently. A baseline of another
/// version is compared, with a notice.
pub(crate) const READING_VERSION: u32 = 2;

pub(crate) mod client;
pub(crate) mod command;
#[cfg(feature = "judge")]
pub(crate) mod judge;
#[cfg(feature = "judge")]
pub(crate) mod jury;
pub(crate) mod model_family;
#[cfg(feature = "judge")]
pub(crate) mod pairwise;
#[cfg(feature = "judge")]
mod requester;
#[cfg(feature = "judge")]
pub(crate) mod semantic;
#[cfg(feature = "judge")]
pub(crate) mod solver;
