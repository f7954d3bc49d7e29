//! Removes folders of runs that were killed before they had a manifest and anything paid for.
//!
//! A run creates, in this order: its folder, the journal, which it locks, an empty `scratch`, the manifest. A folder
//! that contains anything else stays, whatever is missing: it may be a workflow's, a review, or someone's own.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::files::{JOURNAL, MANIFEST, SCRATCH};
use super::journal;
use super::journal::Kind;
use super::stamp_and_id;
use crate::system::file::open_plain;
use crate::system::file::remove;

/// A folder without a journal may belong to a run that is starting, or to a rescore.
const QUIET: Duration = Duration::from_hours(1);
/// A starting run takes only moments to create its folder, create and lock its journal, and write its manifest. The
/// lock is not tested meanwhile, because testing takes it for a moment.
const BEGINNING: Duration = Duration::from_mins(1);

/// The result of tidying.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Tidied {
    /// Removed folders.
    pub(crate) removed: Vec<PathBuf>,
    /// Folders that stay: their journal has only a start, but they contain files that no starting run makes.
    pub(crate) in_doubt: Vec<PathBuf>,
}

/// Removes such folders below `root`.
pub(crate) fn tidy(root: &Path) -> Tidied {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let folders = entries.filter(is_folder).map(|entry| entry.path());
    let mut abandoned: Vec<_> = folders.filter(|path| is_abandoned(path)).collect();
    abandoned.sort();
    let mut tidied = Tidied::default();
    for path in abandoned {
        let of_beginning = |name: &Path, kind: fs::FileType| {
            name == SCRATCH && kind.is_dir() || name == JOURNAL && kind.is_file()
        };
        if remove::if_all_ours(&path, &of_beginning) {
            tidied.removed.push(path);
        } else if path.join(JOURNAL).exists() {
            tidied.in_doubt.push(path);
        }
    }
    tidied
}

/// Whether a folder may belong to a run that was killed as it started.
fn is_abandoned(path: &Path) -> bool {
    let journal = path.join(JOURNAL);
    if stamp_and_id(path).is_none() || path.join(MANIFEST).symlink_metadata().is_ok() {
        return false;
    }
    match fs::symlink_metadata(&journal) {
        Ok(file) if file.is_file() => {
            if file.len() == 0 && !is_unchanged(&journal, BEGINNING) || journal::is_held(&journal) {
                return false;
            }
            holds_only(&journal, &[Kind::Started])
        }
        Ok(_) => false,
        Err(_) => is_quiet(path),
    }
}

/// Whether a journal is readable and has only events of these kinds. Stops at the first other one.
pub(crate) fn holds_only(journal: &Path, kinds: &[Kind]) -> bool {
    /// The longest line of such kinds.
    const LONGEST: u64 = 1 << 16;
    #[derive(serde::Deserialize)]
    struct Line {
        kind: Kind,
    }
    let is_one = |line: &[u8]| {
        serde_json::from_slice::<Line>(line).is_ok_and(|line| kinds.contains(&line.kind))
    };
    let read = || -> io::Result<bool> {
        let mut file = BufReader::new(open_plain(journal)?);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut file).take(LONGEST).read_until(b'\n', &mut line)?;
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            if read == 0 {
                return Ok(true);
            } else if !text.is_empty() && !is_one(text) {
                return Ok(false);
            }
        }
    };
    read().unwrap_or(false)
}

/// Whether something was unchanged for this long. `false` if unknown.
fn is_unchanged(path: &Path, long: Duration) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|file| file.modified());
    let age = changed.map(|changed| SystemTime::now().duration_since(changed));
    age.is_ok_and(|age| age.is_ok_and(|age| age >= long))
}

/// Whether a folder was unchanged for an hour.
fn is_quiet(path: &Path) -> bool {
    let is_old = |path: &Path| is_unchanged(path, QUIET);
    let mut entries = fs::read_dir(path).into_iter().flatten();
    is_old(path) && entries.all(|entry| entry.is_ok_and(|entry| is_old(&entry.path())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_modified(path: &Path, time: SystemTime) {
        fs::File::open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn only_what_holds_nothing_paid_goes() {
        let root = tempfile::tempdir().unwrap();
        let make = |name: &str, journal: Option<&str>| {
            let folder = root.path().join(name);
            fs::create_dir_all(folder.join("scratch")).unwrap();
            if let Some(journal) = journal {
                fs::write(folder.join("events.jsonl"), journal).unwrap();
            }
        };
        let started = "{\"sample_id\":\"a\",\"kind\":\"started\"}\n";
        let answered = "{\"sample_id\":\"a\",\"kind\":\"answered\"}\n";
        make("20260131T235959Z_empty", Some(""));
        make("20260131T235959Z_begins", Some(""));
        let empty = root.path().join("20260131T235959Z_empty/events.jsonl");
        set_modified(&empty, SystemTime::now() - 2 * BEGINNING);
        make("20260131T235959Z_started", Some(started));
        make(
            "20260131T235959Z_answered",
            Some(&format!("{started}{answered}")),
        );
        make(
            "20260131T235959Z_torn",
            Some(&format!("{started}{{\"sample")),
        );
        make("20260131T235959Z_new", None);
        make("20260131T235959Z_manifest", Some(""));
        fs::write(
            root.path().join("20260131T235959Z_manifest/manifest.json"),
            "{}",
        )
        .unwrap();
        make("20260131T235959Z_records", Some(""));
        fs::write(
            root.path().join("20260131T235959Z_records/samples.jsonl"),
            "{}",
        )
        .unwrap();
        make("20260131T235959Z_scratch", Some(started));
        fs::create_dir(root.path().join("20260131T235959Z_scratch/scratch/a.1")).unwrap();
        make("my_folder", Some(""));
        make("2026013éT23595Z_x", Some(""));
        let paths = |names: &[&str]| -> Vec<_> {
            let names = names.iter().map(|name| format!("20260131T235959Z_{name}"));
            names.map(|name| root.path().join(name)).collect()
        };
        let tidied = |removed: &[&str], in_doubt: &[&str]| Tidied {
            removed: paths(removed),
            in_doubt: paths(in_doubt),
        };
        let records = root.path().join("20260131T235959Z_records/events.jsonl");
        set_modified(&records, SystemTime::now() - 2 * BEGINNING);
        let in_doubt = ["records", "scratch"];
        assert_eq!(tidy(root.path()), tidied(&["empty", "started"], &in_doubt));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 9);
        assert_eq!(tidy(root.path()), tidied(&[], &in_doubt));
        // It is removed once it is old.
        let new = root.path().join("20260131T235959Z_new");
        let old = SystemTime::now() - 2 * QUIET;
        for path in [new.join("scratch"), new] {
            set_modified(&path, old);
        }
        assert_eq!(tidy(root.path()), tidied(&["new"], &in_doubt));
        assert_eq!(tidy(&root.path().join("nothing")), Tidied::default());
    }
}
