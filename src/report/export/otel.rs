//! `otel`: a `gen_ai.evaluation.result` event per verdict in OTLP/JSON, following the semantic conventions for
//! generative AI. Each line is an `ExportLogsServiceRequest`, which collectors read from files and over HTTP.
//!
//! Ids are hexadecimal (as OTLP/JSON requires, unlike plain protobuf JSON), and stable across exports, so that a
//! collector can detect duplicates. 64-bit integers are strings.

use std::io::Write;

use serde_json::{Value, json};

use super::scores::{NamedVerdict, verdicts};
use super::{DataFormat, error_kind, unwritten};
use crate::data::{Record, Status};
use crate::error::Result;
use crate::report::reported::ReportedRun;
use crate::text::hash::Hasher;
use crate::text::json_line;

/// The format `otel`.
pub(super) struct OtelExport;

/// The name of the event.
const EVENT: &str = "gen_ai.evaluation.result";

/// Events per line: collectors reject requests of more than a few megabytes.
const BATCH: usize = 500;

/// `INFO`, or `WARN` without a verdict.
const SEVERITIES: [(u8, &str); 2] = [(9, "INFO"), (13, "WARN")];

/// Maximum bytes of an explanation.
const LONGEST: usize = 4096;

impl DataFormat for OtelExport {
    fn name(&self) -> &'static str {
        "otel"
    }

    fn extension(&self) -> &'static str {
        "otel.jsonl"
    }

    fn write(&self, run: &ReportedRun, out: &mut dyn Write) -> Result<()> {
        let mut batch = Vec::new();
        for record in run.records()? {
            batch.extend(events(run, &record?));
            if batch.len() >= BATCH {
                write_batch(run, &batch, out)?;
                batch.clear();
            }
        }
        if !batch.is_empty() {
            write_batch(run, &batch, out)?;
        }
        Ok(())
    }
}

fn write_batch(run: &ReportedRun, events: &[Value], out: &mut dyn Write) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let request = json!({ "resourceLogs": [{
        "resource": { "attributes": [
            text("service.name", "evaltest"),
            text("service.version", version),
            text("evaltest.run.id", &run.manifest.run_id),
            text("evaltest.eval", &run.manifest.eval),
        ] },
        "scopeLogs": [{
            "scope": { "name": "evaltest", "version": version },
            "logRecords": events,
        }],
    }] });
    let mut line = json_line(&request).map_err(|error| unwritten(&error.into()))?;
    line.push(b'\n');
    out.write_all(&line).map_err(|error| unwritten(&error))
}

/// One event per verdict; one for an answer without a verdict that should have one.
fn events(run: &ReportedRun, record: &Record) -> Vec<Value> {
    let scorers = &run.manifest.scorers;
    let found = verdicts(record, scorers);
    let mut events: Vec<Value> = found
        .iter()
        .map(|verdict| event(run, record, verdict))
        .collect();
    let first = scorers.first().map_or("evaltest", String::as_str);
    let is_exported = found.iter().any(|verdict| verdict.name == first);
    if record.result.status.is_error() && !is_exported {
        let none = NamedVerdict {
            name: first,
            score: None,
            error: None,
        };
        events.insert(0, event(run, record, &none));
    }
    events
}

fn event(run: &ReportedRun, record: &Record, verdict: &NamedVerdict<'_>) -> Value {
    let result = &record.result;
    let mut attributes = vec![
        text("gen_ai.evaluation.name", verdict.name),
        text("evaltest.sample.id", &record.sample_id),
        integer("evaltest.epoch", record.epoch.into()),
    ];
    let explanation = if let Some(score) = &verdict.score {
        let label = if score.correct {
            "correct"
        } else {
            "incorrect"
        };
        attributes.push(json!({
            "key": "gen_ai.evaluation.score.value",
            "value": { "doubleValue": score.value },
        }));
        attributes.push(text("gen_ai.evaluation.score.label", label));
        Some(score.reason.as_ref())
    } else {
        let kind = result.error.as_ref();
        let kind = kind.map(|error| error_kind(result.status, error));
        let kind = kind.unwrap_or_else(|| Status::ScorerFailed.as_str().to_owned());
        attributes.push(text("error.type", &kind));
        let message = result.error.as_ref().map(|error| error.message.as_str());
        verdict.error.or(message)
    };
    if let Some(explanation) = explanation.filter(|text| !text.is_empty()) {
        let end = explanation.floor_char_boundary(LONGEST);
        attributes.push(text("gen_ai.evaluation.explanation", &explanation[..end]));
    }
    let output = result.output.as_ref();
    let metadata = |name: &str| output?.metadata.get(name)?.as_str();
    if let Some(id) = metadata("id") {
        attributes.push(text("gen_ai.response.id", id));
    }
    if let Some(model) = metadata("model") {
        attributes.push(text("gen_ai.response.model", model));
    }
    let (number, word) = SEVERITIES[usize::from(verdict.score.is_none())];
    let time = nanoseconds(run);
    let of_answer = Hasher::default()
        .part(&run.manifest.run_id)
        .part(&record.sample_id)
        .part(record.epoch.to_string())
        .hex();
    json!({
        "timeUnixNano": time,
        "observedTimeUnixNano": time,
        "severityNumber": number,
        "severityText": word,
        "eventName": EVENT,
        "attributes": attributes,
        "traceId": of_answer[..32],
        "spanId": of_answer[32..48],
    })
}

/// End of the run.
fn nanoseconds(run: &ReportedRun) -> String {
    let manifest = &run.manifest;
    let time = manifest.ended_at.as_ref().unwrap_or(&manifest.started_at);
    let time = time.parse::<jiff::Timestamp>().unwrap_or_default();
    time.as_nanosecond().max(0).to_string()
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn integer(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}
