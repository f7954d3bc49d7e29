//! What a run directory tells of a run.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// What became of the samples.
#[derive(Debug, Default)]
pub(crate) struct JournalCounts {
    pub(crate) scored: usize,
    pub(crate) correct: usize,
    pub(crate) errors: usize,
    pub(crate) skipped: usize,
    /// Samples that were asked again after their answer.
    pub(crate) twice: usize,
    /// Samples with an answer in the journal, and none in their record.
    pub(crate) lost: usize,
}

/// The whole lines of a JSONL file; none if it is not there.
pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines = whole.lines().map(serde_json::from_str);
    lines.filter_map(Result::ok).collect()
}

/// The samples whose answer stands in the journal.
pub(crate) fn answered(dir: &Path) -> BTreeSet<String> {
    let events = lines(&dir.join("events.jsonl"));
    let answered = events.iter().filter(|event| event["kind"] == "answered");
    answered.map(id).collect()
}

fn id(line: &Value) -> String {
    line["sample_id"].as_str().unwrap_or_default().to_owned()
}

/// Reads a run directory that is complete.
pub(crate) fn counts(dir: &Path) -> JournalCounts {
    let mut counts = JournalCounts::default();
    let mut done = BTreeSet::new();
    for event in lines(&dir.join("events.jsonl")) {
        match event["kind"].as_str() {
            Some("answered") => _ = done.insert(id(&event)),
            Some("started") => counts.twice += usize::from(done.contains(&id(&event))),
            _ => {}
        }
    }
    for record in lines(&dir.join("samples.jsonl")) {
        let result = &record["result"];
        match result["status"].as_str() {
            Some("scored") => {
                counts.scored += 1;
                counts.correct += usize::from(result["score"]["correct"] == true);
                done.remove(&id(&record));
            }
            Some("skipped") => counts.skipped += 1,
            _ => counts.errors += 1,
        }
    }
    counts.lost = done.len();
    counts
}

/// The summary without what differs from run to run.
pub(crate) fn summary(dir: &Path) -> Value {
    let bytes = fs::read(dir.join("summary.json")).unwrap_or_default();
    let mut summary = serde_json::from_slice(&bytes).unwrap_or_default();
    without_times(&mut summary);
    summary
}

fn without_times(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("latency_s");
            map.values_mut().for_each(without_times);
        }
        Value::Array(list) => list.iter_mut().for_each(without_times),
        _ => {}
    }
}
