//! `HistoryFile`: `history.jsonl` beside the snapshots of an eval, and how a line comes into it.
//!
//! The file is committed, and more than one process may add to it: a line is written as a whole, in one go, at the end of
//! whatever stands there, and nothing that stands there is changed. What a file lacks to be read, such as the end of its last
//! line, costs that line alone.

mod accept_line;
mod accepted_answers;
mod answer_sheet;
mod run_line;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub(super) use accept_line::accept_line;
pub(super) use accepted_answers::AcceptedAnswers;
pub(crate) use answer_sheet::AnswerSheet;
pub(crate) use run_line::run_line;

use super::attributes::write_attributes;
use crate::data::history::{HISTORY_FILE, History, HistoryLine};
use crate::error::{Error, Result};
use crate::system::file::has_name;
use crate::system::project::shown;
use crate::text::json_line;

/// The history of an eval, in the folder of its snapshots.
#[derive(Clone, Debug)]
pub(crate) struct HistoryFile {
    path: PathBuf,
    eval: String,
}

impl HistoryFile {
    /// That of an eval; the file need not be there, nor its folder.
    pub(crate) fn of(folder: &Path, eval: &str) -> Self {
        Self {
            path: folder.join(HISTORY_FILE),
            eval: eval.to_owned(),
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses a place where nothing can be added, before anybody is paid for what is to be added.
    ///
    /// # Errors
    /// When something else is there, or nobody may write there.
    pub(crate) fn check(&self) -> Result<()> {
        self.refuse_other()?;
        if self.path.exists() {
            let file = OpenOptions::new().append(true).open(&self.path);
            file.map_err(|error| self.io("write", &error))?;
        }
        let folder = self.path.ancestors().skip(1).find(|it| it.exists());
        match folder {
            Some(folder) if !folder.is_dir() => {
                let message = format!("`{}` is no folder", shown(folder));
                Err(Error::usage(message)
                    .hint("the history of the eval is to be below it: move it away"))
            }
            _ => Ok(()),
        }
    }

    /// What stands in it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn read(&self) -> Result<History> {
        self.refuse_other()?;
        History::read(&self.path, &self.eval)
    }

    /// Adds a line; it is on the disk when this comes back.
    ///
    /// # Errors
    /// When it cannot be written; then it does not stand there.
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
            // The name of the file is in its folder, which is a file, too.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }

    /// The file, which nobody else adds to until it is closed.
    fn locked(&self) -> Result<File> {
        loop {
            let file = OpenOptions::new()
                .create(true)
                .read(true)
                .append(true)
                .open(&self.path);
            let file = file.map_err(|error| self.io("write", &error))?;
            // Where a disk knows no locks, a line still comes as a whole to the end.
            let _ = file.lock();
            // Meanwhile git may have put another in its place.
            if has_name(&file) {
                return Ok(file);
            }
        }
    }

    /// Refuses what is no file of its own: what is written to a link would be written elsewhere, and to open a pipe is to wait.
    fn refuse_other(&self) -> Result<()> {
        match fs::symlink_metadata(&self.path) {
            Ok(about) if !about.is_file() => {
                let is = if about.is_symlink() {
                    "is a link"
                } else {
                    "is no file"
                };
                let message = format!("`{}` {is}, and no history", shown(&self.path));
                Err(Error::usage(message).hint("nothing was written to it: move it away"))
            }
            // Whoever opens it will see.
            _ => Ok(()),
        }
    }

    fn io(&self, verb: &str, error: &io::Error) -> Error {
        Error::io(verb, &self.path, error)
    }
}

/// Adds a line to a file in one go, or nothing.
fn add(file: &mut File, line: Vec<u8>) -> io::Result<()> {
    let before = file.metadata()?.len();
    let mut last = [b'\n'];
    if before > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let mut bytes = Vec::with_capacity(line.len() + 2);
    if last != [b'\n'] {
        // An editor took it, or a crash: what comes now is a line of its own.
        bytes.push(b'\n');
    }
    bytes.extend(line);
    if bytes.last() != Some(&b'\n') {
        bytes.push(b'\n');
    }
    let written = file.write_all(&bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        // A half of it would be read as damage.
        let _ = file.set_len(before);
    }
    written
}
