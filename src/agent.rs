//! The `Agent` trait, what an agent gives back, and how it fails.
//!
//! An agent answers one [`Task`]. Closures implement the trait. An answer that is wrong is an [`Output`];
//! an agent that cannot answer (a crash, an outage, a timeout) is an [`AgentError`] and never counts as
//! a wrong answer.

pub mod command;
pub mod demo;
pub mod echo;
pub mod replay;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::EndedBy;
use crate::sample::Task;

/// The thing under test.
pub trait Agent: Send + Sync {
    /// Answers one task, or says why it could not.
    fn answer(&self, task: &Task) -> Result<Output, AgentError>;

    /// Whether the same task always gets the same answer. A deterministic agent is not asked again to
    /// confirm a flip.
    fn is_deterministic(&self) -> bool {
        false
    }

    /// Whether the epochs of a sample may get different answers. A recording of several epochs is
    /// deterministic, and yet its epochs differ.
    fn varies_by_epoch(&self) -> bool {
        !self.is_deterministic()
    }

    /// Whether the agent itself ends in time when `task.deadline()` passes or `task.is_cancelled()`.
    /// Any other agent runs on a thread that the runner can leave behind.
    fn keeps_deadline(&self) -> bool {
        false
    }

    /// Whether every attempt needs a scratch folder, also without attachments.
    fn needs_scratch(&self) -> bool {
        false
    }
}

impl<F> Agent for F
where
    F: Fn(&Task) -> Result<Output, AgentError> + Send + Sync,
{
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        self(task)
    }
}

/// What an agent said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
}

impl Output {
    /// An answer that is a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
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
pub struct Usage {
    /// Tokens read by the model.
    pub input_tokens: Option<u64>,
    /// Tokens written by the model.
    pub output_tokens: Option<u64>,
    /// Price in US dollars.
    pub cost_usd: Option<f64>,
}

/// Why an attempt has no answer.
///
/// Anything that displays converts into it, so `?` works in an agent on every error, and on a text. The
/// type itself displays nothing for that reason; see its `message`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentError {
    /// The class of the failure.
    pub kind: FailureKind,
    /// One line for people.
    pub message: String,
    /// Exit code of a process that ended by itself.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The end of what a process wrote to stderr.
    #[serde(default)]
    pub stderr_tail: Option<String>,
    /// Seconds that the agent wants to be left alone for, as a `Retry-After` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<f64>,
    /// Which limit of the eval ended the sample, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<EndedBy>,
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
    /// A file of the sample is missing or lies outside the dataset's folder.
    Attachment,
}

/// No agent is left alone for longer, whatever it asks for: the attempt has failed then.
pub(crate) const LONGEST_RETRY_AFTER: f64 = 600.0;

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
            stderr_tail: None,
            retry_after_s: None,
            ended_by: None,
        }
    }

    /// A failure of class [`FailureKind::RateLimited`], with the pause that was asked for.
    pub fn rate_limited(message: impl Into<String>, retry_after: Option<Duration>) -> Self {
        Self {
            retry_after_s: retry_after.map(|pause| pause.as_secs_f64()),
            ..Self::of(FailureKind::RateLimited, message)
        }
    }

    /// How long the agent wants to be left alone.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.retry_after_s?).ok()
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
            )
    }
}

impl<E: fmt::Display> From<E> for AgentError {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}
