//! `_baseline.json`: which run the snapshots of an eval are.
//!
//! The file holds a digest of all verdicts. Snapshots accepted one by one no longer match it, and
//! `no_regression` says so: accepting only improvements makes an unchanged but flaky agent look worse
//! with every round.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;

use serde::{Deserialize, Serialize};
use walkdir::{DirEntry, WalkDir};

use super::Content;
use crate::error::{Error, Result};
use crate::text::hash::Hasher;
use crate::text::yaml;
use crate::verdict::baseline::{Baseline, BaselineRun, BaselineSample};

pub(super) const FILE: &str = "_baseline.json";

/// The content of `_baseline.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BaselineFile {
    pub(super) format_version: u32,
    pub(super) run_id: String,
    pub(super) scorer_hash: String,
    /// How often each sample was asked. Absent before there were epochs.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub(super) epochs: u32,
    pub(super) verdict_digest: String,
    pub(super) samples: usize,
    pub(super) correct: usize,
}

fn once() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's `skip_serializing_if` passes a reference"
)]
fn is_once(epochs: &u32) -> bool {
    *epochs == 1
}

/// Digest of every sample's verdict and hashes.
pub(super) fn digest(samples: &BTreeMap<String, BaselineSample>) -> String {
    let fold = |hash: Hasher, (id, sample): (&String, &BaselineSample)| {
        let verdict = match sample.verdict() {
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

/// Refuses a baseline of another scorer, without reading the snapshots: for a process that runs one sample.
pub(crate) fn check_scorer(folder: &Path, scorer_hash: &str, epochs: u32) -> Result<()> {
    let Some(file) = file(&folder.join(FILE))? else {
        return Ok(());
    };
    let baseline = Baseline {
        runs: vec![BaselineRun {
            run_id: file.run_id,
            epochs: file.epochs,
        }],
        scorer_hash: file.scorer_hash,
        samples: BTreeMap::new(),
        digest_matches: true,
    };
    baseline.check_comparable(scorer_hash, epochs, [])
}

/// Reads `_baseline.json`, if there is one.
fn file(path: &Path) -> Result<Option<BaselineFile>> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", path, &error)),
    };
    let file: BaselineFile = serde_json::from_slice(&text).map_err(|error| {
        Error::usage(format!("{}: not a baseline: {error}", path.display()))
            .hint("restore it from version control, or run: cargo evaltest accept")
    })?;
    if file.format_version > super::FORMAT_VERSION {
        return Err(
            Error::usage(format!("{}: written by a newer evaltest", path.display()))
                .hint("cargo install cargo-evaltest"),
        );
    }
    Ok(Some(file))
}

/// Whether there is a baseline in a folder, without reading it: for a process that runs one sample.
pub(crate) fn is_there(folder: &Path) -> bool {
    let is_snapshot = |path: &Path| path.extension().is_some_and(|end| end == "snap");
    let mut files = WalkDir::new(folder).max_depth(2).into_iter().flatten();
    folder.join(FILE).exists() || files.any(|file| is_snapshot(file.path()))
}

/// The baseline in a folder of snapshots, if there is one.
pub(crate) fn read(folder: &Path) -> Result<Option<Baseline>> {
    if !folder.is_dir() {
        return Ok(None);
    }
    let samples = samples(folder)?;
    let path = folder.join(FILE);
    let file = file(&path)?;
    if samples.is_empty() && file.is_none() {
        return Ok(None);
    }
    let digest_matches = file
        .as_ref()
        .is_some_and(|file| file.verdict_digest == digest(&samples));
    let (runs, scorer_hash) = file.map_or_else(Default::default, |file| {
        let run = BaselineRun {
            run_id: file.run_id,
            epochs: file.epochs,
        };
        (vec![run], file.scorer_hash)
    });
    Ok(Some(Baseline {
        runs,
        scorer_hash,
        samples,
        digest_matches,
    }))
}

/// What the snapshots in a folder say. Nearly all the time goes into opening files, ten thousand of them
/// before the first sample starts, so all processors take part.
fn samples(folder: &Path) -> Result<BTreeMap<String, BaselineSample>> {
    /// Fewer buckets than this are not worth a thread.
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
    let read = |share: &[DirEntry]| -> Result<Vec<(String, BaselineSample)>> {
        let buckets = share.iter().map(|entry| bucket(entry.path()));
        Ok(buckets.collect::<Result<Vec<_>>>()?.concat())
    };
    std::thread::scope(|scope| {
        let mut shares = buckets.chunks(share);
        let first = shares.next();
        let others: Vec<_> = shares.map(|share| scope.spawn(|| read(share))).collect();
        let mut samples: BTreeMap<_, _> = first.map_or(Ok(Vec::new()), read)?.into_iter().collect();
        for other in others {
            let other = other
                .join()
                .map_err(|_| unreadable(folder, &"a thread panicked"))?;
            samples.extend(other?);
        }
        Ok(samples)
    })
}

/// What the snapshots in one bucket say.
fn bucket(folder: &Path) -> Result<Vec<(String, BaselineSample)>> {
    let mut samples = Vec::new();
    for entry in WalkDir::new(folder).min_depth(1).max_depth(1) {
        let entry = entry.map_err(|error| unreadable(folder, &error))?;
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "snap") {
            continue;
        }
        let (id, content) = snapshot(path)?;
        samples.push((id, content.sample()));
    }
    Ok(samples)
}

fn unreadable(folder: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::usage(format!(
        "cannot read snapshots in `{}`: {reason}",
        folder.display()
    ))
}

/// A snapshot with the id in its header.
fn snapshot(path: &Path) -> Result<(String, Content)> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, &error))?;
    parse(&text).ok_or_else(|| super::broken(path, "its header or its `verdict` is missing"))
}

/// A snapshot with the id in its header.
///
/// Read by hand: ten thousand of them are read before the first sample starts, and insta's parser takes
/// several times as long.
pub(super) fn parse(text: &str) -> Option<(String, Content)> {
    let rest = text.strip_prefix("---\n")?;
    let (header, body) = rest.split_once("\n---\n")?;
    let id = header
        .lines()
        .find_map(|line| line.strip_prefix("expression: "))?;
    // insta rewrites the header when it accepts; it quotes as YAML does.
    let id = serde_json::from_str(id)
        .or_else(|_| yaml::read::<String>(id))
        .ok()?;
    Some((id, Content::parse(body)?))
}
