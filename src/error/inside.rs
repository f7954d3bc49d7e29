//! Passes a path inside a value through serde's error messages.
//!
//! serde knows the position of the value being parsed, but not positions inside it. Our parsers encode those with
//! [`inside`]; [`split_inside`] extracts them from serde's message.

use std::fmt::Display;

/// Separates a message from the path inside the value.
const INSIDE: &str = "\n\ninside: ";

/// A message about a part of the value being parsed, such as `[1]` or `key[1]`.
pub(crate) fn inside(path: &str, message: impl Display) -> String {
    format!("{message}{INSIDE}{path}")
}

/// The message, and the path inside the value, if any.
pub(crate) fn split_inside(message: &str) -> (&str, Option<&str>) {
    match message.rsplit_once(INSIDE) {
        Some((message, path)) => (message, Some(path)),
        None => (message, None),
    }
}
