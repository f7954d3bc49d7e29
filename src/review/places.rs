//! `ReviewPlaces`: the file paths of a review.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::store::files::VERIFICATIONS;
use crate::text::name::file_name;

/// The files of a review.
#[derive(Clone, Debug)]
pub(super) struct ReviewPlaces {
    /// The latest review of each item.
    pub(super) verifications: PathBuf,
    /// The folder with the journal of each reviewer.
    pub(super) journals: PathBuf,
    /// The labels that calibrate a judge.
    pub(super) labels: PathBuf,
}

impl ReviewPlaces {
    /// The paths for an item file: `a.json` has `a_verifications.json`.
    pub(super) fn for_items(items: &Path) -> Result<Self> {
        let Some(stem) = items.file_stem() else {
            let message = format!("`{}` is no file of items", items.display());
            return Err(Error::usage(message));
        };
        let named = |end: &str| {
            let mut name = OsString::from(stem);
            name.push(end);
            items.with_file_name(name)
        };
        Ok(Self {
            verifications: named("_verifications.json"),
            journals: named("_reviews"),
            labels: named("_labels.jsonl"),
        })
    }

    /// The paths in a run directory.
    pub(super) fn inside(run: &Path) -> Self {
        Self {
            verifications: run.join(VERIFICATIONS),
            journals: run.join("reviews"),
            labels: run.join("labels.jsonl"),
        }
    }

    /// The journal of a reviewer.
    pub(super) fn journal(&self, reviewer: &str) -> PathBuf {
        self.journals.join(format!("{}.jsonl", file_name(reviewer)))
    }

    /// The lock file for writing.
    pub(super) fn lock(&self) -> PathBuf {
        self.journals.join(".lock")
    }
}
