//! The history line of a run.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::data::history::{
    HISTORY_VERSION, HistoryAnswers, HistoryGate, HistoryKind, HistoryLatency, HistoryLine,
    HistorySlice,
};
use crate::store::{Manifest, RunStatus};
use crate::verdict::result::GateResult;
use crate::verdict::summary::{Group, Latency, Summary};

/// Dimensions with more slices are left out of the line.
const MOST_SLICES: usize = 100;

/// Aggregates of a benchmark whose JSON is longer are left out of the line.
const LONGEST_METRICS: usize = 4096;

/// The line of a finished run, from its summary.
pub(crate) fn run_line(
    manifest: &Manifest,
    summary: &Summary,
    answers: Option<HistoryAnswers>,
    time: Timestamp,
) -> HistoryLine {
    let judges = manifest.judge_models.iter();
    HistoryLine {
        format_version: HISTORY_VERSION,
        kind: HistoryKind::Run,
        id: manifest.run_id.clone(),
        eval: manifest.eval.clone(),
        time,
        commit: manifest.git_sha.clone(),
        dirty: manifest.git_dirty,
        // Runs stopped by an outage have no line.
        early: manifest.status == RunStatus::Stopped,
        tier: manifest.tier.clone(),
        dataset_hash: manifest.dataset_hash.clone(),
        scorer_hash: manifest.scorer_hash.clone(),
        agent_hash: manifest.agent_hash.clone(),
        prompt: manifest.prompt.clone(),
        served_models: manifest.models.keys().cloned().collect(),
        judge_models: judges
            .map(|(scorer, models)| (scorer.clone(), models.keys().cloned().collect()))
            .collect(),
        samples: summary.samples,
        scored: summary.scored,
        correct: summary.correct,
        errors: summary.errors,
        epochs: manifest.epochs,
        cached: summary.cached,
        accuracy: summary.accuracy.map(rounded),
        accuracy_ci95: summary.accuracy_ci95.map(|ends| ends.map(rounded)),
        error_rate: summary.error_rate.map(rounded),
        means: means(&summary.means),
        metrics: metrics(&summary.metrics),
        slices: slices(&summary.slices),
        cost_usd: summary.usage.cost_usd,
        tokens: summary.usage.tokens(),
        latency_s: summary.latency_s.as_ref().map(latency),
        duration_s: manifest.duration_s.map(rounded),
        gates: summary.gates.iter().map(gate).collect(),
        exit_code: Some(summary.exit_code.code()),
        runs: Vec::new(),
        answers,
    }
}

/// Rounds to the digits that people need; they read these lines, too.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn means(means: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let finite = means.iter().filter(|(_, mean)| mean.is_finite());
    finite
        .map(|(name, mean)| (name.clone(), rounded(*mean)))
        .collect()
}

fn metrics(metrics: &Map<String, Value>) -> Map<String, Value> {
    let length = Value::Object(metrics.clone()).to_string().len();
    if length > LONGEST_METRICS {
        return Map::new();
    }
    metrics.clone()
}

fn slices(
    slices: &BTreeMap<String, BTreeMap<String, Group>>,
) -> BTreeMap<String, BTreeMap<String, HistorySlice>> {
    let slice = |(value, group): (&String, &Group)| {
        let slice = HistorySlice {
            scored: group.scored,
            correct: group.correct,
            errors: group.errors,
            cached: group.cached,
            accuracy: group.accuracy.map(rounded),
            accuracy_ci95: group.accuracy_ci95.map(|ends| ends.map(rounded)),
        };
        (value.clone(), slice)
    };
    let few = slices.iter().filter(|(_, of)| of.len() <= MOST_SLICES);
    few.map(|(dimension, of)| (dimension.clone(), of.iter().map(slice).collect()))
        .collect()
}

fn latency(latency: &Latency) -> HistoryLatency {
    HistoryLatency {
        mean: rounded(latency.mean),
        p50: rounded(latency.p50),
        p95: rounded(latency.p95),
    }
}

fn gate(result: &GateResult) -> HistoryGate {
    HistoryGate {
        gate: result.gate.to_string(),
        verdict: result.verdict.as_str().to_owned(),
        value: result.value.filter(|value| value.is_finite()),
        threshold: result.threshold.filter(|value| value.is_finite()),
    }
}
