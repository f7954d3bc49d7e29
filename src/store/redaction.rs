//! What of an answer and of a record is blanked on the way into the run directory.

mod normalized;

use std::borrow::Cow;

use crate::data::{AgentError, JudgeCall, Normalized, Outcome, Output, Record, Score};
use crate::text::redact::Redactor;

use normalized::{Side, hide_normalized};

/// How much of an agent's stderr is kept, in bytes, after redaction.
const STDERR_TAIL: usize = 4096;

/// How much of the beginning of a long stderr may be the half of a secret, in bytes.
const HALF_SECRET: usize = 512;

impl Redactor {
    /// Blanks what an agent said.
    pub(crate) fn output(&self, output: &mut Output, count: &mut u32) {
        if let Some(text) = &mut output.text {
            self.string(text, count);
        }
        let lists = output.messages.iter_mut().chain(&mut output.tool_calls);
        for value in lists.chain(output.metadata.values_mut()) {
            self.value(value, count);
        }
    }

    /// Blanks an agent's failure and cuts its stderr to the last bytes.
    ///
    /// The cut comes second: cutting first could leave the unrecognisable half of a token. A long tail may
    /// have been cut before it came here, so that its beginning goes in any case.
    pub(crate) fn agent_error(&self, error: &mut AgentError, count: &mut u32) {
        self.string(&mut error.message, count);
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

    /// Blanks a whole record and notes how many places were blanked.
    pub(crate) fn record(&self, record: &mut Record) {
        let mut count = record.result.redacted;
        if let Cow::Owned(clean) = self.text(&record.prompt, &mut count) {
            record.prompt = clean.into();
        }
        if let Some(question) = &mut record.question {
            self.string(question, &mut count);
        }
        let before = count;
        self.value(&mut record.ground_truth, &mut count);
        if count > before {
            hide_normalized(&mut record.result, Side::GroundTruth);
        }
        for value in record.metadata.values_mut() {
            self.value(value, &mut count);
        }
        if let Some(cluster) = &mut record.cluster {
            self.string(cluster, &mut count);
        }
        self.outcome(&mut record.result, &mut count);
        record.result.redacted = count;
    }

    fn outcome(&self, outcome: &mut Outcome, count: &mut u32) {
        if let Some(output) = &mut outcome.output {
            self.output(output, count);
        }
        let before = *count;
        if let Some(prediction) = &mut outcome.prediction {
            self.string(prediction, count);
        }
        if *count > before {
            hide_normalized(outcome, Side::Prediction);
        }
        self.verdicts(outcome, count);
    }

    /// Blanks what scorers said.
    pub(crate) fn verdicts(&self, outcome: &mut Outcome, count: &mut u32) {
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

    /// Blanks what a judge said.
    pub(crate) fn judge_call(&self, call: &mut JudgeCall, count: &mut u32) {
        if let Some(output) = &mut call.output {
            self.output(output, count);
        }
        if let Some(error) = &mut call.error {
            self.agent_error(error, count);
        }
    }

    fn score(&self, score: &mut Score, count: &mut u32) {
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
