//! A flow: items are generated, judged, compared with real ones, and one report says what came of it.
//!
//! Each stage is an eval like any other, with a run directory of its own below the folder of the flow. What they found is
//! gathered as plain data ([`figures`]); what is said of it stands in one table, whose rows are tied to gates and to where
//! intervals lie ([`sentences`]); the reports are these, as the blocks that Markdown and HTML render ([`told`]).

pub(crate) mod figures;
mod rating;
mod sentences;
mod told;
mod written;

pub use written::write_reports;
