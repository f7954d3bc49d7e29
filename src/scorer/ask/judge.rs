//! `judge`: a model grades answers.
//!
//! A judge is a scorer that asks an agent; its failures do not count against the agent under test. `rubric` defines the
//! grading, `sees` what is shown of an answer, `prompt` the question and `schema` the reply form. The [`VerdictRequester`]
//! asks through the [`AgentClient`], `reply` and `reading` read the reply, and `graded` builds the score. An unreadable reply
//! is requested once more, and then is an error with a reason, never a wrong answer.

pub(super) mod graded;
pub(super) mod identity;
#[cfg(test)]
mod injected;
pub(super) mod make;
mod opinion;
pub(crate) mod prompt;
pub(crate) mod reading;
pub(super) mod reply;
pub(crate) mod rubric;
pub(crate) mod schema;
pub(super) mod sees;
pub(crate) mod specs;
pub(super) mod unread;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::client::NamedClient;
use super::requester::{Inquiry, NoVerdict, ScorerAgent, VerdictRequester, forward_model};
use crate::agent::Agent;
use crate::data::{JudgeRule, Normalized, Sample, Score};
use crate::error::Result;
use crate::scorer::{Answer, Scorer};
use crate::text::hash::Hasher;
use graded::Graded;
pub(super) use opinion::{NoOpinion, Opinion};
pub(crate) use rubric::{Dimension, Grading};
use sees::{JudgeMaterial, Sees};

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
            reading::VERSION,
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
