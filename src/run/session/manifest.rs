//! The manifest of a run that starts now.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::options::{RunOptions, RunOrigin};
use crate::error::Result;
use crate::eval::Eval;
use crate::eval::plan::Plan;
use crate::run::ask::identity::AgentIdentity;
use crate::run::judge::calibrations;
use crate::scorer::detail_bounds;
use crate::store::manifest::{ProgressiveRun, environment};
use crate::store::{FORMAT_VERSION, Manifest, RunDir, RunStatus};
use crate::system::project;
use crate::verdict::baseline::Baseline;
use crate::verdict::baseline::readers::Readers;

/// The root of an eval's project.
pub(in crate::run) fn root_of(eval: &Eval) -> Option<PathBuf> {
    let origin = eval.spec.as_deref().and_then(Path::parent);
    let origin = origin.map_or_else(project::package_root, Path::to_owned);
    project::root_of(&origin)
}

/// The resolved eval, redacted.
pub(in crate::run) fn config_of(plan: &Plan) -> Value {
    let mut config = plan.eval.describe();
    plan.redactor.config(&mut config);
    if plan.eval.masks_answers() {
        hide_samples(&mut config);
    }
    config
}

/// The manifest of a run that starts now.
pub(in crate::run) fn new_manifest(
    plan: &Plan,
    dir: &RunDir,
    options: &RunOptions,
    identity: AgentIdentity,
    selected: usize,
) -> Result<Manifest> {
    let snapshots = crate::system::file::absolute(&plan.eval.snapshot.folder)?;
    let coverage = options.scope.coverage.as_ref();
    let eval = &plan.eval;
    let root = root_of(eval).unwrap_or_else(project::root);
    let config = config_of(plan);
    let overrides = eval.overrides.iter().cloned().map(|mut change| {
        if eval.masks_answers() && change.key.starts_with("benchmark.samples") {
            change.value = MASKED.into();
        }
        // As a map entry, so that redaction sees the key's name.
        let mut entry = serde_json::json!({ &change.key: change.value });
        plan.redactor.config(&mut entry);
        if eval.masks_answers() {
            hide_samples(&mut entry);
        }
        change.value = entry[&change.key].take();
        change
    });
    let only = options.scope.only.as_ref().map(|only| {
        let ids = plan.items.iter().map(|item| &*item.id);
        let selected = ids.filter(|id| only.contains(*id));
        selected.map(str::to_owned).collect()
    });
    // Answers of a run asked in parts are cached under the parts' common name.
    let parts = options.invocation.clone();
    let parts = parts.filter(|_| matches!(options.origin, RunOrigin::Merged(_)));
    let judges = calibrations::judges_of(&plan.scorers, Some(&root));
    Ok(Manifest {
        format_version: FORMAT_VERSION,
        evaltest_version: env!("CARGO_PKG_VERSION").to_owned(),
        invocation: options.invocation.clone().unwrap_or_else(|| dir.run_id()),
        run_id: dir.run_id(),
        eval: eval.name.clone(),
        variant: eval.variant().cloned(),
        benchmark: eval.benchmark.name().to_owned(),
        status: RunStatus::Running,
        stop_reason: None,
        started_at: format!("{:.3}", crate::system::clock::timestamp()),
        ended_at: None,
        duration_s: None,
        samples: plan.items.len(),
        left_out: plan.left_out,
        tier: plan.tier.as_ref().map(|tier| tier.name.clone()),
        below_tier: plan.tier.as_ref().and_then(|tier| tier.below.clone()),
        progressive: progressive_run(plan),
        part: coverage.map(|coverage| coverage.part.clone()),
        merged: Vec::new(),
        epochs: eval.epochs,
        perturb: eval.perturb.clone(),
        selected,
        whole: selected == plan.items.len() && !options.scope.partial && coverage.is_none(),
        git_sha: None,
        git_dirty: None,
        environment: redacted_environment(plan),
        config,
        spec_in_project: eval
            .spec
            .as_deref()
            .and_then(|path| project::inside(&root, path)),
        spec: eval.spec.clone(),
        snapshots_in_project: project::inside(&root, &snapshots),
        snapshots,
        masked: eval.masks_answers(),
        mask_id: plan.mask_id(),
        older_mask_id: plan.older_mask_id(),
        prompt: Some(plan.prompt_name.clone()),
        dataset: plan.dataset.clone(),
        dataset_hash: plan.dataset_hash.clone(),
        request_hash: plan.request_hash.clone(),
        scorer_hash: plan.scorer_hash.clone(),
        scorers_hash: plan.scorers_hash.clone(),
        agent_hash: identity.hash,
        sandbox: None,
        reader: Some(Readers::CURRENT.answers),
        judge_reader: (!judges.is_empty()).then_some(Readers::CURRENT.verdicts),
        mixed: false,
        answers_of: identity.recordings.into_iter().chain(parts).collect(),
        overrides: overrides.collect(),
        redact: options.redact.clone(),
        only,
        early_stop: None,
        baseline: plan.baseline.as_ref().map(Baseline::run_ids),
        scorers: plan
            .scorers
            .iter()
            .map(|scorer| scorer.name().to_owned())
            .collect(),
        detail_bounds: detail_bounds(&plan.scorers),
        judges,
        failed_assertions: Vec::new(),
        extract: Some(plan.extraction.extract.to_value()),
        extract_is_given: plan.extraction.is_given,
        scorer_extract: plan.extraction.own_of_first(&plan.scorers),
        models: BTreeMap::new(),
        judge_models: BTreeMap::new(),
        parent: None,
        parent_run_id: None,
        journal_lines_skipped: Vec::new(),
        artifacts: BTreeMap::new(),
    })
}

fn redacted_environment(plan: &Plan) -> BTreeMap<String, String> {
    let redacted = |value: String| plan.redactor.text(&value, &mut 0).into_owned();
    let variables = environment().into_iter();
    variables
        .map(|(name, value)| (name, redacted(value)))
        .collect()
}

/// How a run of the plan goes tier by tier, if it does.
pub(in crate::run) fn progressive_run(plan: &Plan) -> Option<ProgressiveRun> {
    let promotion = plan.eval.progressive.as_ref()?;
    Some(ProgressiveRun {
        promote: promotion.gate.as_ref().map(ToString::to_string),
        ended: false,
    })
}

/// Replaces samples that are not to be published.
const MASKED: &str = "(masked)";

/// Masks the samples in a spec that contains them.
fn hide_samples(config: &mut Value) {
    let samples = config.pointer_mut("/benchmark/samples");
    if let Some(samples) = samples.filter(|samples| samples.is_array()) {
        *samples = MASKED.into();
    }
}
