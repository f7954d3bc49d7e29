//! Orphaned descendants of an agent: their parent ended, and they left its process group, as daemons do.
//!
//! On Linux a program can adopt them, so that they are found without a search and end with their attempt. Elsewhere
//! they are searched for once, when the program ends.

use std::ffi::{OsStr, OsString};

#[cfg(target_os = "linux")]
mod adopted;
#[cfg(any(not(target_os = "linux"), debug_assertions))]
mod searched;

use crate::system::platform::by_platform;
pub use crate::system::process::watch::watch_if_requested;

by_platform! {
    adopted, searched;

    /// Makes this process the parent of orphaned descendants, if the system supports it.
    pub fn adopt();

    /// Undoes [`adopt`], for a program that continues with other work.
    pub fn leave();

    /// Kills orphans before the program ends.
    pub fn kill_all();

    /// Starts to watch an attempt with this mark; returns whether orphans are adopted. If not, they end with the
    /// program.
    fn begin(mark: &OsStr) -> bool;

    /// Kills the orphans of an attempt.
    fn end(mark: &OsStr);
}

/// The variable with an agent's scratch folder, which is unique per attempt and identifies orphans.
pub(crate) const MARK: &str = "EVALTEST_SCRATCH";

/// An attempt in progress. Dropping it kills its orphans, if they were adopted.
pub(crate) struct Attempt(Option<OsString>);

impl Attempt {
    /// Starts an attempt with this mark.
    pub(crate) fn begin(mark: Option<&OsStr>) -> Self {
        Self(mark.filter(|mark| begin(mark)).map(OsStr::to_owned))
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some(mark) = &self.0 {
            end(mark);
        }
    }
}
