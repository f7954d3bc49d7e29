//! The samples of a run for the page's script: blocks of JSON without duplicate texts.
//!
//! Each block of rows, used for listing, filtering and sorting, is followed by a block of texts, which the script
//! parses when a sample is opened. Blocks are written while records are read, so that only one is in memory.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use super::escape::data;
use crate::data::record::slices_of;
use crate::data::{AgentError, Details, JudgeCall, Normalized, Record};
use crate::error::Result;
use crate::report::figures::{SampleOutcome, error_kind};
use crate::report::format::unwritten;
use crate::report::reported::ReportedRun;
use crate::report::section::samples::worded;

/// Records per block.
const BLOCK: usize = 100;

/// The data of a run besides its samples.
#[derive(Serialize)]
struct EmbeddedRun<'a> {
    id: &'a str,
    eval: &'a str,
    masked: bool,
    epochs: u32,
    /// The words for outcomes and flips, if not answers but items or pairs are judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<[&'static str; 7]>,
    /// Names of slices; rows refer to their indices.
    slices: &'a [String],
}

/// A row: id, epoch, outcome, flip (1: became wrong, 2: became correct), seconds, USD, tokens, score, slices, reason.
type EmbeddedRow = (
    String,
    u32,
    u8,
    u8,
    Option<f64>,
    Option<f64>,
    Option<u64>,
    Option<f64>,
    Vec<usize>,
    String,
);

/// The texts of a sample, with one-letter names.
#[derive(Serialize)]
struct EmbeddedTexts<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    q: &'a str,
    /// Start and length of the dataset's question in the prompt, in UTF-16 units.
    #[serde(skip_serializing_if = "Option::is_none")]
    f: Option<[usize; 2]>,
    #[serde(skip_serializing_if = "Value::is_null")]
    e: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<&'a str>,
    /// The prediction, if it differs from the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<&'a str>,
    /// The compared texts, if they differ from the ones above.
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<[Value; 2]>,
    #[serde(skip_serializing_if = "Details::is_empty")]
    d: &'a Details,
    /// The result of each scorer, without texts that are already present.
    #[serde(skip_serializing_if = "Map::is_empty")]
    s: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    m: Vec<EmbeddedMessage>,
    #[serde(skip_serializing_if = "<[Value]>::is_empty")]
    c: &'a [Value],
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<&'a AgentError>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    j: Vec<EmbeddedCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    o: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    i: &'a Map<String, Value>,
    /// Input and output tokens; the cost is in the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    u: Option<[Option<u64>; 2]>,
    #[serde(skip_serializing_if = "is_one")]
    t: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    k: bool,
    #[serde(skip_serializing_if = "is_none")]
    w: u32,
}

/// A message, and a reference to its text if it is already present: 1 the question, 2 the answer.
type EmbeddedMessage = (Value, u8);

