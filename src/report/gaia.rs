//! The leaderboard's file of GAIA: JSONL with `task_id`, `model_answer` and `reasoning_trace`.

use std::io::Write;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::run::Record;

/// A line of the file.
#[derive(Serialize)]
struct Line<'a> {
    task_id: &'a str,
    model_answer: &'a str,
    reasoning_trace: &'a str,
}

/// Writes a line for every record, in order; a sample without an answer gets an empty one, because the
/// leaderboard wants every id. Returns how many have none.
pub fn write(records: impl Iterator<Item = Result<Record>>, out: &mut dyn Write) -> Result<usize> {
    let mut empty = 0;
    for record in records {
        let record = record?;
        let answer = record.result.prediction.as_deref().unwrap_or_default();
        let raw = record
            .result
            .output
            .as_ref()
            .and_then(|output| output.text.as_deref());
        empty += usize::from(answer.trim().is_empty());
        let line = Line {
            task_id: &record.sample_id,
            model_answer: answer,
            reasoning_trace: raw.unwrap_or(answer),
        };
        let written = serde_json::to_writer(&mut *out, &line).map_err(std::io::Error::from);
        written
            .and_then(|()| out.write_all(b"\n"))
            .map_err(|error| {
                Error::infrastructure(format!("the export cannot be written: {error}"))
            })?;
    }
    Ok(empty)
}
