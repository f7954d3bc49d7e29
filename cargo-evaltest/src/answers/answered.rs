//! `AnsweredSample`: an answer with its ground truth, parsed from an input.

use std::borrow::Cow;
use std::sync::Arc;

use evaltest::engine::data::{exact_integers, python_json};
use evaltest::engine::text::REDACTED;
use evaltest::engine::text::Raw;
use evaltest::scorer::{Reads, Scorer};
use evaltest::{Answer, Error, Output, Record, Result, Status, Target};
use serde_json::{Map, Value};

use super::fields::{self, Fields};
use super::line::Line;
use super::{Layout, messages};

/// An answer with its ground truth. Reusing one value for many lines reuses its buffers.
pub(crate) struct AnsweredSample {
    /// The sample's id in the input.
    pub(crate) id: Option<String>,
    /// The agent's output; its text is the raw prediction.
    pub(crate) output: Output,
    /// The ground truth; null if there is none.
    pub(crate) target: Target,
    /// The metadata.
    pub(crate) metadata: Map<String, Value>,
    /// The prompt, if a record has it.
    pub(crate) prompt: Option<Arc<str>>,
    /// Other fields of a run's record.
    pub(crate) entry: Option<RecordedAnswer>,
}

impl Default for AnsweredSample {
    fn default() -> Self {
        Self {
            id: None,
            output: Output::default(),
            target: Target(Value::Null),
            metadata: Map::new(),
            prompt: None,
            entry: None,
        }
    }
}

/// The fields that a command's scorers need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Whether a scorer requires a ground truth.
    pub(crate) target: bool,
    /// Other parts that scorers read.
    pub(crate) reads: Reads,
    /// Whether ids are needed.
    pub(crate) ids: bool,
}

impl Wanted {
    /// The fields needed by `scorers`, without ids.
    pub(crate) fn by(scorers: &[Arc<dyn Scorer>]) -> Self {
        let reads = scorers.iter().map(Scorer::reads).max();
        Self {
            target: scorers.iter().any(Scorer::needs_target),
            reads: reads.unwrap_or(Reads::Text),
            ids: false,
        }
    }

    /// Whether tool calls are scored, wherever a line has them. Tables of all scorers need texts.
    pub(crate) fn calls(self) -> bool {
        self.reads == Reads::Calls && !self.ids
    }

    /// The number of [`Fields`] needed.
    pub(crate) fn fields(self) -> usize {
        match self.reads {
            _ if self.ids => fields::WITH_IDS,
            Reads::Text => fields::GROUND_TRUTH + 1,
            Reads::Roles => fields::TRAJECTORY + 1,
            Reads::Everything => fields::METADATA + 1,
            Reads::Calls => fields::CALL_ID + 1,
        }
    }
}

impl AnsweredSample {
    /// Parses a non-blank line.
    pub(super) fn read(line: &str, layout: &Layout, wanted: Wanted) -> Result<Self> {
        let mut answered = Self::default();
        match layout {
            Layout::Records => {
                answered.fill_from_record(line)?;
            }
            Layout::Lines(fields) => {
                let line = Line::parse(line, fields, wanted.fields(), "", &mut Vec::new())?;
                answered.fill(&line, fields, wanted)?;
            }
        }
        Ok(answered)
    }

    /// Fills `self` from a line's fields.
    pub(crate) fn fill(&mut self, line: &Line<'_>, fields: &Fields, wanted: Wanted) -> Result<()> {
        let or = |field: usize, other: usize| {
            let is_free = wanted.calls() && !fields.name(field).1;
            let other = || line.field(other).filter(|_| is_free);
            line.field(field).or_else(other)
        };
        let prediction = or(fields::PREDICTION, fields::MODEL_RESULT);
        let has_half = self.fill_prediction(prediction, wanted).map_err(|kind| {
            let name = fields.name(fields::PREDICTION).0;
            Error::usage(format!("`{name}` must be a string or null, not {kind}"))
        })?;
        self.fill_target(line.field(fields::GROUND_TRUTH), fields, wanted)?;
        if has_half && let Some(raw) = prediction {
            self.keep_halves_apart(raw);
        }
        if wanted.ids {
            self.id = line.id().map(|id| id.content().into_owned());
        }
        if wanted.reads == Reads::Text {
            return Ok(());
        }
        let messages = &mut self.output.messages;
        match or(fields::TRAJECTORY, fields::MESSAGES) {
            Some(raw) if wanted.reads == Reads::Roles => messages::fill_roles(raw, messages),
            raw => array(raw).map(|read| *messages = read),
        }
        .ok_or_else(|| {
            let name = fields.name(fields::TRAJECTORY).0;
            Error::usage(format!("`{name}` must be an array of messages"))
        })?;
        if wanted.reads >= Reads::Everything {
            self.fill_others(line, fields, wanted)?;
        }
        Ok(())
    }

