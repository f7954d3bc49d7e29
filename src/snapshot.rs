//! Snapshots: the answer to each sample in the accepted run.
//!
//! There is one insta file per sample, at `<folder>/<bucket>/<id>.snap`, for both `cargo test` and `cargo evaltest`.
//! Buckets keep folders small, because tools that list a folder for each snapshot would need quadratic time.
//! `cargo insta review` works on the files. A whole accepted run is a baseline, identified by `_baseline.json` next to
//! the buckets (see `baseline`).
//!
//! The data of a file is its [`Content`]; above it is a [`SnapshotHeader`] for reviewers. The `INSTA_*` variables have
//! their usual meaning (`update`).

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::system::file::{read_plain, write_atomically};
use crate::text::file_name;
use crate::text::hash::Hasher;

#[cfg(feature = "command")]
mod accept;
pub(crate) mod assertion;
mod baseline;
mod content;
mod digests;
mod epoch;
mod header;
mod history;
mod pool;
mod read;
pub(crate) mod update;

#[cfg(feature = "command")]
pub use accept::{Acceptance, Accepted, accept};
pub(crate) use baseline::{
    FILE as BASELINE_FILE, check_scorer, is_there as has_baseline, read as read_baseline,
    shares_answers,
};
pub(crate) use content::Content;
pub(crate) use epoch::{EpochContent, SampleContent};
pub(crate) use header::SnapshotHeader;
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
pub(crate) const FORMAT_VERSION: u32 = 2;

/// Longer texts are truncated in snapshots; a truncated answer is followed by a hash of the whole.
const LONGEST_TEXT: usize = 1000;

/// Path of a sample's snapshot.
pub(crate) fn path(folder: &Path, id: &str) -> PathBuf {
    let bucket = &Hasher::default().part(id).short()[..2];
    folder.join(bucket).join(format!("{}.snap", file_name(id)))
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

/// Makes git keep the line ends of snapshots on every machine, and keep all history lines of both branches in a merge.
pub const ATTRIBUTES: &str =
    "*.snap text eol=lf\n_baseline.json text eol=lf\nhistory.jsonl text eol=lf merge=union\n";

/// Writes the file, or adds missing attributes of histories to an existing one.
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
    let Some(ours) = ATTRIBUTES.lines().last() else {
        return Ok(());
    };
    let name = ours.split(' ').next().unwrap_or_default().as_bytes();
    let mut lines = there.split(|byte| *byte == b'\n');
    if lines.any(|line| line.trim_ascii_start().starts_with(name)) {
        return Ok(());
    }
    let mut text = there.clone();
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text.extend_from_slice(ours.as_bytes());
    text.push(b'\n');
    write_atomically(&path, &text)
}

#[cfg(test)]
mod tests;
