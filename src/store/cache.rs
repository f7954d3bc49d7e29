//! The answer cache: a folder of answers, so that the same question is not asked twice.
//!
//! Off unless a spec (`cache: true`) or a flag (`--cache`) enables it. The key of an answer is a hash of everything
//! that can change it: the agent, its files and options, the prompt, tools, files, epoch. See
//! [`Agent::fingerprint`](crate::Agent::fingerprint) for what the key cannot know.
//!
//! # Invariants
//!
//! - Only answers are stored, never failures, and none that redaction would change: no file contains a secret, and a
//!   cached answer gets the same verdict as the original.
//! - A cached answer is marked everywhere (`cached: true`). It counts in no latency, and it costs nothing: neither
//!   budgets nor the summary's usage include its original cost.
//! - Any problem with the folder is a notice. It never costs an answer, and never fails a run.
//! - Files are written atomically. Any number of runs may share the folder.

pub(crate) mod answers;
pub(crate) mod claim;
pub(crate) mod key;
#[cfg(test)]
mod tests;
#[cfg(feature = "command")]
mod upkeep;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::system::file::write_atomically;

#[cfg(feature = "command")]
pub use upkeep::{Cleared, Contents};
#[cfg(feature = "command")]
pub use upkeep::{clear, contents};

/// The cache folder below that of runs.
pub const FOLDER: &str = ".cache";

/// How a run uses the answer cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CacheUse {
    /// Not at all: everything is asked, nothing is stored.
    #[default]
    Off,
    /// Cached answers are used; new ones are stored.
    On,
    /// Everything is asked, and replaces what was stored.
    Refresh,
}

/// The variable for `cargo test` that corresponds to `--cache`, `--no-cache` and `--refresh` on the command line: `on`,
/// `off` or `refresh`.
pub(crate) const VARIABLE: &str = "EVALTEST_CACHE";

/// The value of [`VARIABLE`], if it is set.
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

/// The cache settings of an eval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) usage: CacheUse,
    /// The folder, if not in that of runs.
    pub(crate) folder: Option<PathBuf>,
}

impl Settings {
    /// The cache folder of an eval whose runs are in `runs`.
    pub(crate) fn folder(&self, runs: &Path) -> PathBuf {
        self.folder.clone().unwrap_or_else(|| runs.join(FOLDER))
    }
}

/// A folder of files by key.
#[derive(Debug)]
pub(crate) struct Buckets {
    pub(crate) folder: PathBuf,
    /// The extension of the files, without the dot.
    extension: &'static str,
    /// The longest file, in bytes; a longer one is not ours.
    pub(crate) longest: u64,
}

impl Buckets {
    pub(crate) fn new(folder: PathBuf, extension: &'static str, longest: u64) -> Self {
        Self {
            folder,
            extension,
            longest,
        }
    }

    /// The file of a key, which is a hash in hex.
    pub(crate) fn path(&self, key: &str) -> PathBuf {
        let bucket = key.get(..2).unwrap_or("00");
        self.folder
            .join(bucket)
            .join(format!("{key}.{}", self.extension))
    }

    /// The content of the file of a key; `None` if there is none.
    ///
    /// # Errors
    /// When it cannot be read, is too long, or is not a regular file.
    pub(crate) fn read(&self, key: &str) -> io::Result<Option<Vec<u8>>> {
        let path = self.path(key);
        let about = match fs::metadata(&path) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // Reading a pipe would never end.
        if !about.is_file() || about.len() > self.longest {
            return Err(io::Error::other("it is too long, or no file"));
        }
        let mut content = Vec::new();
        let file = match File::open(&path) {
            Ok(file) => file,
            // Cleared meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        file.take(self.longest + 1).read_to_end(&mut content)?;
        if content.len() as u64 > self.longest {
            return Err(io::Error::other("it is too long"));
        }
        Ok(Some(content))
    }

    /// Writes a file atomically.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(crate) fn write(&self, key: &str, content: &[u8]) -> Result<()> {
        let path = self.path(key);
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| Error::io("make", folder, &error))?;
        write_atomically(&path, content)
    }
}
