//! What a reply is: the one reader of all that agents, judges and generators get from outside.
//!
//! `json` reads the text, `marks` says whether it is an answer, one that was truncated, a refusal, or an outage, and
//! `usage` what it took. Bodies of HTTP are unpacked before, by `system::http`. Each is a table: a new dialect is a
//! line.

#[cfg(all(feature = "command", feature = "http"))]
pub(crate) mod book;
pub(crate) mod json;
pub(crate) mod marks;
#[cfg(all(test, feature = "http"))]
mod tests;
pub(crate) mod usage;

pub(crate) use json::{Json, read};
pub(crate) use marks::Marks;
pub(crate) use usage::ReportedFigures;
