//! Processes that an agent left behind: their parent ended, and they left its process group, as daemons do.
//!
//! Linux lets a program adopt them, so that they are found without a search and end with their attempt. Elsewhere they are
//! searched for once, when the program ends.

use std::ffi::{OsStr, OsString};

#[cfg(target_os = "linux")]
mod adopted;
#[cfg(any(not(target_os = "linux"), debug_assertions))]
mod searched;

use crate::system::platform::by_platform;
pub use crate::system::process::watch::watch_if_asked;

by_platform! {
    adopted, searched;

    /// Makes this process the parent of orphans among its descendants, where the system knows of such.
    pub fn adopt();

    /// Takes [`adopt`] back, for a program that goes on to do other things.
    pub fn leave();

    /// Kills what agents left behind, before the program ends.
    pub fn kill_all();

    /// Whether an attempt with this mark is watched. What it leaves behind ends with the program otherwise.
    fn begin(mark: &OsStr) -> bool;

    /// Ends what an attempt left behind.
    fn end(mark: &OsStr);
}

/// The variable that tells an agent its scratch folder, which no other attempt has; orphans are known by it.
pub(crate) const MARK: &str = "EVALTEST_SCRATCH";

/// An attempt that goes on. When it is dropped, what it left behind is killed, where it was adopted.
pub(crate) struct Attempt(Option<OsString>);

impl Attempt {
    /// The attempt with this mark.
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
