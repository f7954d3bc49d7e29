//! Renderers: each writes the blocks of a [`Document`](super::document::Document) in one format.
//!
//! A renderer escapes texts of datasets and agents, so that they are harmless in its output. Other code in `report`
//! writes no text itself, except formats for other programs, such as `JUnit`.

#[cfg(feature = "command")]
pub mod html;
pub mod markdown;
pub mod terminal;
#[cfg(feature = "command")]
pub(super) mod xml;
