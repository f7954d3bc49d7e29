//! `JudgeCall`: what a judge was asked once, and what it said. Records and the journal keep it.

mod vote;

use serde::{Deserialize, Serialize};

use super::output::{AgentError, FailureKind, Output, Usage};

pub use vote::JurorVote;

/// One thing that a judge was asked, with its reply.
///
/// A scorer that asks a model asks one thing for each of its `repeats`, and a second time where the reply could not be
/// read. Each of them may take several requests, as an answer of an agent does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JudgeCall {
    /// The name of the scorer that asked.
    pub scorer: String,
    /// Hash of what was asked, and of whom: the same question to the same judge has the same key.
    pub key: String,
    /// Which repetition of the verdict, from 0. The first alone counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeat: u32,
    /// 1 where the reply before could not be read, and the judge was asked once more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub again: u32,
    /// How the judge was made to reply as it should.
    #[serde(default)]
    pub form: ReplyForm,
    /// What it said. In memory the text is dropped once it is on disk; of a run that is over there is its usage alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// Why it said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<AgentError>,
    /// Why what it said is no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<Unread>,
    /// How many requests it took.
    pub attempts: u32,
    /// Seconds that the reply took, or the last request where there is none.
    pub latency_s: f64,
    /// Characters of the answer that was judged.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub length: u64,
    /// The reply was given before, to an earlier run, and came from the cache: it cost nothing again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// The reply was given to the run whose answers are scored again here: it cost nothing again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stored: bool,
    /// What it says as one of a jury, also where the jury comes to no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote: Option<Box<JurorVote>>,
}

impl JudgeCall {
    /// Whether it ended without a verdict.
    pub fn has_failed(&self) -> bool {
        self.error.is_some() || self.unread.is_some()
    }

    /// Whether the judge never came to say anything: whoever asks again may fare better.
    pub(crate) fn is_unanswered(&self) -> bool {
        let error = self.error.as_ref();
        error.is_some_and(|error| Unread::of_failure(error).is_none())
    }

    /// Whether it has what the judge said to what is asked under this key, if only that it would say nothing.
    pub(crate) fn replies_to(&self, key: &str) -> bool {
        self.key == key && (self.output.is_some() || self.error.is_some() && !self.is_unanswered())
    }

    /// What the reply cost, if the judge tells.
    pub fn usage(&self) -> Option<&Usage> {
        self.output.as_ref()?.usage.as_ref()
    }

    /// Drops what no figure needs once it is on disk.
    pub(crate) fn forget(&mut self) {
        if let Some(output) = &mut self.output {
            output.text = None;
            output.messages = Vec::new();
            output.tool_calls = Vec::new();
        }
    }
}

/// How a judge is made to reply with what can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReplyForm {
    /// The request has a JSON schema for the reply.
    Schema,
    /// The request forces the call of a tool, whose arguments are the reply.
    Tool,
    /// The prompt alone says how to reply.
    #[default]
    Text,
}

impl ReplyForm {
    /// The entry of a recorded reply that tells it.
    pub(crate) const KEY: &str = "form";

    /// The form of a word of files.
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

/// Why the reply of a judge is no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unread {
    /// It has no verdict of the form that was asked for.
    InvalidResponseFormat,
    /// It has two verdicts that differ.
    Conflicting,
    /// The judge refuses to judge.
    Refusal,
    /// It was cut off.
    Truncated,
    /// It is empty.
    NoResponse,
    /// No verdict has more than half of a jury, or the greatest weight of it.
    NoMajority,
    /// Fewer judges of a jury than it needs gave a verdict.
    TooFewJudges,
}

/// Words of an endpoint whose filter, and not whose limit, forbids what was asked.
const OF_A_FILTER: [&str; 8] = [
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

    /// The reason of a word.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }

    /// Why an agent's failure is a reply that cannot be read: it was asked, and had nothing to say or would not. An
    /// endpoint that takes no request of this length, or of this form, refuses nothing that was asked.
    pub(crate) fn of_failure(error: &AgentError) -> Option<Self> {
        match error.kind {
            FailureKind::NoOutput => Some(Self::NoResponse),
            FailureKind::Refused if error.http_status.is_none() => Some(Self::Refusal),
            FailureKind::Refused => {
                let said = error.message.to_lowercase();
                let is_filter = OF_A_FILTER.iter().any(|word| said.contains(word));
                is_filter.then_some(Self::Refusal)
            }
            _ => None,
        }
    }

    /// What helps, as a request.
    pub(crate) fn cure(self) -> &'static str {
        match self {
            Self::InvalidResponseFormat => {
                "take another model, an endpoint with schemas, or `choices` (`cargo evaltest show RUN_DIR ID` prints the \
                 reply)"
            }
            Self::Conflicting => "ask the judge for less, or say in the rubric what decides",
            Self::Refusal => "take another model: this one or its filter will not judge that",
            Self::Truncated => "give the judge's agent a larger `max_tokens`",
            Self::NoResponse => "look at the judge's endpoint: its replies are empty",
            Self::NoMajority => {
                "take an odd number of judges, or `aggregate: weighted` with labels (`cargo evaltest show RUN_DIR ID` \
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
