//! Reports: what runs say, in forms that people or other tools read, one format in each file.
//!
//! What `cargo evaltest report` writes stands behind one trait, [`ReportFormat`](format::ReportFormat), with one list,
//! [`FORMATS`](formats::FORMATS). To add a format:
//!
//! 1. A file here with a type that implements the trait: name, what it is, end of its files, `write`.
//! 2. Its `mod` below and its line in the list: the command, its help and the reference take it from there.
//!
//! It reads a run as a [`ReportedRun`](reported::ReportedRun), whose records come one by one and without the texts that are
//! not to be shown, and writes as it reads: a report of any number of samples fits into little memory. What is said stands
//! once, in the sections of `section`, as the blocks of [`document`]; [`audience`] says who is shown which sections, and
//! [`render`] writes blocks. What to do is the table of [`recommend`]. What comes from datasets and agents is hostile: each
//! renderer escapes it in one place.

#[cfg(feature = "command")]
pub mod audience;
#[cfg(feature = "command")]
pub mod ci;
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
pub mod gaia;
#[cfg(feature = "command")]
pub mod github;
#[cfg(feature = "command")]
pub mod gitlab;
#[cfg(feature = "command")]
pub mod glance;
#[cfg(feature = "command")]
pub(crate) mod html;
#[cfg(feature = "command")]
pub mod junit;
#[cfg(feature = "command")]
pub mod markdown;
pub mod masked;
#[cfg(feature = "command")]
pub mod matrix;
#[cfg(feature = "command")]
mod place;
#[cfg(feature = "command")]
pub mod recommend;
pub mod render;
pub mod reported;
mod section;
pub mod summary_md;
pub mod terminal;
#[cfg(feature = "command")]
pub mod trend;

pub use section::{Detail, corrected_lines, pair_lines};
