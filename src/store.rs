//! The run directory: everything a run leaves on disk, and the contract between the library and the
//! command line.
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
//! A run whose answers were [scored again](crate::run::rescore) has all of these but the journal, which is that
//! of its parent: the manifest's `parent` and `parent_run_id`.

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

pub(crate) mod cache;
mod carried;
mod checked;
pub(crate) mod events;
pub mod files;
pub(crate) mod left;
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
/// * 1: the first. Members added since, which a reader may leave alone: the manifest's `parent_run_id`, `epochs`,
///   `agent_hash`, `prompt`, `mixed`, `answers_of`, `detail_bounds`, `judge_models`, `variant`, `part` and `merged`; a result's and an event's
///   `cached_from`; a result's `judged`, and `error` with `reason` in its `scores` and in an error; events of the kinds
///   `judged` and `judge_failed`, with `judge`. With several epochs `samples.jsonl` has a record for each, those of a
///   sample side by side.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// The folder of runs unless the spec names another, in the project's root.
pub const DEFAULT_OUTPUT_ROOT: &str = "evaltest-runs";

/// A run directory.
#[derive(Clone, Debug)]
pub struct RunDir {
    path: PathBuf,
    /// Where its files were made again, of a run that was killed.
    restored: Option<Arc<RestoredFolder>>,
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
            Ok(()) => Self::at(&path),
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

    /// The same run, whose files were made again in a folder, under their names.
    pub(crate) fn restored_in(&self, folder: RestoredFolder) -> Self {
        Self {
            path: self.path.clone(),
            restored: Some(Arc::new(folder)),
        }
    }

    /// Whether it is read from its journal, for it was killed.
    pub fn is_restored(&self) -> bool {
        self.restored.is_some()
    }

    /// Where it is, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The id of the run, as its name has it.
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

    /// The run whose answers were scored again here, where it still is.
    pub fn parent(&self) -> Option<Self> {
        let parent = self.manifest().ok()?.parent?;
        // Where it was, or beside this one, if both were moved elsewhere.
        let beside = self.path.parent()?.join(parent.file_name()?);
        let found = Self::open(&parent).or_else(|_| Self::open(&beside)).ok()?;
        (found.path != self.path).then_some(found)
    }

    /// What happened to one sample, as the lines of `events.jsonl` with all of their members; of a run that was scored
    /// again, those of the run that asked.
    pub fn attempts(&self, sample_id: &str) -> Result<Vec<serde_json::Value>> {
        let mut asked = self.clone();
        // A chain that was tampered with may be a circle.
        for _ in 0..100 {
            match asked.parent() {
                Some(parent) if !asked.file(JOURNAL).is_file() => asked = parent,
                _ => break,
            }
        }
        let mut attempts = Vec::new();
        events::each(&asked.file(JOURNAL), &mut |line| {
            if line.event.sample_id == sample_id {
                attempts.extend(line.carried().to_value());
            }
            Ok(())
        })?;
        Ok(attempts)
    }

    /// What went wrong with its files. If the folder is gone, that is the surroundings' fault, whatever it looks like.
    pub(crate) fn unless_gone(&self, error: Error) -> Error {
        if self.path.is_dir() && self.file(JOURNAL).exists() {
            return error;
        }
        events::gone(&self.path)
    }

    /// Removes what the run made in its directory, and the directory unless something else is in it.
    pub(crate) fn remove(&self) {
        // What cannot be removed is in nobody's way.
        let _ = remove::ours_in(&self.path, &files::is_made_by_run);
    }

    /// Removes the directory if the run made all that is in it. Gives whether it is gone.
    pub(crate) fn remove_if_all_ours(&self) -> bool {
        remove::if_all_ours(&self.path, &files::is_made_by_run)
    }

    /// Writes a file whole or not at all.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        write_atomically(&self.file(name), content)
    }
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
        .filter(|path| !is_unfinished(path))
        .filter_map(|path| RunDir::open(path).ok())
        .collect()
}

/// What the name of a run directory ends with until it is whole: one that is made of others stands there at once.
pub(crate) const UNFINISHED: &str = ".part~";

fn is_unfinished(path: &Path) -> bool {
    path.to_string_lossy().ends_with(UNFINISHED)
}

/// The directories below `root` that have a journal in which something stands, and no manifest.
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

/// A name that no other run has: `gaia-3f09ab`.
pub(crate) fn random_run_id(eval: &str) -> String {
    use std::hash::{BuildHasher, Hasher};
    // `RandomState` is seeded by the operating system.
    let random = std::hash::RandomState::new().build_hasher().finish();
    run_id_of(eval, random)
}

/// The name of a run of an eval with this number.
pub(crate) fn run_id_of(eval: &str, number: u64) -> String {
    // What separates the name of a spec from those of its variants may stand in a file name, too.
    let pieces = eval.split_inclusive([Variant::AGENT, Variant::PROMPT]);
    let pieces = pieces.map(
        |piece| match piece.strip_suffix([Variant::AGENT, Variant::PROMPT]) {
            Some(name) => file_name(name) + &piece[name.len()..],
            None => file_name(piece),
        },
    );
    format!("{}-{:06x}", pieces.collect::<String>(), number & 0xff_ffff)
}
