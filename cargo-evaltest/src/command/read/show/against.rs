//! `show --against`: the answer of a run beside that of another run, such as the baseline.

use std::path::Path;

use evaltest::engine::figure::Seconds;
use evaltest::engine::report::document::Document;
use evaltest::engine::report::figures::ReportedSample;
use evaltest::engine::report::terminal::in_epoch;
use evaltest::engine::store::{RunDir, files, read_records};
use evaltest::engine::system::terminal::columns;
use evaltest::engine::text::{clean, excerpt};
use evaltest::{Error, Record, Result};
use serde_json::Value;

use crate::runs::{BASELINE, baseline_of, seen_run};

/// The width of a side where there is no terminal, in characters.
const USUAL: usize = 58;

/// The narrowest side.
const NARROWEST: usize = 30;

/// What is between the sides.
const BETWEEN: &str = " | ";

/// The run that `against` means: a run directory or an eval's name, or `baseline` for the last accepted run that is
/// still there.
pub(super) fn run_of(dir: &RunDir, against: &Path) -> Result<RunDir> {
    if against.as_os_str() == BASELINE {
        return seen_run(baseline_of(dir)?.path());
    }
    seen_run(against)
}

/// The record of the same sample: in the same epoch, or else in the first.
pub(super) fn record_of(dir: &RunDir, now: &Record) -> Result<Record> {
    let mut first = None;
    for record in read_records(&dir.file(files::RECORDS))? {
        let record = record?;
        if record.sample_id == now.sample_id {
            if record.epoch == now.epoch {
                return Ok(record);
            }
            first.get_or_insert(record);
        } else if first.is_some() {
            // The epochs of a sample are adjacent.
            break;
        }
    }
    first.ok_or_else(|| {
        let message = format!(
            "run `{}` has no sample `{}`",
            dir.path().display(),
            clean(&now.sample_id)
        );
        Error::usage(message).hint(format!("cargo evaltest show {}", dir.path().display()))
    })
}

/// Both answers side by side, step by step: that of `against` on the left.
pub(super) fn side_by_side(
    record: &Record,
    against: &Record,
    names: [&str; 2],
    is_baseline: bool,
) -> Document {
    let [left, right] = [against, record].map(lines);
    let mut text = Document::default();
    let epoch = match record.epoch.max(against.epoch) {
        0 => String::new(),
        _ if record.epoch == against.epoch => in_epoch(record.epoch),
        _ => format!(", epoch {} beside epoch {}", against.epoch, record.epoch),
    };
    text.paragraph(format!(
        "sample: {}{epoch} of eval {}",
        clean(&record.sample_id),
        record.eval
    ));
    let ReportedSample {
        question,
        ground_truth,
        ..
    } = ReportedSample::of(record);
    text.paragraph(format!("question: {}", excerpt(&question)));
    text.paragraph(format!(
        "expected: {}",
        excerpt(ground_truth.as_deref().unwrap_or("(none)"))
    ));
    if is_baseline {
        text.paragraph("left: the baseline");
    }
    let width = width();
    let ruler = "-".repeat(width);
    let mut rows = vec![row(names[0], names[1], width), row(&ruler, &ruler, width)];
    let empty = String::new();
    for place in 0..left.len().max(right.len()) {
        let line = |lines: &[String]| lines.get(place).unwrap_or(&empty).clone();
        rows.push(row(&line(&left), &line(&right), width));
    }
    text.blocks
        .push(evaltest::engine::report::document::Block::Verbatim(
            rows.join("\n"),
        ));
    text
}

/// The width of a side.
fn width() -> usize {
    columns(&std::io::stdout()).map_or(USUAL, |columns| {
        (columns.saturating_sub(BETWEEN.len()) / 2).max(NARROWEST)
    })
}

fn row(left: &str, right: &str, width: usize) -> String {
    let fitted = |text: &str| {
        let mut chars = text.chars();
        let mut fitted: String = chars.by_ref().take(width).collect();
        if chars.next().is_some() {
            fitted.pop();
            fitted.push('…');
        }
        fitted
    };
    let left = fitted(left);
    format!("{left:width$}{BETWEEN}{}", fitted(right))
        .trim_end()
        .to_owned()
}

/// What an answer was made of: figures, then messages and calls, then the answer.
fn lines(record: &Record) -> Vec<String> {
    let outcome = &record.result;
    let usage = outcome.usage.unwrap_or_default();
    let mut figures = Vec::new();
    figures.extend(outcome.steps.map(|steps| format!("{steps} steps")));
    figures.extend(
        usage
            .input_tokens
            .zip(usage.output_tokens)
            .map(|(input, output)| format!("{} tokens", input + output)),
    );
    figures.push(Seconds(outcome.latency_s).to_string());
    let verdict = match &outcome.score {
        Some(score) if score.correct => "correct",
        Some(_) => "wrong",
        None => outcome.status.as_str(),
    };
    let mut lines = vec![verdict.to_owned(), figures.join(", ")];
    let Some(output) = &outcome.output else {
        return lines;
    };
    for message in &output.messages {
        let role = message.get("role").and_then(Value::as_str).unwrap_or("?");
        let content = match message.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        if !content.trim().is_empty() {
            lines.push(format!("{}: {}", clean(role), excerpt(&content)));
        }
        let calls = message.get("tool_calls").and_then(Value::as_array);
        lines.extend(calls.into_iter().flatten().map(call));
    }
    lines.extend(output.tool_calls.iter().map(call));
    lines.push(format!(
        "answer: {}",
        excerpt(output.text.as_deref().unwrap_or("(none)"))
    ));
    lines
}

/// A call of a tool: `search({"q": "x"})`.
fn call(call: &Value) -> String {
    let function = call.get("function").unwrap_or(call);
    let name = function.get("name").and_then(Value::as_str).unwrap_or("?");
    let arguments = match function.get("arguments").or(function.get("input")) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    format!("{}({})", clean(name), excerpt(&arguments))
}
