//! Reports: a summary in a form that people or other tools read, one format in each file.

pub(crate) mod event;
pub(crate) mod gaia;
pub(crate) mod markdown;
mod metrics;
pub(crate) mod terminal;
