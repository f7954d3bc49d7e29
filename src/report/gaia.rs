//! The submission file of the GAIA leaderboard: JSONL with `task_id`, `model_answer` and `reasoning_trace`; its name,
//! a guide to submitting it, and a check of its ids.

mod check;
mod guide;

use std::io::Write;

use serde::Serialize;

use crate::data::Record;
use crate::error::{Error, Result};
use crate::text::json_line;
use crate::text::redact::is_blanked;

pub use check::{Checked, check};
pub use guide::guide;

/// Whether to export the agent's text before its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Traces {
    /// The whole raw answer as `reasoning_trace`.
    #[default]
    Written,
    /// No `reasoning_trace`.
    Excluded,
}

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GaiaExport {
    /// Number of lines, one per sample.
    pub lines: usize,
    /// Number of samples without an answer, whose line has an empty one.
    pub empty: usize,
    /// Number of redacted answers.
    pub redacted: usize,
    /// The level of the samples, if it is the same for all.
    pub level: Option<String>,
}

/// A line of the file.
#[derive(Serialize)]
struct GaiaLine<'a> {
    task_id: &'a str,
    model_answer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_trace: Option<&'a str>,
}

/// Writes a line for every sample, in order. A missing answer becomes empty, because the leaderboard requires every
/// id. Only one `epoch` is written.
pub fn write(
    records: impl Iterator<Item = Result<Record>>,
    epoch: u32,
    traces: Traces,
    out: &mut dyn Write,
) -> Result<GaiaExport> {
    let mut exported = GaiaExport::default();
    let mut levels: Option<Option<String>> = None;
    for record in records {
        let record = record?;
        if record.epoch != epoch {
            continue;
        }
        let level = record.slices.get("level");
        let level = level.map(|level| level.as_str().map_or(level.to_string(), str::to_owned));
        match &levels {
            None => levels = Some(level),
            Some(known) if *known != level => levels = Some(None),
            Some(_) => {}
        }
        let answer = record.result.prediction.as_deref().unwrap_or_default();
        let raw = record
            .result
            .output
            .as_ref()
            .and_then(|output| output.text.as_deref());
        exported.lines += 1;
        exported.empty += usize::from(answer.trim().is_empty());
        exported.redacted += usize::from(record.result.redacted > 0 && is_blanked(answer));
        let line = GaiaLine {
            task_id: &record.sample_id,
            model_answer: answer,
            reasoning_trace: (traces == Traces::Written).then_some(raw.unwrap_or(answer)),
        };
        let written = json_line(&line).map_err(std::io::Error::from);
        written
            .and_then(|line| out.write_all(&line))
            .and_then(|()| out.write_all(b"\n"))
            .map_err(|error| {
                Error::infrastructure(format!("the export cannot be written: {error}"))
            })?;
    }
    exported.level = levels.flatten();
    Ok(exported)
}

/// The name of the file: `gaia_level<N|all>_result_<time>.jsonl`.
pub fn file_name(level: Option<&str>, time: &str) -> String {
    let plain = |c: char| {
        if c.is_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let level: String = level.unwrap_or("all").chars().map(plain).collect();
    format!("gaia_level{level}_result_{time}.jsonl")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::{Output, Status};
    use crate::verdict::summary::tests::record;

    fn answered(id: &str, level: &str, text: &str, prediction: Option<&str>) -> Record {
        let mut record = record(id, Status::Scored, true, level);
        record.result.output = Some(Output::text(text));
        record.result.prediction = prediction.map(str::to_owned);
        record
    }

    fn written(records: Vec<Record>, traces: Traces) -> (GaiaExport, Vec<serde_json::Value>) {
        let mut out = Vec::new();
        let exported = write(records.into_iter().map(Ok), 0, traces, &mut out).unwrap();
        let lines = std::str::from_utf8(&out).unwrap().lines();
        let lines = lines.map(|line| serde_json::from_str(line).unwrap());
        (exported, lines.collect())
    }

    #[test]
    fn every_sample_has_a_line() {
        let mut again = answered("a", "1", "x", Some("x"));
        again.epoch = 1;
        let mut blanked = answered("c", "1", "FINAL ANSWER: [REDACTED]", Some("REDACTED"));
        blanked.result.redacted = 1;
        let records = vec![
            answered("a", "1", "So: FINAL ANSWER: 17", Some("17")),
            again,
            record("b", Status::AgentFailed, false, "1"),
            blanked,
        ];
        let (exported, lines) = written(records.clone(), Traces::Written);
        let expect = GaiaExport {
            lines: 3,
            empty: 1,
            redacted: 1,
            level: Some("1".to_owned()),
        };
        assert_eq!(exported, expect);
        assert_eq!(
            lines[0],
            json!({"task_id": "a", "model_answer": "17", "reasoning_trace": "So: FINAL ANSWER: 17"})
        );
        let empty = json!({"task_id": "b", "model_answer": "", "reasoning_trace": ""});
        assert_eq!(lines[1], empty);
        let (_, lines) = written(records, Traces::Excluded);
        assert_eq!(lines[0], json!({"task_id": "a", "model_answer": "17"}));
    }

    #[test]
    fn the_name_tells_the_level() {
        let check = |levels: &[&str], expect: &str| {
            let records = levels.iter().map(|level| answered("a", level, "x", None));
            let (exported, _) = written(records.collect(), Traces::Excluded);
            assert_eq!(file_name(exported.level.as_deref(), "T"), expect);
        };
        check(&["2", "2"], "gaia_level2_result_T.jsonl");
        check(&["1", "2", "1"], "gaia_levelall_result_T.jsonl");
        check(&[], "gaia_levelall_result_T.jsonl");
        check(&["../x"], "gaia_level___x_result_T.jsonl");
    }
}
