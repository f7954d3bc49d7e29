//! `Output`: what an agent says; `AgentError`: why it says nothing.
//!
//! An answer that is wrong is an [`Output`]; an agent that cannot answer (a crash, an outage, a timeout) is an
//! [`AgentError`] and never counts as a wrong answer.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::judged::Unread;
use crate::system::process::excerpt::ending;

/// No agent is left alone for longer, whatever it asks for: the attempt has failed then.
pub(crate) const LONGEST_RETRY_AFTER: f64 = 600.0;

/// How much of stderr stands in one line for people.
const STDERR_BYTES: usize = 500;

/// What an agent said.
///
/// A text is one already; what else an agent tells is chained.
///
/// ```
/// use evaltest::{Output, Usage};
/// use serde_json::json;
///
/// let plain: Output = "Paris".to_owned().into();
/// let told = Output::text("Paris")
///     .messages([json!({"role": "user", "content": "The capital of France?"})])
///     .tool_calls([json!({"name": "lookup", "arguments": {"country": "France"}})])
///     .usage(Usage::tokens(120, 8).cost_usd(0.0004));
/// assert_eq!(plain.text, told.text);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Output {
    /// The raw answer, before extraction. `None` when the agent ended well and gave no answer.
    pub text: Option<String>,
    /// The conversation, in Chat Completions form, if the agent tells.
    pub messages: Vec<Value>,
    /// Tool calls of the final answer, if the agent tells.
    pub tool_calls: Vec<Value>,
    /// Tokens and cost, if the agent tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// How many steps led to the answer, if the agent counts them itself; see [`steps_taken`](Self::steps_taken).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// How the answer came about, if the agent tells: `model` and `system_fingerprint` as the endpoint reports them,
    /// `finish_reason`, and whatever else.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

impl Output {
    /// An answer that is a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// The conversation that led to the answer, in Chat Completions form.
    #[must_use]
    pub fn messages(mut self, messages: impl IntoIterator<Item = Value>) -> Self {
        self.messages = messages.into_iter().collect();
        self
    }

    /// The calls of tools that are the answer.
    #[must_use]
    pub fn tool_calls(mut self, calls: impl IntoIterator<Item = Value>) -> Self {
        self.tool_calls = calls.into_iter().collect();
        self
    }

    /// What the answer cost.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// How many steps led to the answer, where its messages do not show it.
    #[must_use]
    pub fn steps(mut self, steps: u64) -> Self {
        self.steps = Some(steps);
        self
    }

    /// The model that answered, with its fingerprint, if the agent tells: `gpt-4o-2024-08-06 (fp_1)`.
    pub fn answered_by(&self) -> Option<String> {
        let text = |key: &str| self.metadata.get(key)?.as_str();
        let model = text("model")?;
        Some(match text("system_fingerprint") {
            Some(fingerprint) => format!("{model} ({fingerprint})"),
            None => model.to_owned(),
        })
    }
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Output {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// What an answer cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens read by the model.
    pub input_tokens: Option<u64>,
    /// Tokens written by the model.
    pub output_tokens: Option<u64>,
    /// Price in US dollars.
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Tokens read and written by the model.
    pub fn tokens(input: u64, output: u64) -> Self {
        Self {
            input_tokens: Some(input),
            output_tokens: Some(output),
            cost_usd: None,
        }
    }

    /// The price, in US dollars.
    #[must_use]
    pub fn cost_usd(mut self, cost: f64) -> Self {
        self.cost_usd = Some(cost);
        self
    }
}

/// Why an attempt has no answer.
///
/// Anything that displays converts into it, so `?` works in an agent on every error, and on a text. The
/// type itself displays nothing for that reason; see its `message`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentError {
    /// The class of the failure.
    pub kind: FailureKind,
    /// One line for people.
    pub message: String,
    /// Exit code of a process that ended by itself.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The signal that ended a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The end of what a process wrote to stderr.
    #[serde(default)]
    pub stderr_tail: Option<String>,
    /// Status of an HTTP reply that was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// Seconds that the agent wants to be left alone for, as a `Retry-After` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<f64>,
    /// Which limit of the eval ended the sample, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<EndedBy>,
    /// Why a judge gave no verdict, where its reply is to blame: `conflicting`, `refusal`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Unread>,
    /// The variables whose values were taken out of the message before anybody could count them.
    #[serde(skip)]
    pub(crate) hidden: Vec<String>,
}

