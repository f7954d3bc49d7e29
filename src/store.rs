//! The run directory: all files of a run. Its format is the contract between the library and the command line.
//!
//! ```text
//! <output root>/                      made with a `.gitignore` of `*`
//!   <YYYYMMDDTHHMMSSZ>_<run id>/
//!     manifest.json    what was run, when, with which hashes          (store/manifest.rs)
//!     events.jsonl     appended as it happens; an answer is complete
//!                      on disk before it is scored                    (store/events.rs)
//!     samples.jsonl    one record per sample and epoch, in
//!                      dataset order                                  (store/records.rs)
//!     errors.jsonl     the records that ended without a verdict
//!     summary.json, summary.md
//!     places.json      of a part of a run that goes on elsewhere: which
//!                      samples of the dataset it has                  (store/places.rs)
//!     scratch/         folders of attempts that `keep_scratch` kept
//! ```
//!
//! A [rescored](crate::run::rescore) run has all of these except the journal, which is in its parent: the manifest's
//! `parent` and `parent_run_id`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::data::Variant;
use crate::error::{Error, Result};
use crate::system::file::{absolute, make_root, write_atomically};
use crate::system::remove;
use crate::text::name::file_name;
use files::{JOURNAL, MANIFEST};

pub(crate) mod abandoned;
pub(crate) mod cache;
mod carried;
mod checked;
pub(crate) mod events;
pub mod files;
pub(crate) mod manifest;
pub(crate) mod places;
pub(crate) mod records;
mod redaction;
mod restored;
mod reviewed;
mod stamp;

pub use carried::Carried;
pub(crate) use checked::going_on;
pub use manifest::{Manifest, MergedPart, RunPart, RunStatus};
pub use records::{read as read_records, read_carried};
pub(crate) use records::{read_lean as read_lean_records, read_where as read_records_where};
pub(crate) use restored::RestoredFolder;
pub use stamp::{stamp, stamp_and_id, stamp_of};

/// Version of the files in a run directory.
///
/// * 1: the first. Members added since, which a reader may ignore: the manifest's `parent_run_id`, `epochs`,
///   `agent_hash`, `prompt`, `mixed`, `answers_of`, `detail_bounds`, `judge_models`, `variant`, `part` and `merged`; a
///   result's and an event's `cached_from`; a result's `judged`, and `error` with `reason` in its `scores` and in an
///   error; events of the kinds `judged` and `judge_failed`, with `judge`. With several epochs `samples.jsonl` has a
///   record for each; those of a sample are adjacent.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// Default folder of runs, in the project's root.
pub const DEFAULT_OUTPUT_ROOT: &str = "evaltest-runs";

/// A run directory.
#[derive(Clone, Debug)]
pub struct RunDir {
    path: PathBuf,
    /// The folder with rebuilt files, for a killed run.
    restored: Option<Arc<RestoredFolder>>,
}

