//! Folders that killed runs left before they had a manifest, and in which nothing is that was paid for.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::events::{self, Kind};
use super::files::{ERRORS, JOURNAL, MANIFEST, RECORDS};
use super::stamp_and_id;
use crate::system::file::open_plain;

/// A folder without a journal may be that of a run that is about to begin, or that scores stored answers anew.
const QUIET: Duration = Duration::from_hours(1);
/// Within moments a run makes its folder, its journal, locks that, and writes its manifest. Nobody looks at the lock
/// meanwhile: who does has it for a moment.
const BEGINNING: Duration = Duration::from_mins(1);

/// Removes such folders below `root`, and gives those that are gone. One with a journal in which anything but the
/// beginning of attempts stands is never removed.
pub(crate) fn tidy(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut left: Vec<_> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .filter(|path| is_left(path))
        .collect();
    left.sort();
    left.retain(|path| fs::remove_dir_all(path).is_ok());
    left
}

fn is_left(path: &Path) -> bool {
    let journal = path.join(JOURNAL);
    if stamp_and_id(path).is_none() || path.join(MANIFEST).exists() {
        return false;
    }
    match fs::metadata(&journal) {
        Ok(file) if file.is_file() => {
            if file.len() == 0 && !is_unchanged(&journal, BEGINNING) || events::is_held(&journal) {
                return false;
            }
            only_begins(&journal).unwrap_or(false) && holds_no_records(path)
        }
        Ok(_) => false,
        Err(_) => is_quiet(path) && holds_no_records(path),
    }
}

/// Whether a journal says no more than that attempts began. One with an answer is left at its line.
fn only_begins(journal: &Path) -> io::Result<bool> {
    /// No line of a beginning is so long.
    const LONGEST: u64 = 1 << 16;
    let mut file = BufReader::new(open_plain(journal)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut file).take(LONGEST).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(true);
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        if !line.is_empty() && !is_beginning(line) {
            return Ok(false);
        }
    }
}

/// Whether a line of a journal says no more than that an attempt began.
fn is_beginning(line: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Line {
        kind: Kind,
    }
    serde_json::from_slice::<Line>(line).is_ok_and(|line| line.kind == Kind::Started)
}

fn holds_no_records(path: &Path) -> bool {
    let is_empty = |name: &str| fs::metadata(path.join(name)).map_or(true, |file| file.len() == 0);
    is_empty(RECORDS) && is_empty(ERRORS)
}

/// Whether something was not changed for so long. What cannot be told is not.
fn is_unchanged(path: &Path, long: Duration) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|file| file.modified());
    let age = changed.map(|changed| SystemTime::now().duration_since(changed));
    age.is_ok_and(|age| age.is_ok_and(|age| age >= long))
}

/// Whether nothing was changed in a folder for an hour.
fn is_quiet(path: &Path) -> bool {
    let is_old = |path: &Path| is_unchanged(path, QUIET);
    let mut entries = fs::read_dir(path).into_iter().flatten();
    is_old(path) && entries.all(|entry| entry.is_ok_and(|entry| is_old(&entry.path())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_holds_nothing_paid_goes() {
        let root = tempfile::tempdir().unwrap();
        let make = |name: &str, journal: Option<&str>| {
            let folder = root.path().join(name);
            fs::create_dir_all(folder.join("scratch/a.1")).unwrap();
            if let Some(journal) = journal {
                fs::write(folder.join("events.jsonl"), journal).unwrap();
            }
        };
        let started = "{\"sample_id\":\"a\",\"kind\":\"started\"}\n";
        let answered = "{\"sample_id\":\"a\",\"kind\":\"answered\"}\n";
        make("20260131T235959Z_empty", Some(""));
        make("20260131T235959Z_begins", Some(""));
        let empty = root.path().join("20260131T235959Z_empty/events.jsonl");
        let empty = fs::File::options().append(true).open(empty).unwrap();
        empty
            .set_modified(SystemTime::now() - 2 * BEGINNING)
            .unwrap();
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
        make("my_folder", Some(""));
        make("2026013éT23595Z_x", Some(""));
        let gone = ["20260131T235959Z_empty", "20260131T235959Z_started"];
        assert_eq!(tidy(root.path()), gone.map(|name| root.path().join(name)));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 8);
        assert_eq!(tidy(root.path()), [""; 0].map(PathBuf::from));
        // It is gone once it is old.
        let new = root.path().join("20260131T235959Z_new");
        let old = SystemTime::now() - 2 * QUIET;
        for path in [new.join("scratch/a.1"), new.join("scratch"), new.clone()] {
            fs::File::open(&path).unwrap().set_modified(old).unwrap();
        }
        assert_eq!(tidy(root.path()), [new]);
        assert_eq!(
            tidy(&root.path().join("nothing")),
            [""; 0].map(PathBuf::from)
        );
    }
}
