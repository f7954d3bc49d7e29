//! What names and namespaces of XML expat takes, the parser behind Python's `xml.etree`, where `roxmltree` takes more.
//!
//! [`without_colons`] before a text is parsed, for `roxmltree` refuses namespaces that expat takes; then [`are_old`],
//! [`has_odd_references`] and [`are_bound`] of the document.

#![warn(missing_docs)]

mod names;
mod namespaces;

pub use names::{are_old, has_odd_references};
pub use namespaces::{are_bound, is_in_none, without_colons};
