//! `Sample` and its `Target`: one question of a benchmark with its ground truth.

use std::path::PathBuf;

use serde_json::{Map, Value};

/// One question of a benchmark, with its ground truth.
///
/// ```
/// use evaltest::{Sample, Target};
///
/// let sample = Sample::new("capital-of-france", "What is the capital of France?")
///     .target("Paris")
///     .slice("level", "1");
/// assert_eq!(sample.target.as_ref().and_then(Target::as_text), Some("Paris"));
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
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
    /// `per_sample` reads it, which is that of the benchmark `custom`.
    #[must_use]
    pub fn scorer(mut self, scorer: impl Into<Value>) -> Self {
        let key = SCORER;
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

/// The member of a sample's metadata that names a scorer for it alone.
pub(crate) const SCORER: &str = "scorer";

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
#[non_exhaustive]
pub struct Attachment {
    /// The name under which the agent finds it.
    pub name: String,
    /// Where the dataset has it, relative to `root`.
    pub path: PathBuf,
    /// The dataset's folder.
    pub root: PathBuf,
}
