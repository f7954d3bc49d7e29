//! A run that is over, read again from its directory.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::run::calibrations;
use crate::snapshot;
use crate::store::files::{RECORDS, SUMMARY};
use crate::store::{Manifest, RunDir, RunStatus, read_records};
use crate::verdict::baseline::Baseline;
use crate::verdict::check;
use crate::verdict::facts::{Facts, Stop};
use crate::verdict::gate::{Gate, of_tiers, with_default};
use crate::verdict::gather::Gathered;
use crate::verdict::look::EarlyLook;
use crate::verdict::run::{Notable, Run};
use crate::verdict::summary::{Summary, SummaryBuilder};

/// A finished run, read from its directory, with gates checked again: `gates`, or those the run had.
///
/// # Errors
/// When the run was killed before its end, or its baseline cannot be compared with it.
pub fn reload(
    dir: &RunDir,
    gates: Option<Vec<Gate>>,
    ci: bool,
    allow_ignored: bool,
) -> Result<Run> {
    let manifest = dir.manifest()?;
    // Other gates are asked for alone, without what else decided the run.
    let others = gates.is_some();
    let (gates, failed_assertions) = if let Some(gates) = gates {
        (meant(gates, &manifest), Vec::new())
    } else {
        let gates = with_default(&gates_of(&manifest)?, manifest.tier.as_deref());
        (gates, manifest.failed_assertions.clone())
    };
    let needs_baseline = gates.iter().any(Gate::needs_baseline);
    let folder = manifest.snapshot_folder();
    let baseline = snapshot::read_baseline(&folder)?;
    if baseline.is_none() && needs_baseline && manifest.baseline.is_some() {
        return Err(Error::usage(format!(
            "the baseline that run `{}` was compared with is not in `{}`",
            manifest.run_id,
            folder.display()
        ))
        .hint("check this in the checkout that has the snapshots"));
    }
    let look = look_of(&manifest);
    let stop = stop_of(&manifest, look);
    let cut_short = stop.filter(|stop| *stop != Stop::Sure);
    let killed = || "it was killed".to_owned();
    let stop_reason = cut_short.map(|_| manifest.stop_reason.clone().unwrap_or_else(killed));
    let summary = SummaryBuilder::new(&*manifest.eval)
        .scorer(manifest.scorers.first().map(String::as_str))
        .epochs(manifest.epochs);
    let mut gathered = Gathered::new(summary, &gates, baseline.as_ref());
    let (mut notable, mut records) = (Notable::default(), Vec::new());
    // Of the ids that the baseline has, too.
    let mut common = None;
    for record in read_records(&dir.file(RECORDS))? {
        let mut record = record?;
        gathered.add(&record);
        let is_common = |baseline: &Baseline| baseline.samples.contains_key(&record.sample_id);
        if common.is_none() && baseline.as_ref().is_some_and(is_common) {
            common = Some(record.sample_id.clone());
        }
        if notable.takes(&record) {
            record.abridge();
            records.push(record);
        }
    }
    if let Some(baseline) = &baseline
        && needs_baseline
    {
        let ids = common.iter().map(String::as_str);
        baseline.check_comparable(&manifest.scorer_hash, ids)?;
    }
    // The benchmark that worked them out is not here.
    let known = Summary::read(&dir.file(SUMMARY)).ok();
    let (metrics, not_judged, progressive) = known
        .map(|known| (known.metrics, known.not_judged, known.progressive))
        .unwrap_or_default();
    let (mut gathered, flips) = gathered.finish(metrics);
    gathered.summary.not_judged = not_judged;
    let asked = baseline
        .as_ref()
        .map(|baseline| within(baseline, &manifest, &gathered));
    let mut facts = Facts {
        baseline: asked.as_deref(),
        total: manifest.samples as u64,
        detail_bounds: manifest.detail_bounds.clone(),
        partial: manifest.is_limited(),
        tier: manifest.tier.clone(),
        // Who asks for a gate now means this run.
        below_tier: manifest.below_tier.clone().filter(|_| !others),
        progressive: progressive.filter(|_| !others),
        stop,
        look,
        green: green_of(&manifest),
        failed_assertions: &failed_assertions,
        ci,
        allow_ignored,
        scorer_hash: Some(manifest.scorer_hash.clone()),
        prompt: manifest.prompt.clone(),
        mask_id: manifest.mask_id.clone(),
        ..gathered
    };
    calibrations::add(&mut facts, dir, &manifest);
    facts.summary.reviewed = dir.reviewed(&manifest)?;
    let run = Run {
        eval: manifest.eval.clone(),
        dir: dir.path().to_owned(),
        records,
        summary: facts.conclude(&gates),
        flips,
        failed_assertions,
        differences: BTreeMap::new(),
        stop_reason,
        notices: Vec::new(),
        duration_s: manifest.duration_s.unwrap_or_default(),
    };
    if others {
        let known = check::Known {
            means: Some(check::KnownMeans::of(&run.summary, &manifest.detail_bounds)),
            bounds: manifest.detail_bounds.clone(),
            tiers: tiers_of(&manifest),
            ..check::Known::of_run(&run.summary, &manifest.scorers, manifest.epochs)
        };
        gates.iter().try_for_each(|gate| gate.validate(&known))?;
    }
    Ok(run)
}

