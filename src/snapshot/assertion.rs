//! insta's assertion, for `exact`. The only file that names insta.
//!
//! insta reads the snapshot, compares, prints the difference, and handles the new one by its variables and its
//! configuration. Two things are done here instead:
//!
//! * insta prints the difference to standard output, where a reporter may be writing JSON: it becomes part of the
//!   test's message.
//! * insta writes the source location of the assertion into its files, which is a path in this crate on this machine:
//!   its files are atomically rewritten with our own header.

use std::fs;
use std::path::Path;

use super::pending;
use super::{Content, SampleContent, SnapshotHeader};
use crate::error::Result;
use crate::system::panics;
use crate::system::printed;

/// Lines about this crate's source and about later tests, and lines that [`ACCEPT`] replaces.
const NOT_OURS: [&str; 3] = [
    "Source: ",
    "Stopped on the first failure.",
    "To update snapshots run ",
];

/// What to run if the change is right.
pub(crate) const ACCEPT: &str = "cargo insta review, or a whole run: cargo evaltest accept";

/// A failed snapshot assertion of a sample.
pub(crate) struct SnapshotDifference {
    /// Whether there is no snapshot yet.
    pub(crate) is_new: bool,
    /// The output of insta.
    pub(crate) display: String,
}

impl SnapshotDifference {
    /// A title that follows the sample's id.
    pub(crate) fn title(&self) -> &'static str {
        if self.is_new {
            "has no snapshot"
        } else {
            "differs from its snapshot"
        }
    }
}

/// Asserts that a sample matches the snapshot at this path, for every caller; returns the difference on failure.
pub(crate) fn exact(
    path: &Path,
    content: &SampleContent,
    header: &SnapshotHeader,
) -> Result<Option<SnapshotDifference>> {
    let old = Content::read(path)?;
    let now = &content.content;
    let asserted = old.as_ref().map(|old| content.asserted(old));
    let display = difference(path, asserted.as_ref().unwrap_or(now), now, header)?;
    Ok(display.map(|display| SnapshotDifference {
        is_new: old.is_none(),
        display,
    }))
}

/// Compares `asserted` with the snapshot at this path; returns the difference on failure. `new` is the content of a new
/// snapshot.
fn difference(
    path: &Path,
    asserted: &Content,
    new: &Content,
    header: &SnapshotHeader,
) -> Result<Option<String>> {
    let files = [path.to_owned(), pending(path)];
    let before = files.each_ref().map(|file| fs::read(file).ok());
    let (asserted, display) = printed(|| panics::catch(|| assert(path, &asserted.text())));
    for (file, before) in files.iter().zip(before) {
        let after = fs::read(file).ok();
        if after.is_some() && after != before {
            new.write_alone(file, header)?;
        }
    }
    let display = || {
        let lines = display.lines();
        let lines = lines.filter(|line| !NOT_OURS.iter().any(|start| line.starts_with(start)));
        lines.collect::<Vec<_>>().join("\n")
    };
    Ok(asserted.is_err().then(display))
}

/// Panics if the snapshot is missing or differs.
fn assert(path: &Path, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(path.parent().unwrap_or(Path::new(".")));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    settings.bind(|| insta::assert_snapshot!(&*name, text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Score;
    use crate::snapshot::{EpochContent, SampleContent, StoredParts, path};

    #[test]
    fn a_written_snapshot_is_one_for_insta_and_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let id = "a: \"b\"\n";
        let path = path(folder.path(), id);
        let mut record = crate::Record::scored(id, Score::binary(true));
        record.prompt = "x\n---\ny: \"z\" \u{2028}\u{85}\u{7f}é".into();
        record.ground_truth = serde_json::json!({"k": ["\t"]});
        record.result.prediction = Some("x\n---\nprediction: \"z\"".to_owned());
        record.question_hash = "00".to_owned();
        let header = SnapshotHeader::of(&record, false);
        let epochs = vec![EpochContent::of(&record, StoredParts::default())];
        let content = SampleContent::majority(epochs).unwrap().content;
        content.write(&path, &header).unwrap();
        assert_eq!(Content::read(&path).unwrap(), Some(content.clone()));
        assert(&path, &content.text());
        let metadata = insta::Snapshot::from_file(&path).unwrap();
        let metadata = metadata.metadata();
        assert_eq!(metadata.expression(), Some(id));
        assert_eq!(metadata.description(), Some(&*record.prompt));
        // As insta writes it on acceptance and reads it again.
        let snapshot = insta::Snapshot::from_file(&path).unwrap();
        snapshot.save(&path).unwrap();
        assert_eq!(Content::read(&path).unwrap(), Some(content));
    }
}