    /// Fills `self` from a line of `samples.jsonl`; `false` if it is of a perturbed question, which counts in no figure.
    pub(crate) fn fill_from_record(&mut self, line: &str) -> Result<bool> {
        read_record(line, self)
    }

    /// The input for a scorer, with the prediction extracted for it.
    pub(crate) fn answer<'a>(
        &'a self,
        prediction: Option<&'a str>,
        extract_is_given: bool,
    ) -> Answer<'a> {
        let mut answer = Answer::new(prediction, &self.target)
            .output(&self.output)
            .metadata(&self.metadata);
        if let Some(prompt) = &self.prompt {
            answer = answer.prompt(prompt);
        }
        answer.extract_is_given = extract_is_given;
        answer
    }

    /// Whether redaction changed something that is scored, so that it is no longer what the agent answered.
    pub(crate) fn is_lost(&self) -> bool {
        if self.entry.as_ref().is_none_or(|entry| entry.redacted == 0) {
            return false;
        }
        let holds = |text: &str| text.contains(REDACTED);
        let mut values = self.metadata.values().chain(&self.output.messages);
        self.output.text.as_deref().is_some_and(holds)
            || holds(&self.target.0.to_string())
            || values.any(|value| holds(&value.to_string()))
    }

    /// Returns whether the prediction contains a lone surrogate.
    fn fill_prediction(
        &mut self,
        raw: Option<Raw<'_>>,
        wanted: Wanted,
    ) -> Result<bool, &'static str> {
        let Some(raw) = raw.filter(|raw| !raw.is_null()) else {
            self.output.text = None;
            return Ok(false);
        };
        let (text, has_half) = match raw.text() {
            Some(read) => read,
            None if wanted.calls() => (raw.content(), false),
            None => return Err(raw.kind()),
        };
        put(self.output.text.get_or_insert_default(), text);
        Ok(has_half)
    }

    /// A lone surrogate equals no character, so replace it by a character that the ground truth does not contain.
    fn keep_halves_apart(&mut self, prediction: Raw<'_>) {
        let target = self.target.0.to_string();
        let mut free = ['\u{fffd}'].into_iter().chain('\u{f0000}'..='\u{10fffd}');
        if let Some(half) = free.find(|half| !target.contains(*half))
            && let Some(text) = prediction.text_with(half)
        {
            put(self.output.text.get_or_insert_default(), text);
        }
    }

    fn fill_target(&mut self, raw: Option<Raw<'_>>, fields: &Fields, wanted: Wanted) -> Result<()> {
        let fault = |what: &str| {
            let name = fields.name(fields::GROUND_TRUTH).0;
            Err(Error::usage(format!("`{name}` {what}")))
        };
        match raw.map(|raw| (raw, raw.text())) {
            None if wanted.target => {
                return fault("is missing").map_err(|error| {
                    error.hint(
                        "name its field: `--map ground_truth=FIELD`; or add `--keep-going` to score the other \
                         lines",
                    )
                });
            }
            None => self.target.0 = Value::Null,
            // A prediction's lone surrogate is replaced by a character absent from the ground truth. Replacing it here
            // would make different texts equal.
            Some((_, Some((_, true)))) => return fault("has half of a surrogate pair"),
            Some((_, Some((text, false)))) => match &mut self.target.0 {
                Value::String(buffer) => put(buffer, text),
                other => *other = Value::String(text.into_owned()),
            },
            // No scorer's ground truth needs Python's `NaN`, so `serde_json` is enough.
            Some((raw, None)) => match serde_json::from_str(&raw.content()) {
                Ok(value) => {
                    self.target.0 = value;
                    exact_integers(&mut self.target.0, &raw.content());
                }
                Err(_) => return fault("is not standard JSON"),
            },
        }
        Ok(())
    }

    /// Reads metadata and tool calls. Other programs use these field names too, so a value that is no object or array
    /// is ignored unless `--map` names the field.
    fn fill_others(&mut self, line: &Line<'_>, fields: &Fields, wanted: Wanted) -> Result<()> {
        let wrong = |field: usize, what: &str| match fields.name(field) {
            (_, false) => Ok(()),
            (name, true) => Err(Error::usage(format!("`{name}` must be {what}"))),
        };
        let calls = array(line.field(fields::TOOL_CALLS));
        if calls.is_none() {
            wrong(fields::TOOL_CALLS, "an array of tool calls")?;
        }
        self.output.tool_calls = calls.unwrap_or_default();
        self.metadata = match line.field(fields::METADATA).map(value) {
            None | Some(Some(Value::Null)) => Map::new(),
            Some(Some(Value::Object(metadata))) => metadata,
            Some(_) => {
                wrong(fields::METADATA, "an object")?;
                Map::new()
            }
        };
        if wanted.calls() {
            for (field, key) in [(fields::MODE, "mode"), (fields::CALL_ID, "id")] {
                let text = line.field(field).and_then(|raw| raw.text());
                if let Some((text, _)) = text {
                    let entry = self.metadata.entry(key.to_owned());
                    entry.or_insert_with(|| text.into_owned().into());
                }
            }
        }
        Ok(())
    }
}

