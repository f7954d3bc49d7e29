//! `Record`: one sample with its outcome, as a line of `samples.jsonl`; `Status`, its outcome in a word.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agent::{AgentError, Output, Usage};
use crate::scorer::Score;

/// How a sample ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A scorer gave a verdict.
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
pub struct Record {
    /// The sample's id.
    pub sample_id: String,
    /// The eval's name.
    pub eval: String,
    /// Which repetition, from 0.
    pub epoch: u32,
    /// The whole prompt.
    pub prompt: String,
    /// The ground truth, `null` when hidden.
    pub ground_truth: Value,
    /// Everything else the dataset says of the sample.
    pub metadata: Map<String, Value>,
    /// The slices the sample belongs to, by dimension.
    #[serde(default)]
    pub slices: Map<String, Value>,
    /// Hash of what the agent was given: prompt and files.
    #[serde(default)]
    pub input_hash: String,
    /// Hash of the ground truth.
    #[serde(default)]
    pub target_hash: String,
    /// The outcome.
    pub result: Outcome,
}

/// What became of a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Tokens and cost of the answer that counted.
    pub usage: Option<Usage>,
    /// Why there is no verdict.
    pub error: Option<AgentError>,
    /// How often the agent was asked.
    pub attempts: u32,
    /// Seconds that the answer that counted took; the last attempt's when none did.
    pub latency_s: f64,
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
