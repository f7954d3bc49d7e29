//! Examples of `merge`.

use super::CliExample;

/// Of shards.
pub(super) const MERGE: &[CliExample] = &[
    (
        "merge shards",
        "the shards in a folder, of each the newest that is whole",
    ),
    (
        "merge shard-1 shard-2 -o merged --junit results.xml",
        "these two, into a directory of this name",
    ),
];
