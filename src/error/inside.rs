//! Messages of ours that go through serde and bring along what they are about.
//!
//! serde knows where the value stands that is being read, and nothing of what is in it. What a reader of ours finds
//! there, it says by [`inside`]; who has serde's message takes it apart by [`split_inside`].

use std::fmt::Display;

/// What stands between a message and the place in the value that it is about.
const INSIDE: &str = "\n\ninside: ";

/// A message about what lies in the value that is being read, as `[1]` or `key[1]`.
pub(crate) fn inside(path: &str, message: impl Display) -> String {
    format!("{message}{INSIDE}{path}")
}

/// The message, and the place in the value, where one is told.
pub(crate) fn split_inside(message: &str) -> (&str, Option<&str>) {
    match message.rsplit_once(INSIDE) {
        Some((message, path)) => (message, Some(path)),
        None => (message, None),
    }
}
