//! Redaction of answers and records before they are written to the run directory.

use std::borrow::Cow;

use serde_json::Value;

use crate::data::{AgentError, JudgeCall, Normalized, Outcome, Output, Record, Score};
use crate::text::redact::{BlankCount, Blanked, MIN_SECRET, REDACTED, Redactor};

/// How many bytes of an agent's stderr are stored, after redaction.
const STDERR_TAIL: usize = 4096;

/// How many bytes at the start of a truncated stderr may be half a secret.
const HALF_SECRET: usize = 512;

impl Redactor {
    /// Redacts an agent's output.
    pub(crate) fn output(&self, output: &mut Output, count: &mut impl BlankCount) {
        if let Some(text) = &mut output.text {
            self.string(text, count);
        }
        let lists = output.messages.iter_mut().chain(&mut output.tool_calls);
        for value in lists {
            self.value(value, count);
        }
        self.map(&mut output.metadata, count);
        let conversation = output.conversation.as_mut();
        if let Some(state) = conversation.and_then(|conversation| conversation.state.as_mut()) {
            self.value(state, count);
        }
    }

    /// Redacts an agent's failure and truncates its stderr to the last bytes.
    ///
    /// Truncation comes second, as it could leave half a token, which is not recognisable. A long tail may be truncated
    /// already, so its beginning is dropped in any case.
    pub(crate) fn agent_error(&self, error: &mut AgentError, count: &mut impl BlankCount) {
        self.string(&mut error.message, count);
        self.hidden(&error.hidden, count);
        if let Some(tail) = &mut error.stderr_tail {
            let is_long = tail.len() > STDERR_TAIL;
            self.string(tail, count);
            if is_long {
                let excess = tail.len().saturating_sub(STDERR_TAIL).max(HALF_SECRET);
                let start = tail.ceil_char_boundary(excess.min(tail.len()));
                let word = tail[start..].find(char::is_whitespace);
                *tail = tail.split_off(start + word.unwrap_or_default());
            }
        }
    }

    /// Redacts a whole record and notes the number of redacted places.
    pub(crate) fn record(&self, record: &mut Record) {
        let mut count = Blanked::from(record.result.redacted);
        if let Cow::Owned(clean) = self.text(&record.prompt, &mut count) {
            record.prompt = clean.into();
        }
        if let Some(question) = &mut record.question {
            self.string(question, &mut count);
        }
        let before = count.places;
        self.value(&mut record.ground_truth, &mut count);
        if count.places > before {
            hide_normalized(&mut record.result, Side::GroundTruth);
        }
        self.map(&mut record.metadata, &mut count);
        if let Some(cluster) = &mut record.cluster {
            self.string(cluster, &mut count);
        }
        self.outcome(&mut record.result, &mut count);
        record.result.redacted = count.places;
        self.note(&record.sample_id, &count);
    }

    fn outcome(&self, outcome: &mut Outcome, count: &mut Blanked) {
        let before = count.places;
        if let Some(output) = &mut outcome.output {
            self.output(output, count);
        }
        if let Some(state) = &mut outcome.state {
            self.value(state, count);
        }
        // A prediction extracted from a text with a secret may be a piece of that.
        let may_be_pieces = count.places > before;
        let before = count.places;
        if let Some(prediction) = &mut outcome.prediction {
            self.string(prediction, count);
            if may_be_pieces {
                self.piece(prediction, count);
            }
        }
        if count.places > before {
            hide_normalized(outcome, Side::Prediction);
        }
        self.verdicts(outcome, count);
        if may_be_pieces {
            self.pieces(outcome, count);
        }
    }

    /// Redacts pieces of secrets in scorers' output.
    fn pieces(&self, outcome: &mut Outcome, count: &mut Blanked) {
        if let Some(score) = &mut outcome.score {
            let mut reason = score.reason.to_string();
            self.piece(&mut reason, count);
            if *reason != *score.reason {
                score.reason = reason.into();
            }
            match &mut score.normalized_prediction {
                Normalized::None => {}
                Normalized::Text(text) => self.piece(text, count),
                Normalized::List(items) => {
                    for item in items {
                        self.piece(item, count);
                    }
                }
            }
            let details = score.details.values_mut();
            details.for_each(|value| self.pieces_of(value, count));
        }
        let scores = outcome.scores.values_mut();
        scores.for_each(|value| self.pieces_of(value, count));
    }

