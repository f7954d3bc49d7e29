//! Processes that an agent left behind: their parent ended, and they left its process group, as daemons do.
//!
//! Linux lets a program adopt them, so that they are found without a search and end with their attempt. Elsewhere they are
//! searched for once, when the program ends.

use std::ffi::{OsStr, OsString};

#[cfg(all(target_os = "linux", not(evaltest_portable)))]
mod adopted;
#[cfg(not(all(target_os = "linux", not(evaltest_portable))))]
mod searched;

#[cfg(all(target_os = "linux", not(evaltest_portable)))]
use adopted as native;
#[cfg(not(all(target_os = "linux", not(evaltest_portable))))]
use searched as native;

pub use crate::system::process::watch::watch_if_asked;
pub use native::{adopt, kill_all, leave};

/// The variable that tells an agent its scratch folder, which no other attempt has; orphans are known by it.
pub(crate) const MARK: &str = "EVALTEST_SCRATCH";

/// An attempt that goes on. When it is dropped, what it left behind is killed, where it was adopted.
pub(crate) struct Attempt(Option<OsString>);

impl Attempt {
    /// The attempt with this mark.
    pub(crate) fn begin(mark: Option<&OsStr>) -> Self {
        Self(mark.filter(|mark| native::begin(mark)).map(OsStr::to_owned))
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some(mark) = &self.0 {
            native::end(mark);
        }
    }
}
