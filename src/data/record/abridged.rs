//! A line of `samples.jsonl` without what only the disk needs.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::NO_PROMPT;
use crate::data::{AgentError, Outcome, Record, Score, Status, Usage};

/// Reads a record as it is kept in memory: what is dropped is passed over, which takes a fraction of the time.
pub(crate) fn read_abridged(line: &[u8]) -> serde_json::Result<Record> {
    let line: Line = serde_json::from_slice(line)?;
    let result = line.result;
    let mut record = Record {
        sample_id: line.sample_id,
        eval: line.eval,
        epoch: line.epoch,
        prompt: Arc::clone(&NO_PROMPT),
        ground_truth: line.ground_truth,
        metadata: Map::new(),
        slices: line.slices,
        input_hash: line.input_hash,
        target_hash: line.target_hash,
        result: Outcome {
            status: result.status,
            output: None,
            prediction: result.prediction,
            score: result.score,
            scores: result.scores,
            usage: result.usage,
            error: result.error,
            attempts: result.attempts,
            latency_s: result.latency_s,
            cached: result.cached,
            redacted: result.redacted,
        },
    };
    record.abridge();
    Ok(record)
}

/// [`Record`] without its prompt and metadata.
#[derive(Deserialize)]
struct Line {
    sample_id: String,
    eval: String,
    epoch: u32,
    ground_truth: Value,
    #[serde(default)]
    slices: Map<String, Value>,
    #[serde(default)]
    input_hash: String,
    #[serde(default)]
    target_hash: String,
    result: Ending,
}

/// [`Outcome`] without its output.
#[derive(Deserialize)]
struct Ending {
    status: Status,
    prediction: Option<String>,
    score: Option<Score>,
    #[serde(default)]
    scores: Map<String, Value>,
    usage: Option<Usage>,
    error: Option<AgentError>,
    attempts: u32,
    latency_s: f64,
    #[serde(default)]
    cached: bool,
    #[serde(default)]
    redacted: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Output;
    use crate::verdict::summary::tests::record;

    #[test]
    fn what_is_read_is_what_was_kept() {
        let mut whole = record("a", Status::Scored, true, "1");
        whole.prompt = "?".into();
        whole.ground_truth = "17".into();
        whole.metadata.insert("steps".into(), "1. Think".into());
        whole.result.output = Some(Output::text("17"));
        whole.result.prediction = Some("é".repeat(4000));
        whole.result.cached = true;
        let line = serde_json::to_vec(&whole).unwrap();
        whole.abridge();
        assert_eq!(read_abridged(&line).unwrap(), whole);
    }
}
