//! Commands that work on the files of runs.

pub(crate) mod bfcl;
pub(crate) mod cache;
pub(crate) mod export;
pub(crate) mod history_patch;
pub(crate) mod import;
pub(crate) mod merge;
pub(crate) mod repair;
