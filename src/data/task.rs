//! `Task`: the part of a sample that an agent may see.
//!
//! A [`Task`] has no target field, so the ground truth cannot reach an agent by construction; nor can metadata that
//! the benchmark does not mark as visible (GAIA's annotator metadata contains the solution).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value};

use super::conversation::{Talk, ToolServerAddress, TurnTask};
use super::sample::Sample;
use crate::system::cancel::Cancel;
use crate::system::clock;

/// A copy of an attachment, made for one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskFile {
    /// The file name, as in the prompt.
    pub name: String,
    /// Absolute path of the copy.
    pub path: PathBuf,
}

/// The parts of a sample that agents may see in every attempt, without target and hidden metadata.
#[derive(Debug, Default)]
pub(crate) struct Visible {
    id: String,
    text: String,
    tools: Vec<Value>,
    metadata: Map<String, Value>,
}

impl Visible {
    /// The part of a sample that agents may see.
    pub(crate) fn of(sample: &Sample) -> Self {
        let visible = sample.visible.iter();
        let entry = |key: &String| Some((key.clone(), sample.metadata.get(key)?.clone()));
        Self {
            id: sample.id.clone(),
            text: sample.prompt.clone(),
            tools: sample.tools.clone(),
            metadata: visible.filter_map(entry).collect(),
        }
    }

    /// The same in a turn of a conversation: another question, and other tools.
    pub(crate) fn of_turn(&self, text: &str, tools: Vec<Value>) -> Self {
        Self {
            id: self.id.clone(),
            text: text.to_owned(),
            tools,
            metadata: self.metadata.clone(),
        }
    }
}

/// The parts of a sample that an agent may see, for one attempt.
#[derive(Clone, Debug)]
pub struct Task {
    pub(crate) visible: Arc<Visible>,
    pub(crate) prompt: Arc<str>,
    pub(crate) files: Vec<TaskFile>,
    pub(crate) options: Arc<Map<String, Value>>,
    pub(crate) scratch: Option<PathBuf>,
    pub(crate) epoch: u32,
    /// For a judge, 1 if the request is repeated because its reply could not be parsed; otherwise the number of
    /// refused answers.
    pub(crate) again: u32,
    /// The verdict it is for, if the agent is a judge.
    pub(crate) judge: Option<JudgeTurn>,
    /// The conversation to be held, for its driver.
    pub(crate) talk: Option<Arc<Talk>>,
    /// The turn in which the agent is asked, in a conversation.
    pub(crate) turn: Option<TurnTask>,
    pub(crate) attempt: u32,
    pub(crate) deadline: Option<Instant>,
    pub(crate) cancel: Cancel,
    pub(crate) live: Option<Live>,
    /// Receives progress messages of the agent.
    pub(crate) progress: Option<Live>,
    /// Paths that a sandbox hides.
    pub(crate) hidden: Arc<[PathBuf]>,
    /// Where its models are called, if calls are recorded.
    pub(crate) base_urls: Option<Arc<BaseUrls>>,
}

/// The addresses at which an attempt calls its models so that the calls are recorded, by the names of providers.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct BaseUrls(pub(crate) BTreeMap<&'static str, String>);

impl BaseUrls {
    /// The address for a provider.
    pub(crate) fn of(&self, provider: &str) -> Option<&str> {
        self.0.get(provider).map(String::as_str)
    }
}

/// The verdict for which a judge is called.
#[derive(Clone, Debug)]
pub(crate) struct JudgeTurn {
    /// The name of the scorer.
    pub(crate) scorer: Box<str>,
    /// The epoch of the answer.
    pub(crate) epoch: u32,
    /// Number of the repetition.
    pub(crate) repeat: u32,
}

/// Receives the output lines of a running agent for display.
#[derive(Clone)]
pub(crate) struct Live(pub(crate) Arc<dyn Fn(&str) + Send + Sync>);

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Live")
    }
}

impl Task {
    /// The sample's id.
    pub fn id(&self) -> &str {
        &self.visible.id
    }

    /// The whole prompt: the preset's instructions, the question, the names of attached files.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// The question without the preset's instructions.
    pub fn question(&self) -> &str {
        &self.visible.text
    }

    /// The attached files, copied for this attempt.
    pub fn files(&self) -> &[TaskFile] {
        &self.files
    }

    /// Tool definitions the agent may call.
    pub fn tools(&self) -> &[Value] {
        &self.visible.tools
    }

    /// The conversation so far, in Chat Completions format, tool calls and results included; empty outside of
    /// conversations. The last message is the one to answer.
    pub fn messages(&self) -> &[Value] {
        self.turn.as_ref().map_or(&[], |turn| &turn.messages)
    }

    /// The turn of the conversation, from 1; `None` outside of conversations.
    pub fn turn(&self) -> Option<u32> {
        Some(self.turn.as_ref()?.turn)
    }

    /// The name of the conversation, which no other has at the same time; `None` outside of conversations.
    pub fn session(&self) -> Option<&str> {
        Some(&self.turn.as_ref()?.session)
    }

    /// The server of the tools of a conversation, if they are offered by MCP.
    pub(crate) fn server(&self) -> Option<&ToolServerAddress> {
        self.turn.as_ref()?.server.as_deref()
    }

    /// The metadata that the benchmark marks as visible to agents.
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.visible.metadata
    }

    /// `agent.options` of the spec.
    pub fn options(&self) -> &Map<String, Value> {
        &self.options
    }

    /// A folder for this attempt only; `None` if the agent needs none and the sample has no files.
    pub fn scratch(&self) -> Option<&Path> {
        self.scratch.as_deref()
    }

    /// The epoch, from 0.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The attempt, from 1; 0 when a flip is confirmed.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// When the attempt counts as timed out.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline.map(clock::of_system)
    }

    /// The address to call a provider's models at, if the eval [records calls](crate::Eval::record): `openai`,
    /// `anthropic` or `google`. It takes the place of the base URL of the provider's client.
    ///
    /// ```
    /// use evaltest::Task;
    ///
    /// fn address(task: &Task) -> String {
    ///     let own = "https://api.example.com/v1";
    ///     task.base_url("openai").unwrap_or(own).to_owned()
    /// }
    /// ```
    pub fn base_url(&self, provider: &str) -> Option<&str> {
        self.base_urls.as_ref()?.of(provider)
    }

    /// Reports progress. It is stored in the run's journal with its attempt, and shown by `--stream`; very long
    /// progress is truncated.
    pub fn progress(&self, message: &str) {
        if let Some(live) = &self.live {
            message.lines().for_each(|line| (live.0)(line));
        }
        if let Some(progress) = &self.progress {
            (progress.0)(message);
        }
    }

    /// Whether the run was interrupted or the deadline has passed. Long-running agents should check it regularly,
    /// because a closure cannot be killed.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
            || self
                .deadline
                .is_some_and(|deadline| clock::now() >= deadline)
    }
}

#[cfg(test)]
impl Task {
    /// A task as created by the runner: first attempt, no files, no deadline. Tests modify its fields.
    pub(crate) fn for_test(prompt: &str) -> Self {
        Self {
            visible: Arc::new(Visible::of(&Sample::new("sample-1", prompt))),
            prompt: prompt.into(),
            files: Vec::new(),
            options: Arc::default(),
            scratch: None,
            epoch: 0,
            again: 0,
            judge: None,
            talk: None,
            turn: None,
            attempt: 1,
            deadline: None,
            cancel: Cancel::new(),
            live: None,
            progress: None,
            hidden: Arc::default(),
            base_urls: None,
        }
    }
}
