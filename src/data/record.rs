//! `Record`: one sample with its outcome, as a line of `samples.jsonl`; `Status`: the outcome in a word.
//!
//! The format of a line is defined only here; it can be read whole, abridged or in parts. A new optional member needs
//! no change elsewhere; members that scoring computes belong to `Judgement`.

mod abridged;
mod failed;
mod judgement;
mod lean;
pub(crate) mod parts;
mod refused;
mod unjudged;

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::judged::JudgeCall;
use super::output::{AgentError, Output, Usage};
use super::score::Score;

pub(crate) use abridged::read_abridged;
pub(crate) use judgement::Judgement;
pub use refused::RefusedAnswer;

/// How a sample ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// A scorer gave a verdict. If there is also an error, the agent gave no answer, and `errors: wrong` counts it as
    /// wrong.
    Scored,
    /// Answered, but without a ground truth or a suitable scorer. Not part of any denominator.
    Unscored,
    /// The agent could not answer: crash or outage. Never a wrong answer.
    AgentFailed,
    /// The agent did not answer in time.
    TimedOut,
    /// The scorer could not score the answer.
    ScorerFailed,
    /// Not requested: the run stopped before.
    #[default]
    Skipped,
}

impl Status {
    /// Whether the sample should have a verdict but has none: an error, not a wrong answer.
    pub fn is_error(self) -> bool {
        matches!(
            self,
            Self::AgentFailed | Self::TimedOut | Self::ScorerFailed
        )
    }

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scored => "scored",
            Self::Unscored => "unscored",
            Self::AgentFailed => "agent_failed",
            Self::TimedOut => "timed_out",
            Self::ScorerFailed => "scorer_failed",
            Self::Skipped => "skipped",
        }
    }
}

/// One sample with its outcome: a line of `samples.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The sample's id.
    pub sample_id: String,
    /// The eval's name.
    pub eval: String,
    /// The epoch, from 0.
    pub epoch: u32,
    /// The whole prompt. Dropped from memory once it is on disk.
    pub prompt: Arc<str>,
    /// The ground truth; `null` if hidden.
    pub ground_truth: Value,
    /// All other columns of the dataset.
    pub metadata: Map<String, Value>,
    /// The slices the sample belongs to, by dimension.
    #[serde(default)]
    pub slices: Map<String, Value>,
    /// Its group of dependent samples, if the benchmark has a `cluster`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Hash of the agent's input: the whole prompt and files.
    #[serde(default)]
    pub input_hash: String,
    /// Hash of the ground truth.
    #[serde(default)]
    pub target_hash: String,
    /// Hash of the dataset's question with its files. Missing in older files.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question_hash: String,
    /// The dataset's question, if it is not the whole prompt. Dropped from memory once it is on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The key of this sample's masked snapshot. Derived from all questions and answers of the dataset, so it must not
    /// be published, like this file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mask: String,
    /// Number of steps that people needed, if the dataset has it. Missing in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotated_steps: Option<u64>,
    /// The outcome.
    pub result: Outcome,
}

/// The outcome of a sample; by default it was never requested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// The agent's output. Dropped from memory once it is on disk.
    pub output: Option<Output>,
    /// The prediction extracted from the raw answer.
    pub prediction: Option<String>,
    /// The verdict of the first scorer, which is the deciding one.
    pub score: Option<Score>,
    /// The verdicts of all scorers by name, if there are several.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub scores: Map<String, Value>,
    /// Requests to judges and their replies. Except for the usage, replies are dropped from memory once they are on
    /// disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgeCall>,
    /// Earlier answers that the benchmark refused. Missing in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedAnswer>,
    /// Tokens and cost of the final answer.
    pub usage: Option<Usage>,
    /// Number of steps of the answer, if known. Missing in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Why there is no verdict.
    pub error: Option<AgentError>,
    /// Number of attempts.
    pub attempts: u32,
    /// Latency of the final answer in seconds; that of the last attempt if there is none. For a cached answer, its
    /// original latency.
    pub latency_s: f64,
    /// The answer came from the cache. Its latency and usage are not part of any figure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// The run that originally requested a cached answer, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_from: Option<String>,
    /// Number of secrets redacted in this record.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redacted: u32,
}

impl Outcome {
    /// Whether the sample was scored and is correct.
    pub fn is_correct(&self) -> bool {
        self.status == Status::Scored && self.score.as_ref().is_some_and(|score| score.correct)
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's `skip_serializing_if` passes a reference"
)]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Maximum bytes kept in memory of a long text that is on disk.
const ABRIDGED: usize = 4096;

