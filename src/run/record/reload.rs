//! Reads a finished run from its directory.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::run::CiPolicy;
use crate::run::record::gathered::{GatheredRun, KnownFigures, RequestedGates};
use crate::snapshot::CommittedBaseline;
use crate::store::files::{RECORDS, SUMMARY};
use crate::store::{Manifest, RunDir, read_all_lean_records};
use crate::verdict::check;
use crate::verdict::conclude::Run;
use crate::verdict::gate::{Gate, of_tiers, with_default};
use crate::verdict::summary::Summary;

/// Reads a finished run from its directory and checks gates again: `gates`, or its own.
///
/// # Errors
/// When the run was killed before its end, or its baseline cannot be compared with it.
pub fn reload(dir: &RunDir, gates: Option<Vec<Gate>>, ci: CiPolicy) -> Result<Run> {
    let manifest = dir.manifest()?;
    // Other gates are checked alone, without anything else that decided the run.
    let others = gates.is_some();
    let folder = manifest.snapshot_folder();
    let committed = CommittedBaseline::open(&folder)?;
    let given = gates_of(&manifest)?;
    let (gates, failed_assertions) = if let Some(gates) = gates {
        (meant(gates, &manifest), Vec::new())
    } else {
        // A baseline that was judged otherwise since is no reason to refuse a run that names no gate.
        let is_fit = |scorer_hash| ["", &*manifest.scorer_hash].contains(&scorer_hash);
        let known = committed.as_ref().map(CommittedBaseline::scorer_hash);
        let has_baseline = known.is_some_and(is_fit);
        let gates = with_default(given.as_deref(), manifest.tier.as_deref(), has_baseline);
        (gates, manifest.failed_assertions.clone())
    };
    let needs_baseline = gates.iter().any(Gate::needs_baseline);
    if committed.is_none() && needs_baseline && manifest.baseline.is_some() {
        return Err(Error::usage(format!(
            "the baseline that run `{}` was compared with is not in `{}`",
            manifest.run_id,
            folder.display()
        ))
        .hint("run this command in the checkout that has the snapshots"));
    }
    let baseline = committed
        .map(|it| it.read_for(&manifest, &gates))
        .transpose()?;
    let mut gathered = GatheredRun::new(&manifest, &gates, baseline.as_ref());
    for record in read_all_lean_records(&dir.file(RECORDS))? {
        gathered.add(record?);
    }
    // The benchmark that computed them is not here.
    let known = Summary::read(&dir.file(SUMMARY)).ok();
    let known = known.map(|known| KnownFigures {
        metrics: known.metrics,
        not_judged: known.not_judged,
        progressive: known.progressive,
    });
    let run = gathered.conclude(
        dir,
        &RequestedGates {
            gates: &gates,
            others,
            given: given.as_deref(),
            ci,
            ignores_baseline: false,
        },
        known.unwrap_or_default(),
        failed_assertions,
    )?;
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

/// A finished run with the verdicts it ended with, which depend on how it was started, such as `CI`.
///
/// # Errors
/// See [`reload`].
pub fn reload_original(dir: &RunDir) -> Result<Run> {
    let mut run = reload(dir, None, CiPolicy::default())?;
    run.summary = Summary::read(&dir.file(SUMMARY))?;
    Ok(run)
}

/// The gates that a run had of its own; `None` if its eval says nothing of gates.
pub(in crate::run) fn gates_of(manifest: &Manifest) -> Result<Option<Vec<Gate>>> {
    let Some(gates) = manifest.config.get("gates") else {
        return Ok(None);
    };
    let gates = gates.as_array().into_iter().flatten();
    let gates = gates.filter_map(Value::as_str).map(str::parse);
    Ok(Some(meant(gates.collect::<Result<_>>()?, manifest)))
}

/// Gates adapted to the eval of a run.
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
