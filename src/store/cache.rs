//! Answers that were given before: a folder that saves asking the same question again.
//!
//! Off unless a spec (`cache: true`) or a flag (`--cache`) asks for it. The key of an answer is a hash of
//! everything that can change it: the agent, its files and options, the prompt, tools, files, epoch. What the key
//! cannot know is said at [`Agent::fingerprint`](crate::Agent::fingerprint).
//!
//! # Invariants
//!
//! - Only answers are kept, never failures, and none that redaction would change: a secret is in no file, and an
//!   answer that was kept gets the verdict that it got when it was given.
//! - An answer that comes from here is marked wherever it stands (`cached: true`). It counts in no latency, and it
//!   costs nothing: neither budgets nor the summary's usage hold what it cost when it was given.
//! - Whatever is wrong with the folder is a notice. It never costs an answer, and never fails a run.
//! - Files appear whole. Any number of runs may share the folder.

pub(crate) mod answers;
pub(crate) mod buckets;
pub(crate) mod claim;
mod entry;
pub(crate) mod key;
#[cfg(test)]
mod tests;
#[cfg(feature = "command")]
mod upkeep;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
#[cfg(feature = "command")]
pub use upkeep::{Cleared, Contents};
#[cfg(feature = "command")]
pub use upkeep::{clear, contents};

/// The folder of answers below that of runs.
pub const FOLDER: &str = ".cache";

/// What a run does with answers that were given before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CacheUse {
    /// Nothing: everything is asked, nothing is kept.
    #[default]
    Off,
    /// What was answered before is not asked again; what is asked is kept.
    On,
    /// Everything is asked, and kept in place of what was there.
    Refresh,
}

/// The variable that says under `cargo test` what `--cache`, `--no-cache` and `--refresh` say on the command line:
/// `on`, `off` or `refresh`.
pub(crate) const VARIABLE: &str = "EVALTEST_CACHE";

/// What [`VARIABLE`] asks for, if it is set.
pub(crate) fn of_environment() -> Result<Option<CacheUse>> {
    let Some(word) = std::env::var_os(VARIABLE).filter(|word| !word.is_empty()) else {
        return Ok(None);
    };
    match word.to_str() {
        Some("on") => Ok(Some(CacheUse::On)),
        Some("off") => Ok(Some(CacheUse::Off)),
        Some("refresh") => Ok(Some(CacheUse::Refresh)),
        _ => {
            let word = word.display();
            Err(Error::usage(format!("{VARIABLE} is `{word}`"))
                .hint("set it to `on`, `off` or `refresh`, or unset it"))
        }
    }
}

/// The cache of an eval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) usage: CacheUse,
    /// Where, if not in the folder of runs.
    pub(crate) folder: Option<PathBuf>,
}

impl Settings {
    /// The folder of answers of an eval whose runs are in `runs`.
    pub(crate) fn folder(&self, runs: &Path) -> PathBuf {
        self.folder.clone().unwrap_or_else(|| runs.join(FOLDER))
    }
}
