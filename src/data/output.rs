//! `Output`: an agent's answer; `AgentError`: why there is none.
//!
//! A wrong answer is an [`Output`]; an agent that cannot answer (crash, outage, timeout) returns an [`AgentError`],
//! which never counts as a wrong answer.

pub(crate) mod finish;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::conversation::ConversationOutcome;
use super::judged::Unread;
use crate::system::process::excerpt::ending;
use finish::{Finish, Shortfall};

/// Maximum pause in seconds that an agent can request; for a longer one the attempt fails.
pub(crate) const LONGEST_RETRY_AFTER: f64 = 600.0;

/// Maximum bytes of stderr in a one-line message.
const STDERR_BYTES: usize = 500;

/// The metadata of a conversation's output that counts the replies which ended at the limit of tokens.
pub(crate) const TRUNCATED_REPLIES: &str = "truncated_replies";

/// An agent's answer.
///
/// A text converts to an answer; methods add everything else.
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
    /// The raw answer before extraction. `None` if the agent succeeded without an answer.
    pub text: Option<String>,
    /// The conversation in Chat Completions format, if known.
    pub messages: Vec<Value>,
    /// Tool calls of the final answer, if known.
    pub tool_calls: Vec<Value>,
    /// Tokens and cost, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Number of steps to the answer, if the agent counts them; see [`steps_taken`](Self::steps_taken).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Other information on the answer: `model` and `system_fingerprint` as reported by the endpoint, `finish_reason`,
    /// and others.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// How the conversation went, if it is one. In a record its members stand in [`Outcome`](super::Outcome).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Box<ConversationOutcome>>,
}

impl Output {
    /// A text answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// How it ended, by the marks of the endpoint.
    pub(crate) fn finish(&self) -> Finish {
        let is_refused = self.metadata.get("refused") == Some(&Value::Bool(true));
        let word = self.metadata.get("finish_reason").and_then(Value::as_str);
        let finish = if self.metadata.contains_key(TRUNCATED_REPLIES) {
            Finish::Truncated
        } else {
            word.map(Finish::of).unwrap_or_default()
        };
        finish.max(if is_refused {
            Finish::Refused
        } else {
            Finish::Answer
        })
    }

    /// What it is short of, if it ended otherwise than by itself.
    pub(crate) fn shortfall(&self) -> Option<Shortfall> {
        let text = self.text.as_deref().unwrap_or_default();
        let is_empty = text.trim().is_empty() && self.tool_calls.is_empty();
        match self.finish() {
            Finish::Truncated if is_empty => Some(Shortfall::TruncatedEmpty),
            Finish::Truncated => Some(Shortfall::Truncated),
            Finish::Refused => Some(Shortfall::Refused),
            Finish::Answer | Finish::Outage => None,
        }
    }

    /// Sets the conversation that led to the answer, in Chat Completions format.
    #[must_use]
    pub fn messages(mut self, messages: impl IntoIterator<Item = Value>) -> Self {
        self.messages = messages.into_iter().collect();
        self
    }

    /// Sets the tool calls that are the answer.
    #[must_use]
    pub fn tool_calls(mut self, calls: impl IntoIterator<Item = Value>) -> Self {
        self.tool_calls = calls.into_iter().collect();
        self
    }

    /// Sets the usage.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the number of steps, if the messages do not show it.
    #[must_use]
    pub fn steps(mut self, steps: u64) -> Self {
        self.steps = Some(steps);
        self
    }

    /// The model that answered, with its fingerprint, if known: `gpt-4o-2024-08-06 (fp_1)`.
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

/// The usage of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Input tokens.
    pub input_tokens: Option<u64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// Price in US dollars.
    pub cost_usd: Option<f64>,
    /// How many of the input tokens the provider had in its cache, if it tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
}

impl Usage {
    /// Usage with these input and output tokens.
    pub fn tokens(input: u64, output: u64) -> Self {
        Self {
            input_tokens: Some(input),
            output_tokens: Some(output),
            cost_usd: None,
            cached_tokens: None,
        }
    }

    /// Sets the price in US dollars.
    #[must_use]
    pub fn cost_usd(mut self, cost: f64) -> Self {
        self.cost_usd = Some(cost);
        self
    }
}

/// Why an attempt has no answer.
///
/// Any `Display` type converts into it, so `?` works in an agent on every error and on texts. For that reason the type
/// itself does not implement `Display`; see its `message`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentError {
    /// The kind of failure.
    pub kind: FailureKind,
    /// One line for people.
    pub message: String,
    /// Exit code of a process that exited.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The signal that killed a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The end of a process's stderr.
    #[serde(default)]
    pub stderr_tail: Option<String>,
    /// Status of an unsuccessful HTTP reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// Pause in seconds requested by the agent, such as by `Retry-After`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<f64>,
    /// The eval's limit that ended the sample, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<EndedBy>,
    /// Why a judge's reply has no verdict: `conflicting`, `refusal`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Unread>,
    /// Whose failure it is, if not the agent's. It is an outage, and never a wrong answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub party: Option<Party>,
    /// Variables whose values were already redacted in the message.
    #[serde(skip)]
    pub(crate) hidden: Vec<String>,
}

