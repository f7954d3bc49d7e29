//! The records of an earlier run.

use evaltest::artifact::Manifest;
use evaltest::{Error, Extract, Extraction, Record, Result, Status, Target};

use super::answered::Answered;

/// A record, as far as its answer can be judged again.
pub(crate) struct Entry {
    pub(crate) sample_id: String,
    pub(crate) epoch: u32,
    pub(crate) status: Status,
    /// How many secrets were blanked in it: what is left is not quite what the agent said.
    pub(crate) redacted: u32,
}

/// The extraction of a run.
pub(super) fn extraction(manifest: &Manifest) -> Result<Extraction> {
    let extract = manifest.extract.as_ref();
    Ok(Extraction {
        extract: extract.map_or(Ok(Extract::none()), Extract::from_value)?,
        is_given: manifest.extract_is_given,
    })
}

/// Reads a line of `samples.jsonl`.
pub(super) fn read(line: &str, answered: &mut Answered) -> Result<()> {
    let record: Record = serde_json::from_str(line)
        .map_err(|error| Error::usage(format!("not a record: {error}")))?;
    answered.id = Some(record.sample_id.clone());
    answered.output = record.result.output.unwrap_or_default();
    answered.target = Target(record.ground_truth);
    answered.metadata = record.metadata;
    answered.entry = Some(Entry {
        sample_id: record.sample_id,
        epoch: record.epoch,
        status: record.result.status,
        redacted: record.result.redacted,
    });
    Ok(())
}

impl Entry {
    /// Whether there is an answer. An outage is no wrong answer.
    pub(crate) fn is_answered(&self) -> bool {
        matches!(
            self.status,
            Status::Scored | Status::Unscored | Status::ScorerFailed
        )
    }
}
