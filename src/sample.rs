//! `Sample`, its `Target`, and `Task`: what of a sample an agent may see.
//!
//! A [`Task`] has no target field, so the ground truth cannot reach an agent by construction; nor can
//! metadata that the benchmark does not mark as visible (GAIA's annotator metadata holds the solution).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};

use crate::system::cancel::Cancel;

/// One question of a benchmark, with its ground truth.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Unique within its eval.
    pub id: String,
    /// The question as the dataset has it, before a prompt preset is put around it.
    pub prompt: String,
    /// The ground truth; `None` for a split whose answers are hidden.
    pub target: Option<Target>,
    /// Every other column of the row, nested structures included. Kept in records, not shown to agents.
    pub metadata: Map<String, Value>,
    /// The names of `metadata` entries that an agent may see.
    pub visible: Vec<String>,
    /// The slices the sample belongs to, as (dimension, value): `("level", "1")`. The first one is part
    /// of the test's name.
    pub slices: Vec<(String, String)>,
    /// Files that come with the question.
    pub files: Vec<Attachment>,
    /// Tool definitions (JSON schema) that the agent may call.
    pub tools: Vec<Value>,
}

impl Sample {
    /// A sample with an id, a question and no ground truth yet.
    pub fn new(id: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            prompt: prompt.into(),
            ..Self::default()
        }
    }

    /// Sets the ground truth.
    #[must_use]
    pub fn target(mut self, target: impl Into<Target>) -> Self {
        self.target = Some(target.into());
        self
    }

    /// Puts the sample into a slice, such as `("level", "1")`.
    #[must_use]
    pub fn slice(mut self, dimension: impl Into<String>, value: impl Into<String>) -> Self {
        self.slices.push((dimension.into(), value.into()));
        self
    }

    /// Names a scorer for this sample alone, as a spec writes it: `json!("gsm8k")`. The scorer
    /// [`per_sample`](crate::scorer::per_sample) reads it, which is that of the benchmark `custom`.
    #[must_use]
    pub fn scorer(mut self, scorer: impl Into<Value>) -> Self {
        let key = crate::scorer::per_sample::KEY;
        self.metadata.insert(key.to_owned(), scorer.into());
        self
    }

    /// Attaches a file.
    #[must_use]
    pub fn file(mut self, attachment: Attachment) -> Self {
        self.files.push(attachment);
        self
    }
}

/// The ground truth of a sample: a text for most benchmarks, any JSON for others.
#[derive(Clone, Debug, PartialEq)]
pub struct Target(pub Value);

impl Target {
    /// The ground truth as a text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        self.0.as_str()
    }
}

impl<T: Into<Value>> From<T> for Target {
    fn from(value: T) -> Self {
        Self(value.into())
    }
}

/// A file that belongs to a sample. It must lie inside `root`, symbolic links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The name under which the agent finds it.
    pub name: String,
    /// Where the dataset has it, relative to `root`.
    pub path: PathBuf,
    /// The dataset's folder.
    pub root: PathBuf,
}

/// A copy of an attachment, made for one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFile {
    /// The file's name, as the prompt gives it.
    pub name: String,
    /// Absolute path of the copy.
    pub path: PathBuf,
}

/// What agents may see of a sample, in every attempt. It has no target, and no other metadata.
#[derive(Debug, Default)]
pub(crate) struct Question {
    id: String,
    text: String,
    tools: Vec<Value>,
    metadata: Map<String, Value>,
}

impl Question {
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
}

/// What an agent may see of a sample, for one attempt.
#[derive(Clone, Debug)]
pub struct Task {
    pub(crate) question: Arc<Question>,
    pub(crate) prompt: Arc<str>,
    pub(crate) files: Vec<TaskFile>,
    pub(crate) options: Arc<Map<String, Value>>,
    pub(crate) scratch: Option<PathBuf>,
    pub(crate) epoch: u32,
    pub(crate) attempt: u32,
    pub(crate) deadline: Option<Instant>,
    pub(crate) cancel: Cancel,
    pub(crate) live: Option<Live>,
    /// What a sandbox hides.
    pub(crate) hidden: Arc<[PathBuf]>,
}

/// Where a running agent's lines go when someone watches.
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
        &self.question.id
    }

    /// The whole prompt: instructions of the preset, the question, the names of attached files.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// The question alone, without the preset's instructions.
    pub fn question(&self) -> &str {
        &self.question.text
    }

    /// The attached files, copied for this attempt.
    pub fn files(&self) -> &[TaskFile] {
        &self.files
    }

    /// Tool definitions the agent may call.
    pub fn tools(&self) -> &[Value] {
        &self.question.tools
    }

    /// The metadata that the benchmark marks as visible to agents.
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.question.metadata
    }

    /// `agent.options` of the spec.
    pub fn options(&self) -> &Map<String, Value> {
        &self.options
    }

    /// A folder for this attempt alone; `None` for an agent that asked for none and a sample without files.
    pub fn scratch(&self) -> Option<&Path> {
        self.scratch.as_deref()
    }

    /// Which repetition of the sample this is, from 0.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Which attempt this is, from 1; 0 when a flip is confirmed.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// When the attempt counts as timed out.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether the run was interrupted or the deadline has passed. An agent that works for long should ask now and
    /// then: a closure cannot be killed.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
            || self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
    }
}

#[cfg(test)]
impl Task {
    /// A task as the runner would make it: first attempt, no files, no deadline. Tests change its fields.
    pub(crate) fn for_test(prompt: &str) -> Self {
        Self {
            question: Arc::new(Question::of(&Sample::new("sample-1", prompt))),
            prompt: prompt.into(),
            files: Vec::new(),
            options: Arc::default(),
            scratch: None,
            epoch: 0,
            attempt: 1,
            deadline: None,
            cancel: Cancel::new(),
            live: None,
            hidden: Arc::default(),
        }
    }
}
