//! The `Agent` trait, and the built-in agents.
//!
//! An agent answers one [`Task`]. Closures implement the trait. A wrong answer is an [`Output`]; an agent that cannot
//! answer (crash, outage, timeout) returns an [`AgentError`], which never counts as a wrong answer.
//!
//! | agent | where answers come from |
//! |---|---|
//! | [`Command`] | a program, started for each task. [`Input`] and [`Reply`] set the formats, [`Cwd`] the working directory, [`vars`](Command::vars) and [`secret_values`](Command::secret_values) the environment variables; [`Stream`] follows its output ([`StreamKind`]); [`term_grace`](Command::term_grace) is the time it has to clean up |
//! | [`Worker`] | long-running programs that answer many tasks, each [`capacity`](Worker::capacity) at a time; [`close_grace`](Worker::close_grace) is the time they have to end; [`vars`](Worker::vars) and [`secret_values`](Worker::secret_values) as for `Command` |
//! | [`Acp`] | coding agents that speak the Agent Client Protocol, which stay and have a session for each task; [`Permissions`] says what they may do |
//! | `OpenAi` | an endpoint for chat completions, responses or messages, by `Api` (feature `http`): `FileKind` and `Unsendable` set the handling of a sample's files, `Tools` that of its tools, `Price` the cost of tokens |
//! | `Http` | any endpoint with JSON requests and replies (feature `http`): `with_method` sets the HTTP method, `Places` the position of the answer in a reply |
//! | [`Replay`] | a recording |
//! | [`Echo`] | the question itself, to try out an eval |
//! | `Demo` | code that solves easy questions (feature `demo`), for examples and tests |
//! | [`Conversation`] | one of these, turn by turn, with a [`SimulatedUser`] or a script, and an [`Environment`] such as [`MockTools`] or [`WorkerEnvironment`] that executes its calls ([`Session`], [`ToolReply`]); a failure of either is that of a [`Party`] |
//! | `Asynchronous` | an async closure, built by `asynchronous` (feature `tokio`) |
//!
//! [`RecordedCalls`] records what `Command`, `Worker` and closures call at a [`Provider`] of models, and replays it
//! ([`RecordMode`]).
//!
//! `Command` and `Worker` can run in a [`Sandbox`], with or without a [`Network`], with a disk limit
//! ([`disk_bytes`](Sandbox::disk_bytes)) and with [`Ulimits`] (`memory_bytes`, `file_bytes`, …).

pub(crate) mod acp;
#[cfg(feature = "tokio")]
mod asynchronous;
pub(crate) mod command;
pub(crate) mod conversation;
#[cfg(feature = "demo")]
pub(crate) mod demo;
pub(crate) mod echo;
#[cfg(feature = "http")]
mod endpoint;
#[cfg(feature = "http")]
pub(crate) mod http;
#[cfg(feature = "http")]
pub(crate) mod openai;
pub(crate) mod program;
pub(crate) mod recorded;
pub(crate) mod replay;
pub(crate) mod reply;
pub(crate) mod worker;

pub use crate::data::Party;
pub use crate::system::sandbox::{Network, Sandbox, SandboxKind, Ulimits};
pub use acp::{Acp, Permissions};
#[cfg(feature = "tokio")]
pub use asynchronous::{Asynchronous, asynchronous};
pub use command::{Command, Cwd, Input, Reply, Stream, StreamKind};
pub use conversation::{
    Conversation, Environment, MockTools, Session, SimulatedUser, ToolReply, WorkerEnvironment,
};
#[cfg(feature = "demo")]
pub use demo::Demo;
pub use echo::Echo;
#[cfg(feature = "http")]
pub use http::{Http, Places};
#[cfg(feature = "http")]
pub use openai::{Api, FileKind, OpenAi, Price, Tools, Unsendable};
pub use recorded::{Provider, RecordMode, RecordedCalls};
pub use replay::Replay;
pub use worker::Worker;

use std::path::PathBuf;

use serde_json::Value;

