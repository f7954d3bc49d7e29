//! `Facts`: all that a run is judged by.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::DetailBounds;
use crate::store::RunPart;
use crate::verdict::baseline::{Baseline, CurrentSample};
use crate::verdict::judged::calibrated::CalibratedJudge;
use crate::verdict::look::EarlyLook;
use crate::verdict::progressive::Progressive;
use crate::verdict::summary::Summary;

/// All that a run is judged by: [`Gate::check`](crate::Gate::check) and the exit code depend on nothing else.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that do not depend on each other"
)]
pub struct Facts<'a> {
    /// The figures; `gates` and `exit_code` are what comes of the facts, and not set yet.
    pub summary: Summary,
    /// The samples one by one, for `no_regression` and for latency percentiles that the summary does not have; empty
    /// where no gate looks at them.
    pub current: Vec<CurrentSample>,
    /// Records with an answer, whatever became of it.
    pub answered: u64,
    /// Samples that were selected, each counted once.
    pub selected: u64,
    /// Samples of the eval. With some of them not selected, gates are ignored.
    pub total: u64,
    /// Whether somebody asked for fewer samples than the eval is to have, by `--limit`: gates are ignored then, too.
    /// The limit of the eval itself is its size.
    pub partial: bool,
    /// The tier that ran, if it was one.
    pub tier: Option<String>,
    /// The largest tier, where that one is smaller: gates that name none are asked there.
    pub below_tier: Option<String>,
    /// How far the run came, if it goes on tier by tier.
    pub progressive: Option<Progressive>,
    /// What it is a part of, if others complete it: whoever puts all together judges.
    pub part: Option<RunPart>,
    /// Whether ignored gates are fine in continuous integration.
    pub allow_ignored: bool,
    /// How low and how high the details of scores can be, where their scorers tell: what could not be judged counts as
    /// both.
    pub detail_bounds: DetailBounds,
    /// The scorers that ask a judge, by name, beside labels of people.
    pub calibrated: BTreeMap<String, CalibratedJudge>,
    /// Scorers that have agents work out what is true: labels of people say nothing of them.
    pub solvers: BTreeSet<String>,
    /// The accepted run, for `no_regression`.
    pub baseline: Option<&'a Baseline>,
    /// Whether a baseline that is there was left aside.
    pub ignores_baseline: bool,
    /// What judged: the hash of the scorers and of the extraction, which a baseline has as well. `None` where that is not
    /// known.
    pub scorer_hash: Option<String>,
    /// The prompt around the questions: the preset with a hash of its text. `None` where that is not known.
    pub prompt: Option<String>,
    /// Names the dataset whose questions and answers key masked hashes, where there are some.
    pub mask_id: Option<String>,
    /// Why it ended before every selected sample was asked, if it did.
    pub stop: Option<Stop>,
    /// How far the looks of gates that may stop early are; `None` where nobody looks.
    pub look: Option<EarlyLook>,
    /// Names of gates that were green at a look before: they stay so.
    pub green: Vec<String>,
    /// Whether each sample must have a verdict, as under `assert: exact` and `correct`: an outage leaves the question
    /// open there.
    pub needs_every_verdict: bool,
    /// Ids of the samples that failed their snapshot under `assert: exact` or `correct`.
    pub failed_assertions: &'a [String],
    /// Whether this runs in continuous integration, where a missing baseline is a failure, and an ignored gate leaves
    /// the question open.
    pub ci: bool,
}

/// Why a run ended before every sample was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A person or the system asked for it.
    Interrupted,
    /// The agent refused the eval itself: no such key, model or address.
    Misconfigured,
    /// Something else kept it from going on: `fail_fast`, a budget, a full disk, too many agents that hang.
    Early,
    /// Every gate was sure: nothing was left to find out.
    Sure,
}

impl Facts<'_> {
    /// Whether less was asked than the eval as it is defined.
    pub(crate) fn is_partial(&self) -> bool {
        self.partial || self.selected < self.total || self.part.is_some()
    }

    /// Those of a whole run that nothing stopped, outside of continuous integration and without a baseline.
    pub fn of(summary: Summary) -> Self {
        Self {
            summary,
            current: Vec::new(),
            answered: 0,
            selected: 0,
            total: 0,
            partial: false,
            tier: None,
            below_tier: None,
            progressive: None,
            part: None,
            allow_ignored: false,
            detail_bounds: DetailBounds::new(),
            calibrated: BTreeMap::new(),
            solvers: BTreeSet::new(),
            baseline: None,
            ignores_baseline: false,
            scorer_hash: None,
            prompt: None,
            mask_id: None,
            stop: None,
            look: None,
            green: Vec::new(),
            needs_every_verdict: false,
            failed_assertions: &[],
            ci: false,
        }
    }
}