/// Who else than the agent takes part in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Party {
    /// The simulated user.
    User,
    /// What executes the calls of tools.
    Environment,
}

/// The kind of an [`AgentError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// Reported by the agent itself.
    Failed,
    /// The agent or answer does not exist: command not found, no recorded answer.
    NotFound,
    /// It could not be started.
    NotStarted,
    /// It exited with a non-zero code or was killed by a signal.
    Exited,
    /// It succeeded without output.
    NoOutput,
    /// Its reply could not be parsed.
    BadOutput,
    /// It printed more than `limits.max_output_bytes`.
    OutputTooLarge,
    /// It did not end in time.
    TimedOut,
    /// It panicked.
    Panicked,
    /// The run was interrupted.
    Cancelled,
    /// Too many requests, such as HTTP 429. All requests pause, concurrency is reduced, and the attempt does not count
    /// towards `limits.retries`, unless the eval sets that to 0: then it is the last.
    RateLimited,
    /// This machine ran out of descriptors, processes or memory. No request was sent, so it is not an attempt. All
    /// requests pause, and concurrency is reduced.
    Shortage,
    /// A file of the sample is missing or lies outside the dataset's folder.
    Attachment,
    /// A process that worked on several samples ended, and it is unknown which one caused it. The sample is retried,
    /// which does not count towards `limits.retries`.
    Lost,
    /// No sample can be answered. The run stops.
    Unusable,
    /// It could not be reached, or the connection broke.
    Unreachable,
    /// It is overloaded or failing: HTTP 408, 409, 425 and 5xx.
    Busy,
    /// It rejects this sample, for example as too long or against its rules; other samples may succeed.
    Refused,
    /// It rejects every sample because the eval is misconfigured: invalid key, model or address. The run stops.
    Misconfigured,
    /// It called a model in a way that is not recorded, and calls are only replayed.
    NotRecorded,
}

impl AgentError {
    /// A failure of kind [`FailureKind::Failed`].
    pub fn new(message: impl Into<String>) -> Self {
        Self::of(FailureKind::Failed, message)
    }

    /// A failure of a given kind.
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
            party: None,
            hidden: Vec::new(),
        }
    }

    /// A failure of kind [`FailureKind::RateLimited`], with the requested pause.
    pub fn rate_limited(message: impl Into<String>, retry_after: Option<Duration>) -> Self {
        Self {
            retry_after_s: retry_after.map(|pause| pause.as_secs_f64()),
            ..Self::of(FailureKind::RateLimited, message)
        }
    }

    /// The requested pause, within the limit.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let seconds = self.retry_after_s?.min(LONGEST_RETRY_AFTER);
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// The message and the end of stderr on one line.
    pub(crate) fn with_stderr(&self) -> String {
        let stderr = self.stderr_tail.as_deref().unwrap_or_default().trim();
        if stderr.is_empty() {
            return self.message.clone();
        }
        let stderr = ending(stderr, STDERR_BYTES);
        format!("{}; stderr ends with `{stderr}`", self.message)
    }

    /// Whether a retry may help. By default not for timeouts and permanent failures.
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

/// The limit that ended a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum EndedBy {
    /// The attempt took too long.
    #[serde(rename = "limits.timeout_s")]
    Timeout,
    /// A whole conversation took too long.
    #[serde(rename = "limits.conversation_timeout_s")]
    ConversationTimeout,
    /// The call of a tool took too long.
    #[serde(rename = "tools.tool_timeout_s")]
    ToolTimeout,
    /// All attempts together took too long.
    #[serde(rename = "limits.sample_timeout_s")]
    SampleTimeout,
    /// The answer was too long.
    #[serde(rename = "limits.max_output_bytes")]
    MaxOutputBytes,
    /// The last allowed attempt failed.
    #[serde(rename = "limits.retries")]
    Retries,
    /// Rate limits would have taken too long.
    #[serde(rename = "limits.rate_limit_wait_s")]
    RateLimitWait,
}

impl EndedBy {
    /// The spec key of the limit, as used in records.
    pub fn key(self) -> &'static str {
        match self {
            Self::Timeout => "limits.timeout_s",
            Self::ConversationTimeout => "limits.conversation_timeout_s",
            Self::ToolTimeout => "tools.tool_timeout_s",
            Self::SampleTimeout => "limits.sample_timeout_s",
            Self::MaxOutputBytes => "limits.max_output_bytes",
            Self::Retries => "limits.retries",
            Self::RateLimitWait => "limits.rate_limit_wait_s",
        }
    }
}
