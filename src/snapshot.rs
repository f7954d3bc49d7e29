//! Snapshots: the answer to each sample in the accepted run.
//!
//! There is one insta file per sample, at `<folder>/<bucket>/<id>.snap`, for both `cargo test` and `cargo evaltest`.
//! Buckets keep folders small, because tools that list a folder for each snapshot would need quadratic time.
//! `cargo insta review` works on the files. A whole accepted run is a baseline, identified by `_baseline.json` next to
//! the buckets (see `baseline`).
//!
//! The data of a file is its [`Content`]; above it is a [`SnapshotHeader`] for reviewers. The `INSTA_*` variables have
//! their usual meaning (`update`).

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::system::file::{read_plain, write_atomically};
use crate::text::hash::{Hasher, from_hex, hex};
use crate::text::{file_name, portable_file_name};
use crate::verdict::baseline::columns::Texts;
use content::{digits, slices_text};

#[cfg(feature = "command")]
mod accept;
pub(crate) mod assertion;
mod baseline;
mod content;
mod epoch;
mod header;
mod history;
mod pool;
mod read;

#[cfg(feature = "command")]
pub use accept::{Acceptance, Accepted, accept};
pub(crate) use baseline::{
    CommittedBaseline, FILE as BASELINE_FILE, check_scorer, is_there as has_baseline,
    read as read_baseline, shares_answers,
};
pub(crate) use content::Content;
pub(crate) use epoch::{EpochContent, SampleContent, StoredParts};
pub(crate) use header::SnapshotHeader;
#[cfg(feature = "command")]
pub use history::HistoryPatch;
pub(crate) use history::{AnswerSheet, HistoryFile, run_line};
pub(crate) use pool::Roll;

/// Version of the snapshots' content and of `_baseline.json`.
///
/// * 1: the first. Members added since: `epochs` of `_baseline.json`, omitted if it is 1.
/// * 2: a snapshot has the verdict on each answer (`answers`), the prediction in addition to its normalised form, and
///   `question`, the hash of the question and its files, instead of `input`, the hash of the whole prompt. Masked ones
///   only have keyed digests. Above the content are a description and information for reviewers. A baseline may
///   consist of several runs: `_baseline.json` has `runs` instead of `run_id` and `epochs`, each with its prompt, a
///   digest of each snapshot (`digests`), a `verdict_digest` of everything, and `mask_id`, which identifies the
///   dataset whose digest is the key. Members added since: `judges`, the models that served the judges. Files of
///   version 1 can be read, each as one answer, and are compared as far as possible; a baseline of version 1 is one
///   run, and its digest stays valid.
/// * 3: `_baseline.json` has a `checksum`.
/// * 4: snapshots keep the figures of answers, and their digests cover them.
pub(crate) const FORMAT_VERSION: u32 = 4;

/// The first version whose `_baseline.json` has a checksum.
const CHECKSUM_SINCE: u32 = 3;

/// Longer texts are truncated in snapshots; a truncated answer is followed by a hash of the whole.
const LONGEST_TEXT: usize = 1000;

/// Path of a sample's snapshot: that of an older version if only that is there.
pub(crate) fn path(folder: &Path, id: &str) -> PathBuf {
    let path = portable_path(folder, id);
    let old = path.with_file_name(format!("{}.snap", file_name(id)));
    if path != old && !path.exists() && old.exists() {
        return old;
    }
    path
}

/// Path of a sample's snapshot that is written anew, by a name that every machine can have.
fn portable_path(folder: &Path, id: &str) -> PathBuf {
    let bucket = &Hasher::default().part(id).short()[..2];
    let name = portable_file_name(id);
    folder.join(bucket).join(format!("{name}.snap"))
}

fn broken(path: &Path, reason: &str) -> Error {
    Error::usage(format!(
        "{}: not a snapshot of evaltest: {reason}",
        path.display()
    ))
    .hint(ANEW)
}

/// Hint for any damaged baseline: neither command reads the existing one.
const ANEW: &str = "restore it from version control, or make a new baseline: cargo evaltest run \
                    --ignore-baseline, then cargo evaltest accept";

/// A text as JSON, which is also valid YAML.
fn json(text: &str) -> String {
    let text = serde_json::Value::from(text).to_string();
    // YAML would treat these as line ends, or reject them.
    let is_special = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    if !text.contains(is_special) {
        return text;
    }
    let escape = |c: char| match c {
        c if is_special(c) => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}

/// The file name of [`ATTRIBUTES`].
pub const ATTRIBUTES_FILE: &str = ".gitattributes";

/// Makes git keep the line ends of snapshots on every machine, show no differences of the index, and keep all history
/// lines of both branches in a merge.
pub const ATTRIBUTES: &str = "*.snap text eol=lf\n_baseline.json text eol=lf\n_index.jsonl text eol=lf -diff\nhistory.jsonl text eol=lf merge=union\n";

/// Writes the file, or adds the missing attributes of newer files to an existing one.
///
/// # Errors
/// If it cannot be written.
fn write_attributes(folder: &Path) -> Result<()> {
    let path = folder.join(ATTRIBUTES_FILE);
    let there = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return write_atomically(&path, ATTRIBUTES.as_bytes());
        }
        // A link or folder belongs to somebody else.
        Ok(about) if !about.is_file() => return Ok(()),
        _ => read_plain(&path).map_err(|error| Error::io("read", &path, &error))?,
    };
    let mut text = there.clone();
    // Older versions wrote the others.
    for ours in ATTRIBUTES.lines().skip(2) {
        let name = ours.split(' ').next().unwrap_or_default().as_bytes();
        let mut lines = there.split(|byte| *byte == b'\n');
        if lines.any(|line| line.trim_ascii_start().starts_with(name)) {
            continue;
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        text.extend_from_slice(ours.as_bytes());
        text.push(b'\n');
    }
    if text == there {
        return Ok(());
    }
    write_atomically(&path, &text)
}

