//! `Record`: one sample with its outcome, as a line of `samples.jsonl`; `Status`: the outcome in a word.
//!
//! The format of a line is defined only here; it can be read whole, abridged or in parts. A new optional member needs
//! no change elsewhere; members that scoring computes belong to `Judgement`.

pub(crate) mod parts;
pub(crate) mod perturb;
pub(crate) mod reading;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::conversation::{ConversationEnd, ConversationOutcome, TurnOutcome};
use super::judged::JudgeCall;
use super::output::finish::Shortfall;
use super::output::{AgentError, FailureKind, Output, Party, Usage};
use super::score::Score;
use crate::data::Details;
use parts::{Part, Parts, read_parts};
use perturb::PerturbKind;
use reading::{FoundBy, Missed};

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
    /// The simulated user of a conversation could not speak. Never a wrong answer.
    UserFailed,
    /// The environment of a conversation could not execute a call. Never a wrong answer.
    EnvironmentFailed,
    /// Not requested: the run stopped before.
    #[default]
    Skipped,
}

impl Status {
    /// How a sample ends whose last attempt failed.
    pub(crate) fn of_failure(error: &AgentError) -> Self {
        match error.party {
            Some(Party::User) => Self::UserFailed,
            Some(Party::Environment) => Self::EnvironmentFailed,
            None if error.kind == FailureKind::TimedOut => Self::TimedOut,
            None => Self::AgentFailed,
        }
    }

