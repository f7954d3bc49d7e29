//! Scorers that compare tool calls.

#[cfg(feature = "bfcl")]
pub(crate) mod ast_match;
pub(super) mod matching;
#[cfg(feature = "bfcl")]
pub(crate) mod trajectory;
