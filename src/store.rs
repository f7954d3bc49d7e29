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
//!     samples.index, events.index     of a large run: where the lines
//!                      of each sample are                             (store/line_index.rs)
//!     scratch/         folders of attempts that `keep_scratch` kept
//! ```
//!
//! A [rescored](crate::run::rescore) run has all of these except the journal, which is in its parent: the manifest's
//! `parent` and `parent_run_id`.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;

use crate::data::reviews::ReviewedFigures;
use crate::data::{Record, Variant};
use crate::error::{Error, Result};
use crate::system::file::remove;
use crate::system::file::{absolute, make_root, open_plain, write_atomically};
use crate::text::splice::{Members, with_unknown};
use crate::text::{file_name, json_line};
use files::{JOURNAL, MANIFEST, RECORDS, VERIFICATIONS, is_made_by_run};

pub(crate) mod abandoned;
pub(crate) mod cache;
mod checked;
pub mod files;
pub(crate) mod journal;
mod line_index;
pub(crate) mod manifest;
pub(crate) mod places;
pub(crate) mod records;
mod redaction;

pub(crate) use checked::going_on;
pub use manifest::{Manifest, MergedPart, RunPart, RunStatus};
pub use records::{read as read_records, read_carried};
pub(crate) use records::{
    read_all_lean as read_all_lean_records, read_lean as read_lean_records,
    read_where as read_records_where,
};

