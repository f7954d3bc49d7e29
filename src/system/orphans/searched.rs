//! Orphans of systems on which nobody can adopt them.

use std::ffi::OsStr;

use crate::system::process::{escapees, watch};

/// Makes this process the parent of orphans among its descendants, where the system knows of such: not here.
pub(super) fn adopt() {}

/// Takes [`adopt`] back: there is nothing to do.
pub(super) fn leave() {}

/// Kills what agents left behind, before the program ends. It is known by the mark of a program that is watched.
pub(super) fn kill_all() {
    if let Some((variable, own)) = watch::dismiss() {
        escapees::kill(variable, &own);
    }
}

/// Whether an attempt with this mark is watched. What it leaves behind ends with the program.
pub(super) fn begin(_: &OsStr) -> bool {
    false
}

/// Ends what an attempt left behind; none is watched.
pub(super) fn end(_: &OsStr) {}
