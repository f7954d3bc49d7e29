//! Examples of the commands that read histories.

use super::CliExample;

/// Of `trend`.
pub(super) const TREND: &[CliExample] = &[
    (
        "trend",
        "the last twenty runs of each eval that has a history",
    ),
    ("trend gaia --last 0", "all of one eval"),
    (
        "trend --html trend.html",
        "pictures of all figures, as a page",
    ),
];
