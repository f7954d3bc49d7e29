//! `_baseline.json`: the runs that the snapshots of an eval come from.
//!
//! The file has a digest of each snapshot's verdicts. Snapshots accepted one by one no longer match it, and
//! `no_regression` reports that: accepting only improvements makes an unchanged but flaky agent look worse with every
//! round.

mod committed;
mod contents;
mod index;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::BufReader;
use std::path::Path;

use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use super::Digests;
use super::pool::{PooledRun, Roll};
use super::{Content, FORMAT_VERSION, read as snapshots};
use crate::error::{Error, Result};
use crate::system::file::{open_plain, write_atomically, write_atomically_by};
use crate::text::EscapedLineEnds;
use crate::text::checksum::{self, Coverage};
use crate::text::hash::Hasher;
use crate::verdict::baseline::Baseline;
use crate::verdict::baseline::readers::Readers;
pub(super) use contents::is_snapshot;
use contents::{FoundSnapshots, contents};

pub(crate) use committed::CommittedBaseline;
pub(super) use index::{FILE as INDEX_FILE, NewIndex, forget as forget_index};

pub(crate) const FILE: &str = "_baseline.json";

/// Served models by the name of the judging scorer.
pub(super) type Judges = BTreeMap<String, BTreeSet<String>>;

/// The content of `_baseline.json`. It reveals no question or answer: ids and verdicts are in the snapshots, and
/// digests cover only what they contain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BaselineFile {
    pub(super) format_version: u32,
    /// The single run of a baseline of version 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    /// The epochs of that run. Absent before there were epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    epochs: Option<u32>,
    /// The runs, in the order of their answers.
    #[serde(default)]
    pub(super) runs: Vec<PooledRun>,
    pub(super) scorer_hash: String,
    pub(super) verdict_digest: String,
    /// The version of the rules by which answers were read, the oldest of all runs; absent for version 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reader: Option<u32>,
    /// The same for the replies of judges; absent without any, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    judge_reader: Option<u32>,
    /// Identifies the dataset whose questions and answers key the snapshots, if they are masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mask_id: Option<String>,
    /// The models that served judges in any of the runs, by the name of the scorer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) judges: Judges,
    pub(super) samples: usize,
    pub(super) correct: usize,
    /// Digests of the snapshots, by sample.
    #[serde(default, skip_serializing_if = "Digests::is_empty")]
    digests: Digests,
}

impl BaselineFile {
    /// For snapshots with these digests, of which `correct` are correct.
    pub(super) fn new(
        runs: Vec<PooledRun>,
        scorer_hash: String,
        mask_id: Option<String>,
        judges: Judges,
        digests: Digests,
        correct: usize,
    ) -> Self {
        let digests = digests.sorted();
        let mut file = Self {
            format_version: FORMAT_VERSION,
            run_id: None,
            epochs: None,
            runs,
            scorer_hash,
            verdict_digest: String::new(),
            reader: None,
            judge_reader: None,
            mask_id,
            judges,
            samples: digests.len(),
            correct,
            digests,
        };
        file.verdict_digest = file.digest();
        file
    }

    /// With the versions by which its answers were read.
    #[must_use]
    pub(super) fn read_by(self, readers: Readers) -> Self {
        let has_judges = readers.verdicts > Readers::default().verdicts;
        Self {
            reader: Some(readers.answers),
            judge_reader: has_judges.then_some(readers.verdicts),
            ..self
        }
    }

    /// The versions by which its answers were read.
    pub(super) fn readers(&self) -> Readers {
        Readers::recorded(self.reader, self.judge_reader)
    }

    /// Digest of everything that affects a comparison.
    fn digest(&self) -> String {
        let hash = Hasher::default().part(&self.scorer_hash);
        let hash = self.mask_id.iter().fold(hash, Hasher::part);
        let hash = self.runs.iter().fold(hash, |hash, run| run.hash(hash));
        let hash = self.judges.iter().fold(hash, |hash, (scorer, models)| {
            models.iter().fold(hash.part(scorer), Hasher::part)
        });
        let digests = self.digests.iter();
        let hash = digests.fold(hash, |hash, (id, digest)| hash.part(id).part(digest));
        hash.short()
    }

