//! HTML: pages of one file, which are read without scripts, opened from disk or as an artifact of CI.
//!
//! A page is made of a frame ([`page`]), texts that are escaped in one place ([`escape`]) and charts that are drawn in the
//! text ([`chart`]). Every format that writes HTML is made of these.

mod blocks;
pub(crate) mod chart;
mod charts;
mod embedded;
pub(crate) mod escape;
mod matrix;
mod noted;
mod overview;
pub(crate) mod page;
mod problems;
mod report;
mod script;
mod worded;

pub(crate) use report::{HtmlReport, content};
pub(crate) use script::VIEW;
pub(crate) use worded::worded;
