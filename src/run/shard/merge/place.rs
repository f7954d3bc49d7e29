//! `MergePlace`: the path of a merged run.

use std::fs;
use std::path::{Path, PathBuf};

use super::making::RunInTheMaking;
use super::pieces::Pieces;
use crate::error::{Error, Result};
use crate::store::files::MANIFEST;
use crate::store::{RunDir, RunStatus, run_id_of, stamp_of};
use crate::system::file::{absolute, make_root};
use crate::system::project::display;
use crate::text::hash::Hasher;
use crate::text::shell_word;

/// The path of a merged run, which depends only on its parts.
pub(crate) struct MergePlace {
    run_id: String,
    path: PathBuf,
    /// Whether the result stopped early, as one of the pieces did.
    is_open: bool,
}

impl MergePlace {
    /// For these pieces, in a folder of runs, unless it is given.
    pub(crate) fn of(
        pieces: &Pieces,
        output: Option<&Path>,
        root: Option<PathBuf>,
    ) -> Result<Self> {
        let mut hasher = Hasher::default();
        // A part that was resumed since is a different one.
        for piece in &pieces.all {
            let records = piece.records.as_deref().unwrap_or_default();
            hasher = hasher.part(&piece.run_id).part(records);
        }
        let number = u64::from_be_bytes(hasher.first_bytes());
        let run_id = run_id_of(&pieces.manifest.eval, number);
        let path = match (output, root) {
            (Some(output), _) => absolute(output)?,
            (None, Some(root)) => {
                make_root(&root)?;
                let ended = pieces.manifest.ended_at.as_deref();
                let stamp = stamp_of(ended.unwrap_or(&pieces.manifest.started_at));
                root.join(format!("{stamp}_{run_id}"))
            }
            (None, None) => {
                return Err(Error::usage("the parts have no folder").hint("name one: `-o DIR`"));
            }
        };
        Ok(Self {
            run_id,
            path,
            is_open: pieces.is_open(),
        })
    }

    pub(crate) fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Whether the run already exists.
    ///
    /// # Errors
    /// When something else exists there.
    pub(crate) fn is_merged(&self) -> Result<bool> {
        let path = display(&self.path);
        let is_empty = || fs::read_dir(&self.path).is_ok_and(|mut all| all.next().is_none());
        match fs::symlink_metadata(&self.path) {
            Err(_) => return Ok(false),
            Ok(about) if about.is_dir() && is_empty() => return Ok(false),
            Ok(_) => {}
        }
        let other = |what: &str| {
            Error::usage(format!("`{path}` {what}")).hint("name another directory: `-o DIR`")
        };
        if !self.path.join(MANIFEST).is_file() {
            return Err(other("is there already, and is no run directory"));
        }
        let dir = self.open()?;
        let manifest = dir.manifest()?;
        if manifest.run_id != self.run_id || manifest.merged.is_empty() {
            return Err(other("is another run"));
        }
        let odd = match dir.check() {
            // A run with lost files may have been restored incompletely.
            Ok(_) if manifest.status == RunStatus::Finished || self.is_open => return Ok(true),
            Ok(_) => "it has not every answer of them".to_owned(),
            Err(error) => error.message().to_owned(),
        };
        let message = format!("`{path}` was made of these parts and is whole no more: {odd}");
        Err(Error::usage(message).hint(format!(
            "nothing is lost: put it aside and merge again: mv {} {}",
            shell_word(&path),
            shell_word(&format!("{path}-damaged"))
        )))
    }

    pub(crate) fn open(&self) -> Result<RunDir> {
        RunDir::open(&self.path)
    }

    /// Creates the directory in which the run is built, next to its path; `None` if another process has just finished
    /// the run.
    ///
    /// # Errors
    /// When it cannot be created, another process is building it, or something else exists there.
    pub(crate) fn begin(&self) -> Result<Option<RunInTheMaking>> {
        let making = RunInTheMaking::begin(&self.path)?;
        // Another process finished it before the check.
        Ok(if self.is_merged()? {
            None
        } else {
            Some(making)
        })
    }
}
