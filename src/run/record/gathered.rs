//! `GatheredRun`: a finished run, judged by its records and manifest.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use crate::data::Record;
use crate::error::Result;
use crate::run::CiPolicy;
use crate::run::judge::calibrations;
use crate::store::{Manifest, RunDir, RunStatus};
use crate::system::project::display;
use crate::text::shell_word;
use crate::verdict::baseline::Baseline;
use crate::verdict::baseline::readers::{Readers, UsedReaders};
use crate::verdict::check::changed_since;
use crate::verdict::conclude::{Notable, Run};
use crate::verdict::facts::{Facts, Stop};
use crate::verdict::gate::Gate;
use crate::verdict::gather::Gathered;
use crate::verdict::result::InterimAnalysis;
use crate::verdict::result::Progressive;
use crate::verdict::summary::account::Decides;
use crate::verdict::summary::{self, SummaryBuilder};

/// Takes the records of a run in dataset order, and judges it when it has them all.
pub(in crate::run) struct GatheredRun<'a> {
    manifest: &'a Manifest,
    baseline: Option<&'a Baseline>,
    gathered: Gathered<'a>,
    notable: Notable,
    records: Vec<Record>,
    /// The hash over the ids that the baseline also has.
    common: Option<String>,
}

/// Figures of a run that its records do not give.
#[derive(Default)]
pub(in crate::run) struct KnownFigures {
    /// The benchmark's own aggregates.
    pub(in crate::run) metrics: Map<String, Value>,
    /// Answers without a verdict because the run was stopped.
    pub(in crate::run) not_judged: u64,
    pub(in crate::run) progressive: Option<Progressive>,
}

/// Which gates to check, and in what context.
pub(in crate::run) struct RequestedGates<'a> {
    pub(in crate::run) gates: &'a [Gate],
    /// The gates that the run's eval gives, if it says anything of gates.
    pub(in crate::run) given: Option<&'a [Gate]>,
    /// These are not the run's own gates: they are checked alone, without anything else that decided the run.
    pub(in crate::run) others: bool,
    pub(in crate::run) ci: CiPolicy,
    /// Ignore an existing baseline.
    pub(in crate::run) ignores_baseline: bool,
}

/// Notices about the reading of the answers of a run, each with the command that shows one.
pub(in crate::run) fn reading_notices(run: &Run) -> Vec<String> {
    let dir = shell_word(&display(&run.dir));
    summary::reading_notices(&run.summary, &dir)
}

impl<'a> GatheredRun<'a> {
    /// Without records yet, for these gates.
    pub(in crate::run) fn new(
        manifest: &'a Manifest,
        gates: &[Gate],
        baseline: Option<&'a Baseline>,
    ) -> Self {
        let summary = SummaryBuilder::new(&*manifest.eval)
            .scorer(manifest.scorers.first().map(String::as_str))
            .extract(manifest.scorer_extract.clone().or(manifest.extract.clone()))
            .items(
                manifest
                    .judges_items()
                    .then(|| manifest.detail_bounds.clone()),
            )
            .epochs(manifest.epochs);
        Self {
            manifest,
            baseline,
            gathered: Gathered::new(summary, gates, baseline).replays(manifest.replays()),
            notable: Notable::default(),
            records: Vec::new(),
            common: None,
        }
    }

    /// Adds a record.
    pub(in crate::run) fn add(&mut self, mut record: Record) {
        self.gathered.add(&record);
        if record.perturb.is_some() {
            return;
        }
        let is_common = |baseline: &Baseline| baseline.id_of(&record.sample_id).is_some();
        if self.common.is_none() && self.baseline.is_some_and(is_common) {
            self.common = Some(record.sample_id.clone());
        }
        if self.notable.takes(&record) {
            record.abridge();
            self.records.push(record);
        }
    }

