//! `JudgeCall`: one request to a judge with its reply, as stored in records and the journal.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::output::{AgentError, FailureKind, Output, Usage};

/// One request to a judge, with its reply.
///
/// A scorer that calls a model makes one call for each of its `repeats`, and a second one if the reply could not be
/// parsed. Each call may take several attempts, like an agent's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JudgeCall {
    /// Name of the scorer.
    pub scorer: String,
    /// Hash of the request and of the judge: the same request to the same judge has the same key.
    pub key: String,
    /// Number of the repetition, from 0. Only the first one counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeat: u32,
    /// 1 if the call was repeated because the previous reply could not be parsed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub again: u32,
    /// How the reply format was enforced.
    #[serde(default)]
    pub form: ReplyForm,
    /// The reply. Once it is on disk, the text is dropped from memory; for finished runs only the usage is loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// Why there is no reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<AgentError>,
    /// Why the reply has no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<Unread>,
    /// Number of attempts.
    pub attempts: u32,
    /// Seconds that the reply took, or the last attempt if there is none.
    pub latency_s: f64,
    /// Length of the judged answer in characters.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub length: u64,
    /// The reply came from the cache and cost nothing again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// The reply was taken from the run being rescored and cost nothing again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stored: bool,
    /// Its vote in a jury, even if the jury reaches no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote: Option<Box<JurorVote>>,
}

impl JudgeCall {
    /// Whether it ended without a verdict.
    pub fn has_failed(&self) -> bool {
        self.error.is_some() || self.unread.is_some()
    }

    /// Whether the judge never replied, so that another attempt may succeed.
    pub(crate) fn is_unanswered(&self) -> bool {
        let error = self.error.as_ref();
        error.is_some_and(|error| Unread::of_failure(error).is_none())
    }

    /// Whether it has the judge's reply to the request with this key, even if that is a refusal.
    pub(crate) fn replies_to(&self, key: &str) -> bool {
        self.key == key && (self.output.is_some() || self.error.is_some() && !self.is_unanswered())
    }

    /// Usage of the reply, if known.
    pub fn usage(&self) -> Option<&Usage> {
        self.output.as_ref()?.usage.as_ref()
    }

    /// Drops what figures do not need, once it is on disk.
    pub(crate) fn forget(&mut self) {
        if let Some(output) = &mut self.output {
            output.text = None;
            output.messages = Vec::new();
            output.tool_calls = Vec::new();
        }
    }
}

/// How a judge is made to reply in a parsable format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReplyForm {
    /// By a JSON schema in the request.
    Schema,
    /// By a forced tool call, whose arguments are the reply.
    Tool,
    /// By the prompt alone.
    #[default]
    Text,
}

impl ReplyForm {
    /// Its metadata key in a recorded reply.
    pub(crate) const KEY: &str = "form";

    /// Parses the word used in files.
    pub(crate) fn of(word: &str) -> Option<Self> {
        let all = [Self::Schema, Self::Tool, Self::Text];
        all.into_iter().find(|form| form.as_str() == word)
    }

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Tool => "tool",
            Self::Text => "text",
        }
    }
}

/// Why a judge's reply has no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unread {
    /// It has no verdict in the requested format.
    InvalidResponseFormat,
    /// It has two different verdicts.
    Conflicting,
    /// The judge refuses.
    Refusal,
    /// It is truncated.
    Truncated,
    /// It is empty.
    NoResponse,
    /// No verdict has more than half of a jury, or the greatest weight.
    NoMajority,
    /// Too few judges of a jury gave a verdict.
    TooFewJudges,
}

/// Words in errors of endpoints whose content filter, not a limit, rejected a request.
pub(crate) const OF_A_FILTER: [&str; 8] = [
    "content_filter",
    "content filter",
    "content_policy",
    "content management policy",
    "responsibleai",
    "moderation",
    "flagged",
    "safety",
];

impl Unread {
    const ALL: [Self; 7] = [
        Self::InvalidResponseFormat,
        Self::Conflicting,
        Self::Refusal,
        Self::Truncated,
        Self::NoResponse,
        Self::NoMajority,
        Self::TooFewJudges,
    ];

    /// Parses the word used in files.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }

    /// Converts an agent's failure to a reason, if the judge received the request but had no reply or refused. An
    /// endpoint that rejects the length or format of a request does not refuse its content.
    pub(crate) fn of_failure(error: &AgentError) -> Option<Self> {
        match error.kind {
            FailureKind::NoOutput => Some(Self::NoResponse),
            FailureKind::Refused if error.http_status.is_none() => Some(Self::Refusal),
            FailureKind::Refused => {
                let message = error.message.to_lowercase();
                let is_filter = OF_A_FILTER.iter().any(|word| message.contains(word));
                is_filter.then_some(Self::Refusal)
            }
            _ => None,
        }
    }

    /// What the user can do about it.
    pub(crate) fn cure(self) -> &'static str {
        match self {
            Self::InvalidResponseFormat => {
                "use another model, an endpoint with schemas, or `choices` (`cargo evaltest show RUN_DIR ID` prints \
                 the \
                 reply)"
            }
            Self::Conflicting => "ask the judge for less, or say in the rubric what decides",
            Self::Refusal => "use another model: this one or its filter refuses to judge that",
            Self::Truncated => "give the judge's agent a larger `max_tokens`",
            Self::NoResponse => "look at the judge's endpoint: its replies are empty",
            Self::NoMajority => {
                "use an odd number of judges, or `aggregate: weighted` with labels (`cargo evaltest show RUN_DIR ID` \
                 prints what each says)"
            }
            Self::TooFewJudges => {
                "look at the judges that gave no verdict (`cargo evaltest show RUN_DIR ID` prints why), or lower \
                 `min_judges`"
            }
        }
    }

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidResponseFormat => "invalid_response_format",
            Self::Conflicting => "conflicting",
            Self::Refusal => "refusal",
            Self::Truncated => "truncated",
            Self::NoResponse => "no_response",
            Self::NoMajority => "no_majority",
            Self::TooFewJudges => "too_few_judges",
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's `skip_serializing_if` passes a reference"
)]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's `skip_serializing_if` passes a reference"
)]
fn is_nothing(n: &u64) -> bool {
    *n == 0
}

/// The vote of one judge in a jury, in numbers. The panel's figures are computed from votes, so that answers without a
/// jury verdict are included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct JurorVote {
    /// The name of the judge in the jury.
    pub judge: String,
    /// The total of a rubric, or the value of a choice; `None` if it cannot be parsed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// The points of a rubric, sorted by dimension.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<f64>,
    /// The name of the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// Whether the answer passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correct: Option<bool>,
    /// Whether its total is far from those of the others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outlier: bool,
    /// The share of its parsable repeats that agree, and their number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_agreement: Option<(f64, u64)>,
    /// The value as a label: a choice, or points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Value>,
}
