//! What a gate is judged by.

use crate::verdict::baseline::{Baseline, CurrentSample};

/// What a gate may look at besides the summary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// The accepted run, for `no_regression`.
    pub baseline: Option<&'a Baseline>,
    /// The samples of this run, for `no_regression` and for latency percentiles that the summary does not
    /// have.
    pub current: &'a [CurrentSample],
    /// Whether this runs in continuous integration, where a missing baseline is a failure.
    pub ci: bool,
    /// The name of the deciding scorer, so that `accuracy(NAME)` also works when it is the only one.
    pub scorer: Option<&'a str>,
    /// (selected, all) samples, when a filter was given: with some left out, gates are ignored.
    pub selected: Option<(u64, u64)>,
}