    fn pieces_of(&self, value: &mut Value, count: &mut Blanked) {
        match value {
            Value::String(text) => self.piece(text, count),
            Value::Array(items) => items
                .iter_mut()
                .for_each(|item| self.pieces_of(item, count)),
            Value::Object(map) => map
                .values_mut()
                .for_each(|item| self.pieces_of(item, count)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn piece(&self, text: &mut String, count: &mut Blanked) {
        let clean = self.line(text);
        if clean != *text {
            count.add(1, None);
            *text = clean;
        }
    }

    /// Redacts scorers' output.
    pub(crate) fn verdicts(&self, outcome: &mut Outcome, count: &mut impl BlankCount) {
        if let Some(score) = &mut outcome.score {
            self.score(score, count);
        }
        for value in outcome.scores.values_mut() {
            self.value(value, count);
        }
        for call in &mut outcome.judged {
            self.judge_call(call, count);
        }
        if let Some(error) = &mut outcome.error {
            self.agent_error(error, count);
        }
    }

    /// Redacts a judge's call.
    pub(crate) fn judge_call(&self, call: &mut JudgeCall, count: &mut impl BlankCount) {
        if let Some(output) = &mut call.output {
            self.output(output, count);
        }
        if let Some(error) = &mut call.error {
            self.agent_error(error, count);
        }
    }

    fn score(&self, score: &mut Score, count: &mut impl BlankCount) {
        if let Cow::Owned(clean) = self.text(&score.reason, count) {
            score.reason = clean.into();
        }
        for side in [
            &mut score.normalized_prediction,
            &mut score.normalized_ground_truth,
        ] {
            match side {
                Normalized::None => {}
                Normalized::Text(text) => self.string(text, count),
                Normalized::List(items) => {
                    for item in items {
                        self.string(item, count);
                    }
                }
            }
        }
        for value in score.details.values_mut() {
            self.value(value, count);
        }
    }
}

// Normalised answers: in lower case and without punctuation, patterns do not match a secret, but people still
// recognise it.

/// A text that a scorer compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Prediction,
    GroundTruth,
}

/// Redacts the normalised form of a text that contained a secret, and the reason and details that repeat it.
fn hide_normalized(outcome: &mut Outcome, side: Side) {
    if let Some(score) = &mut outcome.score {
        let normalized = match side {
            Side::Prediction => &mut score.normalized_prediction,
            Side::GroundTruth => &mut score.normalized_ground_truth,
        };
        let hidden = match normalized {
            Normalized::None => Vec::new(),
            Normalized::Text(text) => vec![squeezed(text)],
            Normalized::List(items) => items.iter().map(|item| squeezed(item)).collect(),
        };
        *normalized = Normalized::Text(REDACTED.to_owned());
        if repeats(&score.reason, &hidden) {
            score.reason = REDACTED.into();
        }
        for detail in score.details.values_mut() {
            hide_in(detail, &hidden);
        }
    }
    let key = match side {
        Side::Prediction => "normalized_prediction",
        Side::GroundTruth => "normalized_ground_truth",
    };
    for score in outcome.scores.values_mut() {
        let Some(normalized) = score.get_mut(key) else {
            continue;
        };
        let hidden = match normalized.take() {
            Value::String(text) => vec![squeezed(&text)],
            Value::Array(items) => items
                .iter()
                .filter_map(Value::as_str)
                .map(squeezed)
                .collect(),
            _ => Vec::new(),
        };
        *normalized = REDACTED.into();
        for key in ["reason", "details"] {
            if let Some(value) = score.get_mut(key) {
                hide_in(value, &hidden);
            }
        }
    }
}

/// A text reduced so far that no normalisation changes it.
fn squeezed(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

fn repeats(text: &str, hidden: &[String]) -> bool {
    let given = squeezed(text);
    let mut hidden = hidden.iter().filter(|part| part.len() >= MIN_SECRET);
    hidden.any(|part| given.contains(part.as_str()))
}

fn hide_in(value: &mut Value, hidden: &[String]) {
    match value {
        Value::String(text) if repeats(text, hidden) => REDACTED.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_in(item, hidden)),
        Value::Object(map) => map.values_mut().for_each(|item| hide_in(item, hidden)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