/// Version of the files in a run directory.
///
/// * 1: the first. Members added since, which a reader may ignore: the manifest's `parent_run_id`, `epochs`,
///   `agent_hash`, `prompt`, `mixed`, `answers_of`, `detail_bounds`, `judge_models`, `variant`, `part` and `merged`; a
///   result's and an event's `cached_from`; a result's `judged`, and `error` with `reason` in its `scores` and in an
///   error; events of the kinds `judged` and `judge_failed`, with `judge`. With several epochs `samples.jsonl` has a
///   record for each; those of a sample are adjacent.
/// * 2: a manifest has a `checksum`, and all members that have no default.
pub(crate) const FORMAT_VERSION: u32 = 2;

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
                    "the run directory `{}` lacks its `{MANIFEST}`",
                    path.display()
                );
                return Err(Error::usage(message).hint(manifest::instead(path)));
            }
            let name = path.display();
            let message = if path.exists() {
                format!("`{name}` is not a run directory: it has no `{MANIFEST}`")
            } else {
                format!("there is no run `{name}`")
            };
            return Err(Error::usage(message).hint("use a run that `cargo evaltest runs` lists"));
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
    ///
    /// # Errors
    /// When it cannot be read or is not as the run wrote it.
    pub fn manifest(&self) -> Result<Manifest> {
        match Manifest::read(&self.file(MANIFEST))? {
            (manifest, None) => Ok(manifest),
            (manifest, Some(fault)) => Err(self.changed_manifest(&manifest, &fault)),
        }
    }

    /// Its manifest even if it was changed, for commands that show or repair a run.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn manifest_unverified(&self) -> Result<Manifest> {
        Ok(Manifest::read(&self.file(MANIFEST))?.0)
    }

    /// The run whose answers were rescored, if it still exists.
    pub fn parent(&self) -> Option<Self> {
        let parent = self.manifest_unverified().ok()?.parent?;
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
        let mut see = |line: journal::JournalLine<'_>| {
            if line.event.sample_id == sample_id {
                attempts.extend(line.carried().to_value());
            }
            Ok(())
        };
        let path = source.file(JOURNAL);
        match source.lines_by_place(JOURNAL, sample_id) {
            Some(lines) => journal::each_of(&path, &lines, &mut see)?,
            None => journal::each(&path, &mut see)?,
        }
        Ok(attempts)
    }

    /// The records of one sample, read by their places: each is checked, and the rest of the file is not. Empty if it has
    /// none; `None` if the run must be read and checked as a whole, which it must unless it is large and over.
    pub fn records_by_place(&self, sample_id: &str) -> Option<Vec<Carried<Record>>> {
        let lines = self.lines_by_place(RECORDS, sample_id)?;
        let records = lines.iter().map(|line| Carried::parse(line));
        records.collect::<serde_json::Result<_>>().ok()
    }

    fn lines_by_place(&self, file: &str, sample_id: &str) -> Option<Vec<Vec<u8>>> {
        let manifest = self.manifest().ok().filter(|_| !self.is_restored())?;
        let is_over = manifest.status != RunStatus::Running || manifest.parent.is_some();
        if !is_over || self.foreign_manifest(&manifest).is_some() {
            return None;
        }
        let hash = manifest.artifacts.get(file)?;
        line_index::lines_of(&self.file(file), hash, sample_id)
    }

    /// Converts an error about its files: if the folder is gone, it is an environment error.
    pub(crate) fn unless_gone(&self, error: Error) -> Error {
        if self.path.is_dir() && self.file(JOURNAL).exists() {
            return error;
        }
        journal::gone(&self.path)
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

/// A parsed line. Unknown members are preserved.
#[derive(Clone, Debug)]
pub struct Carried<T> {
    /// The known members.
    pub known: T,
    /// The text, if it may have unknown members.
    line: Option<Box<str>>,
}

impl<T> From<T> for Carried<T> {
    fn from(known: T) -> Self {
        Self { known, line: None }
    }
}

impl<T: Serialize + DeserializeOwned> Carried<T> {
    fn parse(line: &[u8]) -> serde_json::Result<Self> {
        Ok(Self::of(serde_json::from_slice(line)?, line))
    }

    /// From a parsed line.
    fn of(known: T, line: &[u8]) -> Self {
        let text = std::str::from_utf8(line.trim_ascii());
        Self {
            known,
            line: text.ok().map(Into::into),
        }
    }

    /// Drops the text if this version would write the same.
    fn lean(mut self) -> Self {
        let written = json_line(&self.known).ok();
        if self.line().map(str::as_bytes) == written.as_deref() {
            self.line = None;
        }
        self
    }

    /// The text, unless this version would write the same.
    fn line(&self) -> Option<&str> {
        self.line.as_deref()
    }

    /// The raw text of a member, unless this version would write the same line.
    fn member(&self, name: &str) -> Option<Box<str>> {
        let members: Members<'_> = serde_json::from_str(self.line()?).ok()?;
        members.get(name).map(Into::into)
    }

    /// All members, as JSON.
    ///
    /// # Errors
    /// When the known members cannot be serialised.
    pub fn to_value(&self) -> serde_json::Result<Value> {
        match self.line() {
            Some(line) => {
                let known = serde_json::to_string(&self.known)?;
                serde_json::from_str(&with_unknown(&known, line))
            }
            None => serde_json::to_value(&self.known),
        }
    }
}

/// Prefix of the folder's name.
const PREFIX: &str = "evaltest-restored-";
/// A file that users of the folder lock.
const USED: &str = "used";

/// A folder that is removed on drop.
#[derive(Debug)]
pub(crate) struct RestoredFolder {
    folder: TempDir,
    /// The lock, which ends with the process.
    _used: File,
}

impl RestoredFolder {
    /// Creates a folder. Removes those of killed readers.
    pub(crate) fn new() -> io::Result<Self> {
        Self::below(&std::env::temp_dir())
    }

    fn below(root: &Path) -> io::Result<Self> {
        // The folder of temporary files may be unlistable.
        for entry in fs::read_dir(root).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_string_lossy().starts_with(PREFIX) && is_abandoned(&entry.path()) {
                remove::if_all_ours(&entry.path(), &|path, kind| {
                    path == USED && kind.is_file() || is_made_by_run(path, kind)
                });
            }
        }
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root)?;
        // Locked before it gets its final name.
        let unlocked = folder.path().join("unlocked");
        let used = File::create(&unlocked)?;
        used.lock()?;
        fs::rename(unlocked, folder.path().join(USED))?;
        Ok(Self {
            folder,
            _used: used,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Whether a folder is unused. One without the file is being created. Other programs use the temporary folder, too, and
/// opening a pipe would block.
fn is_abandoned(path: &Path) -> bool {
    open_plain(&path.join(USED)).is_ok_and(|used| used.try_lock().is_ok())
}

// Reviews of a run by people, read from its directory. They may come long after the run, so they are not part of what
// the run wrote.

impl RunDir {
    /// The figures of its reviews; `None` if nothing was reviewed.
    ///
    /// # Errors
    /// With the line of the file that is no verification, and when the records cannot be read.
    pub(crate) fn reviewed(&self, manifest: &Manifest) -> Result<Option<ReviewedFigures>> {
        let path = self.path().join(VERIFICATIONS);
        if !path.exists() {
            return Ok(None);
        }
        let judge = manifest.first_judge();
        let first = manifest.scorers.first().map(String::as_str);
        let (mut ids, mut judged) = (HashSet::new(), HashMap::new());
        for record in read_lean_records(&self.file(RECORDS))? {
            let record = record?;
            if record.epoch > 0 {
                continue;
            }
            if let Some(passes) = judge.and_then(|judge| verdict(&record, judge, first)) {
                judged.insert(record.sample_id.clone(), passes);
            }
            ids.insert(record.sample_id);
        }
        ReviewedFigures::read(&path, &ids, &|id| judged.get(id).copied())
    }
}

/// Whether a scorer accepts an answer, if it decides that.
fn verdict(record: &Record, scorer: &str, first: Option<&str>) -> Option<bool> {
    let result = &record.result;
    if result.is_failure_as_wrong() {
        return None;
    }
    match result.scores.get(scorer) {
        Some(score) => score.get("correct").and_then(Value::as_bool),
        None if first == Some(scorer) => result.score.as_ref().map(|score| score.correct),
        None => None,
    }
}

/// How long it is.
const LENGTH: usize = "20260131T235959Z".len();

/// The current time.
pub fn stamp() -> String {
    let now = crate::system::clock::timestamp();
    now.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// The time and the id in the name of a run directory; `None` for other names.
pub fn stamp_and_id(path: &Path) -> Option<(&str, &str)> {
    let (stamp, id) = path.file_name()?.to_str()?.split_once('_')?;
    let is_digit = |at: usize, byte: u8| match at {
        8 => byte == b'T',
        15 => byte == b'Z',
        _ => byte.is_ascii_digit(),
    };
    let is_stamp = stamp.len() == LENGTH
        && stamp
            .bytes()
            .enumerate()
            .all(|(at, byte)| is_digit(at, byte));
    (is_stamp && !id.is_empty()).then_some((stamp, id))
}

/// A manifest's time in the form of such names.
pub fn stamp_of(time: &str) -> String {
    let seconds = time.split('.').next().unwrap_or_default();
    let digits = seconds.chars().filter(char::is_ascii_alphanumeric);
    let mut stamp: String = digits.collect();
    if !stamp.ends_with('Z') {
        stamp.push('Z');
    }
    stamp
}

#[cfg(test)]
mod restored_tests {
    use super::*;

    #[test]
    fn only_folders_of_killed_readers_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let used = RestoredFolder::below(root.path()).unwrap();
        let abandoned = root.path().join("evaltest-restored-left");
        fs::create_dir(&abandoned).unwrap();
        fs::write(abandoned.join(USED), "").unwrap();
        fs::write(abandoned.join("events.jsonl"), "").unwrap();
        let mine = root.path().join("evaltest-restored-mine");
        fs::create_dir(&mine).unwrap();
        fs::write(mine.join(USED), "").unwrap();
        fs::write(mine.join("notes.txt"), "").unwrap();
        let (new, other) = (
            root.path().join("evaltest-restored-new"),
            root.path().join("other"),
        );
        fs::create_dir(&new).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join(USED), "").unwrap();
        let pipe = root.path().join("evaltest-restored-pipe");
        fs::create_dir(&pipe).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(pipe.join(USED))
            .status();
        assert!(made.unwrap().success());
        let another = RestoredFolder::below(root.path()).unwrap();
        assert!(pipe.exists());
        assert!(!abandoned.exists() && mine.join(USED).exists());
        assert!(new.exists() && other.exists() && used.path().exists());
        let path = another.path().to_owned();
        drop(another);
        assert!(!path.exists());
    }
}

#[cfg(test)]
mod stamp_tests {
    use super::*;

    #[test]
    fn names_of_run_directories_are_known() {
        let check = |name: &str, expect| {
            assert_eq!(
                stamp_and_id(&Path::new("runs").join(name)),
                expect,
                "{name}"
            );
        };
        let stamp = "20260131T235959Z";
        check("20260131T235959Z_e-1", Some((stamp, "e-1")));
        check("20260131T235959Z_e_1", Some((stamp, "e_1")));
        check("20260131T235959Z_", None);
        check("20260131T235959Z", None);
        check("20260131T235959_e", None);
        check("20260131T23595xZ_e", None);
        check("2026013éT23595Z_x", None);
        check("of_monday", None);
        check("", None);
        let now = format!("{}_e", super::stamp());
        assert!(stamp_and_id(Path::new(&now)).is_some(), "{now}");
    }

    #[test]
    fn times_of_manifests_are_compared_with_names() {
        assert_eq!(stamp_of("2026-11-23T03:05:48.123Z"), "20261123T030548Z");
        assert_eq!(stamp_of("2026-11-23T03:05:48Z"), "20261123T030548Z");
    }
}
