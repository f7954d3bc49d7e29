//! `header.json`: the configuration and results of the run.

use serde_json::{Map, Value, json};

use super::{LogTally, LogUsage, ScorerTally};
use crate::report::reported::ReportedRun;
use crate::store::{Manifest, RunStatus};
use crate::text::hash::Hasher;

/// Version of the log format.
const VERSION: u32 = 2;

/// The header of a log without its samples.
pub(super) fn header(run: &ReportedRun, model: &str, mut tally: LogTally) -> Value {
    tally.close();
    let manifest = &run.manifest;
    let is_repeated = manifest.epochs > 1;
    let results = results(&tally, is_repeated);
    let usage = tally.usage;
    let mut model_usage = Map::new();
    if usage.is_known {
        model_usage.insert(model.to_owned(), usage_of(&usage));
    }
    let ended = manifest.ended_at.as_ref().unwrap_or(&manifest.started_at);
    json!({
        "version": VERSION,
        "status": match manifest.status {
            RunStatus::Running => "started",
            RunStatus::Finished => "success",
            RunStatus::Interrupted | RunStatus::Stopped => "cancelled",
        },
        "eval": spec(run, model, &tally.ids),
        "plan": {
            "name": "plan",
            "steps": [{ "solver": "evaltest", "params": {}, "params_passed": {} }],
            "config": {},
        },
        "results": results,
        "stats": {
            "started_at": manifest.started_at,
            "completed_at": ended,
            "model_usage": model_usage,
            "role_usage": {},
            "connection_limit_history": [],
        },
        "invalidated": false,
        "tags": [],
        "metadata": {},
    })
}

fn spec(run: &ReportedRun, model: &str, ids: &[String]) -> Value {
    let manifest = &run.manifest;
    let mut config = json!({ "epochs": manifest.epochs, "fail_on_error": false });
    if manifest.epochs > 1 {
        config["epochs_reducer"] = json!(["mean"]);
    }
    let scorers = manifest.scorers.iter();
    let scorers: Vec<_> = scorers.map(|name| json!({ "name": name })).collect();
    let mut spec = json!({
        "eval_id": id(manifest, "eval"),
        "run_id": manifest.run_id,
        "created": manifest.started_at,
        "task": manifest.eval,
        "task_id": id(manifest, "task"),
        "task_version": 0,
        "task_attribs": {},
        "task_args": {},
        "task_args_passed": {},
        "dataset": {
            "name": manifest.dataset.as_ref().unwrap_or(&manifest.benchmark),
            "samples": ids.len(),
            "sample_ids": ids,
            "shuffled": false,
        },
        "model": model,
        "model_generate_config": {},
        "model_args": {},
        "config": config,
        "packages": { "evaltest": env!("CARGO_PKG_VERSION") },
        "scorers": scorers,
        "metadata": { "evaltest": {
            "run_id": manifest.run_id,
            "benchmark": manifest.benchmark,
            "dataset_hash": manifest.dataset_hash,
            "scorer_hash": manifest.scorer_hash,
            "scorers": manifest.scorers,
            "whole": manifest.whole,
            "texts_hidden": run.hides_texts,
            "accuracy": run.summary.accuracy,
            "accuracy_ci95": run.summary.accuracy_ci95,
            "gates": run.summary.gates,
        } },
    });
    if let Some(commit) = &manifest.git_sha {
        spec["revision"] = json!({
            "type": "git",
            "origin": "",
            "commit": commit,
            "dirty": manifest.git_dirty,
        });
    }
    spec
}

fn results(tally: &LogTally, is_repeated: bool) -> Value {
    let score = |scorer: &ScorerTally| {
        let metric = |(name, value): (&str, Option<f64>)| {
            Some((
                name.to_owned(),
                json!({ "name": name, "value": value?, "params": {} }),
            ))
        };
        let metrics = [("accuracy", scorer.accuracy()), ("mean", scorer.mean())];
        let metrics: Map<String, Value> = metrics.into_iter().filter_map(metric).collect();
        let mut score = json!({
            "name": scorer.name,
            "scorer": scorer.name,
            "scored_samples": scorer.scored_samples,
            "unscored_samples": scorer.unscored_samples,
            "params": {},
            "metrics": metrics,
        });
        if is_repeated {
            score["reducer"] = "mean".into();
        }
        score
    };
    let scores: Vec<_> = tally.scorers.iter().map(score).collect();
    json!({
        "total_samples": tally.total,
        "completed_samples": tally.completed,
        "scores": scores,
    })
}

/// Tokens and cost of a model.
pub(super) fn usage_of(usage: &LogUsage) -> Value {
    let mut object = json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens.saturating_add(usage.output_tokens),
    });
    if let Some(cost) = usage.cost_usd {
        object["total_cost"] = cost.into();
    }
    object
}

/// The model in Inspect's notation: provider and name.
pub(super) fn model(manifest: &Manifest) -> String {
    let agent = |key: &str| manifest.config.pointer(&format!("/agent/{key}"))?.as_str();
    let kind = agent("type").unwrap_or("none");
    match agent("model") {
        // An imported model already includes its provider.
        Some(model) if kind == "imported" => model.to_owned(),
        Some(model) => format!("{kind}/{model}"),
        None => format!("evaltest/{kind}"),
    }
}

/// A stable id of 22 characters for a run.
pub(super) fn id(manifest: &Manifest, of: &str) -> String {
    let mut id = Hasher::default().part(&manifest.run_id).part(of).hex();
    id.truncate(22);
    id
}
