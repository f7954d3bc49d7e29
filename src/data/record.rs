//! `Record`: one sample with its outcome, as a line of `samples.jsonl`; `Status`: the outcome in a word.
//!
//! The shape of a line stands here alone: it is read whole, abridged or in parts by what is derived of it. A
//! member that is added here, one that may be missing in older files, needs no edit elsewhere; what scoring makes of
//! it goes by way of its `Judgement`.

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
    /// A scorer gave a verdict. With an error beside it the agent gave no answer, which `errors: wrong` counts as a wrong
    /// one.
    Scored,
    /// Answered, but there is no ground truth or no scorer for it. Outside every denominator.
    Unscored,
    /// The agent could not answer: a crash, an outage. Never a wrong answer.
    AgentFailed,
    /// The agent did not answer in time.
    TimedOut,
    /// The scorer could not judge the answer.
    ScorerFailed,
    /// Never asked: the run stopped before.
    #[default]
    Skipped,
}

impl Status {
    /// Whether the sample ended without the verdict it should have: an error, not a wrong answer.
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
    /// Which repetition, from 0.
    pub epoch: u32,
    /// The whole prompt. In memory it is empty once it is on disk.
    pub prompt: Arc<str>,
    /// The ground truth, `null` when hidden.
    pub ground_truth: Value,
    /// Everything else the dataset says of the sample.
    pub metadata: Map<String, Value>,
    /// The slices the sample belongs to, by dimension.
    #[serde(default)]
    pub slices: Map<String, Value>,
    /// The group of samples that it hangs together with, where the benchmark has a `cluster`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Hash of what the agent was given: the whole prompt and files.
    #[serde(default)]
    pub input_hash: String,
    /// Hash of the ground truth.
    #[serde(default)]
    pub target_hash: String,
    /// Hash of the question as the dataset has it, with its files. Not in older files.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question_hash: String,
    /// The question as the dataset has it, where it is not the whole prompt. In memory it is dropped once it is on
    /// disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The key of what a masked snapshot says of this sample. It is derived from all questions and answers of the
    /// dataset, and no more to be published than this file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mask: String,
    /// How many steps people took for it, where the dataset says. Not in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotated_steps: Option<u64>,
    /// The outcome.
    pub result: Outcome,
}

/// What became of a sample; by default nothing, for it was never asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// What the agent said. In memory it is dropped once it is on disk.
    pub output: Option<Output>,
    /// What was extracted from the raw answer.
    pub prediction: Option<String>,
    /// The verdict of the first scorer, which decides.
    pub score: Option<Score>,
    /// The verdicts of all scorers by name, when there are several.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub scores: Map<String, Value>,
    /// What judges were asked for these verdicts, and what they said. In memory all but the usage is dropped of their
    /// replies once they are on disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgeCall>,
    /// Answers that were refused before it, where the benchmark has refused ones asked for again. Not in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedAnswer>,
    /// Tokens and cost of the answer that counted.
    pub usage: Option<Usage>,
    /// How many steps the answer took, where the agent tells. Not in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Why there is no verdict.
    pub error: Option<AgentError>,
    /// How often the agent was asked.
    pub attempts: u32,
    /// Seconds that the answer that counted took; the last attempt's when none did. Of an answer that was given
    /// before, what it took then.
    pub latency_s: f64,
    /// The answer was given before, to an earlier run, and came from the cache. Neither its latency nor its
    /// usage counts in a figure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// The run that asked for an answer that came from the cache, where the cache knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_from: Option<String>,
    /// How many secrets were blanked in this record.
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

/// What is kept in memory of a long text once the whole is on disk, in bytes.
const ABRIDGED: usize = 4096;

/// Shared by all records in memory, whose prompts are on disk.
pub(crate) static NO_PROMPT: LazyLock<Arc<str>> = LazyLock::new(|| "".into());

impl Outcome {
    /// Whether the agent gave no answer and that counts as a wrong one, as under `errors: wrong`: it is scored, and there
    /// is an error all the same.
    pub(crate) fn is_failure_as_wrong(&self) -> bool {
        self.status == Status::Scored && self.error.is_some()
    }

    /// The scorers that could not judge the answer, where several do: the first of them makes it `scorer_failed`, and
    /// the others leave the outcome as it is.
    pub(crate) fn unjudged_by(&self) -> impl Iterator<Item = &str> {
        let scores = self.scores.iter();
        let failed = scores.filter(|(_, score)| score.get("error").is_some());
        failed.map(|(name, _)| name.as_str())
    }
}

impl Record {
    /// A sample that was asked once and judged, as a test of [`Benchmark::metrics`](crate::Benchmark::metrics) needs
    /// it; what else there is to say can be set.
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

    /// Drops what no verdict and no report needs once it is on disk.
    pub(crate) fn forget(&mut self) {
        self.result.output = None;
        self.result.judged.iter_mut().for_each(JudgeCall::forget);
        self.metadata = Map::new();
        self.question = None;
    }

    /// Drops what is on disk already, so that a run of any size fits into memory: the output, and the
    /// rest of predictions longer than a screen.
    pub(crate) fn abridge(&mut self) {
        self.forget();
        self.prompt = Arc::clone(&NO_PROMPT);
        if let Some(prediction) = &mut self.result.prediction {
            cut(prediction);
        }
        if let Some(error) = &mut self.result.error {
            cut(&mut error.message);
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
                crate::data::Normalized::Text(text) => cut(text),
                crate::data::Normalized::List(items) => {
                    items.truncate(64);
                    items.iter_mut().for_each(cut);
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
            lean::cut_all(score);
        }
        let refused = self.result.refused.iter_mut();
        let refused = refused.map(|refused| &mut refused.details);
        let details = self.result.score.iter_mut().map(|score| &mut score.details);
        for details in details.chain(refused) {
            details.values_mut().for_each(lean::cut_all);
        }
    }
}

/// Cuts a text that is longer than a screen.
fn cut(text: &mut String) {
    if text.len() > ABRIDGED {
        text.truncate(text.floor_char_boundary(ABRIDGED));
        text.push('…');
    }
}

/// The slices of a record as (dimension, value). A list puts it into one slice for each element.
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
