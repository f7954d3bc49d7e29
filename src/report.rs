//! Reports: runs in formats for people and other tools, one format per file.
//!
//! All formats of `cargo evaltest report` implement one trait, [`ReportFormat`](format::ReportFormat), and are in one
//! list, [`FORMATS`](formats::FORMATS). To add a format:
//!
//! 1. A file in `formats/` with a type that implements the trait: name, description, file extension, `write`.
//! 2. In `formats.rs` its `mod` and its entry in the list: the command, its help and the reference use the list.
//!
//! A format reads a run as a [`ReportedRun`](reported::ReportedRun), which streams records without masked texts, and
//! writes while it reads: memory use does not depend on the number of samples. The content is defined once, in the
//! sections of `section`, as blocks of [`document`]; [`audience`] selects the sections for each audience, and
//! [`render`] writes blocks. Recommendations are in the table of [`recommend`]. Texts of datasets and agents are
//! untrusted: each renderer escapes them in one place.

#[cfg(feature = "command")]
pub mod audience;
#[cfg(feature = "command")]
pub mod compare;
pub mod document;
pub(crate) mod event;
#[cfg(feature = "command")]
pub mod export;
pub mod figures;
#[cfg(feature = "command")]
pub mod format;
#[cfg(feature = "command")]
pub mod formats;
#[cfg(feature = "command")]
pub mod matrix;
#[cfg(feature = "command")]
pub mod recommend;
pub mod render;
pub mod reported;
mod section;
pub mod summary_md;
pub mod terminal;
#[cfg(feature = "command")]
pub mod trend;

pub(crate) use section::items;
pub use section::{Detail, corrected_lines, pair_lines};
