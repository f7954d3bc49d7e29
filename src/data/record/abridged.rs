//! Reads a line of `samples.jsonl` without the parts that are only needed on disk.

use std::sync::Arc;

use super::NO_PROMPT;
use super::parts::{Part, Parts, read_parts};
use crate::data::Record;

/// Members not kept in memory.
const DROPPED: Parts = &[
    ("prompt", Part::Dropped),
    ("metadata", Part::Dropped),
    ("question", Part::Missing),
    ("result", Part::Inside(&[("output", Part::Dropped)])),
];

/// Reads an abridged record; skipping the dropped members makes it several times faster.
pub(crate) fn read_abridged(line: &[u8]) -> serde_json::Result<Record> {
    let mut record = read_parts(line, DROPPED, |_, _| ())?;
    record.prompt = Arc::clone(&NO_PROMPT);
    record.abridge();
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Output, Status};
    use crate::verdict::summary::tests::record;

    #[test]
    fn abridged_record_round_trips() {
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
