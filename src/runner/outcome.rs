//! Making records and the outcomes that hold no verdict.

use crate::agent::{AgentError, FailureKind};
use crate::plan::{Item, Plan};
use crate::run::{Outcome, Record, Status};

/// The record of a sample with this outcome.
pub(super) fn record(plan: &Plan, item: &Item, epoch: u32, outcome: Outcome) -> Record {
    let slices = item
        .sample
        .slices
        .iter()
        .map(|(key, value)| (key.clone(), value.as_str().into()));
    Record {
        sample_id: item.sample.id.clone(),
        eval: plan.eval.name.clone(),
        epoch,
        prompt: plan.prompt(item),
        ground_truth: item
            .sample
            .target
            .as_ref()
            .map(|target| target.0.clone())
            .unwrap_or_default(),
        metadata: item.sample.metadata.clone(),
        slices: slices.collect(),
        input_hash: item.input_hash.clone(),
        target_hash: item.target_hash.clone(),
        result: outcome,
    }
}

/// The outcome of a sample whose agent gave no answer.
pub(super) fn failed(error: AgentError, latency: f64, attempts: u32) -> Outcome {
    let timed_out = error.kind == FailureKind::TimedOut;
    let status = if timed_out {
        Status::TimedOut
    } else {
        Status::AgentFailed
    };
    Outcome {
        status,
        error: Some(error),
        latency_s: latency,
        ..skipped(attempts)
    }
}

/// The outcome of a sample that was not asked to the end.
pub(super) fn skipped(attempts: u32) -> Outcome {
    Outcome {
        status: Status::Skipped,
        output: None,
        prediction: None,
        score: None,
        scores: serde_json::Map::new(),
        usage: None,
        error: None,
        attempts,
        latency_s: 0.0,
        redacted: 0,
    }
}