/// A request to a judge, and its reply.
#[derive(Serialize)]
struct EmbeddedCall<'a> {
    scorer: &'a str,
    #[serde(skip_serializing_if = "is_none")]
    repeat: u32,
    #[serde(skip_serializing_if = "is_none")]
    again: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "said")]
    reply: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_one(number: &u32) -> bool {
    *number == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_none(number: &u32) -> bool {
    *number == 0
}

/// Writes the samples of run number `place`.
pub(super) fn embedded(place: usize, run: &ReportedRun, out: &mut dyn Write) -> Result<()> {
    let io = |error: io::Error| unwritten(&error);
    let flips = run.flips();
    let names = slice_names(run);
    let about = EmbeddedRun {
        id: &run.manifest.run_id,
        eval: &run.manifest.eval,
        masked: run.hides_texts,
        epochs: run.manifest.epochs,
        words: run.summary.subject().word([
            None,
            Some(words(
                "passes",
                "not passed",
                "passes no longer",
                "passes now",
            )),
            Some(words("won", "not won", "no longer won", "won now")),
        ]),
        slices: &names,
    };
    data(&format!("{place}:run"), &about, out).map_err(io)?;
    let mut block = Vec::with_capacity(BLOCK);
    for record in run.records()? {
        block.push(record?);
        if block.len() == BLOCK {
            write_block(place, &block, &names, &|id| flips.get(id).copied(), out).map_err(io)?;
            block.clear();
        }
    }
    write_block(place, &block, &names, &|id| flips.get(id).copied(), out).map_err(io)
}

/// In the order of `WORDS` in the script.
fn words(
    good: &'static str,
    bad: &'static str,
    worse: &'static str,
    better: &'static str,
) -> [&'static str; 7] {
    [good, bad, "error", "unscored", "skipped", worse, better]
}

/// Slices such as `level=1`, sorted.
fn slice_names(run: &ReportedRun) -> Vec<String> {
    let slices = run.summary.dataset_slices();
    let names = slices.flat_map(|(dimension, values)| {
        let values = values.keys();
        values.map(move |value| format!("{dimension}={value}"))
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

fn write_block(
    place: usize,
    records: &[Record],
    names: &[String],
    flip: &dyn Fn(&str) -> Option<bool>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    let rows: Vec<_> = records
        .iter()
        .map(|record| row(record, names, flip(&record.sample_id)))
        .collect();
    data(&format!("{place}:rows"), &rows, out)?;
    let texts: Vec<_> = records.iter().map(EmbeddedTexts::of).collect();
    data(&format!("{place}:texts"), &texts, out)
}

/// The row of a record.
fn row(record: &Record, names: &[String], flip: Option<bool>) -> EmbeddedRow {
    let outcome = &record.result;
    let score = outcome.score.as_ref();
    let slices = slices_of(record)
        .filter_map(|(dimension, value)| names.binary_search(&format!("{dimension}={value}")).ok());
    let usage = outcome.usage.as_ref();
    let tokens = usage.and_then(|usage| match (usage.input_tokens, usage.output_tokens) {
        (None, None) => None,
        (read, written) => Some(read.unwrap_or(0).saturating_add(written.unwrap_or(0))),
    });
    let why = match (&outcome.error, score) {
        (Some(error), _) => error_kind(error.kind),
        (None, Some(score)) => worded(&score.reason),
        (None, None) => String::new(),
    };
    (
        record.sample_id.clone(),
        record.epoch,
        SampleOutcome::of(record) as u8,
        flip.map_or(0, |worse| if worse { 1 } else { 2 }),
        // A tenth of a millisecond is visible.
        (outcome.attempts > 0).then(|| (outcome.latency_s * 1e4).round() / 1e4),
        usage.and_then(|usage| usage.cost_usd),
        tokens,
        score.map(|score| score.value),
        slices.collect(),
        why,
    )
}

impl<'a> EmbeddedTexts<'a> {
    fn of(record: &'a Record) -> Self {
        static NOTHING: std::sync::LazyLock<Details> = std::sync::LazyLock::new(Details::new);
        let outcome = &record.result;
        let output = outcome.output.as_ref();
        let answer = output.and_then(|output| output.text.as_deref());
        let prediction = outcome.prediction.as_deref();
        let score = outcome.score.as_ref();
        Self {
            q: &record.prompt,
            f: place_of_question(record),
            e: &record.ground_truth,
            a: answer,
            p: prediction.filter(|reply| Some(*reply) != answer),
            n: score.and_then(|score| {
                let sides = [&score.normalized_prediction, &score.normalized_ground_truth];
                let is_known = |side: &Normalized, text: Option<&str>| match side {
                    Normalized::None => true,
                    Normalized::Text(side) => Some(&**side) == text,
                    Normalized::List(_) => false,
                };
                let known = is_known(sides[0], prediction)
                    && is_known(sides[1], record.ground_truth.as_str());
                let value = |side: &Normalized| serde_json::to_value(side).unwrap_or_default();
                (!known).then(|| sides.map(value))
            }),
            d: score.map_or(&NOTHING, |score| &score.details),
            // A single scorer's result is in the score.
            s: scores_of(record),
            m: output.map_or_else(Vec::new, |output| {
                let messages = output.messages.iter();
                messages
                    .map(|message| message_of(message, &record.prompt, answer))
                    .collect()
            }),
            c: output.map_or(&[], |output| &output.tool_calls),
            x: outcome.error.as_ref(),
            j: outcome.judged.iter().map(EmbeddedCall::of).collect(),
            o: output
                .map(|output| &output.metadata)
                .filter(|text| !text.is_empty()),
            i: &record.metadata,
            u: outcome
                .usage
                .map(|usage| [usage.input_tokens, usage.output_tokens]),
            t: outcome.attempts,
            k: outcome.cached,
            w: outcome.redacted,
        }
    }
}

/// Position of the question in the prompt: prompts of a benchmark start alike, so a list of their beginnings would be
/// useless.
fn place_of_question(record: &Record) -> Option<[usize; 2]> {
    let question = record.question.as_deref()?;
    let (before, _) = record.prompt.split_once(question)?;
    Some([before, question].map(|text| text.encode_utf16().count()))
}

/// The result of each scorer, without compared texts that equal prediction and ground truth, and without null members.
fn scores_of(record: &Record) -> Map<String, Value> {
    let known = [
        ("normalized_prediction", record.result.prediction.as_deref()),
        ("normalized_ground_truth", record.ground_truth.as_str()),
    ];
    let mut scores = record.result.scores.clone();
    for score in scores.values_mut().filter_map(Value::as_object_mut) {
        score.retain(|name, value| {
            let text = known.iter().find(|(known, _)| known == name);
            let is_known = text.is_some_and(|(_, text)| value.as_str() == *text);
            let is_nothing = value.is_null() || value.as_object().is_some_and(Map::is_empty);
            !is_known && !is_nothing
        });
    }
    scores
}

/// A message without its content if that is the question or the answer.
fn message_of(message: &Value, question: &str, answer: Option<&str>) -> EmbeddedMessage {
    let content = message.get("content").and_then(Value::as_str);
    let known = match content {
        Some("") => 0,
        Some(content) if content == question => 1,
        Some(content) if Some(content) == answer => 2,
        _ => 0,
    };
    let mut message = message.clone();
    if known > 0
        && let Value::Object(members) = &mut message
    {
        members.remove("content");
    }
    (message, known)
}

impl<'a> EmbeddedCall<'a> {
    fn of(call: &'a JudgeCall) -> Self {
        let error = call.error.as_ref();
        Self {
            scorer: &call.scorer,
            repeat: call.repeat,
            again: call.again,
            reply: call.output.as_ref().and_then(|reply| reply.text.as_deref()),
            why: error.map(|error| &*error.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Output, Score};
    use serde_json::json;

    #[test]
    fn the_question_is_found_in_its_prompt() {
        let mut record = Record::scored("q1", Score::binary(false));
        record.prompt = "Answer 🐋 friends.\n\nWhat burns?\nIn a word.".into();
        assert_eq!(
            place_of_question(&record),
            None,
            "all of it was the question"
        );
        record.question = Some("What burns?".to_owned());
        // In UTF-16 the whale counts as two.
        assert_eq!(place_of_question(&record), Some([20, 11]));
        record.question = Some("What else?".to_owned());
        assert_eq!(place_of_question(&record), None);
    }

    #[test]
    fn each_text_stands_there_once() {
        let mut record = Record::scored("q1", Score::binary(false).normalized("whale", "oil"));
        record.prompt = "What burns?".into();
        record.ground_truth = "oil".into();
        record.result.prediction = Some("whale".to_owned());
        let reply = Output::text("whale").messages([
            json!({"role": "user", "content": "What burns?"}),
            json!({"role": "assistant", "content": "whale", "name": "a"}),
        ]);
        record.result.output = Some(reply);
        let found = serde_json::to_value(EmbeddedTexts::of(&record)).unwrap();
        assert_eq!(
            found,
            json!({
                "q": "What burns?", "e": "oil", "a": "whale",
                "m": [[{"role": "user"}, 1], [{"role": "assistant", "name": "a"}, 2]],
            })
        );
        let names = ["level=1".to_owned(), "level=2".to_owned()];
        record.slices.insert("level".to_owned(), 2.into());
        let row = row(&record, &names, Some(true));
        let row = serde_json::to_value(row).unwrap();
        assert_eq!(
            row,
            json!(["q1", 0, 1, 1, 0.0, null, null, 0.0, [1], "mismatch"])
        );
    }
}
