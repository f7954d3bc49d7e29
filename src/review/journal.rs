//! `ReviewJournal`: the reviews by one reviewer, an append-only file of JSON lines.
//!
//! A line is flushed to disk before it is reported as saved. Another process of the same reviewer may have written
//! meanwhile, so its lines are read before anything is appended. A last line torn by a crash was never reported as
//! saved: the next write moves it to a file next to the journal and truncates it. Reading never changes the file.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::data::reviews::{
    JournalPlace, JournalText, ReviewEvent, ReviewLine, Verification, refuse_foreign,
};
use crate::error::{Error, Result};
use crate::text::json_line;

/// The reviews of an item by one reviewer.
#[derive(Clone, Debug, Default)]
pub(super) struct ReviewedItem {
    /// How often it changed.
    pub(super) version: u64,
    /// Submissions that were not undone, the latest last.
    pub(super) current: Vec<ReviewLine>,
    /// All submissions ever made, to recognise our own entries in a verifications file.
    pub(super) submitted: Vec<Verification>,
}

/// The journal of a reviewer.
#[derive(Debug)]
pub(super) struct ReviewJournal {
    path: PathBuf,
    /// How far it was read.
    place: JournalPlace,
    /// The last line, if a crash tore it.
    torn: Vec<u8>,
    /// Reviews that are missing in this file but known from other files.
    lent: Vec<ReviewLine>,
    pub(super) items: HashMap<String, ReviewedItem>,
}

impl ReviewJournal {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            place: JournalPlace::default(),
            torn: Vec::new(),
            lent: Vec::new(),
            items: HashMap::new(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The current review of an item.
    pub(super) fn latest(&self, id: &str) -> Option<&ReviewLine> {
        self.items.get(id)?.current.last()
    }

    pub(super) fn version(&self, id: &str) -> u64 {
        self.items.get(id).map_or(0, |item| item.version)
    }

    /// Reads new lines. The lock must be held, or a line that is just being written looks torn.
    ///
    /// # Errors
    /// With the line that no reviewer wrote.
    pub(super) fn refresh(&mut self) -> Result<()> {
        let found = JournalText::read(&self.path, self.place)?;
        self.place = found.place;
        self.torn = found.torn;
        for line in found.lines {
            // A review lent before is now in the file itself.
            let lent = self
                .lent
                .iter()
                .position(|lent| lent.verification == line.verification);
            match lent {
                Some(lent) => drop(self.lent.swap_remove(lent)),
                None => self.take(line),
            }
        }
        Ok(())
    }

    /// Whether reviews may be missing: the last line is torn, or the file is empty.
    pub(super) fn has_lost(&self) -> bool {
        !self.torn.is_empty() || self.place.lines == 0
    }

    /// Adds a lost review in memory only; writing the file is up to its reviewer.
    pub(super) fn lend(&mut self, line: ReviewLine) {
        self.lent.push(line.clone());
        self.take(line);
    }

    /// Appends a line; it is on disk on return. The lock must be held, and the journal be refreshed before.
    ///
    /// # Errors
    /// If it cannot be written; the file is then unchanged.
    pub(super) fn append(&mut self, line: ReviewLine) -> Result<()> {
        let line = line.sealed();
        let io = |error: io::Error| Error::io("write", &self.path, &error);
        refuse_foreign(&self.path)?;
        let is_new = !self.path.exists();
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path);
        let mut file = file.map_err(io)?;
        if !self.torn.is_empty() {
            self.keep_torn()?;
            file.set_len(self.place.read).map_err(io)?;
            self.torn.clear();
        }
        let mut bytes = Vec::new();
        if self.place.unended {
            bytes.push(b'\n');
        }
        bytes.extend(json_line(&line).map_err(|error| io(error.into()))?);
        if bytes.last() != Some(&b'\n') {
            bytes.push(b'\n');
        }
        let written = file.write_all(&bytes).and_then(|()| file.sync_all());
        if let Err(error) = written {
            // Half a line would be read as damage, or even as a review.
            let _ = file.set_len(self.place.read);
            return Err(io(error));
        }
        if is_new && let Some(folder) = self.path.parent() {
            // The folder must be synced too, as it holds the name of the file.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        self.place.read += bytes.len() as u64;
        self.place.lines += 1;
        self.place.unended = false;
        self.take(line);
        Ok(())
    }

    /// Saves the torn line in a separate file before it is truncated, so that somebody may recover it.
    fn keep_torn(&self) -> Result<()> {
        let mut path = self.path.clone().into_os_string();
        path.push(".torn");
        let path = PathBuf::from(path);
        refuse_foreign(&path)?;
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let written = file.and_then(|mut file| {
            file.write_all(&self.torn)?;
            file.write_all(b"\n")?;
            file.sync_all()
        });
        written.map_err(|error| Error::io("write", &path, &error))
    }

    fn take(&mut self, line: ReviewLine) {
        let item = self.items.entry(line.id.clone()).or_default();
        match line.event {
            ReviewEvent::Submitted => {
                item.version += 1;
                item.submitted.extend(line.verification.clone());
                item.current.push(line);
            }
            ReviewEvent::Undone => {
                item.version += 1;
                item.current.pop();
            }
            ReviewEvent::Refused => {}
        }
    }
}
