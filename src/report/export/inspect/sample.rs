//! Converts a record to a sample of a log and to its summary.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::LogUsage;
use super::header::{id, usage_of};
use super::message::{self, answer, message};
use crate::data::{Normalized, Record, Score, Status};
use crate::report::export::error_kind;
use crate::report::export::scores::{number_of, verdicts};
use crate::report::reported::ReportedRun;
use crate::report::reported::masked::HIDDEN;

/// Maximum bytes of a text in the viewer's list.
const SHORT: usize = 1000;

/// A sample of a log.
#[derive(Serialize)]
pub(super) struct LoggedSample {
    id: String,
    epoch: u32,
    input: String,
    target: Value,
    messages: Vec<Value>,
    output: Value,
    scores: Map<String, Value>,
    metadata: Map<String, Value>,
    store: Map<String, Value>,
    events: Vec<Value>,
    model_usage: Map<String, Value>,
    role_usage: Map<String, Value>,
    total_time: f64,
    working_time: f64,
    uuid: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
    attachments: Map<String, Value>,
}

impl LoggedSample {
    pub(super) fn of(record: &Record, run: &ReportedRun, model: &str) -> Self {
        let result = &record.result;
        let uuid = uuid(record, run);
        let (messages, output) = conversation(record, run, model, &uuid);
        let mut metadata = record.metadata.clone();
        metadata.insert("evaltest".to_owned(), own(record));
        Self {
            id: record.sample_id.clone(),
            epoch: record.epoch + 1,
            input: input(record, run).to_owned(),
            target: target(&record.ground_truth),
            messages,
            output,
            scores: scores(record, run),
            metadata,
            store: Map::new(),
            events: Vec::new(),
            model_usage: model_usage(record, model),
            role_usage: Map::new(),
            total_time: result.latency_s,
            working_time: result.latency_s,
            uuid,
            error: error(record).map(|message| {
                json!({ "message": message, "traceback": traceback(record), "traceback_ansi": "" })
            }),
            attachments: Map::new(),
        }
    }
}

/// The summary of a sample, for the viewer's list.
pub(super) fn summary_of(record: &Record, run: &ReportedRun, model: &str) -> Value {
    let result = &record.result;
    let mut scores = scores(record, run);
    for score in scores.values_mut() {
        if let Some(answer) = score.get_mut("answer") {
            *answer = short(answer.as_str().unwrap_or_default()).into();
        }
        if let Some(metadata) = score.get_mut("metadata") {
            *metadata = json!({});
        }
    }
    let target = match target(&record.ground_truth) {
        Value::String(text) => short(&text).into(),
        other => other,
    };
    let mut summary = json!({
        "id": record.sample_id,
        "epoch": record.epoch + 1,
        "input": short(input(record, run)),
        "target": target,
        "metadata": {},
        "scores": scores,
        "model_usage": model_usage(record, model),
        "role_usage": {},
        "total_time": result.latency_s,
        "working_time": result.latency_s,
        "uuid": uuid(record, run),
        "retries": result.attempts.saturating_sub(1),
        "completed": true,
    });
    if let Some(error) = error(record) {
        summary["error"] = short(&error).into();
    }
    summary
}

fn uuid(record: &Record, run: &ReportedRun) -> String {
    let of = format!("{}\0{}", record.sample_id, record.epoch);
    id(&run.manifest, &of)
}

fn input<'a>(record: &'a Record, run: &ReportedRun) -> &'a str {
    if run.hides_texts {
        HIDDEN
    } else {
        &record.prompt
    }
}

/// A string or a list of strings; other values as JSON.
fn target(truth: &Value) -> Value {
    match truth {
        Value::Null => "".into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_string) => {
            truth.clone()
        }
        other => other.to_string().into(),
    }
}

/// Data that Inspect has no field for.
fn own(record: &Record) -> Value {
    let result = &record.result;
    let mut own = json!({
        "status": result.status,
        "slices": record.slices,
        "attempts": result.attempts,
    });
    let mut add = |key: &str, value: Value| own[key] = value;
    if !matches!(record.ground_truth, Value::Null | Value::String(_)) {
        add("ground_truth", record.ground_truth.clone());
    }
    if let Some(question) = &record.question {
        add("question", question.as_str().into());
    }
    if let Some(prediction) = &result.prediction {
        add("prediction", prediction.as_str().into());
    }
    if result.cached {
        add("cached", true.into());
    }
    if result.redacted > 0 {
        add("redacted", result.redacted.into());
    }
    if let Some(error) = &result.error {
        add("error_kind", error_kind(result.status, error).into());
        if !result.status.is_error() {
            add("error", error.message.as_str().into());
        }
    }
    own
}

