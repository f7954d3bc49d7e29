//! The run directory: everything a run leaves on disk, and the contract between the library and the
//! command line.
//!
//! ```text
//! <output root>/                      made with a `.gitignore` of `*`
//!   <YYYYMMDDTHHMMSSZ>_<run id>/
//!     manifest.json    what was run, when, with which hashes          (artifact/manifest.rs)
//!     events.jsonl     appended as it happens; an answer is complete
//!                      on disk before it is scored                    (artifact/events.rs)
//!     samples.jsonl    one record per sample and epoch, in
//!                      dataset order                                  (artifact/records.rs)
//!     errors.jsonl     the records that ended without a verdict
//!     summary.json, summary.md
//!     scratch/         folders of attempts that `keep_scratch` kept
//! ```
//!
//! A run whose answers were [scored again](crate::rescore) has all of these but the journal, which is that
//! of its parent: the manifest's `parent` and `parent_run_id`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

pub(crate) mod events;
pub(crate) mod manifest;
pub(crate) mod records;

pub use manifest::{Manifest, RunStatus};
pub use records::read as read_records;

/// Version of the files in a run directory.
///
/// * 1: the first. Members added since, which a reader may leave alone: the manifest's `parent_run_id` and
///   `epochs`. With several epochs `samples.jsonl` has a record for each, those of a sample side by side.
pub const FORMAT_VERSION: u32 = 1;

/// The folder of runs unless the spec names another, in the project's root.
pub const DEFAULT_OUTPUT_ROOT: &str = "evaltest-runs";

/// A run directory.
#[derive(Clone, Debug)]
pub struct RunDir {
    path: PathBuf,
}

impl RunDir {
    /// Makes a new run directory below `root`.
    pub(crate) fn create(root: &Path, run_id: &str) -> Result<Self> {
        if run_id.is_empty() || run_id.contains(['/', '\\', '\0']) || run_id.starts_with('.') {
            return Err(
                Error::usage(format!("run id `{run_id}` is not a file name"))
                    .hint("use letters, digits, `-` and `_`"),
            );
        }
        make_root(root)?;
        let path = root.join(format!("{}_{run_id}", stamp()));
        match fs::create_dir(&path) {
            Ok(()) => Ok(Self {
                path: absolute(&path)?,
            }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Error::usage(
                format!("run directory `{}` exists already", path.display()),
            )
            .hint("choose another `--run-id`, or continue it with `--resume`")),
            Err(error) => Err(Error::io("create", &path, &error)),
        }
    }

    /// Makes exactly this folder.
    pub(crate) fn create_at(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(|error| Error::io("create", path, &error))?;
        Ok(Self {
            path: absolute(path)?,
        })
    }

    /// Opens an existing run directory.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.join("manifest.json").is_file() {
            return Err(Error::usage(format!(
                "`{}` is not a run directory: it has no `manifest.json`",
                path.display()
            ))
            .hint("name a folder below `evaltest-runs/`, such as the one a run printed last"));
        }
        Ok(Self {
            path: absolute(path)?,
        })
    }

    /// Where it is, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Its manifest.
    pub fn manifest(&self) -> Result<Manifest> {
        Manifest::read(&self.file("manifest.json"))
    }

    /// The run whose answers were scored again here, where it still is.
    pub fn parent(&self) -> Option<Self> {
        let parent = self.manifest().ok()?.parent?;
        // Where it was, or beside this one, if both were moved elsewhere.
        let beside = self.path.parent()?.join(parent.file_name()?);
        let found = Self::open(&parent).or_else(|_| Self::open(&beside)).ok()?;
        (found.path != self.path).then_some(found)
    }

    /// What happened to one sample, as the lines of `events.jsonl`; of a run that was scored again, those of
    /// the run that asked.
    pub fn attempts(&self, sample_id: &str) -> Result<Vec<serde_json::Value>> {
        let mut asked = self.clone();
        // A chain that was tampered with may be a circle.
        for _ in 0..100 {
            match asked.parent() {
                Some(parent) if !asked.file("events.jsonl").is_file() => asked = parent,
                _ => break,
            }
        }
        let events = events::read(&asked.file("events.jsonl"))?;
        let of_sample = events
            .into_iter()
            .filter(|event| event.sample_id == sample_id);
        Ok(of_sample
            .filter_map(|event| serde_json::to_value(event).ok())
            .collect())
    }

    /// Writes a file whole or not at all.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        write_atomically(&self.file(name), content)
    }
}

/// Now, as in the names of run directories: `20260131T235959Z`.
pub fn stamp() -> String {
    let now = jiff::Timestamp::now();
    now.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// Makes the folder of runs, ignored by git.
pub(crate) fn make_root(root: &Path) -> Result<()> {
    // A folder that holds other things is the user's: git must go on seeing them.
    let is_ours = fs::read_dir(root).map_or(true, |mut entries| entries.next().is_none());
    fs::create_dir_all(root).map_err(|error| {
        Error::io("create", root, &error).hint("name another folder for runs: `--output-root DIR`")
    })?;
    if is_ours {
        let ignore = root.join(".gitignore");
        fs::write(&ignore, "*\n").map_err(|error| Error::io("write", &ignore, &error))?;
    }
    Ok(())
}

/// Every run directory below `root`, the oldest first.
pub fn runs_in(root: &Path) -> Vec<RunDir> {
    let Ok(entries) = fs::read_dir(root) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
        .iter()
        .filter_map(|path| RunDir::open(path).ok())
        .collect()
}

/// Writes to a neighbour and renames it over `path`.
pub(crate) fn write_atomically(path: &Path, content: &[u8]) -> Result<()> {
    // Neither another process nor another thread may write to the same neighbour.
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let write = WRITES.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{write}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    fs::write(&temporary, content)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(|error| {
            let _ = fs::remove_file(&temporary);
            Error::io("write", path, &error)
        })
}

/// `path` made absolute, symbolic links kept.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| Error::io("resolve", path, &error))
}

/// A name that no other run has: `gaia-3f09ab`.
pub(crate) fn random_run_id(eval: &str) -> String {
    use std::hash::{BuildHasher, Hasher};
    // `RandomState` is seeded by the operating system.
    let random = std::hash::RandomState::new().build_hasher().finish();
    format!(
        "{}-{:06x}",
        crate::snapshot::file_name(eval),
        random & 0xff_ffff
    )
}
