//! The `Agent` trait, what an agent gives back, and how it fails.
//!
//! An agent answers one [`Task`]. Closures implement the trait. An answer that is wrong is an [`Output`];
//! an agent that cannot answer (a crash, an outage, a timeout) is an [`AgentError`] and never counts as
//! a wrong answer.

#[cfg(feature = "tokio")]
mod asynchronous;
pub mod command;
pub mod demo;
pub mod echo;
#[cfg(feature = "http")]
mod endpoint;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "http")]
pub mod openai;
pub mod replay;
pub mod worker;

#[cfg(feature = "tokio")]
pub use asynchronous::{Asynchronous, asynchronous};

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Result;
use crate::limits::EndedBy;
use crate::sample::Task;
use crate::system::process::excerpt::ending;

/// How much of stderr stands in one line for people.
const STDERR_BYTES: usize = 500;

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

    /// Seconds that the answer to a task took when it was first given, for an agent that repeats it.
    fn recorded_latency_s(&self, task: &Task) -> Option<f64> {
        let _ = task;
        None
    }

    /// Whether every attempt needs a scratch folder, also without attachments.
    fn needs_scratch(&self) -> bool {
        false
    }

    /// Finds out, before the first sample is asked, whether the agent can be asked at all. An error ends the run
    /// before it begins.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// The run is over: ends what the agent keeps running. It may be asked again later.
    fn close(&self) {}

    /// How often a failed attempt is repeated when the eval does not say so. An agent behind a network wants some;
    /// it repeats nothing itself, so that every request that may cost money is an attempt in the record.
    fn default_retries(&self) -> u32 {
        0
    }

    /// More about a failure, for `cargo evaltest doctor`: what to do next. It may ask the agent's surroundings.
    fn diagnose(&self, error: &AgentError) -> Option<String> {
        let _ = error;
        None
    }

    /// A text that changes whenever the agent may answer the same task differently, so that answers can be
    /// [kept](crate::cache): its model, its sampling parameters, the version of its code. Only a hash of it is written.
    /// `None`: nothing is kept of what the agent says.
    ///
    /// The agents `command` and `worker` name their keys, the contents of the program and of every file that the
    /// command names, and the variables that they pass, but for `PATH`, `HOME`, `TMPDIR` and `SSL_CERT_*`. What they
    /// cannot know: modules that a program imports, files that it opens by itself, installed packages, a model behind
    /// it, the day. After such a change ask with `--refresh`. The agents `openai` and `http` cannot know that another
    /// model answers under the same name and address.
    fn fingerprint(&self) -> Option<String> {
        None
    }

    /// Values that must not reach a record, such as a key.
    fn secrets(&self) -> Vec<String> {
        Vec::new()
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
    /// Status of an HTTP reply that was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
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
            http_status: None,
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
