//! `ReviewJournal`: what one reviewer said, a line after the other.
//!
//! A line is in the file, and the file on its disk, before anybody is told that it is saved. Another process of the same
//! reviewer may have written meanwhile: what it wrote is read before anything is added. A last line that a crash tore was told
//! to nobody: it is kept beside the journal and cut when the next one is written, and never by reading.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::data::reviews::{
    JournalPlace, JournalText, ReviewEvent, ReviewLine, Verification, refuse_foreign,
};
use crate::error::{Error, Result};
use crate::text::json_line;

/// What a reviewer said of an item.
#[derive(Clone, Debug, Default)]
pub(super) struct ReviewedItem {
    /// How often that changed.
    pub(super) version: u64,
    /// Submissions that were not taken back, the latest last.
    pub(super) standing: Vec<ReviewLine>,
    /// All that was ever submitted, by which a file of verifications is known to be ours.
    pub(super) said: Vec<Verification>,
}

/// The journal of a reviewer.
#[derive(Debug)]
pub(super) struct ReviewJournal {
    path: PathBuf,
    /// How much of it was read.
    place: JournalPlace,
    /// What a crash left of its last line.
    torn: Vec<u8>,
    /// Words that its file lost, and others have.
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

    /// What stands of an item.
    pub(super) fn latest(&self, id: &str) -> Option<&ReviewLine> {
        self.items.get(id)?.standing.last()
    }

    pub(super) fn version(&self, id: &str) -> u64 {
        self.items.get(id).map_or(0, |item| item.version)
    }

    /// Reads what was written since. The lock must be held: a line that is being written is not torn.
    ///
    /// # Errors
    /// With the line of what no reviewer wrote.
    pub(super) fn refresh(&mut self) -> Result<()> {
        let found = JournalText::read(&self.path, self.place)?;
        self.place = found.place;
        self.torn = found.torn;
        for line in found.lines {
            // What was lent meanwhile has come into the file itself.
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

    /// Whether a word may be missing in it: a crash tore its last line, or there is no line at all.
    pub(super) fn has_lost(&self) -> bool {
        !self.torn.is_empty() || self.place.lines == 0
    }

    /// Takes a word for its own that its file lost, without writing to it: that is up to its reviewer.
    pub(super) fn lend(&mut self, line: ReviewLine) {
        self.lent.push(line.clone());
        self.take(line);
    }

    /// Adds a line; it is on the disk when this comes back. The lock must be held, and what was written before be read.
    ///
    /// # Errors
    /// When it cannot be written; then it does not stand there.
    pub(super) fn append(&mut self, line: ReviewLine) -> Result<()> {
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
            // A half of it would be read as damage, or worse, as said.
            let _ = file.set_len(self.place.read);
            return Err(io(error));
        }
        if is_new && let Some(folder) = self.path.parent() {
            // The name of the file is in its folder, which is a file, too.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        self.place.read += bytes.len() as u64;
        self.place.lines += 1;
        self.place.unended = false;
        self.take(line);
        Ok(())
    }

    /// Keeps the torn line in a file of its own before it is cut: somebody may read in it what was meant.
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
                item.said.extend(line.verification.clone());
                item.standing.push(line);
            }
            ReviewEvent::Undone => {
                item.version += 1;
                item.standing.pop();
            }
            ReviewEvent::Refused => {}
        }
    }
}
