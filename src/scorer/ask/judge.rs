//! `judge`: a model grades answers.
//!
//! A judge is a scorer that asks an agent; its failures do not count against the agent under test. `rubric` defines the
//! grading, `sees` what is shown of an answer, `prompt` the question and `schema` the reply form. The [`VerdictRequester`]
//! asks through the [`AgentClient`], `reply` and `reading` read the reply, and `graded` builds the score. An unreadable reply
//! is requested once more, and then is an error with a reason, never a wrong answer.

pub(super) mod graded;
#[cfg(test)]
mod injected;
pub(super) mod make;
pub(crate) mod prompt;
pub(crate) mod reading;
pub(super) mod reply;
pub(crate) mod rubric;
pub(crate) mod schema;
pub(super) mod sees;
pub(crate) mod specs;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use super::client::NamedClient;
use super::command::script_hash;
use super::requester::{Inquiry, NoVerdict, ScorerAgent, VerdictRequester, forward_model};
use crate::agent::Agent;
use crate::data::{JudgeRule, Normalized, Sample, Score, Unread};
use crate::error::Result;
use crate::scorer::ask::client::OptionalJuror;
use crate::scorer::{Answer, Scorer};
use crate::text::hash::Hasher;
use graded::Graded;
use sees::{JudgeMaterial, Sees};

pub(crate) use rubric::{Dimension, Grading};

pub(crate) use make::ENTRY;

/// The default name under which it is recorded.
const NAME: &str = "judge";
/// A model that grades answers.
///
/// ```no_run
/// use evaltest::agent::OpenAi;
/// use evaltest::scorer::Judge;
///
/// # fn main() -> evaltest::Result<()> {
/// let model = OpenAi::new("http://127.0.0.1:8102/v1", "local")?.temperature(0.0);
/// let judge = Judge::new(model, "aime")?.sees(["prompt", "prediction", "ground_truth"])?;
/// # let _: Box<dyn evaltest::Scorer> = Box::new(judge);
/// # Ok(())
/// # }
/// ```
///
#[doc = include_str!("judge.md")]
pub struct Judge {
    requester: VerdictRequester,
    pub(super) grading: Grading,
    sees: Sees,
    repeats: u32,
    /// How many identical judges precede it in a jury: each is asked separately.
    copy: u32,
    /// The file with its calibration against people.
    calibration: Option<PathBuf>,
    /// The canonical grading, which is part of each mark.
    canonical: OnceLock<String>,
    /// The fingerprint, which is part of each key.
    fingerprint: OnceLock<String>,
}

/// One of the repeated verdicts, or why there is none.
type RepeatVerdict = std::result::Result<Graded, NoVerdict>;
impl Judge {
    /// A judge that grades by a built-in rubric (`aime`, `qa`, `code`, `creative_writing`, `technical_docs`), or by a
    /// rubric in YAML. It sees the prompt and the answer.
    ///
    /// # Errors
    /// When the rubric is invalid.
    pub fn new(agent: impl Agent + 'static, rubric: &str) -> Result<Self> {
        let grading = Grading::of_text(rubric)?;
        Ok(Self::of(ScorerAgent::built(agent), grading))
    }

    fn of(model: ScorerAgent, grading: Grading) -> Self {
        Self {
            requester: VerdictRequester::of(model),
            sees: Sees::usual(&grading),
            grading,
            repeats: 1,
            copy: 0,
            calibration: None,
            canonical: OnceLock::new(),
            fingerprint: OnceLock::new(),
        }
    }

