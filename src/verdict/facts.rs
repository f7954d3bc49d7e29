//! `Facts`: everything that the verdict on a run depends on.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::DetailBounds;
use crate::store::RunPart;
use crate::verdict::baseline::{Baseline, CurrentSamples};
use crate::verdict::judged::calibrated::CalibratedJudge;
use crate::verdict::result::InterimAnalysis;
use crate::verdict::result::Progressive;
use crate::verdict::summary::Summary;
use crate::verdict::summary::account::{Account, Decides};

/// Everything that the verdict on a run depends on: [`Gate::check`](crate::Gate::check) and the exit code use nothing
/// else.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that do not depend on each other"
)]
pub struct Facts<'a> {
    /// The figures; `gates` and `exit_code` are results and not set yet.
    pub summary: Summary,
    /// The individual samples, for `no_regression` and for latency percentiles that the summary lacks; empty if no gate
    /// needs them.
    pub current: CurrentSamples,
    /// Records with an answer, of any status.
    pub answered: u64,
    /// Selected samples, each counted once.
    pub selected: u64,
    /// Samples of the eval. If not all are selected, gates are ignored.
    pub total: u64,
    /// Whether `--limit` asked for fewer samples than the eval has: gates are then ignored, too. A limit in the eval
    /// itself defines its size.
    pub partial: bool,
    /// The spec's own limit of samples, if it has one.
    pub limit: Option<u64>,
    /// The tier of the run, if it has one.
    pub tier: Option<String>,
    /// The largest tier, if the run is of a smaller one: gates without a tier are evaluated there.
    pub below_tier: Option<String>,
    /// The progress through tiers, if the run goes on tier by tier.
    pub progressive: Option<Progressive>,
    /// Which part of a run it is, if others complete it: gates are left to the merge.
    pub part: Option<RunPart>,
    /// Whether ignored gates are acceptable in continuous integration.
    pub allow_ignored: bool,
    /// Whether a comparison with the baseline may consist of answers from the cache in continuous integration.
    pub allow_cached: bool,
    /// The lowest and highest values of score details, if scorers declare them; unjudged answers count as both.
    pub detail_bounds: DetailBounds,
    /// The scorers that use a judge, by name, with their calibration by labels of people.
    pub calibrated: BTreeMap<String, CalibratedJudge>,
    /// Scorers that have agents find the true answer; labels of people do not apply to them.
    pub solvers: BTreeSet<String>,
    /// What became of the samples, as far as their records say.
    pub account: Account,
    /// Samples that a limit or a tier left out of the run, without those of the baseline that are missing from it.
    pub left_out: u64,
    /// What must decide the run.
    pub decides: Decides,
    /// The accepted run, for `no_regression`.
    pub baseline: Option<&'a Baseline>,
    /// Whether an existing baseline was ignored.
    pub ignores_baseline: bool,
    /// Hash of the scorers and the extraction, as in a baseline. `None` if unknown.
    pub scorer_hash: Option<String>,
    /// The prompt around the questions: the preset with a hash of its text. `None` if unknown.
    pub prompt: Option<String>,
    /// What identifies the dataset that keys masked hashes, if there are any: in this version, and in older ones if that
    /// differs.
    pub mask_ids: [Option<String>; 2],
    /// Why the run ended before every selected sample was asked, if it did.
    pub stop: Option<Stop>,
    /// The current interim analysis of gates that may stop early; `None` without such gates.
    pub analysis: Option<InterimAnalysis>,
    /// Names of gates that were green at an earlier analysis, which is final.
    pub green: Vec<String>,
    /// Whether each sample must have a verdict, as under `assert: exact` and `correct`: an outage then leaves the run
    /// undecided.
    pub needs_every_verdict: bool,
    /// Ids of the samples that failed their snapshot under `assert: exact` or `correct`.
    pub failed_assertions: &'a [String],
    /// Whether this is continuous integration, where a missing baseline is a failure, and an ignored gate leaves the
    /// run undecided.
    pub ci: bool,
}

/// Why a run ended before every sample was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Requested by a person or the system.
    Interrupted,
    /// The agent rejected the configuration: a wrong key, model or address.
    Misconfigured,
    /// Another reason: `fail_fast`, a budget, a full disk, too many agents that hang.
    Early,
    /// Every gate was decided.
    Sure,
}

impl Facts<'_> {
    /// Whether less was asked than the full eval.
    pub(crate) fn is_partial(&self) -> bool {
        self.partial || self.selected < self.total || self.part.is_some()
    }

    /// Facts of a complete run, outside of continuous integration and without a baseline.
    pub fn of(summary: Summary) -> Self {
        Self {
            summary,
            current: CurrentSamples::default(),
            answered: 0,
            selected: 0,
            total: 0,
            partial: false,
            limit: None,
            tier: None,
            below_tier: None,
            progressive: None,
            part: None,
            allow_ignored: false,
            allow_cached: false,
            detail_bounds: DetailBounds::new(),
            calibrated: BTreeMap::new(),
            solvers: BTreeSet::new(),
            account: Account::default(),
            left_out: 0,
            decides: Decides::Others,
            baseline: None,
            ignores_baseline: false,
            scorer_hash: None,
            prompt: None,
            mask_ids: [None, None],
            stop: None,
            analysis: None,
            green: Vec::new(),
            needs_every_verdict: false,
            failed_assertions: &[],
            ci: false,
        }
    }
}
