//! Tests and differences of two runs over the same samples.

pub(crate) mod conditional;
pub(crate) mod counted;
pub(crate) mod difference;
pub(crate) mod early;
pub(crate) mod holm;
pub(crate) mod sign_test;
pub(crate) mod whole_runs;
