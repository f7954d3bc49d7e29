//! `_baseline.json`: which run the snapshots of an eval are.
//!
//! The file holds a digest of all verdicts. Snapshots accepted one by one no longer match it, and
//! `no_regression` says so: accepting only improvements makes an unchanged but flaky agent look worse
//! with every round.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use super::Content;
use crate::baseline::{Baseline, BaselineSample};
use crate::error::{Error, Result};
use crate::hash::Hasher;

pub(super) const FILE: &str = "_baseline.json";

/// The content of `_baseline.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BaselineFile {
    pub(super) format_version: u32,
    pub(super) run_id: String,
    pub(super) scorer_hash: String,
    pub(super) verdict_digest: String,
    pub(super) samples: usize,
    pub(super) correct: usize,
}

/// Digest of every sample's verdict and hashes.
pub(super) fn digest(samples: &BTreeMap<String, BaselineSample>) -> String {
    let fold = |hash: Hasher, (id, sample): (&String, &BaselineSample)| {
        let verdict = match sample.correct {
            Some(true) => "correct",
            Some(false) => "incorrect",
            None => "unscored",
        };
        hash.part(id)
            .part(verdict)
            .part(&sample.input_hash)
            .part(&sample.target_hash)
    };
    samples.iter().fold(Hasher::default(), fold).short()
}

/// The baseline in a folder of snapshots, if there is one.
pub(crate) fn read(folder: &Path) -> Result<Option<Baseline>> {
    if !folder.is_dir() {
        return Ok(None);
    }
    let mut samples = BTreeMap::new();
    for entry in WalkDir::new(folder).min_depth(2).max_depth(2) {
        let entry = entry.map_err(|error| {
            Error::usage(format!(
                "cannot read snapshots in `{}`: {error}",
                folder.display()
            ))
        })?;
        if entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "snap")
        {
            let (id, content) = snapshot(entry.path())?;
            let Content {
                correct,
                input_hash,
                target_hash,
                ..
            } = content;
            samples.insert(
                id,
                BaselineSample {
                    correct,
                    input_hash,
                    target_hash,
                },
            );
        }
    }
    let file = read_file(folder)?;
    if samples.is_empty() && file.is_none() {
        return Ok(None);
    }
    let digest_matches = file
        .as_ref()
        .is_some_and(|file| file.verdict_digest == digest(&samples));
    let (run_id, scorer_hash) =
        file.map_or_else(Default::default, |file| (file.run_id, file.scorer_hash));
    Ok(Some(Baseline {
        run_id,
        scorer_hash,
        samples,
        digest_matches,
    }))
}

/// The baseline in a folder of snapshots, without its samples.
pub(crate) fn read_head(folder: &Path) -> Result<Option<Baseline>> {
    let head = |file: BaselineFile| Baseline {
        run_id: file.run_id,
        scorer_hash: file.scorer_hash,
        ..Baseline::default()
    };
    read_file(folder).map(|file| file.map(head))
}

fn read_file(folder: &Path) -> Result<Option<BaselineFile>> {
    let path = folder.join(FILE);
    let file = match std::fs::read(&path) {
        Ok(text) => Some(
            serde_json::from_slice::<BaselineFile>(&text).map_err(|error| {
                Error::usage(format!("{}: not a baseline: {error}", path.display()))
                    .hint("restore it from version control, or run: cargo evaltest accept")
            })?,
        ),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::io("read", &path, &error)),
    };
    if let Some(file) = &file
        && file.format_version > super::FORMAT_VERSION
    {
        return Err(
            Error::usage(format!("{}: written by a newer evaltest", path.display()))
                .hint("cargo install cargo-evaltest"),
        );
    }
    Ok(file)
}

/// A snapshot with the id in its header.
///
/// Read by hand: ten thousand of them are read before the first sample starts, and insta's parser takes
/// several times as long.
fn snapshot(path: &Path) -> Result<(String, Content)> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, &error))?;
    let parsed = text.strip_prefix("---\n").and_then(|rest| {
        let (header, body) = rest.split_once("\n---\n")?;
        let id = header
            .lines()
            .find_map(|line| line.strip_prefix("expression: "))?;
        // insta rewrites the header when it accepts; it quotes as YAML does.
        let id = serde_json::from_str(id)
            .or_else(|_| serde_yaml::from_str::<String>(id))
            .ok()?;
        Some((id, Content::parse(body)?))
    });
    parsed.ok_or_else(|| super::broken(path, "its header or its `verdict` is missing"))
}
