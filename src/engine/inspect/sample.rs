//! A sample of a log: one answer to one question.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::header::{LogHeader, id};
use super::message::{apart, message, text_of, tool_calls};
use super::spool::{LogAnswer, LogQuestion, TakenSample};
use super::verdicts::ScorerNames;
use crate::data::{AgentError, FailureKind, Output, Usage};
use crate::error::{Error, Result};
use crate::scorer::compose::recorded::VERDICTS;

/// A sample of a log, as far as it is read; not the transcript in `events`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InspectSample {
    id: Value,
    epoch: Option<u32>,
    input: Value,
    target: Value,
    messages: Option<Vec<Value>>,
    output: Option<InspectOutput>,
    scores: Option<Map<String, Value>>,
    /// In old logs, which had one scorer.
    score: Option<Value>,
    metadata: Option<Map<String, Value>>,
    model_usage: Option<Map<String, Value>>,
    total_time: Option<f64>,
    working_time: Option<f64>,
    error: Option<InspectError>,
    attachments: Option<Map<String, Value>>,
    limit: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InspectOutput {
    model: Option<String>,
    choices: Option<Vec<Value>>,
    completion: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InspectError {
    message: Option<String>,
    traceback: Option<String>,
}

/// How many bytes of a traceback's end are stored.
const TRACEBACK: usize = 4096;

impl InspectSample {
    pub(super) fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|error| Error::usage(format!("a sample cannot be read: {error}")))
    }

    /// The question and the answer, with its verdicts.
    pub(super) fn take(
        self,
        header: &LogHeader,
        slices: &[String],
        names: &mut ScorerNames,
    ) -> Result<TakenSample> {
        let name = id(&self.id).filter(|id| !id.is_empty());
        let name = name.ok_or_else(|| Error::usage("a sample has no `id`"))?;
        let epoch = self.epoch.unwrap_or(1);
        let epoch = epoch.checked_sub(1).ok_or_else(|| {
            let message = format!(
                "sample `{}` has the epoch 0: the first is 1",
                name.escape_debug()
            );
            Error::usage(message)
        })?;
        let attachments = self.attachments.clone().unwrap_or_default();
        let mut metadata = self.metadata.clone().unwrap_or_default();
        let is_ours = header.is_ours();
        let own = if is_ours {
            metadata.shift_remove("evaltest").unwrap_or_default()
        } else {
            Value::Null
        };
        let question = LogQuestion {
            prompt: self.prompt(&attachments),
            target: own
                .get("ground_truth")
                .cloned()
                .unwrap_or_else(|| self.target()),
            slices: slices_of(&metadata, slices, &own),
            metadata,
        };
        let answer = self.answer(header, &own, names, &attachments)?;
        Ok(TakenSample {
            id: name,
            epoch,
            question,
            answer,
        })
    }

    /// The prompt: a text, or the user's messages.
    fn prompt(&self, attachments: &Map<String, Value>) -> String {
        match &self.input {
            Value::String(text) => apart(text, attachments),
            Value::Array(messages) => {
                let questions = messages.iter().filter(|message| message["role"] == "user");
                let texts = questions.map(|message| text_of(message.get("content"), attachments));
                texts.collect::<Vec<_>>().join("\n\n")
            }
            _ => String::new(),
        }
    }

    /// The ground truth; an empty one counts as none.
    fn target(&self) -> Value {
        match &self.target {
            Value::String(text) if text.is_empty() => Value::Null,
            Value::Array(items) if items.is_empty() => Value::Null,
            Value::Array(items) if items.len() == 1 => items[0].clone(),
            other => other.clone(),
        }
    }

    fn answer(
        mut self,
        header: &LogHeader,
        own: &Value,
        names: &mut ScorerNames,
        attachments: &Map<String, Value>,
    ) -> Result<LogAnswer> {
        let mut scores = self.scores.take().unwrap_or_default();
        if let Some(score) = self.score.take().filter(Value::is_object) {
            let first = header.scorers().next().unwrap_or("score");
            scores.entry(first).or_insert(score);
        }
        let kind = own.get("error_kind").and_then(Value::as_str);
        let is_unjudged = kind == Some("scorer_failed");
        let mut verdicts = names.take(scores, header.is_ours())?;
        let latency_s = self.working_time.or(self.total_time);
        let latency_s = latency_s.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        let latency_s = latency_s.unwrap_or_default();
        let failed = self.error.take();
        if let Some(error) = &failed
            && is_unjudged
        {
            let message = error.message.as_deref().unwrap_or_default();
            let first = header.scorers().next().unwrap_or("score");
            verdicts.insert(first.to_owned(), json!({ "error": message }));
        }
        // If Inspect scored it in spite of an error, it counts.
        if let Some(error) = failed.as_ref().filter(|_| verdicts.is_empty()) {
            return Ok(LogAnswer {
                output: None,
                error: Some(agent_error(error, kind)),
                latency_s,
            });
        }
        let mut output = self.output(header, attachments);
        if let Some(error) = failed.and_then(|error| error.message) {
            output.metadata.insert("error".to_owned(), error.into());
        }
        output.metadata.insert(VERDICTS.to_owned(), verdicts.into());
        Ok(LogAnswer {
            output: Some(output),
            error: None,
            latency_s,
        })
    }

    fn output(&self, header: &LogHeader, attachments: &Map<String, Value>) -> Output {
        let logged_output = self.output.as_ref();
        let last = logged_output
            .and_then(|logged_output| logged_output.choices.as_ref()?.first()?.get("message"));
        let completion =
            logged_output.and_then(|logged_output| logged_output.completion.as_deref());
        let completion = completion.filter(|text| !text.is_empty());
        let text = match completion {
            Some(text) => Some(apart(text, attachments)),
            None => last.map(|last| text_of(last.get("content"), attachments)),
        };
        let messages = self.messages.iter().flatten();
        let mut output = Output {
            text,
            messages: messages.map(|found| message(found, attachments)).collect(),
            tool_calls: last.map(tool_calls).unwrap_or_default(),
            usage: self.usage(&header.model()),
            ..Output::default()
        };
        let model = logged_output.and_then(|logged_output| logged_output.model.as_deref());
        if let Some(model) = model.filter(|model| !model.is_empty()) {
            output.metadata.insert("model".to_owned(), model.into());
        }
        if let Some(limit) = self.limit.as_ref().filter(|limit| !limit.is_null()) {
            output.metadata.insert("limit".to_owned(), limit.clone());
        }
        output
    }

    /// The tokens and cost of the tested model; of all models if the log does not separate them.
    fn usage(&self, model: &str) -> Option<Usage> {
        let all = self.model_usage.as_ref().filter(|all| !all.is_empty())?;
        let one = all.get(model);
        let counted: Vec<&Value> = one.map_or_else(|| all.values().collect(), |one| vec![one]);
        let sum = |key: &str| {
            let tokens = counted.iter().filter_map(|usage| usage.get(key)?.as_u64());
            tokens.fold(0_u64, u64::saturating_add)
        };
        let cost = counted
            .iter()
            .filter_map(|usage| usage.get("total_cost")?.as_f64());
        let cost: Vec<f64> = cost
            .filter(|cost| cost.is_finite() && *cost >= 0.0)
            .collect();
        let usage = Usage::tokens(sum("input_tokens"), sum("output_tokens"));
        Some(if cost.is_empty() {
            usage
        } else {
            usage.cost_usd(cost.iter().sum())
        })
    }
}