    /// What it is shown: `prompt`, `prediction`, `ground_truth`, `files`, and names of fields.
    ///
    /// # Errors
    /// When no names are given, or a name is repeated.
    pub fn sees<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        self.sees = Sees::named(names)?;
        self.fingerprint = OnceLock::new();
        Ok(self)
    }

    /// How often each answer is judged. The first verdict counts, the others measure how far the judge agrees with
    /// itself.
    #[must_use]
    pub fn repeats(mut self, repeats: u32) -> Self {
        self.repeats = repeats.max(1);
        self
    }

    /// How often a failed request is repeated; overrides the eval's setting.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.requester.model.policy.retries = Some(retries);
        self
    }

    /// The file of a calibration, as written by `cargo evaltest judge calibrate`.
    ///
    /// # Errors
    /// When it is not a calibration.
    pub fn calibration(mut self, path: impl AsRef<Path>) -> Result<Self> {
        self.calibration = Some(make::calibration_file(path.as_ref())?);
        Ok(self)
    }

    /// The first verdict, which counts, and its repeats.
    fn verdicts(
        &self,
        answer: &Answer<'_>,
        client: &NamedClient<'_>,
    ) -> Result<(RepeatVerdict, Vec<RepeatVerdict>)> {
        let material = self.sees.material(answer)?;
        let first = self.verdict(client, &material, 0);
        // Even if the first failed: repeats that depend on its result would be biased.
        let others = (1..self.repeats).map(|repeat| self.verdict(client, &material, repeat));
        Ok((first, others.collect()))
    }

    /// One verdict; asks once more if the reply cannot be read.
    fn verdict(
        &self,
        client: &NamedClient<'_>,
        material: &JudgeMaterial<'_>,
        repeat: u32,
    ) -> RepeatVerdict {
        let reading = self.requester.reading(
            client,
            &Inquiry {
                grading: &self.grading,
                canonical: self.canonical(),
                exhibits: &material.exhibits,
                files: &material.files,
                length: material.length,
                repeat,
                repeats: self.repeats,
                key: &|again| self.key(material, repeat, again),
            },
        );
        reading.map(|reading| Graded::of(&self.grading, reading))
    }

    fn canonical(&self) -> &str {
        self.canonical
            .get_or_init(|| self.grading.canonical().to_string())
    }

    /// The text of everything that identifies the judge.
    fn identify(&self) -> String {
        let parts = json!([
            self.requester.model.identity,
            self.grading.canonical(),
            self.sees.names(),
            prompt::PROMPT_VERSION,
            reading::IN_FINGERPRINTS,
        ]);
        format!("judge {parts}")
    }

    /// A hash of the question and the judge, independent of the address and the reply form.
    fn key(&self, material: &JudgeMaterial<'_>, repeat: u32, again: u32) -> String {
        let hash = Hasher::default()
            .part("judge")
            .part(self.fingerprint.get_or_init(|| self.identify()))
            .part(repeat.to_le_bytes())
            .part(again.to_le_bytes());
        let hash = material.parts(hash);
        match self.copy {
            0 => hash.hex(),
            copy => hash.part(copy.to_le_bytes()).hex(),
        }
    }

    /// The score by the first verdict, with the judge's agreement with itself.
    fn score_of(&self, first: &Graded, others: &[RepeatVerdict]) -> Score {
        let score = first.score(&self.grading);
        if others.is_empty() {
            return score;
        }
        let details = others.iter().map(|verdict| match verdict {
            Ok(graded) => graded.details(),
            Err(NoVerdict::Unread(reply)) => json!({ "unread": reply.reason }),
            Err(_) => json!({ "unread": "failed" }),
        });
        let details: Vec<Value> = details.collect();
        let readable = others.iter().filter_map(|verdict| verdict.as_ref().ok());
        let readable: Vec<&Graded> = readable.collect();
        let score = score.detail("repeats", details);
        if readable.is_empty() {
            return score;
        }
        let same = readable.iter().filter(|other| other.agrees(first)).count();
        #[expect(clippy::cast_precision_loss, reason = "there are few repeats")]
        let share = same as f64 / readable.len() as f64;
        score.detail("self_agreement", share)
    }
}

impl Scorer for Judge {
    fn name(&self) -> &'static str {
        NAME
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let (first, others) = self.verdicts(answer, &NamedClient::of(answer, NAME))?;
        match first {
            Ok(first) => Ok(self
                .score_of(&first, &others)
                .normalized(answer.prediction.unwrap_or_default(), Normalized::None)),
            Err(none) => Err(none.into_error()),
        }
    }

    fn needs_target(&self) -> bool {
        self.sees.needs_target()
    }

    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        self.sees.criterion(sample)
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.get_or_init(|| self.identify()).clone()
    }

    fn details(&self) -> Option<Vec<Cow<'static, str>>> {
        Some(graded::details(&self.grading, self.repeats))
    }

    fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
        graded::bounds(&self.grading)
    }

    fn judge_rule(&self) -> Option<JudgeRule> {
        Some(graded::rule(&self.grading))
    }

    fn calibration(&self) -> Option<&Path> {
        self.calibration.as_deref()
    }

    forward_model!(self => self.requester.model);

    fn notices(&self) -> Vec<String> {
        let mut notices = self.grading.notices();
        notices.extend(self.sees.notice());
        notices
    }
}