    /// The run, whose records are in `dir`.
    ///
    /// # Errors
    /// When its baseline cannot be compared with it.
    pub(in crate::run) fn conclude(
        self,
        dir: &RunDir,
        requested: &RequestedGates<'_>,
        known: KnownFigures,
        failed_assertions: Vec<String>,
    ) -> Result<Run> {
        let manifest = self.manifest;
        let mut notices = Vec::new();
        if let Some(baseline) = self.baseline
            && requested.gates.iter().any(Gate::needs_baseline)
        {
            notices.extend(other_reader(baseline, manifest));
            notices.extend(changed_since(baseline));
            let ids = self.common.iter().map(String::as_str);
            baseline.check_comparable(&manifest.scorer_hash, ids)?;
        }
        let analysis = analysis_of(manifest);
        let stop = stop_of(manifest, analysis);
        let interruption = stop.filter(|stop| *stop != Stop::Sure);
        let killed = || "it was killed".to_owned();
        let stop_reason = interruption.map(|_| manifest.stop_reason.clone().unwrap_or_else(killed));
        let (mut gathered, flips) = self.gathered.finish(known.metrics);
        gathered.summary.not_judged = known.not_judged;
        let baseline = self.baseline;
        let within = baseline.map(|baseline| within(baseline, manifest, &gathered));
        let mut facts = Facts {
            decides: if requested.others || manifest.part.is_some() {
                Decides::Others
            } else {
                Decides::of(requested.given, manifest.asserts())
            },
            baseline: within.as_deref(),
            ignores_baseline: requested.ignores_baseline,
            detail_bounds: manifest.detail_bounds.clone(),
            part: manifest.part.clone(),
            // A gate that is requested now is about this run.
            below_tier: manifest.below_tier.clone().filter(|_| !requested.others),
            progressive: known.progressive.filter(|_| !requested.others),
            stop,
            needs_every_verdict: !requested.others && manifest.asserts(),
            failed_assertions: &failed_assertions,
            ci: requested.ci.is_set,
            allow_ignored: requested.ci.allow_ignored,
            // A rescored run judges anew.
            allow_cached: requested.ci.allow_cached || manifest.parent.is_some(),
            scorer_hash: Some(manifest.scorer_hash.clone()),
            ..with_manifest(gathered, manifest)
        };
        calibrations::add(&mut facts, dir, manifest)?;
        facts.summary.reviewed = dir.reviewed(manifest)?;
        Ok(Run {
            eval: manifest.eval.clone(),
            dir: dir.path().to_owned(),
            records: self.records,
            summary: facts.conclude(requested.gates),
            flips,
            failed_assertions,
            differences: BTreeMap::new(),
            stop_reason,
            notices,
            duration_s: manifest.duration_s.unwrap_or_default(),
        })
    }
}

/// The facts of a run with those of its manifest that hold for its answers, whoever judges them.
pub(in crate::run) fn with_manifest<'a>(gathered: Facts<'a>, manifest: &Manifest) -> Facts<'a> {
    Facts {
        total: manifest.samples as u64,
        left_out: manifest.left_out,
        partial: manifest.is_limited(),
        limit: manifest.own_limit(),
        tier: manifest.tier.clone(),
        below_tier: manifest.below_tier.clone(),
        analysis: analysis_of(manifest),
        green: green_of(manifest),
        prompt: manifest.prompt.clone(),
        mask_ids: manifest.mask_ids(),
        ..gathered
    }
}

/// The notice that the baseline of a run was read by another version of the reader, if it was.
pub(in crate::run) fn other_reader(baseline: &Baseline, manifest: &Manifest) -> Option<String> {
    let now = Readers::of_run(manifest);
    baseline.readers.notice(now, UsedReaders::of_run(manifest))
}

/// The baseline without the samples that a tier or the command line excludes: those are not missing.
pub(in crate::run) fn within<'a>(
    baseline: &'a Baseline,
    manifest: &Manifest,
    facts: &Facts<'_>,
) -> Cow<'a, Baseline> {
    if manifest.tier.is_none() && !manifest.is_limited() && manifest.only.is_none() {
        return Cow::Borrowed(baseline);
    }
    Cow::Owned(of_current(baseline, facts))
}

/// The baseline with the samples of these facts alone.
pub(in crate::run) fn of_current(baseline: &Baseline, facts: &Facts<'_>) -> Baseline {
    let current = facts.current.iter();
    let ids = current.flat_map(|sample| [Some(sample.id()), sample.older_id()]);
    let ids: HashSet<_> = ids.flatten().collect();
    baseline.with_samples(|id| ids.contains(id))
}

/// Why a run ended before every sample was asked, if it did.
fn stop_of(manifest: &Manifest, analysis: Option<InterimAnalysis>) -> Option<Stop> {
    match manifest.status {
        RunStatus::Finished => None,
        RunStatus::Interrupted => Some(Stop::Interrupted),
        RunStatus::Stopped if analysis.is_some_and(InterimAnalysis::is_early) => Some(Stop::Sure),
        RunStatus::Stopped | RunStatus::Running => Some(Stop::Early),
    }
}

/// The interim analysis that a run ended at, if gates made any.
pub(in crate::run) fn analysis_of(manifest: &Manifest) -> Option<InterimAnalysis> {
    let early = manifest.early_stop.as_ref()?;
    Some(InterimAnalysis::new(early.analysis, early.analyses))
}

/// The gates that were green at an interim analysis.
fn green_of(manifest: &Manifest) -> Vec<String> {
    let early = manifest.early_stop.as_ref();
    early.map(|early| early.green.clone()).unwrap_or_default()
}
