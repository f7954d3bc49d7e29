//! Parses tool calls from text: Python, Java, JavaScript, XML and JSON as models write them.
//!
//! [`decode`] parses an answer that consists only of calls, as the Function Calling Leaderboard does; `read` finds
//! calls anywhere in an answer. The result is a [`Value`]. `fast` contains optional shortcuts that never change a
//! result.
//!
//! `without` replaces it if the feature is off.

pub(crate) mod crash;
pub(crate) mod fault;

pub(crate) mod json;
pub(crate) mod python_regex;

pub(crate) mod syntax_tree;

pub(crate) mod fast;

pub(crate) mod python;

pub(crate) mod java;
pub(crate) mod java_values;
pub(crate) mod javascript;
pub(crate) mod javascript_values;
pub(crate) mod json_calls;
pub(crate) mod xml;

#[cfg(test)]
mod tests;

pub(crate) mod decode;
pub(crate) mod read;

pub use decode::CallFormat;
pub use evaltest_python_constants::{Dict, Int, TooManyDigits, Value};
pub(crate) use evaltest_python_constants::{half, repr_list, repr_str};
pub(crate) use fault::DecodeResult;
pub use json::{JsonFault, JsonValue};
pub(crate) use read::are_calls;
