//! Reports: a summary in a form that people or other tools read, one format in each file.

mod accuracy;
pub mod compare;
pub(crate) mod event;
pub mod gaia;
pub mod glance;
mod judge;
pub mod markdown;
mod metrics;
pub mod terminal;

pub use judge::corrected as corrected_lines;
pub use judge::pairs::lines as pair_lines;
