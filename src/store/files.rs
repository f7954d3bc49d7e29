//! The files of a run directory, by their names.

use std::fs::FileType;
use std::path::Path;

use crate::system::file::is_temporary;

/// What was run: the eval, its settings, and a hash of each other file.
pub const MANIFEST: &str = "manifest.json";
/// The journal. The figures of a finished run do not depend on it.
pub const JOURNAL: &str = "events.jsonl";
/// The records, from which everything else is computed.
pub const RECORDS: &str = "samples.jsonl";
/// The records without a verdict.
pub const ERRORS: &str = "errors.jsonl";
/// The figures, for programs.
pub const SUMMARY: &str = "summary.json";
/// The same for people.
pub const SUMMARY_PAGE: &str = "summary.md";

/// The places in the dataset of a partial run's samples.
pub const PLACES: &str = "places.json";
/// People's verdicts on its answers, if the run was reviewed.
pub const VERIFICATIONS: &str = "verifications.json";

/// Files with a hash in the manifest.
pub(super) const HASHED: [&str; 6] = [RECORDS, JOURNAL, ERRORS, SUMMARY, SUMMARY_PAGE, PLACES];

/// Where the lines of each sample are in the records and in the journal of a large run.
const INDEXES: [&str; 2] = ["samples.index", "events.index"];
/// The records in order of arrival, until the run ends.
pub(crate) const SPOOL: &str = "samples.jsonl.part";
/// The folder of the agent's attempts.
pub(crate) const SCRATCH: &str = "scratch";

/// Whether a run writes a file of this name into its directory, or its temporary file.
pub(crate) fn is_of_run(name: &str) -> bool {
    let of_run = || HASHED.into_iter().chain([MANIFEST]).chain(INDEXES);
    let is_unfinished = |end: &str| end == ".tmp" || is_temporary(end);
    name == SPOOL
        || of_run().any(|known| {
            name.strip_prefix(known)
                .is_some_and(|end| end.is_empty() || is_unfinished(end))
        })
}

/// Whether an entry of a run directory was made by the run alone: its files, and `scratch` with empty folders in it.
pub(crate) fn is_made_by_run(path: &Path, kind: FileType) -> bool {
    if kind.is_dir() {
        return path.starts_with(SCRATCH);
    }
    path.to_str().is_some_and(is_of_run)
}
