//! Reads a file of verifications and checks it against the journals next to it.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::path::Path;

use super::{JournalPlace, JournalText, ReviewEvent, ReviewLine, Verifications, refuse_foreign};
use crate::error::{Error, Result};
use crate::system::project::display;

impl Verifications {
    /// Reads a file like [`Verifications::read`], and checks that it has the latest review of each item in the
    /// journals. Without journals it is read as it is.
    ///
    /// # Errors
    /// With the line of an invalid verification, or of one that differs from the journals.
    pub(crate) fn checked(path: &Path) -> Result<Option<Self>> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.strip_suffix("verifications.json");
        let folder = stem.map(|stem| path.with_file_name(format!("{stem}reviews")));
        let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
            return Self::read(path);
        };
        // Writers hold this lock.
        let held = folder.join(".lock");
        refuse_foreign(&held)?;
        let held = File::open(&held).ok();
        let _held = held.filter(|held| held.lock_shared().is_ok());
        let Some(found) = Self::read(path)? else {
            return Ok(None);
        };
        let (has_journals, current) = current(&folder)?;
        if !has_journals {
            return Ok(Some(found));
        }
        let wrong = |line: u64, why: String| {
            let message = format!("{}:{line}: {why}", display(path));
            let hint = "open it with `cargo evaltest review`, which mends what a crash left, or keep the file under another name";
            Error::usage(message).hint(hint)
        };
        let journal_dir = display(&folder);
        let mut missing: BTreeSet<&str> = current.keys().map(String::as_str).collect();
        for (line, entry) in &found.0 {
            let reviewed = current.get(&entry.problem_id);
            if reviewed.is_none_or(|reviewed| reviewed.verification.as_ref() != Some(entry)) {
                let why = "is not the latest word on it, by the journals in";
                let id = &entry.problem_id;
                return Err(wrong(*line, format!("`{id}` {why} `{journal_dir}`")));
            }
            missing.remove(entry.problem_id.as_str());
        }
        match missing.first() {
            Some(id) => {
                let why = format!(
                    "it lacks `{id}`, of which the journals in `{journal_dir}` have a word"
                );
                Err(wrong(1, why))
            }
            None => Ok(Some(found)),
        }
    }
}

/// Whether a folder contains journals, and the latest review of each item in them.
fn current(folder: &Path) -> Result<(bool, HashMap<String, ReviewLine>)> {
    let io = |error: std::io::Error| Error::io("read", folder, &error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        paths.push(entry.map_err(io)?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    paths.sort();
    let mut latest = HashMap::<String, ReviewLine>::new();
    for path in &paths {
        let mut current = HashMap::<String, Vec<ReviewLine>>::new();
        for line in JournalText::read(path, JournalPlace::default())?.lines {
            let words = current.entry(line.id.clone()).or_default();
            match line.event {
                ReviewEvent::Submitted => words.push(line),
                ReviewEvent::Undone => drop(words.pop()),
                ReviewEvent::Refused => {}
            }
        }
        for line in current.into_values().filter_map(|mut words| words.pop()) {
            let there = latest.get(&line.id);
            if there.is_none_or(|there| (&line.at, &line.reviewer) > (&there.at, &there.reviewer)) {
                latest.insert(line.id.clone(), line);
            }
        }
    }
    Ok((!paths.is_empty(), latest))
}