impl RunDir {
    /// Creates a new run directory in `root`.
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
            Ok(()) => Self::at(&path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Error::usage(
                format!("run directory `{}` exists already", path.display()),
            )
            .hint("choose another `--run-id`, or continue it with `--resume`")),
            Err(error) => Err(Error::io("create", &path, &error)),
        }
    }

    /// Creates exactly this folder.
    pub(crate) fn create_at(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(|error| Error::io("create", path, &error))?;
        Self::at(path)
    }

    /// Opens an existing run directory.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.join(MANIFEST).is_file() {
            if path.join(JOURNAL).is_file() {
                let message = format!(
                    "the run directory `{}` has lost its `{MANIFEST}`",
                    path.display()
                );
                return Err(Error::usage(message).hint(manifest::instead(path)));
            }
            return Err(Error::usage(format!(
                "`{}` is not a run directory: it has no `manifest.json`",
                path.display()
            ))
            .hint("name one of those that `cargo evaltest runs` lists"));
        }
        Self::at(path)
    }

    fn at(path: &Path) -> Result<Self> {
        Ok(Self {
            path: absolute(path)?,
            restored: None,
        })
    }

    /// The same run with rebuilt files from another folder.
    pub(crate) fn restored_in(&self, folder: RestoredFolder) -> Self {
        Self {
            path: self.path.clone(),
            restored: Some(Arc::new(folder)),
        }
    }

    /// Whether it is read from its journal because it was killed.
    pub fn is_restored(&self) -> bool {
        self.restored.is_some()
    }

    /// Its absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The run's id, from the folder's name.
    pub(crate) fn run_id(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        name.split_once('_').map_or(&*name, |(_, id)| id).to_owned()
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        let restored = self.restored.iter().map(|folder| folder.path().join(name));
        let mut restored = restored.filter(|path| path.exists());
        restored.next().unwrap_or_else(|| self.path.join(name))
    }

    /// Its manifest.
    pub fn manifest(&self) -> Result<Manifest> {
        Manifest::read(&self.file(MANIFEST))
    }

    /// The run whose answers were rescored, if it still exists.
    pub fn parent(&self) -> Option<Self> {
        let parent = self.manifest().ok()?.parent?;
        // At its original path, or next to this one if both were moved.
        let sibling = self.path.parent()?.join(parent.file_name()?);
        let found = Self::open(&parent).or_else(|_| Self::open(&sibling)).ok()?;
        (found.path != self.path).then_some(found)
    }

    /// The events of one sample, as the lines of `events.jsonl`; for a rescored run those of the original run.
    pub fn attempts(&self, sample_id: &str) -> Result<Vec<serde_json::Value>> {
        let mut source = self.clone();
        // A manipulated chain may be circular.
        for _ in 0..100 {
            match source.parent() {
                Some(parent) if !source.file(JOURNAL).is_file() => source = parent,
                _ => break,
            }
        }
        let mut attempts = Vec::new();
        events::each(&source.file(JOURNAL), &mut |line| {
            if line.event.sample_id == sample_id {
                attempts.extend(line.carried().to_value());
            }
            Ok(())
        })?;
        Ok(attempts)
    }

    /// Converts an error about its files: if the folder is gone, it is an environment error.
    pub(crate) fn unless_gone(&self, error: Error) -> Error {
        if self.path.is_dir() && self.file(JOURNAL).exists() {
            return error;
        }
        events::gone(&self.path)
    }

    /// Removes the run's files, and the directory unless it contains something else.
    pub(crate) fn remove(&self) {
        // Leftover files do no harm.
        let _ = remove::ours_in(&self.path, &files::is_made_by_run);
    }

    /// Removes the directory if it contains only files of the run. Returns whether it is gone.
    pub(crate) fn remove_if_all_ours(&self) -> bool {
        remove::if_all_ours(&self.path, &files::is_made_by_run)
    }

    /// Writes a file atomically.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        write_atomically(&self.file(name), content)
    }
}

/// All run directories in `root`, the oldest first.
pub fn runs_in(root: &Path) -> Vec<RunDir> {
    let Ok(entries) = fs::read_dir(root) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
        .iter()
        .filter(|path| !is_unfinished(path))
        .filter_map(|path| RunDir::open(path).ok())
        .collect()
}

/// Suffix of an unfinished run directory: a merged run is renamed when it is complete.
pub(crate) const UNFINISHED: &str = ".part~";

fn is_unfinished(path: &Path) -> bool {
    path.to_string_lossy().ends_with(UNFINISHED)
}

/// The directories in `root` with a non-empty journal but without a manifest.
pub fn lost_runs_in(root: &Path) -> Vec<PathBuf> {
    let has_events = |path: &Path| {
        let about = path.join(JOURNAL).metadata();
        about.is_ok_and(|about| about.is_file() && about.len() > 0)
    };
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .filter(|path| has_events(path) && !path.join(MANIFEST).exists() && !is_unfinished(path))
        .collect()
}

/// A unique id: `gaia-3f09ab`.
pub(crate) fn random_run_id(eval: &str) -> String {
    use std::hash::{BuildHasher, Hasher};
    // `RandomState` is seeded by the operating system.
    let random = std::hash::RandomState::new().build_hasher().finish();
    run_id_of(eval, random)
}

/// The id of an eval's run with this number.
pub(crate) fn run_id_of(eval: &str, number: u64) -> String {
    // The separators of variant names are valid in file names.
    let pieces = eval.split_inclusive([Variant::AGENT, Variant::PROMPT]);
    let pieces = pieces.map(
        |piece| match piece.strip_suffix([Variant::AGENT, Variant::PROMPT]) {
            Some(name) => file_name(name) + &piece[name.len()..],
            None => file_name(piece),
        },
    );
    format!("{}-{:06x}", pieces.collect::<String>(), number & 0xff_ffff)
}
