//! Scorers that ask others: `command` a program, `judge` a model, `jury` several, `solver` one that works out what was written, `semantic` an endpoint.
//!
//! They lie apart from the rules, which know no file, clock, process or environment.

mod asker;
pub(crate) mod command;
pub(crate) mod desk;
pub(crate) mod judge;
pub(crate) mod jury;
pub(crate) mod kin;
pub(crate) mod pairwise;
pub(crate) mod semantic;
pub(crate) mod solver;
