//! A line of `samples.jsonl` that is judged anew: what no verdict touches is passed on as it stands there.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::data::record::NO_PROMPT;
use crate::data::{AgentError, Outcome, Output, Record, Score, Status, Target, Usage};
use crate::error::{Error, Result};
use crate::run::judge::{Judged, score_all};
use crate::scorer::extract::Extraction;
use crate::scorer::{Reads, Scorer};
use crate::text::redact::{REDACTED, Redactor};

/// Where the scorer `bfcl` looks for the verdict of somebody else.
const TOLD: &str = "official";

/// Who judges, and what of each answer.
pub(super) struct Judge {
    pub(super) scorers: Vec<Arc<dyn Scorer>>,
    pub(super) extraction: Extraction,
    /// Verdicts of others by sample, which go into the metadata.
    pub(super) told: HashMap<String, Value>,
}

/// A record that was looked at.
pub(super) struct Seen {
    /// What the summary needs of it.
    pub(super) record: Record,
    /// Whether it keeps its verdict because what was judged is no longer there.
    pub(super) kept: bool,
}

/// A [`Record`] of which only what scorers see is decoded.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a, O> {
    #[serde(borrow)]
    sample_id: Cow<'a, str>,
    #[serde(borrow)]
    eval: &'a RawValue,
    epoch: u32,
    #[serde(borrow)]
    prompt: &'a RawValue,
    #[serde(borrow)]
    ground_truth: &'a RawValue,
    #[serde(borrow)]
    metadata: &'a RawValue,
    #[serde(borrow)]
    slices: &'a RawValue,
    #[serde(borrow)]
    input_hash: Cow<'a, str>,
    #[serde(borrow)]
    target_hash: Cow<'a, str>,
    result: O,
}

/// The [`Outcome`] as it was.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Old<'a> {
    status: Status,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(rename = "prediction")]
    _prediction: IgnoredAny,
    #[serde(rename = "score")]
    _score: IgnoredAny,
    #[serde(default, rename = "scores")]
    _scores: IgnoredAny,
    usage: Option<Usage>,
    #[serde(rename = "error")]
    _error: IgnoredAny,
    attempts: u32,
    latency_s: f64,
    #[serde(default)]
    cached: bool,
    #[serde(default)]
    redacted: u32,
}

