//! The `Agent` trait, what an agent gives back, and how it fails.
//!
//! An agent answers one [`Task`]. Closures implement the trait. An answer that is wrong is an [`Output`];
//! an agent that cannot answer (a crash, an outage, a timeout) is an [`AgentError`] and never counts as
//! a wrong answer.

#[cfg(feature = "tokio")]
mod asynchronous;
pub mod command;
#[cfg(feature = "demo")]
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

use crate::data::{AgentError, Output, Task};
use crate::error::Result;

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
    /// [kept](crate::store::cache): its model, its sampling parameters, the version of its code. Only a hash of it is written.
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
