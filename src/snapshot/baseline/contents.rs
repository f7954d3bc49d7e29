//! The contents of all snapshots in a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::error::{Error, Result};
use crate::snapshot::content::AnswerForm;
use crate::snapshot::{Content, read as snapshots};
use crate::system::parallel;

/// The contents of the snapshots in a folder, by sample.
#[derive(Default)]
pub(super) struct FoundSnapshots {
    pub(super) contents: BTreeMap<String, Content>,
    /// Misplaced files, copied or moved. They count if there is no file in the right place.
    pub(super) strays: BTreeMap<PathBuf, String>,
}

pub(in crate::snapshot) fn is_snapshot(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "snap")
}

/// The contents of all snapshots in a folder.
pub(super) fn contents(folder: &Path) -> Result<FoundSnapshots> {
    let mut found = FoundSnapshots::default();
    let see = |path: &Path, id, content| {
        // Drops the texts to save memory.
        let answer = AnswerForm::Normalized(String::new());
        (path.to_owned(), id, Content { answer, ..content })
    };
    each(folder, &see, &mut |(path, id, content)| {
        if path == super::super::path(folder, &id) {
            found.contents.insert(id, content);
        } else {
            found.contents.entry(id.clone()).or_insert(content);
            found.strays.insert(path, id);
        }
    })?;
    Ok(found)
}

/// Applies `see` to each snapshot in a folder, with its path, sample and content; `take` gets the results, bucket by
/// bucket. Opening the files takes nearly all the time, so it is done in parallel.
pub(super) fn each<T: Send>(
    folder: &Path,
    see: &(impl Fn(&Path, String, Content) -> T + Sync),
    take: &mut impl FnMut(T),
) -> Result<()> {
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
    let threads = buckets.len().div_ceil(SHARE).min(parallel::processors());
    let buckets = buckets.into_iter().map(Ok);
    let read = |entry: DirEntry| bucket(entry.path(), see);
    parallel::in_order_on(threads, buckets, read, |seen| {
        seen?.into_iter().for_each(&mut *take);
        Ok(())
    })
}

/// The same of one bucket.
fn bucket<T>(folder: &Path, see: &impl Fn(&Path, String, Content) -> T) -> Result<Vec<T>> {
    let mut seen = Vec::new();
    for entry in WalkDir::new(folder).min_depth(1).max_depth(1) {
        let entry = entry.map_err(|error| unreadable(folder, &error))?;
        let path = entry.path();
        if !is_snapshot(path) {
            continue;
        }
        let snapshot = snapshots::snapshot(path)?;
        let (id, content) = snapshot.ok_or_else(|| unreadable(path, &"it is gone"))?;
        seen.push(see(path, id, content));
    }
    Ok(seen)
}

fn unreadable(folder: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::usage(format!(
        "cannot read snapshots in `{}`: {reason}",
        folder.display()
    ))
}
