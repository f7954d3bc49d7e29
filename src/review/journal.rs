//! `ReviewJournal`: what one reviewer said, a line after the other.
//!
//! A line is in the file, and the file on its disk, before anybody is told that it is saved. Another process of the same
//! reviewer may have written meanwhile: what it wrote is read before anything is added. A last line that was cut off by a
//! crash was told to nobody, and is cut.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::data::reviews::{REVIEW_VERSION, ReviewEvent, ReviewLine, Verification};
use crate::error::{Error, Result};
use crate::system::file::refuse_other;
use crate::system::project::shown;
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
    read: u64,
    lines: u64,
    pub(super) items: HashMap<String, ReviewedItem>,
}

impl ReviewJournal {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            read: 0,
            lines: 0,
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

    /// Reads what was written since. The lock must be held: a line that is being written is not cut.
    ///
    /// # Errors
    /// With the line of what no reviewer wrote.
    pub(super) fn refresh(&mut self) -> Result<()> {
        let io = |error: io::Error| Error::io("read", &self.path, &error);
        if !self.path.exists() {
            return Ok(());
        }
        refuse_other(&self.path).map_err(io)?;
        let mut file = OpenOptions::new().read(true).write(true).open(&self.path);
        let file = file.as_mut().map_err(|error| {
            let error: &io::Error = error;
            Error::io("read", &self.path, error)
        })?;
        let length = file.metadata().map_err(io)?.len();
        if length == self.read {
            return Ok(());
        }
        if length < self.read {
            let message = format!("`{}` is shorter than it was", self.path.display());
            return Err(Error::usage(message).hint("begin again with `cargo evaltest review`"));
        }
        file.seek(SeekFrom::Start(self.read)).map_err(io)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(io)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |end| end + 1);
        let torn = &text[whole..];
        let mut end = whole;
        if !torn.is_empty() {
            if serde_json::from_slice::<ReviewLine>(torn).is_ok() {
                // An editor may have taken the end of the line.
                file.write_all(b"\n").map_err(io)?;
                text.push(b'\n');
                end = text.len();
            } else {
                let kept = self.read + whole as u64;
                file.set_len(kept).map_err(io)?;
            }
        }
        for line in text[..end].split_inclusive(|byte| *byte == b'\n') {
            self.lines += 1;
            let line = line.trim_ascii();
            if !line.is_empty() {
                let line = self.line(line)?;
                self.take(line);
            }
        }
        self.read += end as u64;
        Ok(())
    }

    /// Adds a line; it is on the disk when this comes back. The lock must be held, and what was written before be read.
    ///
    /// # Errors
    /// When it cannot be written; then it does not stand there.
    pub(super) fn append(&mut self, line: ReviewLine) -> Result<()> {
        let io = |error: io::Error| Error::io("write", &self.path, &error);
        let is_new = !self.path.exists();
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path);
        let mut file = file.map_err(io)?;
        let mut bytes = json_line(&line).map_err(|error| io(error.into()))?;
        if bytes.last() != Some(&b'\n') {
            bytes.push(b'\n');
        }
        let written = file.write_all(&bytes).and_then(|()| file.sync_all());
        if let Err(error) = written {
            // A half of it would be read as damage, or worse, as said.
            let _ = file.set_len(self.read);
            return Err(io(error));
        }
        if is_new && let Some(folder) = self.path.parent() {
            // The name of the file is in its folder, which is a file, too.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        self.read += bytes.len() as u64;
        self.lines += 1;
        self.take(line);
        Ok(())
    }

    fn line(&self, bytes: &[u8]) -> Result<ReviewLine> {
        let wrong = |why: String| {
            let place = format!("{}:{}", shown(&self.path), self.lines);
            let hint =
                "nothing was written over it: mend the line, or move the file away and begin anew";
            Error::usage(format!("{place}: {why}")).hint(hint)
        };
        let line: ReviewLine = serde_json::from_slice(bytes)
            .map_err(|error| wrong(format!("it is no line of a review: {error}")))?;
        if line.format_version != REVIEW_VERSION {
            let other = line.format_version;
            return Err(wrong(format!(
                "it is of version {other}, and this evaltest knows {REVIEW_VERSION}"
            )));
        }
        let said = line.verification.as_ref();
        if let Some(why) = said.and_then(Verification::fault) {
            return Err(wrong(why));
        }
        let needs = line.event != ReviewEvent::Undone;
        if said.is_some() != needs || said.is_some_and(|said| said.problem_id != line.id) {
            return Err(wrong("it is no line of a review".to_owned()));
        }
        Ok(line)
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
