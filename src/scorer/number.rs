//! Scorers that compare numbers.

pub(crate) mod aime;
pub(crate) mod gsm8k;
pub(super) mod numerals;
pub(crate) mod numeric;
