//! The checker of the Berkeley Function Calling Leaderboard.

pub mod decode;
mod integer;
pub mod json;
mod printable;
mod python;
mod repr;
mod value;

#[cfg(test)]
mod parity_tests;
