//! The `INSTA_*` variables.

use super::{Content, SnapshotHeader};
use crate::error::Result;
use std::path::{Path, PathBuf};

/// What to do with a snapshot that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    /// Nothing is written (`no`, and the default under `CI`).
    No,
    /// A `.snap.new` is written for `cargo insta review` (`new`, and the default elsewhere).
    New,
    /// Missing snapshots are written, differing ones as `.snap.new` (`unseen`).
    Unseen,
    /// Snapshots are written (`always`, `force`).
    Always,
}

/// The settings in insta's variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) update: Update,
    /// `INSTA_FORCE_PASS`, which `cargo insta test` sets: assertions pass, and review decides.
    pub(crate) force_pass: bool,
}

impl Policy {
    /// Reads `INSTA_UPDATE`, `INSTA_FORCE_PASS` and `CI` as insta does.
    pub(crate) fn from_env() -> Self {
        let var = |name| std::env::var(name).unwrap_or_default();
        let ci = !matches!(var("CI").as_str(), "" | "0" | "false") || !var("TF_BUILD").is_empty();
        let update = match var("INSTA_UPDATE").as_str() {
            "always" | "force" | "1" => Update::Always,
            "new" => Update::New,
            "no" => Update::No,
            "unseen" => Update::Unseen,
            _ if ci => Update::No,
            _ => Update::New,
        };
        Self {
            update,
            force_pass: var("INSTA_FORCE_PASS") == "1",
        }
    }

    /// Handles a snapshot that fails its assertion; returns whether the sample passes nevertheless.
    pub(crate) fn resolve(
        self,
        path: &Path,
        exists: bool,
        new: &Content,
        header: &SnapshotHeader,
    ) -> Result<bool> {
        let write = match self.update {
            Update::Always => true,
            Update::Unseen => !exists,
            Update::New | Update::No => false,
        };
        if write {
            new.write(path, header)?;
            let pending = pending(path);
            // A file of another program under that name stays.
            if SnapshotHeader::is_own(&pending) {
                let _ = std::fs::remove_file(pending);
            }
            return Ok(true);
        }
        if self.update != Update::No {
            new.write(&pending(path), header)?;
        }
        Ok(self.force_pass)
    }

    /// Whether to write snapshots even if no assertion fails.
    pub(crate) fn writes(self, exists: bool) -> bool {
        self.update == Update::Always || (self.update == Update::Unseen && !exists)
    }
}

/// The path of the new version of a snapshot that awaits review.
pub(crate) fn pending(path: &Path) -> PathBuf {
    path.with_extension("snap.new")
}

/// Reports every snapshot of an eval to `cargo insta --unreferenced`, so that those of filtered samples do not look
/// unreferenced.
pub(crate) fn reference(paths: impl Iterator<Item = PathBuf>) {
    use std::io::Write;
    let Some(list) = std::env::var_os("INSTA_SNAPSHOT_REFERENCES_FILE") else {
        return;
    };
    let Ok(mut list) = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(list)
    else {
        return;
    };
    let mut text = String::new();
    for path in paths {
        text.push_str(&path.to_string_lossy());
        text.push('\n');
    }
    // Only an optimisation for another tool, so errors are ignored.
    let _ = list.write_all(text.as_bytes());
}
