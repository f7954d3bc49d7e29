//! `Trace`: what one request to an agent in production was, and what came of it.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::message;
use crate::data::{FailureKind, Usage};

/// A trace in the form that all formats are converted to.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// The id of the trace; that of the sample where evaltest wrote it.
    pub(super) id: String,
    /// From 0; of traces that evaltest wrote.
    pub(super) epoch: u32,
    /// Whether evaltest wrote it.
    pub(super) is_ours: bool,
    /// What is known about it: `source`, `time`, `model`, `tags`, `session` and others.
    pub(super) metadata: Map<String, Value>,
    /// Nanoseconds since 1970: the start and the end.
    pub(super) times: [i128; 2],
    /// What may be filtered by besides, by name.
    pub(super) attributes: Map<String, Value>,
    /// The question as a program asked it, if that differs from the last message of the user.
    pub(super) question: Option<String>,
    /// What was said, in the form of Chat Completions, with the answer.
    pub(super) messages: Vec<Value>,
    /// What came of it.
    pub(super) answer: TraceAnswer,
    pub(super) scores: Vec<TraceScore>,
}

/// What production answered.
#[derive(Debug, Default)]
pub(super) struct TraceAnswer {
    pub(super) text: Option<String>,
    /// Calls that stand in no message.
    pub(super) more_calls: Vec<Value>,
    pub(super) usage: Option<Usage>,
    pub(super) error: Option<String>,
    /// The kind of the error, where evaltest wrote it.
    pub(super) kind: Option<FailureKind>,
    /// Other information on the answer.
    pub(super) more: Map<String, Value>,
}

/// A verdict that was recorded with a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TraceScore {
    pub(super) name: String,
    pub(super) value: Option<f64>,
    pub(super) label: Option<String>,
    pub(super) explanation: Option<String>,
    /// Why there is none.
    pub(super) error: Option<String>,
}

/// What is asked again.
pub(super) enum Question {
    /// A question alone.
    Text(String),
    /// A conversation up to the last message of the user.
    Messages(Vec<Value>),
}

impl Trace {
    /// The number of messages up to the last one of the user, with that.
    fn asked(&self) -> usize {
        let mut messages = self.messages.iter();
        messages
            .rposition(|message| message["role"] == "user")
            .map_or(0, |place| place + 1)
    }

    /// Where the calls of the answer belong; `None` if some are there already, or no messages.
    pub(super) fn place_of_calls(&self) -> Option<usize> {
        let asked = self.asked();
        let mut replies = self.messages[asked..].iter();
        let has_calls = replies.any(|message| message.get("tool_calls").is_some());
        (!has_calls && !self.messages.is_empty()).then_some(asked)
    }

    /// The question; `None` where its content was not recorded.
    pub(super) fn question(&self) -> Option<Question> {
        let asked = &self.messages[..self.asked()];
        let users: Vec<&Value> = asked
            .iter()
            .filter(|message| message["role"] == "user")
            .collect();
        let is_plain = |message: &Value| message["content"].is_string();
        match users[..] {
            [] => self.question.clone().map(Question::Text),
            [one] if is_plain(one) => {
                let own = message::text_of(one).filter(|text| !text.trim().is_empty());
                self.question.clone().or(own).map(Question::Text)
            }
            _ => Some(Question::Messages(asked.to_vec())),
        }
    }

    /// What the first system message says.
    fn system(&self) -> Option<String> {
        let mut messages = self.messages.iter();
        let system = messages
            .find(|message| matches!(message["role"].as_str(), Some("system" | "developer")))?;
        message::text_of(system)
    }

    /// What was answered: the given text, else that of the last reply.
    pub(super) fn output(&self) -> Option<String> {
        let replies = self.messages[self.asked()..].iter().rev();
        let mut texts = replies
            .filter(|message| message["role"] == "assistant")
            .filter_map(message::text_of);
        let last = || texts.find(|text| !text.is_empty());
        self.answer.text.clone().or_else(last)
    }

    /// The calls of tools that the answer took.
    pub(super) fn tool_calls(&self) -> Vec<Value> {
        let mut calls = message::calls(&self.messages[self.asked()..]);
        calls.extend(self.answer.more_calls.iter().cloned());
        calls
    }

    pub(super) fn metadata(&self) -> Map<String, Value> {
        let mut metadata = self.metadata.clone();
        if self.times[0] > 0 {
            metadata.insert("time".to_owned(), timestamp(self.times[0]).into());
        }
        metadata.retain(|_, value| !value.is_null());
        metadata
    }