    /// Whether the snapshots in `folder` are the accepted ones, and which files are not.
    fn compare(&self, found: &FoundSnapshots, folder: &Path) -> (bool, Vec<String>) {
        let FoundSnapshots { contents, strays } = found;
        let mut files: Vec<_> = strays.keys().map(|path| name(folder, path)).collect();
        if self.format_version == 1 {
            let is_one = self.verdict_digest == old_digest(contents);
            return (is_one && files.is_empty(), files);
        }
        let is_new = |(id, content): &(&String, &Content)| !self.digests.has(id, content);
        let changed = contents.iter().filter(is_new).map(|(id, _)| id);
        let gone = self.digests.iter().map(|(id, _)| id);
        let gone = gone.filter(|id| !contents.contains_key(*id));
        // A misplaced file is reported under its own name.
        let is_there = |id: &&str| {
            !strays.values().any(|stray| stray == *id) || super::path(folder, id).exists()
        };
        let changed = changed.map(String::as_str);
        let others = changed.filter(is_there).chain(gone);
        files.extend(others.map(|id| name(folder, &super::path(folder, id))));
        files.sort();
        if self.verdict_digest != self.digest() {
            files.insert(0, FILE.to_owned());
        }
        (files.is_empty(), files)
    }
}

/// The name of a file in `folder`.
fn name(folder: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(folder).unwrap_or(path);
    inside.display().to_string()
}

/// Digest of every sample's verdict and hashes, as in version 1.
fn old_digest(contents: &BTreeMap<String, Content>) -> String {
    let fold = |hash: Hasher, (id, content): (&String, &Content)| {
        hash.part(id)
            .part(content.verdict())
            .part(content.input_hash())
            .part(&content.target_hash)
    };
    contents.iter().fold(Hasher::default(), fold).short()
}

/// Refuses a baseline of another scorer without reading the snapshots, for a process that runs one sample.
pub(crate) fn check_scorer(folder: &Path, scorer_hash: &str) -> Result<()> {
    let Some(file) = file(&folder.join(FILE))? else {
        return Ok(());
    };
    let baseline = Baseline {
        runs: file.runs.iter().map(PooledRun::known).collect(),
        scorer_hash: file.scorer_hash,
        digest_matches: true,
        ..Baseline::default()
    };
    baseline.check_comparable(scorer_hash, [])
}

/// The content of `_baseline.json` while `accept` writes the snapshots. If it is killed meanwhile, they are no baseline.
const INCOMPLETE: &[u8] = b"{\"incomplete\":true}\n";

/// Marks the snapshots of a folder as incomplete until [`write`] writes the file.
pub(super) fn begin(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
    write_atomically(&folder.join(FILE), INCOMPLETE)
}

/// Reads `_baseline.json`, if there is one.
pub(super) fn file(path: &Path) -> Result<Option<BaselineFile>> {
    let text = match crate::system::file::read_plain(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", path, &error)),
    };
    if text == INCOMPLETE {
        let message = format!(
            "{}: `accept` did not finish, so the snapshots are incomplete",
            path.display()
        );
        return Err(
            Error::usage(message).hint("accept the run again: cargo evaltest accept RUN_DIR")
        );
    }
    let mut file: BaselineFile = serde_json::from_slice(&text).map_err(|error| {
        Error::usage(format!("{}: not a baseline: {error}", path.display())).hint(super::ANEW)
    })?;
    if file.format_version > FORMAT_VERSION {
        return Err(
            Error::usage(format!("{}: written by a newer evaltest", path.display()))
                .hint("cargo install cargo-evaltest"),
        );
    }
    let sum = checksum::check(&text, Coverage::Tokens);
    if let Some(fault) = sum.fault(file.format_version >= super::CHECKSUM_SINCE) {
        let message = format!("{}: not a baseline: {fault}", path.display());
        return Err(Error::usage(message).hint(super::ANEW));
    }
    if let Some(run_id) = file.run_id.take() {
        let epochs = file.epochs.take().unwrap_or(1);
        file.runs = vec![PooledRun::old(run_id, epochs)];
    }
    Ok(Some(file))
}

/// Writes `_baseline.json`.
pub(super) fn write(path: &Path, file: &BaselineFile) -> Result<()> {
    write_atomically_by(path, |out| {
        let mut text = Vec::new();
        serde_json::to_writer_pretty(EscapedLineEnds(&mut text), file)?;
        checksum::add(&mut text, Coverage::Tokens);
        out.write_all(&text)
    })
}

/// The scorer hash in the `_baseline.json` of a folder, if it can be read, and the versions of its readers; the rest of
/// the file is not parsed.
pub(super) fn scorer_hash_of(folder: &Path) -> Option<(String, Readers)> {
    #[derive(Deserialize)]
    struct ScorerOf {
        format_version: u32,
        scorer_hash: String,
        #[serde(default)]
        reader: Option<u32>,
        #[serde(default)]
        judge_reader: Option<u32>,
    }
    let file = open_plain(&folder.join(FILE)).ok()?;
    let read: ScorerOf = serde_json::from_reader(BufReader::new(file)).ok()?;
    let readers = Readers::recorded(read.reader, read.judge_reader);
    (read.format_version <= FORMAT_VERSION).then_some((read.scorer_hash, readers))
}

