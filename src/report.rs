//! Reports: what runs say, in forms that people or other tools read, one format in each file.
//!
//! What `cargo evaltest report` writes stands behind one trait, [`ReportFormat`](format::ReportFormat), with one list,
//! [`FORMATS`](formats::FORMATS). To add a format:
//!
//! 1. A file here with a type that implements the trait: name, what it is, end of its files, `write`.
//! 2. Its `mod` below and its line in the list: the command, its help and the reference take it from there.
//!
//! It reads a run as a [`ReportedRun`](reported::ReportedRun), whose records come one by one and without the texts that are
//! not to be shown, and writes as it reads: a report of any number of samples fits into little memory. What is said in words
//! stands once, in [`words`], as the blocks of [`document`]; a format renders them. What to do is the table of [`recommend`].
//! What comes from datasets and agents is hostile: each format escapes it in one place.

mod accuracy;
mod alerts;
pub mod ci;
pub mod compare;
pub mod document;
pub(crate) mod event;
pub mod export;
pub mod figures;
pub mod format;
pub mod formats;
pub mod gaia;
pub mod github;
pub mod gitlab;
pub mod glance;
pub(crate) mod html;
mod judge;
pub mod junit;
pub mod markdown;
pub mod masked;
pub mod matrix;
mod md;
mod metrics;
mod place;
pub mod recommend;
pub mod render;
pub mod reported;
mod reviewed;
pub mod terminal;
pub mod trend;
pub mod words;

pub use judge::corrected as corrected_lines;
pub use judge::pairs::lines as pair_lines;