/// The [`Outcome`] as it is now.
#[derive(Serialize)]
struct New<'a> {
    status: Status,
    output: Option<&'a RawValue>,
    prediction: &'a Option<String>,
    score: &'a Option<Score>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    scores: &'a Map<String, Value>,
    usage: Option<Usage>,
    error: &'a Option<AgentError>,
    attempts: u32,
    latency_s: f64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cached: bool,
    #[serde(skip_serializing_if = "is_zero")]
    redacted: u32,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's `skip_serializing_if` passes a reference"
)]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Judge {
    /// Judges the record on a line and writes its new line behind `out`.
    pub(super) fn line(&self, line: &[u8], out: &mut Vec<u8>) -> Result<Seen> {
        if let Ok(old) = serde_json::from_slice::<Line<'_, Old<'_>>>(line) {
            return self.record(old, line, out);
        }
        // Members are missing or in excess, as in files of other versions; or it is no record at all.
        let whole = serde_json::to_vec(&whole(line)?).map_err(broken)?;
        let old = serde_json::from_slice(&whole).map_err(broken)?;
        self.record(old, &whole, out)
    }

    fn record(&self, line: Line<'_, Old<'_>>, text: &[u8], out: &mut Vec<u8>) -> Result<Seen> {
        let status = line.result.status;
        let is_answered = matches!(
            status,
            Status::Scored | Status::Unscored | Status::ScorerFailed
        );
        let Some(output) = line.result.output.filter(|_| is_answered) else {
            return keep(text, out);
        };
        let metadata = match self.told.get(&*line.sample_id) {
            Some(verdict) => Some(with_verdict(line.metadata, verdict).map_err(broken)?),
            None => None,
        };
        let line = Line {
            metadata: metadata.as_deref().unwrap_or(line.metadata),
            ..line
        };
        let judged = [output, line.ground_truth, line.metadata];
        let is_lost = || judged.iter().any(|part| part.get().contains(REDACTED));
        if line.result.redacted > 0 && is_lost() {
            return Ok(Seen {
                kept: status != Status::Unscored,
                ..keep(text, out)?
            });
        }
        self.answer(line, output, out)
    }

    /// Judges an answer that is whole.
    fn answer(&self, line: Line<'_, Old<'_>>, raw: &RawValue, out: &mut Vec<u8>) -> Result<Seen> {
        let old = &line.result;
        let target: Value = serde_json::from_str(line.ground_truth.get()).map_err(broken)?;
        let target = Some(Target(target)).filter(|target| !target.0.is_null());
        let (metadata, output) = self.seen(line.metadata, raw).map_err(broken)?;
        let mut outcome = Outcome {
            status: Status::Unscored,
            output: None,
            prediction: None,
            score: None,
            scores: Map::new(),
            usage: old.usage,
            error: None,
            attempts: old.attempts,
            latency_s: old.latency_s,
            cached: old.cached,
            redacted: old.redacted,
        };
        let judged = Judged {
            target: target.as_ref(),
            metadata: &metadata,
            sample: None,
            output: &output,
            extraction: &self.extraction,
        };
        score_all(&self.scorers, &judged, &mut outcome);
        // The answers were redacted when they were written. What scorers say is new, and no loss.
        self.redactor()?.verdicts(&mut outcome, &mut 0);
        let new = Line {
            result: New {
                status: outcome.status,
                output: old.output,
                prediction: &outcome.prediction,
                score: &outcome.score,
                scores: &outcome.scores,
                usage: outcome.usage,
                error: &outcome.error,
                attempts: outcome.attempts,
                latency_s: outcome.latency_s,
                cached: outcome.cached,
                redacted: outcome.redacted,
            },
            sample_id: Cow::Borrowed(&*line.sample_id),
            eval: line.eval,
            epoch: line.epoch,
            prompt: line.prompt,
            ground_truth: line.ground_truth,
            metadata: line.metadata,
            slices: line.slices,
            input_hash: Cow::Borrowed(&*line.input_hash),
            target_hash: Cow::Borrowed(&*line.target_hash),
        };
        serde_json::to_writer(&mut *out, &new).map_err(broken)?;
        out.push(b'\n');
        let slices = serde_json::from_str(line.slices.get()).map_err(broken)?;
        let mut record = Record {
            eval: String::new(),
            epoch: line.epoch,
            prompt: Arc::clone(&NO_PROMPT),
            ground_truth: Value::Null,
            metadata: Map::new(),
            slices,
            sample_id: line.sample_id.into_owned(),
            input_hash: line.input_hash.into_owned(),
            target_hash: line.target_hash.into_owned(),
            result: outcome,
        };
        record.abridge();
        Ok(Seen {
            record,
            kept: false,
        })
    }

    /// Blanks what the scorers must not tell. `per_sample` learns which scorers it has, and so their secrets,
    /// when it judges.
    fn redactor(&self) -> Result<Redactor> {
        let secrets: Vec<String> = self.scorers.iter().flat_map(Scorer::secrets).collect();
        Redactor::new(&[], &secrets)
    }

    /// As much of the metadata and of what the agent said as the scorers look at.
    fn seen(
        &self,
        metadata: &RawValue,
        output: &RawValue,
    ) -> serde_json::Result<(Map<String, Value>, Output)> {
        let reads = self.scorers.iter().map(Scorer::reads).max();
        if reads != Some(Reads::Text) {
            let metadata = serde_json::from_str(metadata.get())?;
            return Ok((metadata, serde_json::from_str(output.get())?));
        }
        let Said { text } = serde_json::from_str(output.get())?;
        let output = Output {
            text: text.map(Cow::into_owned),
            ..Output::default()
        };
        Ok((Map::new(), output))
    }
}

/// The text of an [`Output`].
#[derive(Deserialize)]
struct Said<'a> {
    #[serde(default, borrow)]
    text: Option<Cow<'a, str>>,
}

/// Metadata with the verdict of somebody else in them.
fn with_verdict(metadata: &RawValue, verdict: &Value) -> serde_json::Result<Box<RawValue>> {
    let mut metadata: Map<String, Value> = serde_json::from_str(metadata.get())?;
    metadata.insert(TOLD.to_owned(), verdict.clone());
    serde_json::value::to_raw_value(&metadata)
}

/// Passes a line on as it is.
fn keep(line: &[u8], out: &mut Vec<u8>) -> Result<Seen> {
    let mut record = whole(line)?;
    out.extend_from_slice(line.trim_ascii_end());
    out.push(b'\n');
    record.abridge();
    Ok(Seen {
        record,
        kept: false,
    })
}

fn whole(line: &[u8]) -> Result<Record> {
    serde_json::from_slice(line).map_err(broken)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn broken(error: serde_json::Error) -> Error {
    Error::usage(format!("not a record: {error}"))
}

#[cfg(test)]
mod tests;