/// Replaces a buffer's content.
fn put(buffer: &mut String, text: Cow<'_, str>) {
    match text {
        Cow::Owned(text) => *buffer = text,
        Cow::Borrowed(text) => {
            buffer.clear();
            buffer.push_str(text);
        }
    }
}

/// A JSON value; a JSON text inside a string (as in CSV cells) is parsed.
fn value(raw: Raw<'_>) -> Option<Value> {
    python_json(&raw.content())
}

/// An array; null gives an empty one.
fn array(raw: Option<Raw<'_>>) -> Option<Vec<Value>> {
    match raw.map(value) {
        None | Some(Some(Value::Null)) => Some(Vec::new()),
        Some(Some(Value::Array(items))) => Some(items),
        Some(_) => None,
    }
}

/// The fields of a record needed to score its answer again.
pub(crate) struct RecordedAnswer {
    pub(crate) sample_id: String,
    pub(crate) epoch: u32,
    pub(crate) status: Status,
    /// Number of secrets redacted in the record: its texts differ from the agent's output.
    pub(crate) redacted: u32,
    /// Verdict of the deciding scorer, if it gave one.
    pub(crate) correct: Option<bool>,
    /// Verdicts of all scorers by name, if there are several.
    pub(crate) scores: Map<String, Value>,
}

/// Parses a line of `samples.jsonl`.
fn read_record(line: &str, answered: &mut AnsweredSample) -> Result<bool> {
    let record: Record = serde_json::from_str(line)
        .map_err(|error| Error::usage(format!("not a record: {error}")))?;
    if record.perturb.is_some() {
        return Ok(false);
    }
    answered.id = Some(record.sample_id.clone());
    answered.output = record.result.output.unwrap_or_default();
    answered.target = Target(record.ground_truth);
    answered.metadata = record.metadata;
    answered.prompt = Some(record.prompt);
    answered.entry = Some(RecordedAnswer {
        sample_id: record.sample_id,
        epoch: record.epoch,
        status: record.result.status,
        redacted: record.result.redacted,
        correct: record.result.score.map(|score| score.correct),
        scores: record.result.scores,
    });
    Ok(true)
}

impl RecordedAnswer {
    /// Whether there is an answer. A failed request is not a wrong answer.
    pub(crate) fn is_answered(&self) -> bool {
        matches!(
            self.status,
            Status::Scored | Status::Unscored | Status::ScorerFailed
        )
    }
}
