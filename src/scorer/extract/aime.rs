//! `aime`: the integer at the end of a solution.

use super::boxed::{self, LastBox};
use super::number;
use crate::data::FoundBy;

/// The content of the last `\boxed{…}`; otherwise the number that the answer claims, or its last one.
pub(super) fn answer(raw: &str) -> Option<(&str, FoundBy)> {
    match boxed::last(raw) {
        LastBox::Open | LastBox::Several => None,
        LastBox::Closed(found) => Some((found.content, FoundBy::Box)),
        LastBox::None => number::answer(raw),
    }
}