    /// A line of a file of questions.
    pub(super) fn line(&self, question: Question) -> Value {
        let mut line = Map::from_iter([("id".to_owned(), Value::from(&*self.id))]);
        let mut metadata = self.metadata();
        match question {
            Question::Text(text) => {
                line.insert("question".to_owned(), text.into());
                if let Some(system) = self.system() {
                    metadata.insert("system".to_owned(), system.into());
                }
            }
            Question::Messages(messages) => {
                line.insert("messages".to_owned(), messages.into());
            }
        }
        let scores = self.scores.iter().filter(|score| !score.is_empty());
        let scores: Map<String, Value> = scores
            .map(|score| (score.name.clone(), score.json()))
            .collect();
        let mut reference =
            json!({ "output": self.output(), "tool_calls": self.tool_calls(), "scores": scores });
        if let Some(error) = &self.answer.error {
            reference["error"] = error.as_str().into();
        }
        line.insert("answer".to_owned(), Value::Null);
        line.insert("reference".to_owned(), reference);
        line.insert("metadata".to_owned(), metadata.into());
        line.insert("review".to_owned(), "needed".into());
        Value::Object(line)
    }
}

impl TraceScore {
    fn is_empty(&self) -> bool {
        self.value.is_none() && self.label.is_none() && self.error.is_none()
    }

    /// `{value, label, explanation}`, as far as it is known.
    fn json(&self) -> Value {
        let mut json = Map::new();
        let mut add = |key: &str, value: Value| {
            if !value.is_null() {
                json.insert(key.to_owned(), value);
            }
        };
        add("value", self.value.map(number).unwrap_or_default());
        add("label", self.label.clone().into());
        add("explanation", self.explanation.clone().into());
        add("error", self.error.clone().into());
        Value::Object(json)
    }

    /// In the form that the scorer `recorded` reads; `None` where there is no number and the label is no verdict.
    pub(super) fn recorded(&self, is_ours: bool) -> Option<Value> {
        let correct =
            self.label
                .as_deref()
                .and_then(|label| match &*label.trim().to_ascii_lowercase() {
                    "correct" | "pass" | "passed" | "true" | "yes" => Some(true),
                    "incorrect" | "fail" | "failed" | "false" | "no" => Some(false),
                    _ => None,
                });
        if let Some(error) = self.error.as_ref().filter(|_| self.value.is_none()) {
            return Some(json!({ "error": error }));
        }
        let value = self
            .value
            .or_else(|| correct.map(|correct| f64::from(u8::from(correct))))?;
        let mut verdict = self.json();
        verdict["value"] = number(value);
        if let Some(correct) = correct {
            verdict["correct"] = correct.into();
        }
        if let Some(reason) = self.explanation.as_ref().filter(|_| is_ours) {
            verdict["reason"] = reason.as_str().into();
        } else if let Some(label) = &self.label {
            verdict["details"] = json!({ "label": label });
        }
        Some(verdict)
    }
}

/// A number, without a fraction where it has none.
fn number(value: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked: it has no fraction and is small"
    )]
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return (value as i64).into();
    }
    value.into()
}

/// A time as in RFC 3339.
pub(super) fn timestamp(nanoseconds: i128) -> String {
    let time = Timestamp::from_nanosecond(nanoseconds).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Nanoseconds since 1970 of a time in any form that traces have; 0 where it is none.
pub(super) fn nanoseconds(value: Option<&Value>) -> i128 {
    let scaled = |number: f64| {
        // Seconds, milli-, micro- or nanoseconds, by their size.
        let scale = match number {
            _ if number < 1e11 => 1e9,
            _ if number < 1e14 => 1e6,
            _ if number < 1e17 => 1e3,
            _ => 1.0,
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a time that is too large is the largest"
        )]
        let time = (number * scale) as i128;
        time
    };
    match value {
        Some(Value::Number(number)) => match number.as_i64() {
            Some(whole) if whole > 100_000_000_000_000_000 => whole.into(),
            _ => scaled(number.as_f64().unwrap_or_default()),
        },
        Some(Value::String(text)) => match text.parse::<i128>() {
            Ok(whole) if whole > 100_000_000_000_000_000 => whole,
            #[expect(clippy::cast_precision_loss, reason = "below 2^57, and a time")]
            Ok(whole) => scaled(whole as f64),
            Err(_) => parse_time(text).map_or(0, Timestamp::as_nanosecond),
        },
        _ => 0,
    }
}

/// A date or a time as in RFC 3339; without an offset it is in UTC.
pub(super) fn parse_time(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    let civil = text.parse::<jiff::civil::DateTime>().ok()?;
    civil
        .to_zoned(jiff::tz::TimeZone::UTC)
        .ok()
        .map(|zoned| zoned.timestamp())
}
