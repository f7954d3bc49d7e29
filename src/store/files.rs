//! The files of a run directory, by their names.

use std::path::Path;

/// What the run was: of which eval, with which settings, and a hash of each other file.
pub const MANIFEST: &str = "manifest.json";
/// The journal. The figures of a finished run are not read from it.
pub const JOURNAL: &str = "events.jsonl";
/// The records, of which everything else is made.
pub const RECORDS: &str = "samples.jsonl";
/// Those of them that have no verdict.
pub const ERRORS: &str = "errors.jsonl";
/// The figures, for programs.
pub const SUMMARY: &str = "summary.json";
/// The same for people.
pub const SUMMARY_PAGE: &str = "summary.md";

/// Where the samples of a part of a run stand in the dataset.
pub const PLACES: &str = "places.json";
/// What people say of its answers, of a run that was reviewed.
pub const VERIFICATIONS: &str = "verifications.json";

/// Those that have a hash in the manifest.
pub(super) const HASHED: [&str; 6] = [RECORDS, JOURNAL, ERRORS, SUMMARY, SUMMARY_PAGE, PLACES];

/// Whether evaltest writes a file of this name into a run directory, or one beside it until that is whole.
pub(crate) fn is_of_run(name: &str) -> bool {
    let is_unfinished = Path::new(name).extension() == Some("tmp".as_ref());
    name == MANIFEST || HASHED.contains(&name) || is_unfinished
}
