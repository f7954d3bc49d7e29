//! `Run`: all of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::data::{Record, Status};
use crate::verdict::baseline::Flip;
use crate::verdict::summary::Summary;

/// What the reason says of a run that stopped because its agent must be changed, which such a run cannot go on with.
pub(crate) const MEND: &str = "hint: mend the agent";

/// Picks the records of a run that its report names: those without an answer or without the verdict of one of its
/// scorers, and the first that is wrong.
#[derive(Default)]
pub(crate) struct Notable {
    errors: usize,
    unjudged: usize,
    wrong: bool,
}

impl Notable {
    /// An outage of everything must not fill the memory: `errors.jsonl` has them all.
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
    /// Every sample with its outcome, in dataset order. Prompts, outputs and metadata are on disk only, and long
    /// texts are abridged; see [`Run::whole_records`]. Of a run that was driven by the command or
    /// scored again those without a verdict of all of its scorers, and the first that is wrong.
    pub records: Vec<Record>,
    /// Figures, and the verdicts of the gates.
    pub summary: Summary,
    /// Samples that changed sides since the baseline.
    pub flips: Vec<Flip>,
    /// Samples whose assertion failed under `exact` and `correct`.
    pub failed_assertions: Vec<String>,
    /// How the first of them differ from their snapshots, by id: of a run of `cargo evaltest` under `exact`, which
    /// asserts.
    pub differences: BTreeMap<String, String>,
    /// Why the run stopped early.
    pub stop_reason: Option<String>,
    /// Things worth knowing that are no errors.
    pub notices: Vec<String>,
    /// Wall time in seconds.
    pub duration_s: f64,
}