    /// Whether the sample should have a verdict but has none: an error, not a wrong answer.
    pub fn is_error(self) -> bool {
        matches!(
            self,
            Self::AgentFailed
                | Self::TimedOut
                | Self::ScorerFailed
                | Self::UserFailed
                | Self::EnvironmentFailed
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
            Self::UserFailed => "user_failed",
            Self::EnvironmentFailed => "environment_failed",
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
    /// The epoch, from 0. Perturbed answers count on behind the epochs.
    pub epoch: u32,
    /// In what way the question was perturbed, if it was. Such an answer is in no figure but those of `perturb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub perturb: Option<PerturbKind>,
    /// Whether that changed nothing: the question was not asked, or no call of a tool failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
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
    /// Hash of the ground truth as versions read it that rounded the numbers of JSON files, if it differs: it identifies
    /// the sample in their baselines.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub older_target_hash: String,
    /// The dataset's question, if it is not the whole prompt. Dropped from memory once it is on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The key of this sample's masked snapshot. Derived from all questions and answers of the dataset, so it must not
    /// be published, like this file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mask: String,
    /// The same as those versions derived it, if it differs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub older_mask: String,
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
    /// How the prediction was found in the raw answer. Missing without an answer, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_by: Option<FoundBy>,
    /// What the answer has and the extraction did not take.
    #[serde(default, skip_serializing_if = "Missed::is_empty")]
    pub missed: Missed,
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
    /// What the answer is short of, if it ended at the limit of tokens or is a refusal. Missing in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<Shortfall>,
    /// Tokens and cost of the final answer.
    pub usage: Option<Usage>,
    /// Number of steps of the answer, if known. Missing in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The names of the tools that the answer took, in their order, if known. Missing in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The characters of the raw answer. Missing in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_length: Option<u64>,
    /// The turns, if it is a conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<TurnOutcome>,
    /// Why the conversation ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<ConversationEnd>,
    /// Tokens and cost of the simulated user, which are not part of `usage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_usage: Option<Usage>,
    /// The model that played the simulated user, as its endpoint reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_model: Option<String>,
    /// What the environment of the conversation ended with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
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
    /// At least one of the agent's calls of models was replayed. Its latency is part of no figure, and the run can be no
    /// baseline.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recorded: bool,
    /// Number of secrets redacted in this record.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redacted: u32,
}

impl Outcome {
    /// Takes over how a conversation went.
    pub(crate) fn converse(&mut self, conversation: ConversationOutcome) {
        self.turns = conversation.turns;
        self.ended = Some(conversation.ended);
        self.user_usage = conversation.user_usage;
        self.user_model = conversation.user_model;
        self.state = conversation.state;
    }

    /// Puts the verdicts on turns, which are in the details of a score, beside the turns.
    pub(crate) fn judge_turns(&mut self) {
        let verdicts = self
            .score
            .as_ref()
            .and_then(|score| score.details.get("turns"));
        let Some(Value::Array(verdicts)) = verdicts else {
            return;
        };
        for turn in &mut self.turns {
            let is_own = |verdict: &&Value| {
                verdict.get("turn").and_then(Value::as_u64) == Some(turn.turn.into())
            };
            turn.score = verdicts.iter().find(is_own).cloned();
        }
    }

    /// How the conversation went, if it is one.
    pub(crate) fn conversation(&self) -> Option<ConversationOutcome> {
        Some(ConversationOutcome {
            turns: self.turns.clone(),
            ended: self.ended?,
            user_usage: self.user_usage,
            user_model: self.user_model.clone(),
            state: self.state.clone(),
        })
    }

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

    /// Whether its latency is that of the agent with its models now.
    pub(crate) fn is_timed(&self) -> bool {
        !self.cached && !self.recorded
    }

    /// Whether the agent gave an answer, of any status.
    pub(crate) fn is_answered(&self) -> bool {
        let has_verdict = matches!(
            self.status,
            Status::Scored | Status::Unscored | Status::ScorerFailed
        );
        has_verdict && !self.is_failure_as_wrong()
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
            perturb: None,
            unchanged: false,
            prompt: Arc::clone(&NO_PROMPT),
            ground_truth: Value::Null,
            metadata: Map::new(),
            slices: Map::new(),
            cluster: None,
            input_hash: String::new(),
            target_hash: String::new(),
            question_hash: String::new(),
            question: None,
            older_target_hash: String::new(),
            mask: String::new(),
            older_mask: String::new(),
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
        self.result.state = None;
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
            truncate_all(score);
        }
        let refused = self.result.refused.iter_mut();
        let refused = refused.map(|refused| &mut refused.details);
        let details = self.result.score.iter_mut().map(|score| &mut score.details);
        for details in details.chain(refused) {
            details.values_mut().for_each(truncate_all);
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

/// Members not kept in memory.
const DROPPED: Parts = &[
    ("prompt", Part::Dropped),
    ("metadata", Part::Dropped),
    ("question", Part::Missing),
    ("result", Part::Inside(&[("output", Part::Dropped)])),
];

/// Reads an abridged record; skipping the dropped members makes it several times faster.
pub(crate) fn read_abridged(line: &[u8]) -> serde_json::Result<Record> {
    let mut record = read_parts(line, DROPPED, |_, _| ())?;
    record.prompt = Arc::clone(&NO_PROMPT);
    record.abridge();
    Ok(record)
}

impl Outcome {
    /// The kind of the error that ended a sample, such as `exited`, `timed_out` or `scorer_failed`, even if
    /// `errors: wrong` counts it as a wrong answer; `None` without an error.
    pub fn failure_kind(&self) -> Option<String> {
        if !self.status.is_error() && !self.is_failure_as_wrong() {
            return None;
        }
        let kind = match (&self.error, self.status) {
            // For other statuses the error is the scorer's, not the agent's.
            (Some(error), Status::AgentFailed | Status::Scored) => {
                serde_json::to_value(error.kind).ok()
            }
            _ => None,
        };
        match kind {
            Some(Value::String(kind)) => Some(kind),
            _ => Some(self.status.as_str().to_owned()),
        }
    }
}

/// Defines [`Judgement`] by its members in [`Outcome`].
macro_rules! judgement {
    ($($name:ident: $of:ty),* $(,)?) => {
        /// The result of scoring an answer.
        #[derive(Debug, Default)]
        pub(crate) struct Judgement {
            $(pub(crate) $name: $of),*
        }

        impl Judgement {
            /// Names of its members in files. All but the first may be missing in a line.
            pub(crate) const MEMBERS: &'static [&'static str] = &[$(stringify!($name)),*];
        }

        impl Outcome {
            /// The outcome of the same answer with another judgement.
            #[must_use]
            pub(crate) fn judged(self, judgement: Judgement) -> Self {
                Self { $($name: judgement.$name,)* ..self }
            }
        }
    };
}

judgement! {
    status: Status,
    prediction: Option<String>,
    found_by: Option<FoundBy>,
    missed: Missed,
    score: Option<Score>,
    scores: Map<String, Value>,
    judged: Vec<JudgeCall>,
    error: Option<AgentError>,
}

// The members of an outcome that scoring computes. When an answer is rescored, exactly these are recomputed.

impl Judgement {
    /// A judgement that counts a missing answer as wrong; by these scorers, if there are several.
    pub(crate) fn wrong(
        reason: impl Into<Cow<'static, str>>,
        error: Option<AgentError>,
        scorers: &[&str],
    ) -> Self {
        let score = Score::new(0.0, false, reason);
        let entry = |name: &&str| {
            let score = serde_json::to_value(&score).unwrap_or_default();
            ((*name).to_owned(), score)
        };
        Self {
            status: Status::Scored,
            prediction: None,
            found_by: None,
            missed: Missed::default(),
            scores: scorers.iter().map(entry).collect(),
            score: Some(score),
            judged: Vec::new(),
            error,
        }
    }
}

impl Record {
    /// Drops what only the run's figures need, once they are computed, and spare capacity: a third of a scored sample.
    pub(crate) fn lighten(&mut self) {
        let result = &mut self.result;
        for call in &mut result.judged {
            call.output = call.output.take().map(|output| Output {
                usage: output.usage,
                ..Output::default()
            });
        }
        result.judged.shrink_to_fit();
        shrink(&mut result.scores);
        shrink(&mut self.slices);
    }
}

/// Moves the entries into a map without spare capacity, which is up to half.
fn shrink(map: &mut Map<String, Value>) {
    let tight = |(key, mut value): (String, Value)| {
        match &mut value {
            Value::Object(map) => shrink(map),
            Value::Array(items) => items.shrink_to_fit(),
            _ => {}
        }
        (key, value)
    };
    *map = std::mem::take(map).into_iter().map(tight).collect();
}

/// Truncates long texts in a value.
fn truncate_all(value: &mut Value) {
    match value {
        Value::String(text) => truncate(text),
        Value::Array(items) => items.iter_mut().for_each(truncate_all),
        Value::Object(map) => map.values_mut().for_each(truncate_all),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// An answer that was refused, so that the request was repeated. Its text is in the journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefusedAnswer {
    /// The attempt that gave it, from 1.
    pub attempt: u32,
    /// The reason of its score.
    pub reason: Cow<'static, str>,
    /// The details of its score.
    #[serde(default, skip_serializing_if = "Details::is_empty")]
    pub details: Details,
    /// Its usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// It came from the cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// Requests to judges about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgeCall>,
}

impl RefusedAnswer {
    /// Converts the outcome that the sample would have had.
    pub(crate) fn of(outcome: Outcome) -> Self {
        let mut judged = outcome.judged;
        // Their replies are in the journal, too.
        judged.iter_mut().for_each(JudgeCall::forget);
        let (reason, details) = outcome
            .score
            .map_or_else(Default::default, |score| (score.reason, score.details));
        Self {
            attempt: outcome.attempts,
            reason,
            details,
            usage: outcome.usage,
            cached: outcome.cached,
            judged,
        }
    }
}

impl Record {
    /// Whether a judge never replied about the answer: resuming the run asks it again.
    pub(crate) fn waits_for_a_judge(&self) -> bool {
        self.result.judged.iter().any(JudgeCall::is_unanswered)
    }
}

impl Outcome {
    /// The scorers that could not score, with reasons, except the deciding one, whose reason is in `error`.
    pub fn unjudged_beside(&self) -> impl Iterator<Item = (&str, &str)> {
        let of_first = self.error.as_ref().map(|error| error.message.as_str());
        let entries = self.scores.iter();
        let reasons = entries.filter_map(|(name, score)| {
            let reason = score.get("error").and_then(Value::as_str)?;
            Some((name.as_str(), reason))
        });
        reasons.filter(move |(name, _)| {
            let decides = |message: &str| message.starts_with(&format!("scorer `{name}`: "));
            !of_first.is_some_and(decides)
        })
    }
}

#[cfg(test)]
mod abridged_tests {
    use super::*;
    use crate::data::{Output, Status};
    use crate::verdict::summary::tests::record;

    #[test]
    fn abridged_record_round_trips() {
        let mut whole = record("a", Status::Scored, true, "1");
        whole.prompt = "?".into();
        whole.ground_truth = "17".into();
        whole.metadata.insert("steps".into(), "1. Think".into());
        whole.result.output = Some(Output::text("17"));
        whole.result.prediction = Some("é".repeat(4000));
        whole.result.cached = true;
        let line = serde_json::to_vec(&whole).unwrap();
        whole.abridge();
        assert_eq!(read_abridged(&line).unwrap(), whole);
    }
}

#[cfg(test)]
mod judgement_tests {
    use super::*;

    #[test]
    fn files_have_the_members_by_these_names() {
        let judgement = Judgement {
            found_by: Some(FoundBy::Label),
            missed: vec![reading::MissedPart::Number].into(),
            scores: Map::from_iter([("gaia".to_owned(), Value::Null)]),
            judged: vec![JudgeCall::default()],
            ..Judgement::default()
        };
        let outcome = serde_json::to_value(Outcome::default().judged(judgement)).unwrap();
        for name in Judgement::MEMBERS {
            assert!(outcome.get(name).is_some(), "{name}");
        }
    }
}

#[cfg(test)]
mod lean_tests {
    use serde_json::json;

    use super::*;
    use crate::data::{JudgeCall, Score, Status, Usage};
    use crate::verdict::summary::tests::record;

    /// A sample scored by one judge, whose reply has parts of this length.
    fn judged(length: usize) -> Record {
        let text = "é".repeat(length);
        let mut record = record("a", Status::Scored, true, "1");
        let score = Score::binary(true).detail("total", 4);
        let score = score.detail("comments", text.as_str());
        let score = score.detail("parts", json!({"judge": [&text]}));
        let entry = serde_json::to_value(&score).unwrap();
        record.result.scores = Map::from_iter([("judge".to_owned(), entry)]);
        record.result.score = Some(score);
        let output = Output::text(text.as_str()).messages([json!({"content": text})]);
        let mut output = output.usage(Usage::tokens(7, 1));
        output.metadata.insert("model".into(), "m".into());
        record.result.judged = vec![JudgeCall {
            output: Some(output),
            ..JudgeCall::default()
        }];
        record
    }

    #[test]
    fn lean_record_size_is_independent_of_judge_replies() {
        let size = |length: usize| {
            let mut record = judged(length);
            record.abridge();
            serde_json::to_string(&record).unwrap().len()
        };
        assert_eq!(size(10_000), size(1_000_000));
        let mut short = judged(100);
        short.abridge();
        let score = short.result.score.as_ref().unwrap();
        assert_eq!(score.details.get("comments"), Some(&"é".repeat(100).into()));
    }

    #[test]
    fn what_is_lighter_says_the_same() {
        let mut record = judged(1);
        record.abridge();
        let abridged = record.clone();
        record.lighten();
        assert_eq!(record.result.scores, abridged.result.scores);
        assert_eq!(record.slices, abridged.slices);
        let [call] = &record.result.judged[..] else {
            panic!("{:?}", record.result.judged);
        };
        assert_eq!(call.usage(), abridged.result.judged[0].usage());
        assert!(call.output.as_ref().unwrap().metadata.is_empty());
        assert_eq!(record.result.judged.capacity(), 1);
    }
}

#[cfg(test)]
mod unjudged_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_one_that_decides_is_not_among_them() {
        let check = |error: &serde_json::Value, expect: &[(&str, &str)]| {
            let outcome = json!({
                "status": "scored", "prediction": null, "attempts": 1, "latency_s": 0.0, "error": error,
                "scores": {"gaia": {"error": "broke"}, "judge": {"error": "refusal: no"}, "qa": {"correct": true}},
            });
            let outcome: Outcome = serde_json::from_value(outcome).unwrap();
            assert_eq!(outcome.unjudged_beside().collect::<Vec<_>>(), expect);
        };
        check(&json!(null), &[("gaia", "broke"), ("judge", "refusal: no")]);
        let error = json!({"kind": "failed", "message": "scorer `gaia`: broke"});
        check(&error, &[("judge", "refusal: no")]);
    }
}
