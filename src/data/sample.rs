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
    /// The question from the dataset, without the prompt preset.
    pub prompt: String,
    /// The ground truth; `None` for a split with hidden answers.
    pub target: Option<Target>,
    /// All other columns of the row, including nested ones. Stored in records, hidden from agents.
    pub metadata: Map<String, Value>,
    /// The names of `metadata` entries that an agent may see.
    pub visible: Vec<String>,
    /// The slices of the sample as (dimension, value): `("level", "1")`. The first is part of the test name.
    pub slices: Vec<(String, String)>,
    /// Files that come with the question.
    pub files: Vec<Attachment>,
    /// Tool definitions (JSON schema) that the agent may call.
    pub tools: Vec<Value>,
}

impl Sample {
    /// A sample with an id and a question, and without a ground truth.
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

    /// Adds the sample to a slice, such as `("level", "1")`.
    #[must_use]
    pub fn slice(mut self, dimension: impl Into<String>, value: impl Into<String>) -> Self {
        self.slices.push((dimension.into(), value.into()));
        self
    }

    /// Sets a scorer for this sample only, as in a spec: `json!("gsm8k")`. Used by the scorer `per_sample`, the
    /// default of the benchmark `custom`.
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

/// The metadata key of a sample's own scorer.
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

/// A file of a sample. It must be inside `root` after resolving symbolic links.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attachment {
    /// The file name that the agent sees.
    pub name: String,
    /// Path in the dataset, relative to `root`.
    pub path: PathBuf,
    /// The dataset's folder.
    pub root: PathBuf,
}
