//! `HistoryFile`: `history.jsonl` next to the snapshots of an eval.
//!
//! The file is committed, and several processes may append to it: each line is written at once to the end, and existing
//! lines are never changed. Damage, such as a missing line end, costs that line only.

mod accept_line;
mod answer_sheet;
mod run_line;

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::write_attributes;
use crate::data::history::{HISTORY_FILE, History, HistoryLine};
use crate::error::{Error, Result};
use crate::system::file::has_name;
use crate::system::project::display;
use crate::text::hash::mark;
use crate::text::json_line;

pub(super) use accept_line::accept_line;
pub(crate) use answer_sheet::AnswerSheet;
pub(crate) use run_line::run_line;

/// The history of an eval, in its snapshot folder.
#[derive(Clone, Debug)]
pub(crate) struct HistoryFile {
    path: PathBuf,
    eval: String,
}

impl HistoryFile {
    /// The history file of an eval; neither it nor its folder needs to exist.
    pub(crate) fn of(folder: &Path, eval: &str) -> Self {
        Self {
            path: folder.join(HISTORY_FILE),
            eval: eval.to_owned(),
        }
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that lines can be appended, before the run costs money.
    ///
    /// # Errors
    /// If something else is there, or it is not writable.
    pub(crate) fn check(&self) -> Result<()> {
        self.refuse_other()?;
        if self.path.exists() {
            let file = OpenOptions::new().append(true).open(&self.path);
            file.map_err(|error| self.io("write", &error))?;
        }
        let folder = self.path.ancestors().skip(1).find(|it| it.exists());
        match folder {
            Some(folder) if !folder.is_dir() => {
                let message = format!("`{}` is no folder", display(folder));
                Err(Error::usage(message)
                    .hint("the history of the eval is to be below it: move it away"))
            }
            _ => Ok(()),
        }
    }

    /// Reads the history.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn read(&self) -> Result<History> {
        self.refuse_other()?;
        History::read(&self.path, &self.eval)
    }

    /// Appends a line; it is on disk on return.
    ///
    /// # Errors
    /// If it cannot be written; the file is then unchanged.
    pub(crate) fn append(&self, line: &HistoryLine) -> Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
        self.refuse_other()?;
        write_attributes(folder)?;
        let is_new = !self.path.exists();
        let bytes = json_line(line).map_err(|error| self.io("write", &error.into()))?;
        let mut file = self.locked()?;
        let written = add(&mut file, bytes);
        written.map_err(|error| self.io("write", &error))?;
        if is_new {
            // The folder must be synced too, as it holds the name of the file.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }

    /// Opens the file with an exclusive lock.
    fn locked(&self) -> Result<File> {
        loop {
            let file = OpenOptions::new()
                .create(true)
                .read(true)
                .append(true)
                .open(&self.path);
            let file = file.map_err(|error| self.io("write", &error))?;
            // On a file system without locks, a line is still appended at once.
            let _ = file.lock();
            // Meanwhile git may have replaced the file.
            if has_name(&file) {
                return Ok(file);
            }
        }
    }

    /// Refuses anything but a regular file: a link would redirect the write, and opening a pipe would block.
    fn refuse_other(&self) -> Result<()> {
        match fs::symlink_metadata(&self.path) {
            Ok(about) if !about.is_file() => {
                let is = if about.is_symlink() {
                    "is a link"
                } else {
                    "is no file"
                };
                let message = format!("`{}` {is}, and no history", display(&self.path));
                Err(Error::usage(message).hint("nothing was written to it: move it away"))
            }
            // Opening it reports the error.
            _ => Ok(()),
        }
    }

    fn io(&self, verb: &str, error: &io::Error) -> Error {
        Error::io(verb, &self.path, error)
    }
}

/// Appends a line at once, or nothing.
fn add(file: &mut File, line: Vec<u8>) -> io::Result<()> {
    let before = file.metadata()?.len();
    let mut last = [b'\n'];
    if before > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let mut bytes = Vec::with_capacity(line.len() + 2);
    if last != [b'\n'] {
        // The last line end is missing, after a crash or an edit: start a new line.
        bytes.push(b'\n');
    }
    bytes.extend(line);
    if bytes.last() != Some(&b'\n') {
        bytes.push(b'\n');
    }
    let written = file.write_all(&bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a line would be read as damage.
        let _ = file.set_len(before);
    }
    written
}

/// The verdict on each answer of a baseline. Ids are stored as hashes, which for a million samples takes a tenth of the
/// memory.
#[derive(Debug, Default)]
pub(super) struct AcceptedAnswers {
    verdicts: Vec<Option<bool>>,
    places: HashMap<u64, Range<usize>>,
    most: usize,
}

impl AcceptedAnswers {
    /// Adds the verdicts of a sample.
    pub(super) fn add(&mut self, id: &str, verdicts: &[Option<bool>]) {
        let start = self.verdicts.len();
        self.verdicts.extend_from_slice(verdicts);
        self.places.insert(mark(id), start..self.verdicts.len());
        self.most = self.most.max(verdicts.len());
    }

    /// The verdicts of a sample; empty for an unknown one.
    fn of(&self, id: &str) -> &[Option<bool>] {
        let place = self.places.get(&mark(id)).cloned().unwrap_or_default();
        self.verdicts.get(place).unwrap_or_default()
    }

    /// The largest number of answers of a sample.
    fn most(&self) -> usize {
        self.most
    }
}
