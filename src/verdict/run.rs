//! `Run`: the result of a finished run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::data::{Record, Status};
use crate::verdict::baseline::Flip;
use crate::verdict::summary::Summary;

/// In the stop reason of a run whose agent must be fixed; such a run cannot be resumed.
pub(crate) const FIX_HINT: &str = "hint: mend the agent";

/// Selects the records that the report of a run names: those without an answer or without a verdict of some scorer, and
/// the first wrong one.
#[derive(Default)]
pub(crate) struct Notable {
    errors: usize,
    unjudged: usize,
    wrong: bool,
}

impl Notable {
    /// Limits memory in an outage; `errors.jsonl` has all errors.
    const MOST: usize = 10_000;

    pub(crate) fn takes(&mut self, record: &Record) -> bool {
        let result = &record.result;
        if result.status.is_error() || result.is_failure_as_wrong() {
            self.errors += 1;
            return self.errors <= Self::MOST;
        }
        let is_wrong = result.status == Status::Scored && !result.is_correct();
        let is_first_wrong = is_wrong && !std::mem::replace(&mut self.wrong, true);
        let is_unjudged = result.unjudged_beside().next().is_some();
        self.unjudged += usize::from(is_unjudged);
        is_first_wrong || is_unjudged && self.unjudged <= Self::MOST
    }
}

/// A finished run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Run {
    /// The eval's name.
    pub eval: String,
    /// The run directory.
    pub dir: PathBuf,
    /// Every sample with its outcome, in dataset order. Prompts, outputs and metadata are on disk only, and long texts
    /// are abridged; see [`Run::whole_records`]. For a run by the command line or a rescored one, only records without
    /// a verdict of some scorer, and the first wrong one.
    pub records: Vec<Record>,
    /// The figures and the verdicts of the gates.
    pub summary: Summary,
    /// Samples that flipped since the baseline.
    pub flips: Vec<Flip>,
    /// Samples whose assertion failed under `exact` and `correct`.
    pub failed_assertions: Vec<String>,
    /// How the first of them differ from their snapshots, by id: for a run of `cargo evaltest` under `exact`.
    pub differences: BTreeMap<String, String>,
    /// Why the run stopped early.
    pub stop_reason: Option<String>,
    /// Notices that are not errors.
    pub notices: Vec<String>,
    /// Wall time in seconds.
    pub duration_s: f64,
}
