//! Snapshots: what each sample's answer was when a run was accepted.
//!
//! One insta file per sample, at `<folder>/<bucket>/<id>.snap`, the same for every front door. The
//! buckets keep folders small: tools that list a folder per snapshot would need quadratic time otherwise.
//! `cargo insta review` works on the files. A whole accepted run is a baseline; `_baseline.json` beside
//! the buckets says which (see `baseline`).
//!
//! What a file says is its [`Content`]; what people read above it when they review is its [`SnapshotHeader`]. The `INSTA_*`
//! variables keep their meaning (`update`).

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::text::hash::Hasher;
use crate::text::name::file_name;

#[cfg(feature = "command")]
mod accept;
pub(crate) mod assertion;
mod attributes;
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
pub use attributes::{ATTRIBUTES, ATTRIBUTES_FILE};
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
/// * 1: the first. Members added since: `epochs` of `_baseline.json`, left out where it is 1.
/// * 2: a snapshot has the verdict on each answer (`answers`), the prediction beside its normalised form, and in place
///   of `input`, the hash of the whole prompt, `question`, that of the question and its files. Masked ones have keyed
///   digests alone. Above it stand a description and what a person needs to decide. A baseline may be several runs:
///   `_baseline.json` has `runs` in place of `run_id` and `epochs`, each with its prompt, a digest of each snapshot
///   (`digests`), a `verdict_digest` of all of it, and `mask_id`, which names the dataset whose digest is the key.
///   Members added since: `judges`, the models that served them, where a judge judged.
///   Files of version 1 are read, each as one answer, and compared by what they have; a baseline of version 1 is one
///   run, and its digest holds as it was made.
pub(crate) const FORMAT_VERSION: u32 = 2;

/// Longer texts are cut in snapshots; of an answer a hash of the whole follows.
const LONGEST_TEXT: usize = 1000;

/// Where the snapshot of a sample is.
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

/// What mends any baseline: neither command reads what is there.
const ANEW: &str = "restore it from version control, or make a new baseline: cargo evaltest run \
                    --ignore-baseline, then cargo evaltest accept";

/// A text as JSON, which YAML reads as well.
fn json(text: &str) -> String {
    let text = serde_json::Value::from(text).to_string();
    // YAML would take these for line ends, or refuse them.
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

#[cfg(test)]
mod tests;