/// Agent keys that only affect how it is reached, its cost, or retries and timeouts.
const MERE: [&str; 13] = [
    "api_key_env",
    "base_url",
    "close_timeout_s",
    "files",
    "headers",
    "in_flight",
    "keep_scratch",
    "price",
    "processes",
    "start_timeout_s",
    "term_grace_s",
    "unsendable_files",
    "url",
];

/// The agent's keys that may change a verdict, and the hashes of its scripts.
pub(super) fn identity(agent: &Value, folder: &Path) -> String {
    let Value::Object(keys) = agent else {
        return agent.to_string();
    };
    let identifying = keys.iter().filter(|(key, _)| !MERE.contains(&key.as_str()));
    let mut identifying: Map<String, Value> = identifying
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let scripts = scripts(keys.get("command"), folder);
    if !scripts.is_empty() {
        identifying.insert("scripts".to_owned(), scripts.into());
    }
    let mut identifying = Value::Object(identifying);
    identifying.sort_all_objects();
    identifying.to_string()
}

/// The words of a command that are scripts, with their hashes. Compiled programs are excluded, as they differ between
/// machines.
fn scripts(command: Option<&Value>, folder: &Path) -> Map<String, Value> {
    let words = command.and_then(Value::as_array).into_iter().flatten();
    let script = |word: &Value| {
        let word = word.as_str()?;
        Some((word.to_owned(), script_hash(&folder.join(word))?.into()))
    };
    words.filter_map(script).collect()
}

#[cfg(test)]
mod identity_tests {
    use serde_json::json;

    use super::*;

    fn check(other: &Value, is_same: bool) {
        let here = Path::new(".");
        let one =
            json!({ "type": "openai", "model": "m", "base_url": "http://a/v1", "temperature": 0 });
        let same = identity(&one, here) == identity(other, here);
        assert_eq!(same, is_same, "{other}");
    }

    #[test]
    fn how_it_is_reached_does_not_make_another_judge() {
        check(
            &json!({ "temperature": 0, "type": "openai", "model": "m", "base_url": "http://b/v1", "api_key_env": "K",
                "price": { "input": 1, "output": 2 } }),
            true,
        );
        let nested = |extra: &str| {
            let extra: Value = serde_json::from_str(extra).unwrap();
            identity(
                &json!({ "type": "openai", "extra_body": extra }),
                Path::new("."),
            )
        };
        assert_eq!(nested(r#"{"a": 1, "b": 2}"#), nested(r#"{"b": 2, "a": 1}"#));
        check(
            &json!({ "type": "openai", "model": "n", "temperature": 0 }),
            false,
        );
        check(
            &json!({ "type": "openai", "model": "m", "temperature": 1 }),
            false,
        );
        check(
            &json!({ "type": "openai", "model": "m", "temperature": 0, "seed": 1 }),
            false,
        );
    }

    #[test]
    fn another_script_is_another_judge() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("judge.py");
        let keys = json!({ "type": "command", "command": ["python3", "judge.py"] });
        std::fs::write(&path, "one").unwrap();
        let one = identity(&keys, folder.path());
        assert_eq!(one, identity(&keys, folder.path()));
        std::fs::write(&path, "two").unwrap();
        assert_ne!(one, identity(&keys, folder.path()));
    }
}

/// The verdict that counts, and how far its repeats agree with it.
pub(super) struct Opinion {
    pub(super) graded: Graded,
    /// The share of readable repeats with the same verdict, and their number.
    pub(super) self_agreement: Option<(f64, u64)>,
}

/// Why a judge gave no verdict.
pub(super) enum NoOpinion {
    /// Its reply cannot be read, for this reason of [`Unread`](crate::data::Unread); with an excerpt.
    Unread(&'static str, String),
    /// It could not be asked, or did not reply.
    Failed(String),
    /// The run is stopping: it was not asked.
    Stopped,
}

impl Judge {
    /// Its opinion of an answer, asked through this desk.
    pub(super) fn opinion(
        &self,
        answer: &Answer<'_>,
        client: &NamedClient<'_>,
    ) -> Result<Opinion, NoOpinion> {
        let verdicts = self.verdicts(answer, client);
        let (first, others) =
            verdicts.map_err(|error| NoOpinion::Failed(error.message().to_owned()))?;
        let graded = first.map_err(|none| match none {
            NoVerdict::Unread(reply) => NoOpinion::Unread(reply.reason.as_str(), reply.why()),
            NoVerdict::Failed(message) => NoOpinion::Failed(message),
            NoVerdict::Stopped => NoOpinion::Stopped,
        })?;
        if others
            .iter()
            .any(|it| matches!(it, Err(NoVerdict::Stopped)))
        {
            return Err(NoOpinion::Stopped);
        }
        let readable: Vec<_> = others.iter().flatten().collect();
        let same = readable.iter().filter(|other| other.agrees(&graded));
        let same = same.count() as u64;
        let of = readable.len() as u64;
        let share = crate::stats::ratio(same, of);
        Ok(Opinion {
            self_agreement: share.map(|share| (share, of)),
            graded,
        })
    }

