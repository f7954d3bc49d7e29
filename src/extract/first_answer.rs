//! `final_answer` with `first: true`: what follows the first marker.

use std::borrow::Cow;

/// The text behind the first marker.
pub(super) fn first(raw: &str) -> Cow<'_, str> {
    Cow::Borrowed(raw)
}
