//! `judge`: a model grades answers.
//!
//! A judge is a scorer that asks an agent, and its failures are not those of the agent under test. `rubric` says what is
//! graded, `sees` what of an answer is shown, `prompt` what is asked and `schema` in which form; the [`Desk`] has it
//! asked, `said` and `reading` read the reply, and `graded` makes a score of it. What cannot be read is asked once more,
//! and then is an error with a reason, never a wrong answer.

pub(super) mod graded;
mod identity;
#[cfg(test)]
mod injected;
pub(super) mod make;
mod opinion;
pub(crate) mod prompt;
pub(crate) mod reading;
pub(crate) mod rubric;
mod said;
pub(crate) mod schema;
mod sees;
pub(crate) mod specs;
mod unread;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::desk::{Heard, JudgeRequest, LoneDesk, NamedDesk, Patience};
use crate::agent::Agent;
use crate::data::{JudgeRule, Normalized, ReplyForm, Sample, Score, Unread};
use crate::error::{Error, Result};
use crate::scorer::{Answer, AskedAgent, Reads, Scorer};
use crate::text::hash::Hasher;
use graded::Graded;
pub(super) use opinion::{NoOpinion, Opinion};
use reading::ReadStatus;
use rubric::Grading;
use said::Said;
use sees::{Sees, Shown};
use unread::{LastWord, UnreadReply};

pub(crate) use make::ENTRY;

/// The name under which it is recorded, unless an option gives it another.
const NAME: &str = "judge";
/// The forms in the order in which they are tried.
const FORMS: [ReplyForm; 3] = [ReplyForm::Schema, ReplyForm::Tool, ReplyForm::Text];

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
    agent: Arc<dyn Agent>,
    /// Who the agent is, wherever it is reached.
    identity: String,
    /// What every task of the agent brings along.
    options: Map<String, Value>,
    secrets: Vec<String>,
    pub(super) grading: Grading,
    sees: Sees,
    repeats: u32,
    /// How many judges before it in a jury are the same as this one: each is asked by itself.
    copy: u32,
    patience: Patience,
    /// The file that tells what it is worth beside people.
    calibration: Option<PathBuf>,
    form: FormLadder,
    /// What is canonical of the grading, which is a part of each mark.
    canonical: OnceLock<String>,
    /// The fingerprint, which is a part of each key.
    fingerprint: OnceLock<String>,
    /// What tasks bring along in each of the forms.
    task_options: [OnceLock<Arc<Map<String, Value>>>; FORMS.len()],
}

/// The form of replies that the endpoint is known, or hoped, to take.
struct FormLadder {
    /// The place among [`FORMS`] of the one to begin with.
    first: u8,
    /// Counted up by 1 of the place that gave a reply; 0 before there is one.
    proven: AtomicU8,
}

impl FormLadder {
    /// One for an agent that may be told a form, or not.
    fn of(agent: &dyn Agent) -> Self {
        Self {
            first: if agent.takes_reply_form() { 0 } else { 2 },
            proven: AtomicU8::new(0),
        }
    }

    /// The place that gave a reply, if one did.
    fn proven(&self) -> Option<u8> {
        self.proven.load(Ordering::Relaxed).checked_sub(1)
    }

    /// The place to try first.
    fn now(&self) -> u8 {
        self.proven().unwrap_or(self.first)
    }

    /// The endpoint replied in this form. One that it refuses is out only then: what a sample is refused for in every
    /// form says nothing of forms.
    fn replied(&self, place: u8) {
        self.proven.store(place + 1, Ordering::Relaxed);
    }
}

/// One of the verdicts that `repeats` asks for, or why there is none.
type RepeatVerdict = std::result::Result<Graded, NoVerdict>;
/// What one reply says, or why that cannot be read.
type ReadReply = std::result::Result<Graded, UnreadReply>;

/// Why there is no verdict.
enum NoVerdict {
    /// What the judge said cannot be read.
    Unread(UnreadReply),
    /// It said nothing.
    Failed(String),
    /// The run stops.
    Stopped,
}

impl Judge {
    /// A judge that grades by a ready rubric (`aime`, `qa`, `code`, `creative_writing`, `technical_docs`), or by the text
    /// of one in YAML. It sees what was asked and the answer.
    ///
    /// # Errors
    /// When the rubric is none.
    pub fn new(agent: impl Agent + 'static, rubric: &str) -> Result<Self> {
        let identity = agent.fingerprint().unwrap_or_default();
        let grading = Grading::of_text(rubric)?;
        let agent = AskedAgent {
            agent: Arc::new(agent),
            options: Map::new(),
            secrets: Vec::new(),
        };
        Ok(Self::of(agent, identity, grading))
    }

