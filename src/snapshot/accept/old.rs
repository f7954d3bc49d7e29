//! Removes files of samples that no longer exist from a snapshot folder.

use std::path::Path;

use walkdir::WalkDir;

use crate::error::{Error, Result};
use crate::snapshot::SnapshotHeader;
use crate::text::hash::mark;

/// The files to keep, each by a 64-bit hash: 8 MiB for a million instead of about 100 MiB for their paths. Collisions
/// are negligible.
#[derive(Default)]
pub(super) struct CurrentFiles(Vec<u64>);

impl CurrentFiles {
    pub(super) fn add(&mut self, path: &Path) {
        self.0.push(mark(path));
    }

    /// Removes snapshots of samples that no longer exist, and pending snapshots. Both are recognised by their header;
    /// files of other programs stay.
    pub(super) fn remove_others(mut self, folder: &Path) -> Result<usize> {
        self.0.sort_unstable();
        let mut removed = 0;
        let files = WalkDir::new(folder).min_depth(2).max_depth(2).into_iter();
        for entry in files {
            let entry = entry.map_err(|error| {
                let path = error.path().unwrap_or(folder).to_owned();
                Error::io("read", &path, &error.into())
            })?;
            let path = entry.path();
            let name = entry.file_name().to_string_lossy();
            let is_snapshot = name.ends_with(".snap");
            let is_unknown = || self.0.binary_search(&mark(path)).is_err();
            let is_over = is_snapshot && is_unknown() || name.ends_with(".snap.new");
            if is_over && SnapshotHeader::is_own(path) {
                std::fs::remove_file(path).map_err(|error| Error::io("remove", path, &error))?;
                removed += usize::from(is_snapshot);
                let _ = path.parent().map(std::fs::remove_dir);
            }
        }
        Ok(removed)
    }
}
