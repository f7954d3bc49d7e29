//! Renderers: each writes the blocks of a [`Document`](super::document::Document) in one form.
//!
//! A renderer escapes what datasets and agents said, so that no text in a document can do harm where it is read. Nothing else
//! in `report` writes text of its own but the formats that other programs read, such as
//! `JUnit`.

#[cfg(feature = "command")]
pub mod html;
pub mod markdown;
pub mod terminal;
#[cfg(feature = "command")]
pub(super) mod xml;
