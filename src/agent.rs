//! The `Agent` trait, and the agents that need no code of one's own.
//!
//! An agent answers one [`Task`]. Closures implement the trait. An answer that is wrong is an [`Output`];
//! an agent that cannot answer (a crash, an outage, a timeout) is an [`AgentError`] and never counts as
//! a wrong answer.
//!
//! | agent | asks |
//! |---|---|
//! | [`Command`] | a program, once for each task. [`Input`] and [`Reply`] say in which form, [`Cwd`] where it runs, [`vars`](Command::vars) and [`secret_values`](Command::secret_values) with which variables; [`Stream`] follows what it writes ([`StreamKind`]); [`term_grace`](Command::term_grace) is the time it has to clean up |
//! | [`Worker`] | programs that stay and answer many tasks, each [`capacity`](Worker::capacity) at a time; [`close_grace`](Worker::close_grace) is the time they have to end; [`vars`](Worker::vars) and [`secret_values`](Worker::secret_values) as for `Command` |
//! | `OpenAi` | an endpoint for chat completions (feature `http`): `FileKind` and `Unsendable` say what becomes of a sample's files, `Tools` what of its tools, `Price` what tokens cost |
//! | `Http` | any endpoint that takes and gives JSON (feature `http`): `with_method` is the verb, `Places` says where the answer stands in a reply |
//! | [`Replay`] | nobody: it gives the answers of a recording |
//! | [`Echo`] | nobody: it gives the question, to try an eval out |
//! | `Demo` | nobody: it works easy questions out (feature `demo`), for examples and tests |
//! | `Asynchronous` | an async closure, made by `asynchronous` (feature `tokio`) |
//!
//! `Command` and `Worker` can run in a [`Sandbox`], with or without a [`Network`] and with so much room on disk
//! ([`disk_bytes`](Sandbox::disk_bytes)), and with [`Ulimits`] (`memory_bytes`, `file_bytes`, …).

#[cfg(feature = "tokio")]
mod asynchronous;
pub(crate) mod command;
#[cfg(feature = "demo")]
pub(crate) mod demo;
pub(crate) mod echo;
#[cfg(feature = "http")]
mod endpoint;
pub(crate) mod figures;
#[cfg(feature = "http")]
pub(crate) mod http;
pub(crate) mod nobody;
#[cfg(feature = "http")]
pub(crate) mod openai;
pub(crate) mod program;
mod progress;
pub(crate) mod replay;
pub(crate) mod worker;

pub use crate::system::sandbox::{Network, Sandbox, SandboxKind, Ulimits};
#[cfg(feature = "tokio")]
pub use asynchronous::{Asynchronous, asynchronous};
pub use command::{Command, Cwd, Input, Reply, Stream, StreamKind};
#[cfg(feature = "demo")]
pub use demo::Demo;
pub use echo::Echo;
#[cfg(feature = "http")]
pub use http::{Http, Places};
#[cfg(feature = "http")]
pub use openai::{FileKind, OpenAi, Price, Tools, Unsendable};
pub use replay::Replay;
pub use worker::Worker;

use std::path::PathBuf;

use crate::data::item_part::ItemPart;
use crate::data::{AgentError, Output, Task};
use crate::error::Result;

/// The thing under test.
///
/// ```
/// use evaltest::{Agent, AgentError, Output, Task};
///
/// /// Asks a client of yours; an error of it is an [`AgentError`], never a wrong answer.
/// struct Client { model: String }
///
/// impl Agent for Client {
///     fn answer(&self, task: &Task) -> Result<Output, AgentError> {
///         let answer = format!("{}: {}", self.model, task.prompt());
///         Ok(Output::text(answer))
///     }
///
///     fn fingerprint(&self) -> Option<String> {
///         Some(self.model.clone())
///     }
/// }
/// ```
pub trait Agent: Send + Sync {
    /// Answers one task, or says why it could not.
    fn answer(&self, task: &Task) -> Result<Output, AgentError>;

    /// Whether the same task always gets the same answer. A deterministic agent is not asked again to
    /// confirm a flip, and no gate has to tell whether that is chance.
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

    /// What people should know of how it runs here, which [`check`](Self::check) has found out.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// What confines it here, for the manifest of a run: `bwrap`, `landlock`, or `none` where a sandbox was asked for
    /// and may be missing. `None` where nobody asked for one.
    fn sandbox(&self) -> Option<&'static str> {
        None
    }

    /// What its sandbox lets it read besides, for a notice where that tells answers.
    #[doc(hidden)]
    fn sandbox_reads(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The run is over: ends what the agent keeps running. It may be asked again later.
    fn close(&self) {}

    /// Whether an endpoint answers, which is not the agent's own: where it is silent for too long, that is an outage, also
    /// where [errors are wrong answers](crate::Errors::Wrong), and how it fails at first tells nothing of later attempts.
    fn asks_endpoint(&self) -> bool {
        false
    }

    /// How often a failed attempt is repeated when the eval does not say so. An agent behind a network wants some;
    /// it repeats nothing itself, so that every request that may cost money is an attempt in the record.
    fn default_retries(&self) -> u32 {
        0
    }

    /// The model that it asks, as it is configured, where there is one.
    fn model(&self) -> Option<&str> {
        None
    }

    /// Whether the options of a task reach an endpoint for chat completions, so that `response_format`, `tools` and
    /// `tool_choice` among them say in which form it is to reply.
    fn takes_reply_form(&self) -> bool {
        false
    }

    /// The parts of items that are its answers: nobody is asked then.
    #[doc(hidden)]
    fn shown_parts(&self) -> Option<&[ItemPart]> {
        None
    }

    /// US dollars that the reply to a request of so many bytes costs at most, where that is known before it is sent.
    fn most_usd(&self, request_bytes: usize) -> Option<f64> {
        let _ = request_bytes;
        None
    }

    /// More about a failure, for `cargo evaltest doctor`: what to do next. It may ask the agent's surroundings.
    fn diagnose(&self, error: &AgentError) -> Option<String> {
        let _ = error;
        None
    }

    /// A text that changes whenever the agent may answer the same task differently, so that answers can be
    /// kept: its model, its sampling parameters, the version of its code. Only a hash of it is written.
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

    /// What tells the recordings apart whose answers it repeats; none for an agent that answers anew. Answers of one
    /// recording count once in a baseline, however often they are repeated.
    fn recordings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Values that must not reach a record, such as a key.
    fn secrets(&self) -> Vec<String> {
        Vec::new()
    }

    /// The variables among its [secrets](Self::secrets), name and value, so that people are told whose value was often
    /// blanked.
    fn secret_variables(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The variables that it is to hand to a program and that have no value, as they are named. People are told before
    /// anything is paid.
    fn unset_variables(&self) -> Vec<String> {
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
