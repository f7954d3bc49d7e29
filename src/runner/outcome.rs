//! Making records and the outcomes that hold no verdict.

use crate::data::{AgentError, FailureKind, Outcome, Record, Status};
use crate::plan::{Item, Plan};

/// The record of a sample with this outcome.
pub(super) fn record(plan: &Plan, item: Item, epoch: u32, outcome: Outcome) -> Record {
    let prompt = plan.prompt(&item);
    let Item {
        sample,
        input_hash,
        target_hash,
    } = item;
    let slices = sample.slices.into_iter();
    Record {
        sample_id: sample.id,
        eval: plan.eval.name.clone(),
        epoch,
        prompt,
        ground_truth: sample.target.map(|target| target.0).unwrap_or_default(),
        metadata: sample.metadata,
        slices: slices.map(|(key, value)| (key, value.into())).collect(),
        input_hash,
        target_hash,
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
        cached: false,
        redacted: 0,
    }
}
