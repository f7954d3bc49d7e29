//! Scorers that ask others: `command` a program, `judge` a model, `jury` several models, `solver` a model that solves a
//! generated problem, `semantic` an endpoint.
//!
//! They are separate from the pure rules, which use no files, clock, processes or environment.

pub(crate) mod client;
pub(crate) mod command;
pub(crate) mod judge;
pub(crate) mod jury;
pub(crate) mod model_family;
pub(crate) mod pairwise;
mod requester;
pub(crate) mod semantic;
pub(crate) mod solver;
