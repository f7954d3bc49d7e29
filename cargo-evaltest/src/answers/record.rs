//! The records of an earlier run.

use evaltest::{Error, Record, Result, Status, Target};
use serde_json::{Map, Value};

use super::answered::AnsweredSample;

/// A record, as far as its answer can be judged again.
pub(crate) struct RecordedAnswer {
    pub(crate) sample_id: String,
    pub(crate) epoch: u32,
    pub(crate) status: Status,
    /// How many secrets were blanked in it: what is left is not quite what the agent said.
    pub(crate) redacted: u32,
    /// Whether the deciding scorer accepted it, if it gave a verdict.
    pub(crate) correct: Option<bool>,
    /// The verdicts of all scorers by name, when there were several.
    pub(crate) scores: Map<String, Value>,
}

/// Reads a line of `samples.jsonl`.
pub(super) fn read(line: &str, answered: &mut AnsweredSample) -> Result<()> {
    let record: Record = serde_json::from_str(line)
        .map_err(|error| Error::usage(format!("not a record: {error}")))?;
    answered.id = Some(record.sample_id.clone());
    answered.output = record.result.output.unwrap_or_default();
    answered.target = Target(record.ground_truth);
    answered.metadata = record.metadata;
    answered.prompt = Some(record.prompt);
    answered.entry = Some(RecordedAnswer {
        sample_id: record.sample_id,
        epoch: record.epoch,
        status: record.result.status,
        redacted: record.result.redacted,
        correct: record.result.score.map(|score| score.correct),
        scores: record.result.scores,
    });
    Ok(())
}

impl RecordedAnswer {
    /// Whether there is an answer. An outage is no wrong answer.
    pub(crate) fn is_answered(&self) -> bool {
        matches!(
            self.status,
            Status::Scored | Status::Unscored | Status::ScorerFailed
        )
    }
}