/// Shared by all records in memory, whose prompts are on disk.
pub(crate) static NO_PROMPT: LazyLock<Arc<str>> = LazyLock::new(|| "".into());

impl Outcome {
    /// Whether a missing answer counts as wrong, as with `errors: wrong`: there are a score and an error.
    pub(crate) fn is_failure_as_wrong(&self) -> bool {
        self.status == Status::Scored && self.error.is_some()
    }

    /// The scorers that could not score the answer, if several ran. The status is `scorer_failed` only if the first
    /// one failed.
    pub(crate) fn unjudged_by(&self) -> impl Iterator<Item = &str> {
        let scores = self.scores.iter();
        let failed = scores.filter(|(_, score)| score.get("error").is_some());
        failed.map(|(name, _)| name.as_str())
    }
}

impl Record {
    /// A scored sample with one attempt, for tests of [`Benchmark::metrics`](crate::Benchmark::metrics); other members
    /// can be set.
    ///
    /// ```
    /// use evaltest::{Record, Score};
    ///
    /// let mut record = Record::scored("capital-of-france", Score::binary(true));
    /// record.result.latency_s = 0.4;
    /// assert!(record.result.is_correct());
    /// ```
    pub fn scored(sample_id: impl Into<String>, score: Score) -> Self {
        Self {
            sample_id: sample_id.into(),
            eval: String::new(),
            epoch: 0,
            prompt: Arc::clone(&NO_PROMPT),
            ground_truth: Value::Null,
            metadata: Map::new(),
            slices: Map::new(),
            cluster: None,
            input_hash: String::new(),
            target_hash: String::new(),
            question_hash: String::new(),
            question: None,
            mask: String::new(),
            annotated_steps: None,
            result: Outcome {
                status: Status::Scored,
                score: Some(score),
                attempts: 1,
                ..Outcome::default()
            },
        }
    }

    /// Drops what verdicts and reports do not need, once it is on disk.
    pub(crate) fn forget(&mut self) {
        self.result.output = None;
        self.result.judged.iter_mut().for_each(JudgeCall::forget);
        self.metadata = Map::new();
        self.question = None;
    }

    /// Drops what is on disk to limit memory use: the output, and the rest of long predictions.
    pub(crate) fn abridge(&mut self) {
        self.forget();
        self.prompt = Arc::clone(&NO_PROMPT);
        if let Some(prediction) = &mut self.result.prediction {
            truncate(prediction);
        }
        if let Some(error) = &mut self.result.error {
            truncate(&mut error.message);
            if let Some(tail) = &mut error.stderr_tail
                && tail.len() > ABRIDGED
            {
                *tail = tail[tail.ceil_char_boundary(tail.len() - ABRIDGED)..].to_owned();
            }
        }
        let scores = self.result.score.iter_mut();
        for side in scores.flat_map(|score| {
            [
                &mut score.normalized_prediction,
                &mut score.normalized_ground_truth,
            ]
        }) {
            match side {
                crate::data::Normalized::Text(text) => truncate(text),
                crate::data::Normalized::List(items) => {
                    items.truncate(64);
                    items.iter_mut().for_each(truncate);
                }
                crate::data::Normalized::None => {}
            }
        }
        let sides = ["normalized_prediction", "normalized_ground_truth"];
        for score in self.result.scores.values_mut() {
            for side in sides {
                if let Some(Value::Array(items)) = score.get_mut(side) {
                    items.truncate(64);
                }
            }
            lean::truncate_all(score);
        }
        let refused = self.result.refused.iter_mut();
        let refused = refused.map(|refused| &mut refused.details);
        let details = self.result.score.iter_mut().map(|score| &mut score.details);
        for details in details.chain(refused) {
            details.values_mut().for_each(lean::truncate_all);
        }
    }
}

/// Truncates a long text.
fn truncate(text: &mut String) {
    if text.len() > ABRIDGED {
        text.truncate(text.floor_char_boundary(ABRIDGED));
        text.push('…');
    }
}

/// The slices of a record as (dimension, value). For a list there is one slice per element.
pub(crate) fn slices_of(record: &Record) -> impl Iterator<Item = (&str, String)> {
    record.slices.iter().flat_map(|(dimension, value)| {
        let values = match value {
            Value::Array(values) => values.as_slice(),
            one => std::slice::from_ref(one),
        };
        values.iter().filter_map(move |value| {
            let value = match value {
                Value::Null => return None,
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            Some((dimension.as_str(), value))
        })
    })
}
