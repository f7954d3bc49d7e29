//! What lies in a folder of snapshots and is of no sample any more.

use std::path::Path;

use walkdir::WalkDir;

use crate::error::{Error, Result};
use crate::snapshot::SnapshotHeader;
use crate::text::hash::mark;

/// Files, each known by a mark: of a million that is 8 MiB, where their paths would be a hundred. That another file has
/// the mark of one of them happens once in so many folders as nobody has.
#[derive(Default)]
pub(super) struct KeptFiles(Vec<u64>);

impl KeptFiles {
    pub(super) fn add(&mut self, path: &Path) {
        self.0.push(mark(path));
    }

    /// Removes snapshots of samples that are no longer there, and what waits for review beside them. Both are known by
    /// their header: what another program keeps in the folder stays.
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
