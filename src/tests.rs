//! Helpers for tests of several modules.

pub(crate) mod fuzz;
pub(crate) mod parity;
pub(crate) mod wait;

pub(crate) use needs::needs;
