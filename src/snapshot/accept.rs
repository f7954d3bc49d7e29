//! Making a whole run the baseline.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::baseline::{BaselineFile, FILE, digest};
use super::{Content, FORMAT_VERSION, path};
use crate::data::Record;
use crate::error::{Error, Result};
use crate::store::{Manifest, RunDir, RunStatus, read_records};
use crate::verdict::poll;

/// What accepting a run changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The eval's name.
    pub eval: String,
    /// The folder of snapshots.
    pub folder: PathBuf,
    /// Snapshots in the new baseline.
    pub samples: usize,
    /// How many of them are correct.
    pub correct: usize,
    /// Snapshots that were written because they are new or differ.
    pub changed: usize,
    /// Snapshots of samples that are no longer in the eval.
    pub removed: usize,
    /// Samples that ended in an error: their snapshots stay as they were, if they are still comparable.
    pub errors: Vec<String>,
}

/// Makes a run the baseline of its eval: all snapshots are replaced. `folder` overrides where they are.
///
/// # Errors
/// When the run does not cover its eval (unless `partial`), or ended without a single answer.
pub fn accept(dir: &RunDir, folder: Option<&Path>, partial: bool) -> Result<Accepted> {
    let manifest = dir.manifest()?;
    refuse_incomplete(dir, &manifest, partial)?;
    let folder = folder.map_or_else(|| manifest.snapshots.clone(), Path::to_owned);
    let mut accepted = Accepted {
        eval: manifest.eval.clone(),
        folder,
        samples: 0,
        correct: 0,
        changed: 0,
        removed: 0,
        errors: Vec::new(),
    };
    let before = super::read_baseline(&accepted.folder).ok().flatten();
    let is_same = before.is_none_or(|before| {
        before.scorer_hash == manifest.scorer_hash
            && before
                .epochs()
                .is_none_or(|epochs| epochs == manifest.epochs)
    });
    let mut contents = BTreeMap::new();
    let mut known = HashSet::new();
    for sample in poll::samples(read_records(&dir.file("samples.jsonl"))?) {
        let sample = sample?;
        let content = |record: &Record| (record.epoch, Content::of(record, manifest.masked));
        let epochs = sample.iter().map(content).collect();
        let is_error = sample.iter().any(|record| record.result.status.is_error());
        let Some(record) = sample.into_iter().next() else {
            continue;
        };
        let path = path(&accepted.folder, &record.sample_id);
        known.insert(path.clone());
        if is_error {
            // An outage must not overwrite what is known of a sample, if that is still comparable: nor may the
            // majority of those epochs that went well, which is not what the others will be compared with.
            let same = |old: &Content| {
                is_same
                    && old.input_hash == record.input_hash
                    && old.target_hash == record.target_hash
            };
            match Content::read(&path)?.filter(same) {
                Some(old) => {
                    contents.insert(record.sample_id.clone(), old);
                }
                None => {
                    known.remove(&path);
                }
            }
            accepted.errors.push(record.sample_id);
            continue;
        }
        if let Some(content) = Content::majority(epochs) {
            contents.insert(record.sample_id.clone(), content);
        }
    }
    if contents.is_empty() {
        return Err(Error::usage(format!(
            "run `{}` has no answer to accept",
            dir.path().display()
        ))
        .hint(format!("cargo evaltest show {}", dir.path().display())));
    }
    for (id, content) in &contents {
        let path = path(&accepted.folder, id);
        if Content::read(&path).ok().flatten().as_ref() != Some(content) {
            content.write(&path, id)?;
            accepted.changed += 1;
        }
        let _ = std::fs::remove_file(super::update::pending(&path));
        accepted.samples += 1;
        accepted.correct += usize::from(content.correct == Some(true));
    }
    accepted.removed = remove_unknown(&accepted.folder, &known)?;
    let samples = contents.into_iter();
    let samples: BTreeMap<_, _> = samples
        .map(|(id, content)| (id, content.sample()))
        .collect();
    let file = BaselineFile {
        format_version: FORMAT_VERSION,
        run_id: manifest.run_id,
        scorer_hash: manifest.scorer_hash,
        epochs: manifest.epochs,
        verdict_digest: digest(&samples),
        samples: accepted.samples,
        correct: accepted.correct,
    };
    let mut text = serde_json::to_vec_pretty(&file).map_err(|error| {
        Error::infrastructure(format!("the baseline cannot be written: {error}"))
    })?;
    text.push(b'\n');
    crate::system::file::write_atomically(&accepted.folder.join(FILE), &text)?;
    Ok(accepted)
}

fn refuse_incomplete(dir: &RunDir, manifest: &Manifest, partial: bool) -> Result<()> {
    let shown = dir.path().display();
    if manifest.status != RunStatus::Finished {
        let reason = manifest.stop_reason.as_deref().unwrap_or("it was killed");
        return Err(
            Error::usage(format!("run `{shown}` did not finish: {reason}"))
                .hint(format!("cargo evaltest run --resume {shown}")),
        );
    }
    if !manifest.whole && !partial {
        return Err(Error::usage(format!(
            "run `{shown}` asked only a part of eval `{}`; a baseline is one whole run",
            manifest.eval
        ))
        .hint("run `cargo evaltest run` without `--limit`, `--filter` or `--failed`, or accept with `--partial`"));
    }
    Ok(())
}

/// Removes snapshots of samples that are no longer there.
fn remove_unknown(folder: &Path, known: &HashSet<PathBuf>) -> Result<usize> {
    let mut removed = 0;
    let files = WalkDir::new(folder)
        .min_depth(2)
        .max_depth(2)
        .into_iter()
        .flatten();
    for entry in files {
        let path = entry.path();
        let is_snapshot = path
            .extension()
            .is_some_and(|extension| extension == "snap");
        if is_snapshot && !known.contains(path) {
            std::fs::remove_file(path).map_err(|error| Error::io("remove", path, &error))?;
            removed += 1;
            let _ = path.parent().map(std::fs::remove_dir);
        }
    }
    Ok(removed)
}
