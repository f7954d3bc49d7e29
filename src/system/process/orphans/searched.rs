//! Orphans on systems without adoption.

use std::ffi::OsStr;

use crate::system::process::{escapees, watch};

/// Not supported here.
pub(super) fn adopt() {}

/// Nothing to undo.
pub(super) fn leave() {}

/// Kills orphans before the program ends. They are found by the mark of a watched program.
pub(super) fn kill_all() {
    if let Some((variable, own)) = watch::dismiss() {
        escapees::kill(variable, &own);
    }
}

/// No adoption here: orphans end with the program.
pub(super) fn begin(_: &OsStr) -> bool {
    false
}

/// Nothing to do without adoption.
pub(super) fn end(_: &OsStr) {}