    fn of(asked: AskedAgent, identity: String, grading: Grading) -> Self {
        let AskedAgent {
            agent,
            options,
            mut secrets,
        } = asked;
        secrets.extend(agent.secrets());
        Self {
            identity,
            options,
            secrets,
            sees: Sees::usual(&grading),
            grading,
            repeats: 1,
            copy: 0,
            patience: Patience::default(),
            calibration: None,
            form: FormLadder::of(&*agent),
            agent,
            canonical: OnceLock::new(),
            fingerprint: OnceLock::new(),
            task_options: Default::default(),
        }
    }

    /// What it is shown: `prompt`, `prediction`, `ground_truth`, `files`, and names of fields.
    ///
    /// # Errors
    /// When nothing is named, or something twice.
    pub fn sees<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        self.sees = Sees::named(names)?;
        self.fingerprint = OnceLock::new();
        Ok(self)
    }

    /// How often each answer is judged. The first verdict counts, the others tell how far the judge agrees with itself.
    #[must_use]
    pub fn repeats(mut self, repeats: u32) -> Self {
        self.repeats = repeats.max(1);
        self
    }

    /// How often a failed request is repeated, whatever the eval says.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.patience.retries = Some(retries);
        self
    }

    /// The first verdict, which counts, and its repeats.
    fn verdicts(
        &self,
        answer: &Answer<'_>,
        desk: &NamedDesk<'_>,
    ) -> Result<(RepeatVerdict, Vec<RepeatVerdict>)> {
        let shown = self.sees.shown(answer)?;
        let first = self.verdict(desk, &shown, 0);
        // Whatever came of the first: repeats that only follow a failure would favour one side.
        let others = (1..self.repeats).map(|repeat| self.verdict(desk, &shown, repeat));
        Ok((first, others.collect()))
    }

    /// One verdict, asked for once more where the reply cannot be read.
    fn verdict(&self, desk: &NamedDesk<'_>, shown: &Shown<'_>, repeat: u32) -> RepeatVerdict {
        let mut unread = None;
        for again in [0, 1] {
            let said = self.ask(desk, shown, repeat, again)?;
            match said {
                Ok(graded) => return Ok(graded),
                Err(reply) => unread = Some(reply),
            }
        }
        let nothing = || UnreadReply {
            reason: Unread::NoResponse,
            last: LastWord::Reply(String::new()),
        };
        Err(NoVerdict::Unread(unread.unwrap_or_else(nothing)))
    }

    /// One request, in the form that the endpoint takes.
    fn ask(
        &self,
        desk: &NamedDesk<'_>,
        shown: &Shown<'_>,
        repeat: u32,
        again: u32,
    ) -> std::result::Result<ReadReply, NoVerdict> {
        let key = self.key(shown, repeat, again);
        let request = |place: u8| {
            let form = FORMS[usize::from(place)];
            let prompt = prompt::prompt(&self.grading, self.canonical(), &shown.exhibits, form);
            JudgeRequest {
                agent: &self.agent,
                key: key.clone(),
                prompt: match again {
                    0 => prompt,
                    _ => prompt::again(&prompt, &self.grading),
                },
                options: self.task_options(place),
                files: &shown.files,
                form,
                may_fall_back: form != ReplyForm::Text && self.form.proven() != Some(place),
                repeat,
                repeats: self.repeats,
                again,
                patience: &self.patience,
                length: shown.length,
            }
        };
        let mut place = self.form.now();
        // A reply of before counts in whatever form it came, and says nothing of what the endpoint takes now.
        let last = self.form.proven().unwrap_or(2);
        let mut first = None;
        for earlier in place..=last {
            let request = request(earlier);
            if let Some(asked) = desk.desk.recall(desk.scorer, &request)
                && let Some(read) = self.read(desk, &request, asked)?
            {
                return Ok(read);
            }
            first.get_or_insert(request);
        }
        loop {
            let request = first.take().unwrap_or_else(|| request(place));
            let asked = desk.desk.ask(desk.scorer, &request);
            if matches!(asked, Heard::Said(_)) {
                self.form.replied(place);
            }
            match self.read(desk, &request, asked)? {
                Some(read) => return Ok(read),
                None => place += 1,
            }
        }
    }

    /// Reads a reply; `None` where the form was refused.
    fn read(
        &self,
        desk: &NamedDesk<'_>,
        request: &JudgeRequest<'_>,
        asked: Heard,
    ) -> std::result::Result<Option<ReadReply>, NoVerdict> {
        let (reason, told) = match asked {
            Heard::FormRefused => return Ok(None),
            Heard::Stopped => return Err(NoVerdict::Stopped),
            Heard::Failed(error) => match Unread::of_failure(&error) {
                Some(reason) => (reason, LastWord::Error(error.message)),
                None => return Err(NoVerdict::Failed(error.message)),
            },
            Heard::Said(output) => {
                let said = Said::of(&output);
                let reading = said.read(&self.grading);
                match reading.status {
                    ReadStatus::Read => return Ok(Some(Ok(Graded::of(&self.grading, reading)))),
                    ReadStatus::Unreadable(reason) => (reason, LastWord::Reply(said.excerpt())),
                }
            }
        };
        desk.desk.unread(desk.scorer, request, reason);
        Ok(Some(Err(UnreadReply { reason, last: told })))
    }

    fn task_options(&self, place: u8) -> Arc<Map<String, Value>> {
        let place = usize::from(place);
        let options = self.task_options[place].get_or_init(|| {
            let mut options = self.options.clone();
            options.extend(schema::options(&self.grading, FORMS[place]));
            Arc::new(options)
        });
        Arc::clone(options)
    }

    fn canonical(&self) -> &str {
        self.canonical
            .get_or_init(|| self.grading.canonical().to_string())
    }

    /// Of all that makes it another judge.
    fn identify(&self) -> String {
        let parts = json!([
            self.identity,
            self.grading.canonical(),
            self.sees.names(),
            prompt::PROMPT_VERSION,
            reading::VERSION,
        ]);
        format!("judge {parts}")
    }

    /// Of what is asked, and of whom: wherever it is sent to, and in whatever form.
    fn key(&self, shown: &Shown<'_>, repeat: u32, again: u32) -> String {
        let hash = Hasher::default()
            .part("judge")
            .part(self.fingerprint.get_or_init(|| self.identify()))
            .part(repeat.to_le_bytes())
            .part(again.to_le_bytes());
        let hash = shown.parts(hash);
        match self.copy {
            0 => hash.hex(),
            copy => hash.part(copy.to_le_bytes()).hex(),
        }
    }

    /// The score by the first verdict; the others say how far the judge agrees with itself.
    fn score_of(&self, first: &Graded, others: &[RepeatVerdict]) -> Score {
        let score = first.score(&self.grading);
        if others.is_empty() {
            return score;
        }
        let told = others.iter().map(|verdict| match verdict {
            Ok(graded) => graded.told(),
            Err(NoVerdict::Unread(reply)) => json!({ "unread": reply.reason }),
            Err(_) => json!({ "unread": "failed" }),
        });
        let told: Vec<Value> = told.collect();
        let readable = others.iter().filter_map(|verdict| verdict.as_ref().ok());
        let readable: Vec<&Graded> = readable.collect();
        let score = score.detail("repeats", told);
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
        let lone = NamedDesk {
            desk: &LoneDesk,
            scorer: NAME,
        };
        let (first, others) = self.verdicts(answer, &answer.desk.unwrap_or(lone))?;
        match first {
            Ok(first) => Ok(self
                .score_of(&first, &others)
                .normalized(answer.prediction.unwrap_or_default(), Normalized::None)),
            Err(NoVerdict::Unread(reply)) => {
                let word = reply.reason.as_str();
                let message = format!("{word}: the judge was asked twice, and {}", reply.why());
                Err(Error::infrastructure(message).because(word))
            }
            Err(NoVerdict::Failed(message)) => Err(Error::infrastructure(format!(
                "the judge gave no reply: {message}"
            ))),
            Err(NoVerdict::Stopped) => Err(Error::infrastructure(
                "the run stopped before the judge replied",
            )),
        }
    }

    fn needs_target(&self) -> bool {
        self.sees.needs_target()
    }

    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        self.sees.criterion(sample)
    }

    fn reads(&self) -> Reads {
        Reads::Everything
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

    fn agents(&self) -> Vec<Arc<dyn Agent>> {
        vec![Arc::clone(&self.agent)]
    }

    fn secrets(&self) -> Vec<String> {
        self.secrets.clone()
    }

    fn secret_variables(&self) -> Vec<(String, String)> {
        self.agent.secret_variables()
    }

    fn unset_variables(&self) -> Vec<String> {
        self.agent.unset_variables()
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = self.grading.notices();
        notices.extend(self.sees.notice());
        notices
    }
}