/// Why a sample has no verdict although it should have one.
fn error(record: &Record) -> Option<String> {
    let result = &record.result;
    let error = result.error.as_ref();
    let message = error.map(|error| error.message.clone());
    let is_error = result.status.is_error();
    is_error.then(|| message.unwrap_or_else(|| result.status.as_str().to_owned()))
}

/// The agent's stderr.
fn traceback(record: &Record) -> &str {
    let error = record.result.error.as_ref();
    let tail = error.and_then(|error| error.stderr_tail.as_deref());
    tail.unwrap_or_default()
}

fn scores(record: &Record, run: &ReportedRun) -> Map<String, Value> {
    if record.result.status.is_error() {
        return Map::new();
    }
    let verdicts = verdicts(record, &run.manifest.scorers).into_iter();
    let score = |(name, score): (&str, &Score)| (name.to_owned(), logged(score, record));
    let exported = verdicts.filter_map(|verdict| {
        let score_of = verdict.score?;
        Some(score((verdict.name, &score_of)))
    });
    exported.collect()
}

fn logged(score: &Score, record: &Record) -> Value {
    let value = match (number_of(score), score.correct) {
        (1.0, true) => "C".into(),
        (0.0, false) => "I".into(),
        (number, _) => Value::from(number),
    };
    let answer = match &score.normalized_prediction {
        Normalized::Text(text) => Some(text.clone()),
        Normalized::List(items) => Some(items.join(", ")),
        Normalized::None => record.result.prediction.clone(),
    };
    let mut metadata = json!({ "correct": score.correct, "reason": score.reason });
    for (key, side) in [
        ("normalized_prediction", &score.normalized_prediction),
        ("normalized_ground_truth", &score.normalized_ground_truth),
    ] {
        if *side != Normalized::None {
            metadata[key] = serde_json::to_value(side).unwrap_or_default();
        }
    }
    if !score.details.is_empty() {
        metadata["details"] = serde_json::to_value(&score.details).unwrap_or_default();
    }
    let mut logged = json!({ "value": value });
    if let Some(answer) = answer {
        logged["answer"] = answer.into();
    }
    logged["explanation"] = score.reason.as_ref().into();
    logged["metadata"] = metadata;
    logged["history"] = json!([]);
    logged
}

fn model_usage(record: &Record, model: &str) -> Map<String, Value> {
    usage(record)
        .map(|usage| (model.to_owned(), usage))
        .into_iter()
        .collect()
}

fn usage(record: &Record) -> Option<Value> {
    let mut usage = LogUsage::default();
    usage.add(record.result.usage.as_ref()?);
    Some(usage_of(&usage))
}

/// All messages, and the model's last one.
fn conversation(
    record: &Record,
    run: &ReportedRun,
    model: &str,
    uuid: &str,
) -> (Vec<Value>, Value) {
    let result = &record.result;
    let Some(output) = &result.output else {
        let output = json!({ "model": model, "choices": [], "completion": "" });
        let user_message = json!({
            "id": message::id(uuid, 0),
            "role": "user",
            "content": input(record, run),
            "source": "input",
        });
        return (vec![user_message], output);
    };
    let mut messages: Vec<Value> = output
        .messages
        .iter()
        .enumerate()
        .map(|(place, exported)| message(exported, &message::id(uuid, place)))
        .collect();
    if messages.is_empty() {
        messages.push(json!({
            "id": message::id(uuid, 0),
            "role": "user",
            "content": input(record, run),
            "source": "input",
        }));
    }
    let text = output.text.as_deref().unwrap_or_default();
    // Append the answer, unless the messages already end with it.
    let ends = messages.last().is_some_and(|last| {
        last["role"] == "assistant" && (last["content"] == text || text.is_empty())
    });
    let last = answer(
        text,
        &output.tool_calls,
        model,
        &message::id(uuid, messages.len()),
    );
    if !ends {
        messages.push(last.clone());
    }
    let word = |key: &str| output.metadata.get(key).and_then(Value::as_str);
    let stop_reason = match word("finish_reason") {
        None | Some("stop") if result.status != Status::TimedOut => "stop",
        Some("length") => "max_tokens",
        Some(known @ ("tool_calls" | "content_filter")) => known,
        _ => "unknown",
    };
    let mut exported = json!({
        "model": word("model").unwrap_or(model),
        "choices": [{ "message": last, "stop_reason": stop_reason }],
        "completion": text,
        "time": result.latency_s,
    });
    if let Some(usage) = usage(record) {
        exported["usage"] = usage;
    }
    if !output.metadata.is_empty() {
        exported["metadata"] = Value::Object(output.metadata.clone());
    }
    (messages, exported)
}

fn short(text: &str) -> String {
    let end = text.floor_char_boundary(SHORT);
    let mark = if end < text.len() { "…" } else { "" };
    format!("{}{mark}", &text[..end])
}
