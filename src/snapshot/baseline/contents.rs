//! The contents of all snapshots in a folder.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::error::{Error, Result};
use crate::snapshot::content::AnswerForm;
use crate::snapshot::{Content, read as snapshots};
use crate::system::spawn_scoped;

/// The contents of the snapshots in a folder, by sample.
#[derive(Default)]
pub(super) struct FoundSnapshots {
    pub(super) contents: BTreeMap<String, Content>,
    /// Misplaced files, copied or moved. They count if there is no file in the right place.
    pub(super) strays: BTreeMap<PathBuf, String>,
}

pub(super) fn is_snapshot(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "snap")
}

/// The contents of all snapshots in a folder. Nearly all the time goes into opening files, ten thousand of them before
/// the first sample starts, so it is done in parallel.
pub(super) fn contents(folder: &Path) -> Result<FoundSnapshots> {
    /// The fewest buckets per thread.
    const SHARE: usize = 16;
    let buckets = WalkDir::new(folder)
        .min_depth(1)
        .max_depth(1)
        .sort_by_file_name();
    let buckets = buckets
        .into_iter()
        .collect::<std::result::Result<Vec<_>, _>>();
    let mut buckets = buckets.map_err(|error| unreadable(folder, &error))?;
    buckets.retain(|entry| entry.file_type().is_dir());
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = buckets.len().div_ceil(threads).max(SHARE);
    let read = |share: &[DirEntry]| -> Result<Vec<Snapshot>> {
        let buckets = share.iter().map(|entry| bucket(entry.path()));
        Ok(buckets.collect::<Result<Vec<_>>>()?.concat())
    };
    let read = &read;
    std::thread::scope(|scope| {
        let mut shares = buckets.chunks(share);
        let first = shares.next();
        let others: Vec<_> = shares
            .map(|share| spawn_scoped(scope, move || read(share)))
            .collect();
        let mut samples = first.map_or(Ok(Vec::new()), read)?;
        for other in others {
            samples.extend(other()?);
        }
        let mut found = FoundSnapshots::default();
        for (path, id, content) in samples {
            if path == super::super::path(folder, &id) {
                found.contents.insert(id, content);
            } else {
                found.contents.entry(id.clone()).or_insert(content);
                found.strays.insert(path, id);
            }
        }
        Ok(found)
    })
}

/// Path, sample id and content of a snapshot file.
type Snapshot = (PathBuf, String, Content);

/// The contents of the snapshots in one bucket.
fn bucket(folder: &Path) -> Result<Vec<Snapshot>> {
    let mut samples = Vec::new();
    for entry in WalkDir::new(folder).min_depth(1).max_depth(1) {
        let entry = entry.map_err(|error| unreadable(folder, &error))?;
        let path = entry.path();
        if !is_snapshot(path) {
            continue;
        }
        let snapshot = snapshots::snapshot(path)?;
        let (id, content) = snapshot.ok_or_else(|| unreadable(path, &"it is gone"))?;
        // Drops the texts to save memory.
        let answer = AnswerForm::Normalized(String::new());
        samples.push((path.to_owned(), id, Content { answer, ..content }));
    }
    Ok(samples)
}

fn unreadable(folder: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::usage(format!(
        "cannot read snapshots in `{}`: {reason}",
        folder.display()
    ))
}