use crate::data::{AgentError, FailureKind, ItemPart, Output, Task};
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
    /// Answers one task, or returns the reason why it could not.
    fn answer(&self, task: &Task) -> Result<Output, AgentError>;

    /// Whether the same task always gets the same answer. A deterministic agent is not run again to confirm a flip,
    /// and gates need not allow for chance.
    fn is_deterministic(&self) -> bool {
        false
    }

    /// Whether the answers may differ between epochs of a sample. A recording of several epochs is deterministic, but
    /// its epochs differ.
    fn varies_by_epoch(&self) -> bool {
        !self.is_deterministic()
    }

    /// Whether the agent returns by itself when `task.deadline()` passes or `task.is_cancelled()`. Other agents run on
    /// a thread that the runner can abandon.
    fn keeps_deadline(&self) -> bool {
        false
    }

    /// Seconds that the answer originally took, for an agent that replays a recording.
    fn recorded_latency_s(&self, task: &Task) -> Option<f64> {
        let _ = task;
        None
    }

    /// Whether every attempt needs a scratch folder, even without attachments.
    fn needs_scratch(&self) -> bool {
        false
    }

    /// Checks before the first sample that the agent can be used. An error prevents the run.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Notes for the user on how the agent runs here, as found by [`check`](Self::check).
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// The sandbox in use, for a run's manifest: `bwrap`, `landlock`, or `none` if a sandbox was requested but
    /// optional and unavailable. `None` if none was requested.
    fn sandbox(&self) -> Option<&'static str> {
        None
    }

    /// Additional paths that its sandbox can read, to warn if they reveal answers.
    #[doc(hidden)]
    fn sandbox_reads(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Called at the end of a run: stops background processes. The agent may be used again later.
    fn close(&self) {}

    /// Whether it calls an external endpoint. If that does not respond in time it is an outage, even where [errors are
    /// wrong answers](crate::Errors::Wrong), and early failures do not predict later ones.
    fn asks_endpoint(&self) -> bool {
        false
    }

    /// Default number of retries of a failed attempt. Agents that use a network should have some; an agent does not
    /// retry by itself, so that every request that may cost money is recorded as an attempt.
    fn default_retries(&self) -> u32 {
        0
    }

    /// The configured model, if any.
    fn model(&self) -> Option<&str> {
        None
    }

    /// Whether a task's options are sent to a chat completions endpoint, so that `response_format`, `tools` and
    /// `tool_choice` can set the form of the reply.
    fn takes_reply_form(&self) -> bool {
        false
    }

    /// Whether it takes the [base URLs](Task::base_url) of a task, so that its calls of models can be recorded.
    #[doc(hidden)]
    fn takes_base_urls(&self) -> bool {
        true
    }

    /// Prepares a program for calls at this port of ours, once it is known: its sandbox lets it through. If calls are only
    /// replayed, it gets placeholders for the keys that it lacks.
    #[doc(hidden)]
    fn prepare_calls(&self, port: Option<u16>, only_replays: bool) {
        let _ = (port, only_replays);
    }

    /// The driver of conversations, if it is one.
    #[doc(hidden)]
    fn conversation(&self) -> Option<&Conversation> {
        None
    }

    /// Whether it answers a whole conversation at once, as a recording does.
    #[doc(hidden)]
    fn answers_conversations(&self) -> bool {
        self.conversation().is_some()
    }

    /// Whether its requests hold all [messages](Task::messages) of a conversation.
    #[doc(hidden)]
    fn takes_messages(&self) -> bool {
        true
    }

    /// Whether it remembers a conversation from turn to turn. One that was interrupted then starts over; with an agent
    /// that lives by the [messages](Task::messages) of each task alone it goes on.
    fn keeps_sessions(&self) -> bool {
        false
    }

    /// Whether it executes calls of tools itself: the [messages](Output::messages) of its answer are then what it did in
    /// this turn, with the answer at the end.
    #[doc(hidden)]
    fn executes_calls(&self) -> bool {
        false
    }

    /// Whether it can be given tools by a server of MCP.
    #[doc(hidden)]
    fn takes_server(&self) -> bool {
        false
    }

    /// Called before its first conversation if each will have such a server.
    #[doc(hidden)]
    fn expect_server(&self) {}

    /// Called when a conversation is over, however it ended.
    fn end_session(&self, session: &str) {
        let _ = session;
    }

    /// For an agent that returns parts of the item itself: those parts. No program or model is called.
    #[doc(hidden)]
    fn item_parts(&self) -> Option<&[ItemPart]> {
        None
    }

    /// Maximum cost in US dollars of the reply to a request of this size, if known before it is sent.
    fn most_usd(&self, request_bytes: usize) -> Option<f64> {
        let _ = request_bytes;
        None
    }

    /// Advice on a failure for `cargo evaltest doctor`. May query the agent's environment.
    fn diagnose(&self, error: &AgentError) -> Option<String> {
        let _ = error;
        None
    }

    /// A text that changes whenever the agent may answer the same task differently, as part of the cache key: its
    /// model, its sampling parameters, the version of its code. Only a hash of it is written. `None` disables the
    /// cache.
    ///
    /// The agents `command` and `worker` include their keys, the contents of the program and of every file in the
    /// command line, and the variables they pass, except `PATH`, `HOME`, `TMPDIR` and `SSL_CERT_*`. They cannot detect
    /// changes of imported modules, of files the program opens, of installed packages, of a model behind it, or of the
    /// date. After such a change use `--refresh`. The agents `openai` and `http` cannot detect that another model
    /// answers under the same name and address.
    fn fingerprint(&self) -> Option<String> {
        None
    }

    /// Ids of the recordings that it replays; none for an agent that gives new answers. Answers of one recording count
    /// once in a baseline, however often they are replayed.
    fn recordings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Values that must not be recorded, such as keys.
    fn secrets(&self) -> Vec<String> {
        Vec::new()
    }

    /// Names and values of the variables among its [secrets](Self::secrets), to report whose value was redacted often.
    fn secret_variables(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Names of variables that it passes to a program but that are not set. Reported before any cost arises.
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

// The agent `none`: the item itself is the answer, without asking a model.
//
// A task has no ground truth in it, but the text of an item has. So this agent is never called: callers build the
// answer from the sample itself, by `Agent::item_parts`, which no user's own agent has.

/// Shows items, and is never called.
#[derive(Clone, Debug)]
pub(crate) struct Nobody {
    shows: Vec<ItemPart>,
}

impl Nobody {
    /// Items are shown by these parts.
    pub(crate) fn new(shows: Vec<ItemPart>) -> Self {
        Self { shows }
    }
}

impl Agent for Nobody {
    fn answer(&self, _: &Task) -> Result<Output, AgentError> {
        let message = "the agent `none` cannot be called";
        Err(AgentError::of(FailureKind::Misconfigured, message))
    }

    fn item_parts(&self) -> Option<&[ItemPart]> {
        Some(&self.shows)
    }

    fn fingerprint(&self) -> Option<String> {
        let shows: Vec<_> = self.shows.iter().map(|part| part.name()).collect();
        Some(format!("none {}", shows.join(" ")))
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn keeps_deadline(&self) -> bool {
        true
    }

    fn takes_base_urls(&self) -> bool {
        false
    }
}

// Progress messages of a program.
//
// A worker sends them as lines of its protocol; a program that is started per question writes them to stderr among
// other lines: an object with `progress`, or with `type: progress` and a `message`.

/// The progress message in a line of stderr, if it is one.
fn of_line(line: &str) -> Option<String> {
    let line = line.trim();
    // Most lines are logs; skip them without parsing.
    if !line.starts_with('{') || !line.contains("progress") {
        return None;
    }
    let Value::Object(mut line) = reply::read(line.as_bytes()).ok()? else {
        return None;
    };
    match line.get("type").map(Value::as_str) {
        Some(Some("progress")) => Some(message_text(line.remove("message").unwrap_or_default())),
        None => line.remove("progress").map(message_text),
        Some(_) => None,
    }
}

/// The message as text.
fn message_text(message: Value) -> String {
    match message {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stderr_line_may_report_progress() {
        let check = |line: &str, expect: Option<&str>| {
            assert_eq!(of_line(line).as_deref(), expect, "{line}");
        };
        check(r#"{"progress": "half"}"#, Some("half"));
        check(r#" {"type": "progress", "message": "all"} "#, Some("all"));
        check(
            r#"{"progress": {"done": 1, "of": 2}}"#,
            Some(r#"{"done":1,"of":2}"#),
        );
        check(r#"{"type": "progress"}"#, Some(""));
        check(r#"{"type": "log", "progress": 1}"#, None);
        check(r#"{"level": "info", "message": "progress"}"#, None);
        check(r#"{"progress": "ha"#, None);
        check("progress: half", None);
        check(r#"["progress"]"#, None);
        check("", None);
    }
}
