//! The probability distributions that the tests use.

pub(crate) mod binomial;
pub(crate) mod law;
#[cfg(feature = "command")]
pub(crate) mod multinomial;
pub(crate) mod normal;
pub(crate) mod student;