    /// Marks it as one of several identical judges; `copy` of them precede it.
    pub(super) fn copy(self, copy: u32) -> Self {
        Self { copy, ..self }
    }

    /// Marks it as one of several: if it fails, the others continue.
    pub(super) fn make_optional(&mut self, optional: OptionalJuror) {
        self.requester.model.policy.optional = Some(optional);
    }

    /// The configured model of its agent.
    pub(super) fn model(&self) -> Option<String> {
        self.requester.model.agent.model().map(str::to_owned)
    }
}

/// A reply that cannot be read, with the explanation.
pub(super) struct UnreadReply {
    pub(super) reason: Unread,
    pub(super) last: LastWord,
}

/// What came instead of a verdict.
pub(super) enum LastWord {
    /// The start of a reply.
    Reply(String),
    /// An error message.
    Error(String),
}

impl UnreadReply {
    /// What is wrong with the last reply, with its start or the error that came instead.
    pub(super) fn why(&self) -> String {
        let reply = match &self.last {
            LastWord::Reply(reply) => reply,
            LastWord::Error(error) => {
                let did = match self.reason {
                    Unread::Refusal => "refused",
                    _ => "said nothing",
                };
                return format!("the last time it {did}: {error}");
            }
        };
        let begins = match &**reply {
            "" => String::new(),
            reply => format!(", which begins with `{reply}`"),
        };
        let comma = if reply.is_empty() { "" } else { "," };
        match self.reason {
            Unread::Conflicting => {
                format!("the last reply{begins}{comma} gives two different verdicts")
            }
            Unread::Refusal if reply.is_empty() => "the last time it refused".to_owned(),
            Unread::Refusal => format!("the last time it refused with `{reply}`"),
            Unread::Truncated => {
                format!("the last reply was cut off{begins}: raise `max_tokens` of its agent")
            }
            Unread::NoResponse => "the last reply is empty".to_owned(),
            // Reasons of a jury do not concern a reply.
            Unread::InvalidResponseFormat | Unread::NoMajority | Unread::TooFewJudges => {
                format!("the last reply{begins}{comma} does not have the requested form")
            }
        }
    }
}

#[cfg(test)]
mod unread_tests {
    use super::*;

    #[track_caller]
    fn check(reason: Unread, last: LastWord, expect: &str) {
        assert_eq!(UnreadReply { reason, last }.why(), expect);
    }

    #[test]
    fn the_beginning_of_a_reply_stands_where_it_belongs() {
        for (reason, expect) in [
            (
                Unread::Truncated,
                "the last reply was cut off, which begins with `Hm.`: raise `max_tokens` of its agent",
            ),
            (Unread::Refusal, "the last time it refused with `Hm.`"),
            (
                Unread::Conflicting,
                "the last reply, which begins with `Hm.`, gives two different verdicts",
            ),
            (
                Unread::InvalidResponseFormat,
                "the last reply, which begins with `Hm.`, does not have the requested form",
            ),
            (Unread::NoResponse, "the last reply is empty"),
        ] {
            check(reason, LastWord::Reply("Hm.".to_owned()), expect);
        }
        let nothing = || LastWord::Reply(String::new());
        check(Unread::Refusal, nothing(), "the last time it refused");
        check(
            Unread::Truncated,
            nothing(),
            "the last reply was cut off: raise `max_tokens` of its agent",
        );
    }

    #[test]
    fn an_error_is_no_reply() {
        let error = |message: &str| LastWord::Error(message.to_owned());
        check(
            Unread::Refusal,
            error("`http://h/v1` withheld its answer: its content filter forbids it"),
            "the last time it refused: `http://h/v1` withheld its answer: its content filter forbids it",
        );
        check(
            Unread::NoResponse,
            error("printed nothing to stdout"),
            "the last time it said nothing: printed nothing to stdout",
        );
    }
}