/// A finished run as it was judged when it ended: what it was started with, such as `CI`, decided its verdicts.
///
/// # Errors
/// As [`reload`].
pub fn as_judged(dir: &RunDir) -> Result<Run> {
    let mut run = reload(dir, None, false, false)?;
    run.summary = Summary::read(&dir.file(SUMMARY))?;
    Ok(run)
}

/// The baseline without what the eval's own limit or its tier leaves out: what was not to be asked is not gone.
pub(super) fn within<'a>(
    baseline: &'a Baseline,
    manifest: &Manifest,
    facts: &Facts<'_>,
) -> Cow<'a, Baseline> {
    let limit = manifest.config.pointer("/limits/limit");
    if limit.is_none_or(Value::is_null) && manifest.tier.is_none() {
        return Cow::Borrowed(baseline);
    }
    let mut baseline = baseline.clone();
    let current = facts.current.iter();
    let asked: HashSet<&str> = current.map(|sample| sample.id.as_str()).collect();
    baseline.samples.retain(|id, _| asked.contains(id.as_str()));
    Cow::Owned(baseline)
}

/// Why a run ended before every sample was asked, if it did.
fn stop_of(manifest: &Manifest, look: Option<EarlyLook>) -> Option<Stop> {
    match manifest.status {
        RunStatus::Finished => None,
        RunStatus::Interrupted => Some(Stop::Interrupted),
        RunStatus::Stopped if look.is_some_and(EarlyLook::is_early) => Some(Stop::Sure),
        RunStatus::Stopped | RunStatus::Running => Some(Stop::Early),
    }
}

/// The look that a run ended at, if gates looked.
pub(super) fn look_of(manifest: &Manifest) -> Option<EarlyLook> {
    let early = manifest.early_stop.as_ref()?;
    Some(EarlyLook::new(early.look, early.looks))
}

/// The gates that were green at a look of a run.
pub(super) fn green_of(manifest: &Manifest) -> Vec<String> {
    let early = manifest.early_stop.as_ref();
    early.map(|early| early.green.clone()).unwrap_or_default()
}

/// The gates that a run had of its own.
pub(super) fn gates_of(manifest: &Manifest) -> Result<Vec<Gate>> {
    let gates = manifest
        .config
        .get("gates")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let gates = gates.filter_map(Value::as_str).map(str::parse);
    Ok(meant(gates.collect::<Result<_>>()?, manifest))
}

/// Gates as they are meant of the eval of a run.
fn meant(gates: Vec<Gate>, manifest: &Manifest) -> Vec<Gate> {
    of_tiers(gates, !tiers_of(manifest).is_empty())
}

/// The names of the tiers of a run's eval.
fn tiers_of(manifest: &Manifest) -> Vec<String> {
    let tiers = manifest.config.get("tiers").and_then(Value::as_object);
    tiers
        .map(|tiers| tiers.keys().cloned().collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