/// The class of an [`AgentError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// The agent said so itself, or returned an error.
    Failed,
    /// It was not there: command not found, no recorded answer.
    NotFound,
    /// It could not be started.
    NotStarted,
    /// It ended with a non-zero exit code or by a signal.
    Exited,
    /// It ended well and printed nothing.
    NoOutput,
    /// Its reply could not be understood.
    BadOutput,
    /// It printed more than `limits.max_output_bytes`.
    OutputTooLarge,
    /// It did not end in time.
    TimedOut,
    /// It panicked.
    Panicked,
    /// The run was interrupted.
    Cancelled,
    /// It was refused because it asks too often, such as by HTTP 429. All questions wait, fewer are in flight from
    /// then on, and the attempt does not count against `limits.retries`.
    RateLimited,
    /// This machine has no descriptor, process or memory left to ask with. Nobody was asked: it is no attempt. All
    /// questions wait, and fewer are in flight from then on.
    Shortage,
    /// A file of the sample is missing or lies outside the dataset's folder.
    Attachment,
    /// The process that worked on this sample and on others ended, and nobody knows by whose fault. The sample
    /// is asked again, which does not count against `limits.retries`.
    Lost,
    /// No sample can be answered, as things are. The run stops.
    Unusable,
    /// It could not be reached, or the connection broke.
    Unreachable,
    /// It is busy or out of order: HTTP 408, 409, 425 and 5xx.
    Busy,
    /// It refuses this sample, as too long or against its rules; another may fare better.
    Refused,
    /// It refuses every sample, for the eval is wrong: no such key, model or address. The run stops.
    Misconfigured,
}

impl AgentError {
    /// A failure of class [`FailureKind::Failed`].
    pub fn new(message: impl Into<String>) -> Self {
        Self::of(FailureKind::Failed, message)
    }

    /// A failure of a given class.
    pub fn of(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            exit_code: None,
            signal: None,
            stderr_tail: None,
            http_status: None,
            retry_after_s: None,
            ended_by: None,
            reason: None,
            hidden: Vec::new(),
        }
    }

    /// A failure of class [`FailureKind::RateLimited`], with the pause that was asked for.
    pub fn rate_limited(message: impl Into<String>, retry_after: Option<Duration>) -> Self {
        Self {
            retry_after_s: retry_after.map(|pause| pause.as_secs_f64()),
            ..Self::of(FailureKind::RateLimited, message)
        }
    }

    /// How long the agent wants to be left alone, within reason.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let seconds = self.retry_after_s?.min(LONGEST_RETRY_AFTER);
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// The message and the end of stderr, on one line.
    pub(crate) fn with_stderr(&self) -> String {
        let stderr = self.stderr_tail.as_deref().unwrap_or_default().trim();
        if stderr.is_empty() {
            return self.message.clone();
        }
        let stderr = ending(stderr, STDERR_BYTES);
        format!("{}; stderr ends with `{stderr}`", self.message)
    }

    /// Whether another attempt may help. Timeouts are not retried by default, nor what cannot change.
    pub fn is_transient(&self) -> bool {
        let is_patient = self
            .retry_after_s
            .is_none_or(|seconds| seconds <= LONGEST_RETRY_AFTER);
        is_patient
            && matches!(
                self.kind,
                FailureKind::Failed
                    | FailureKind::Exited
                    | FailureKind::NoOutput
                    | FailureKind::BadOutput
                    | FailureKind::NotStarted
                    | FailureKind::Panicked
                    | FailureKind::RateLimited
                    | FailureKind::Shortage
                    | FailureKind::Lost
                    | FailureKind::Unreachable
                    | FailureKind::Busy
            )
    }
}

impl<E: fmt::Display> From<E> for AgentError {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}

/// Which limit ended a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum EndedBy {
    /// The attempt took too long.
    #[serde(rename = "limits.timeout_s")]
    Timeout,
    /// All attempts together took too long.
    #[serde(rename = "limits.sample_timeout_s")]
    SampleTimeout,
    /// The answer was too long.
    #[serde(rename = "limits.max_output_bytes")]
    MaxOutputBytes,
    /// The last attempt that was allowed failed.
    #[serde(rename = "limits.retries")]
    Retries,
}

impl EndedBy {
    /// The key of the limit in a spec, as records have it.
    pub fn key(self) -> &'static str {
        match self {
            Self::Timeout => "limits.timeout_s",
            Self::SampleTimeout => "limits.sample_timeout_s",
            Self::MaxOutputBytes => "limits.max_output_bytes",
            Self::Retries => "limits.retries",
        }
    }
}