/// Whether answers of a run may also be in the baseline of a folder, so that the two are not independent.
pub(crate) fn shares_answers(folder: &Path, roll: Roll) -> Result<bool> {
    let run = roll.finish();
    let shares = |other: &PooledRun| {
        // For a baseline of version 1 only the id is known.
        let is_old = other.started_at.is_empty() && other.run_id == run.run_id;
        is_old || run.check_anew(other).is_err()
    };
    Ok(file(&folder.join(FILE))?.is_some_and(|file| file.runs.iter().any(shares)))
}

/// Whether a folder has a baseline, without reading it, for a process that runs one sample.
pub(crate) fn is_there(folder: &Path) -> bool {
    let mut files = WalkDir::new(folder).max_depth(2).into_iter().flatten();
    folder.join(FILE).exists() || files.any(|file| is_snapshot(file.path()))
}

/// The baseline of a snapshot folder by its snapshots, if there is one.
pub(crate) fn read(folder: &Path) -> Result<Option<Baseline>> {
    let committed = CommittedBaseline::open(folder)?;
    committed.map(|it| it.read(true)).transpose()
}

/// The content of a snapshot folder.
type Whole = (Option<BaselineFile>, FoundSnapshots);

fn read_whole(folder: &Path) -> Result<Option<Whole>> {
    let found = contents(folder)?;
    let file = file(&folder.join(FILE))?;
    Ok((file.is_some() || !found.contents.is_empty()).then_some((file, found)))
}

/// The unchanged baseline that a run is added to. `see` is called with each of its snapshots.
///
/// # Errors
/// If there is none, if it is not what was accepted, and errors of `see`.
pub(super) fn read_to_add(
    folder: &Path,
    mut see: impl FnMut(String, Content) -> Result<()>,
) -> Result<BaselineFile> {
    const HINT: &str =
        "accept all of its runs again, together: cargo evaltest accept RUN_DIR RUN_DIR";
    if let Some(mut file) = file(&folder.join(FILE)).ok().flatten()
        && file.verdict_digest == file.digest()
        && each_as_accepted(folder, &file, &mut see)?
    {
        file.digests = Digests::default();
        return Ok(file);
    }
    // Version 1, or something is wrong: the slow path reports it.
    let display = folder.display();
    let whole = if folder.is_dir() {
        read_whole(folder).map_err(|error| Error::usage(error.message()).hint(HINT))?
    } else {
        None
    };
    let Some((Some(mut file), found)) = whole else {
        return Err(
            Error::usage(format!("`{display}` has no baseline to add a run to"))
                .hint("accept the run without `--add`: cargo evaltest accept RUN_DIR"),
        );
    };
    let (is_whole, changed) = file.compare(&found, folder);
    if !is_whole {
        let first = changed
            .first()
            .map(|file| format!(": `{file}` was changed"));
        return Err(Error::usage(format!(
            "the snapshots in `{display}` changed since their run was accepted{}",
            first.unwrap_or_default()
        ))
        .hint(HINT));
    }
    file.digests = Digests::default();
    // Again, with their texts.
    for (id, content) in found.contents {
        let whole = Content::read(&super::path(folder, &id))?;
        see(id, whole.unwrap_or(content).read_by(file.readers().answers))?;
    }
    Ok(file)
}

/// Calls `see` with the snapshots in a folder one by one, until one is not that of the baseline. Returns whether all
/// are.
fn each_as_accepted(
    folder: &Path,
    file: &BaselineFile,
    see: &mut impl FnMut(String, Content) -> Result<()>,
) -> Result<bool> {
    if file.format_version == 1 {
        return Ok(false);
    }
    let mut found = 0;
    for entry in WalkDir::new(folder).min_depth(2).max_depth(2) {
        let Ok(entry) = entry else {
            return Ok(false);
        };
        let path = entry.path();
        if !is_snapshot(path) {
            continue;
        }
        match snapshots::snapshot(path) {
            Ok(Some((id, content)))
                if path == super::path(folder, &id) && file.digests.has(&id, &content) =>
            {
                found += 1;
                see(id, content.read_by(file.readers().answers))?;
            }
            _ => return Ok(false),
        }
    }
    Ok(found == file.digests.len())
}

#[cfg(test)]
mod tests;