/// The slices of a sample: the named entries of its metadata, and those from an earlier export of ours.
fn slices_of(
    metadata: &Map<String, Value>,
    named: &[String],
    own: &Value,
) -> Vec<(String, String)> {
    let mut slices = Vec::new();
    let mut add = |name: &str, value: &Value| {
        let values = match value {
            Value::Array(values) => values.as_slice(),
            one => std::slice::from_ref(one),
        };
        for value in values {
            match value {
                Value::Null => {}
                Value::String(text) => slices.push((name.to_owned(), text.clone())),
                other => slices.push((name.to_owned(), other.to_string())),
            }
        }
    };
    let before = own.get("slices").and_then(Value::as_object);
    for (name, value) in before.into_iter().flatten() {
        add(name, value);
    }
    for name in named {
        if let Some(value) = metadata.get(name) {
            add(name, value);
        }
    }
    slices
}

/// Converts an error to one of the agent. Only kinds are used that neither stop a run nor cause a retry.
fn agent_error(error: &InspectError, kind: Option<&str>) -> AgentError {
    let kind = match kind {
        Some("timed_out") => FailureKind::TimedOut,
        Some("exited") => FailureKind::Exited,
        Some("not_found") => FailureKind::NotFound,
        Some("bad_output") => FailureKind::BadOutput,
        Some("no_output") => FailureKind::NoOutput,
        Some("output_too_large") => FailureKind::OutputTooLarge,
        Some("unreachable") => FailureKind::Unreachable,
        Some("busy") => FailureKind::Busy,
        Some("refused") => FailureKind::Refused,
        _ => FailureKind::Failed,
    };
    let message = error
        .message
        .as_deref()
        .filter(|message| !message.is_empty());
    let mut found = AgentError::of(kind, message.unwrap_or("it failed"));
    let traceback = error.traceback.as_deref().unwrap_or_default();
    if !traceback.is_empty() {
        let start = traceback.len().saturating_sub(TRACEBACK);
        found.stderr_tail = Some(traceback[traceback.ceil_char_boundary(start)..].to_owned());
    }
    found
}
