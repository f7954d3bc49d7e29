//! `TextPart`: texts and formulas of an item.

use serde::Serialize;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TextPart {
    /// As it stands there.
    Text(String),
}

/// The pieces of a text, in order.
pub(super) fn parts(text: &str) -> Vec<TextPart> {
    vec![TextPart::Text(text.to_owned())]
}