/// Digests of snapshots by sample: verdicts, question and ground truth.
#[derive(Clone, Debug, Default)]
struct Digests {
    ids: Texts,
    values: Vec<[u8; 8]>,
    /// The places of texts that are no valid digests.
    invalid: BTreeSet<usize>,
}

impl Digests {
    /// Adds a snapshot; [sort](Self::sorted) afterwards.
    fn add(&mut self, id: &str, content: &Content) {
        self.push(id, Some(digest(id, content)));
    }

    fn push(&mut self, id: &str, digest: Option<[u8; 8]>) {
        if digest.is_none() {
            self.invalid.insert(self.len());
        }
        self.ids.push(id);
        self.values.push(digest.unwrap_or_default());
    }

    /// Sorts by id.
    #[must_use]
    fn sorted(self) -> Self {
        if self.ids.iter().is_sorted_by(|one, next| one < next) {
            return self;
        }
        let id = |place: usize| self.ids.get(place);
        let mut order: Vec<usize> = (0..self.len()).collect();
        // For a duplicate id the last one counts.
        order.sort_unstable_by(|one, other| id(*one).cmp(id(*other)).then(other.cmp(one)));
        order.dedup_by(|next, one| id(*next) == id(*one));
        let mut sorted = Self::default();
        for place in order {
            sorted.push(id(place), self.digest(place));
        }
        sorted
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    fn digest(&self, place: usize) -> Option<[u8; 8]> {
        (!self.invalid.contains(&place)).then(|| self.values[place])
    }

    /// Ids with their digests as text.
    fn iter(&self) -> impl Iterator<Item = (&str, String)> {
        let text = |place| self.digest(place).map(|digest| hex(&digest));
        let ids = self.ids.iter().enumerate();
        ids.map(move |(place, id)| (id, text(place).unwrap_or_default()))
    }

    /// The ids alone.
    fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter()
    }

    /// Whether there is one of this sample.
    fn lists(&self, id: &str) -> bool {
        self.place(id).is_some()
    }

    fn place(&self, id: &str) -> Option<usize> {
        self.ids.binary_search(id)
    }

    /// Whether a snapshot has the digest of the sample.
    fn has(&self, id: &str, content: &Content) -> bool {
        let place = self.place(id);
        place.is_some_and(|place| self.digest(place) == Some(digest(id, content)))
    }
}

fn digest(id: &str, content: &Content) -> [u8; 8] {
    let hash = Hasher::default().part(id).part(content.verdict());
    let hash = hash.part(digits(&content.answers));
    let hash = hash.part(content.input_hash()).part(&content.target_hash);
    // Snapshots of older versions have none, and keep their digests.
    let hash = match &content.slices[..] {
        [] => hash,
        slices => hash.part(slices_text(slices)),
    };
    let figures = content.figures.lines();
    figures.iter().fold(hash, Hasher::part).first_bytes()
}

impl Serialize for Digests {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Digests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMap;

        impl<'de> Visitor<'de> for OfMap {
            type Value = Digests;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("digests by sample")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Digests, A::Error> {
                let mut digests = Digests::default();
                while let Some((id, digest)) = map.next_entry::<String, String>()? {
                    digests.push(&id, from_hex(&digest));
                }
                Ok(digests.sorted())
            }
        }

        deserializer.deserialize_map(OfMap)
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod digests_tests {
    use super::*;

    #[test]
    fn digests_are_read_as_they_were_written() {
        let text = r#"{"a":"0123456789abcdef","b":"00000000000000ff"}"#;
        let digests: Digests = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&digests).unwrap(), text);
        // Out of order, duplicated, and edited by hand.
        let other = r#"{"b":"no digest","a":"x","b":"00000000000000ff","a":"0123456789ABCDEF"}"#;
        let digests: Digests = serde_json::from_str(other).unwrap();
        let read: Vec<_> = digests.iter().collect();
        let expect = [("a", String::new()), ("b", "00000000000000ff".to_owned())];
        assert_eq!(read, expect);
    }
}

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
            new.write_alone(path, header)?;
            let pending = pending(path);
            // A file of another program under that name stays.
            if SnapshotHeader::is_own(&pending) {
                let _ = std::fs::remove_file(pending);
            }
            return Ok(true);
        }
        if self.update != Update::No {
            new.write_alone(&pending(path), header)?;
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
