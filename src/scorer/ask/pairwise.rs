//! `pairwise`: a model decides which of two answers is better.
//!
//! Judges favour the text shown first, so every pair is shown in both orders, and a verdict counts only if it is the
//! same in both. `against` reads what answers are compared with, `pairs` selects the pairs. It asks like a [`Judge`](super::judge::Judge), through the [`VerdictRequester`].

mod against;
mod make;
mod pairs;
mod references;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use serde_json::{Value, json};

use super::client::NamedClient;
use super::judge::prompt::Exhibit;
use super::judge::reading::Reading;
use super::judge::rubric::Grading;
use super::judge::sees::{JudgeMaterial, Sees};
use super::judge::{prompt, reading};
use super::requester::{Inquiry, NoVerdict, ScorerAgent, VerdictRequester, forward_model};
use crate::agent::Agent;
use crate::data::{JudgeRule, Normalized, Sample, Score};
use crate::error::{Error, Result};
use crate::scorer::ask::judge::make::calibration_file;
use crate::scorer::ask::judge::rubric::{Choices, OfferedChoice};
use crate::scorer::extract::Extract;
use crate::scorer::{Answer, Beginning, Scorer};
use crate::text::hash::Hasher;
use pairs::{Draw, ReferencePairs};
use references::{Reference, References};

pub(crate) use make::ENTRY;

/// The default name under which it is recorded.
const NAME: &str = "pairwise";
/// The orders in which two texts are shown; both are always requested.
const ORDERS: u32 = 2;

/// A model that decides which of two answers is better.
///
/// ```no_run
/// use evaltest::agent::OpenAi;
/// use evaltest::scorer::Pairwise;
///
/// # fn main() -> evaltest::Result<()> {
/// let model = OpenAi::new("http://127.0.0.1:8102/v1", "local")?.temperature(0.0);
/// let better = Pairwise::against_file(model, "answers.jsonl")?.criteria("Which is clearer?").pairs(20).seed(7);
/// # let _: Box<dyn evaltest::Scorer> = Box::new(better);
/// # Ok(())
/// # }
/// ```
///
#[doc = include_str!("pairwise.md")]
pub struct Pairwise {
    requester: VerdictRequester,
    grading: Grading,
    /// Whether the user wrote the criteria.
    has_criteria: bool,
    /// What is shown besides the two texts, if set.
    sees: Option<Sees>,
    /// Whether items are compared: each contains its own question.
    is_of_items: bool,
    references: References,
    draw: Draw,
    /// The file with its calibration against people.
    calibration: Option<PathBuf>,
    /// Set once all items are known.
    prepared: RwLock<Option<Arc<PreparedPairs>>>,
    /// The canonical grading, which is part of each mark.
    canonical: OnceLock<String>,
    /// The hash of the references.
    hash: OnceLock<String>,
}

/// What is known once all items are.
struct PreparedPairs {
    pairs: ReferencePairs,
    /// The extraction of predictions, the same on both sides.
    extract: Extract,
}

/// Two texts to compare.
struct Pair<'a> {
    own: &'a str,
    other: Cow<'a, str>,
    /// What is shown besides, about the item that both answer.
    shared: JudgeMaterial<'a>,
}

impl Pairwise {
    fn of(model: ScorerAgent, grading: Grading, references: References, draw: Draw) -> Self {
        Self {
            requester: VerdictRequester::of(model),
            grading,
            has_criteria: true,
            sees: None,
            is_of_items: false,
            references,
            draw,
            calibration: None,
            prepared: RwLock::default(),
            canonical: OnceLock::new(),
            hash: OnceLock::new(),
        }
    }

    fn prepared(&self) -> Option<Arc<PreparedPairs>> {
        let prepared = self.prepared.read();
        prepared.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The text that an answer is compared with; `None` if there is none.
    fn other(&self, answer: &Answer<'_>) -> Option<String> {
        let Some((id, epoch)) = answer.item else {
            return self.only(answer);
        };
        let prepared = self.prepared()?;
        let reference = self.references.items.get(prepared.pairs.partner(id)?)?;
        match reference {
            Reference::Sample { question, .. } if prepared.pairs.by_lot => Some(question.clone()),
            Reference::Sample { truth, .. } => truth.clone(),
            Reference::Answers(_) => {
                let raw = reference.answer(epoch)?;
                prepared.extract.apply(raw).map(Cow::into_owned)
            }
        }
    }

    /// Without a run it is unknown which text belongs to an answer, unless there is only one.
    fn only(&self, answer: &Answer<'_>) -> Option<String> {
        let is_tried_out = answer.sample.is_some();
        if self.references.items.len() > 1 && !is_tried_out {
            return None;
        }
        match self.references.items.values().next()? {
            Reference::Sample { question, .. } => Some(question.clone()),
            answered @ Reference::Answers(_) => answered.answer(0).map(str::to_owned),
        }
    }

    /// What is shown besides the two texts. Randomly drawn references have nothing in common with an item.
    fn shared<'a>(&self, answer: &Answer<'a>) -> Result<JudgeMaterial<'a>> {
        let by_lot = self
            .prepared()
            .map_or(answer.item.is_none(), |prepared| prepared.pairs.by_lot);
        match &self.sees {
            Some(sees) => sees.material(answer),
            None if by_lot || self.is_of_items => Ok(JudgeMaterial::default()),
            None => Sees::named(["prompt"])?.material(answer),
        }
    }

    /// The verdict on a pair in one order.
    fn verdict(
        &self,
        client: &NamedClient<'_>,
        pair: &Pair<'_>,
        own_first: bool,
    ) -> std::result::Result<Reading, NoVerdict> {
        let (first, second) = if own_first {
            (pair.own, &*pair.other)
        } else {
            (&*pair.other, pair.own)
        };
        let mut exhibits = pair.shared.exhibits.clone();
        exhibits.push(Exhibit::new(prompt::FIRST, Some(first)));
        exhibits.push(Exhibit::new(prompt::SECOND, Some(second)));
        let key = |again: u32| {
            let hash = Hasher::default()
                .part(NAME)
                .part(self.request_identity())
                .part(again.to_le_bytes());
            pair.shared.parts(hash).part(first).part(second).hex()
        };
        self.requester.reading(
            client,
            &Inquiry {
                grading: &self.grading,
                canonical: self.canonical(),
                exhibits: &exhibits,
                files: &pair.shared.files,
                length: length(pair.own),
                repeat: u32::from(!own_first),
                repeats: ORDERS,
                key: &key,
            },
        )
    }

    fn canonical(&self) -> &str {
        self.canonical
            .get_or_init(|| self.grading.canonical().to_string())
    }

    /// The text of everything that identifies the judge. Excludes which pairs are drawn, and their references.
    fn request_identity(&self) -> String {
        let parts = json!([
            self.requester.model.identity,
            self.grading.canonical(),
            self.sees.as_ref().map(Sees::names),
            prompt::PROMPT_VERSION,
            reading::IN_FINGERPRINTS,
        ]);
        parts.to_string()
    }
}

/// Characters of a text.
fn length(text: &str) -> u64 {
    text.chars().count() as u64
}

impl Scorer for Pairwise {
    fn name(&self) -> &'static str {
        NAME
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let (Some(own), Some(other)) = (answer.prediction, self.other(answer)) else {
            return Err(Error::usage("there is nothing to compare this answer with").hint(
                "`pairwise` pairs the items of a run: name it in the spec of an eval, or with `rescore`",
            ));
        };
        let pair = Pair {
            own,
            other: other.into(),
            shared: self.shared(answer)?,
        };
        let client = NamedClient::of(answer, NAME);
        // Ask for both in any case: an order that is only sometimes requested would cause bias.
        let readings = [true, false].map(|own_first| self.verdict(&client, &pair, own_first));
        let [first, second] = readings;
        let (first, second) = match (first, second) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(none), Ok(_)) | (_, Err(none)) => return Err(none.into_error()),
        };
        let compared = ComparedPair {
            better: [Better::of(&first, true), Better::of(&second, false)],
            reasons: [reason(&first), reason(&second)],
            lengths: [length(pair.own), length(&pair.other)],
            repaired: first.repaired + second.repaired,
        };
        Ok(compared.score().normalized(own, Normalized::None))
    }

    fn needs_target(&self) -> bool {
        self.sees.as_ref().is_some_and(Sees::needs_target)
    }

    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        let sees = self.sees.as_ref();
        sees.map_or(Ok(None), |sees| sees.criterion(sample))
    }

    /// Items that were not drawn are not compared, nor items with an answer on one side only: a missing answer neither
    /// loses nor wins.
    fn judges(&self, answer: &Answer<'_>) -> bool {
        answer.prediction.is_some() && self.other(answer).is_some()
    }

    fn begin(&self, about: &Beginning<'_>) -> Result<()> {
        if !self.references.runs.is_disjoint(about.runs) {
            return Err(Error::usage(
                "`against` is the run that is judged: its answers are the same",
            )
            .hint("name another run"));
        }
        let pairs = ReferencePairs::of(about.ids, &self.references, self.draw)?;
        if pairs.by_lot && self.sees.is_some() {
            return Err(Error::usage(
                "`against` shares no id with the items, so `sees` would show the context of only one of the two texts",
            )
            .hint("leave `sees` out, or name a benchmark with the same ids"));
        }
        if pairs.by_lot && !self.has_criteria {
            return Err(Error::usage(
                "`against` shares no id with the items, so the judge does not see the question and needs criteria",
            )
            .hint("write `criteria: …`"));
        }
        if self.is_of_items && !self.has_criteria {
            return Err(
                Error::usage("items are compared, so the judge needs criteria")
                    .hint("write `criteria: …`"),
            );
        }
        let prepared = PreparedPairs {
            pairs,
            extract: about.extract.clone(),
        };
        let mut there = self
            .prepared
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *there = Some(Arc::new(prepared));
        Ok(())
    }

    fn fingerprint(&self) -> String {
        let hash = self.hash.get_or_init(|| self.references.hash());
        let Draw { pairs, seed } = self.draw;
        let parts = json!([self.request_identity(), pairs, seed, hash]);
        format!("{NAME} {parts}")
    }

    fn details(&self) -> Option<Vec<Cow<'static, str>>> {
        Some(RATES.map(Cow::Borrowed).to_vec())
    }

    fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
        let rates = RATES.map(|rate| (rate.into(), [0.0, 1.0]));
        rates.to_vec()
    }

    fn judge_rule(&self) -> Option<JudgeRule> {
        Some(rule())
    }

    fn calibration(&self) -> Option<&Path> {
        self.calibration.as_deref()
    }

    forward_model!(self => self.requester.model);

    fn notices(&self) -> Vec<String> {
        let prepared = self.prepared();
        prepared.map_or_else(Vec::new, |prepared| prepared.pairs.notices(self.draw))
    }
}

impl Pairwise {
    /// A judge that decides which does better what was asked: an answer, or that of the same sample in another run.
    ///
    /// # Errors
    /// When the run directory cannot be read, or has no answer.
    pub fn against_run(agent: impl Agent + 'static, run_dir: impl AsRef<Path>) -> Result<Self> {
        Self::built(agent, against::of_run(run_dir.as_ref())?)
    }

    /// A judge that decides which does better what was asked: an answer, or that of the same sample in a JSONL file of
    /// `id` and `answer`.
    ///
    /// # Errors
    /// When the file cannot be read, or has no answer.
    pub fn against_file(agent: impl Agent + 'static, path: impl AsRef<Path>) -> Result<Self> {
        Self::built(agent, against::of_file(path.as_ref())?)
    }

    /// What makes one text better than another.
    #[must_use]
    pub fn criteria(mut self, criteria: &str) -> Self {
        self.grading = grading(Some(criteria));
        self.has_criteria = true;
        self
    }

    /// How many samples are compared, drawn randomly without replacement.
    #[must_use]
    pub fn pairs(mut self, pairs: u64) -> Self {
        self.draw.pairs = Some(pairs.max(1));
        self
    }

    /// The seed of the draw.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.draw.seed = seed;
        self
    }

    /// What is shown besides the two texts: `prompt`, `ground_truth`, `files`, and names of fields.
    ///
    /// # Errors
    /// When no names are given, or a name is repeated.
    pub fn sees<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        self.sees = Some(Sees::named(names)?);
        Ok(self)
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
        self.calibration = Some(calibration_file(path.as_ref())?);
        Ok(self)
    }

    fn built(agent: impl Agent + 'static, references: References) -> Result<Self> {
        if references.items.is_empty() {
            return Err(Error::usage("there is nothing to compare answers with")
                .hint("name a run or a file with answers"));
        }
        let draw = Draw {
            pairs: None,
            seed: 0,
        };
        let grading = grading(None);
        let mut pairwise = Self::of(ScorerAgent::built(agent), grading, references, draw);
        pairwise.has_criteria = false;
        Ok(pairwise)
    }
}

/// The default criteria.
const USUAL: &str =
    "Which text does better what was asked? What is right and whole comes before how it is said.";

/// The grading with these criteria.
fn grading(criteria: Option<&str>) -> Grading {
    let offered = |name: &str, value: f64, description: &str| OfferedChoice {
        name: name.to_owned(),
        value,
        description: Some(description.to_owned()),
    };
    Grading::Choices(Choices {
        instructions: Some(criteria.unwrap_or(USUAL).trim().to_owned()),
        offered: vec![
            offered(FIRST, 1.0, "the first text is better"),
            offered(SECOND, 0.0, "the second text is better"),
            offered(TIE, 0.5, "neither is better than the other"),
        ],
        pass: 1.0,
        sees_truth: false,
        compares: true,
    })
}

/// The names of the verdicts. They do not reveal whose text it is.
const FIRST: &str = "first";
const SECOND: &str = "second";
const TIE: &str = "tie";

/// The details whose means are rates.
const RATES: [&str; 4] = ["win", "tie", "loss", "inconsistent"];

/// Which text is better, independent of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Better {
    /// The judged answer.
    Own,
    /// The text it is compared with.
    Other,
    Neither,
}

impl Better {
    /// The result of a reply; `own_first` tells whether the judged answer was shown first.
    fn of(reading: &Reading, own_first: bool) -> Self {
        match reading.verdict.as_ref().and_then(Value::as_str) {
            Some(FIRST) if own_first => Self::Own,
            Some(SECOND) if !own_first => Self::Own,
            Some(TIE) | None => Self::Neither,
            Some(_) => Self::Other,
        }
    }

    /// The form that `judge winrate` reads.
    fn as_str(self) -> &'static str {
        match self {
            Self::Own => "A",
            Self::Other => "B",
            Self::Neither => "tie",
        }
    }
}

/// Two texts shown in both orders.
struct ComparedPair {
    /// Which was better with the judged answer shown first, and with it shown second.
    better: [Better; 2],
    /// The judge's reasons.
    reasons: [String; 2],
    /// Characters of the answer, and of the other text.
    lengths: [u64; 2],
    /// The number of repairs to the replies.
    repaired: u32,
}

impl ComparedPair {
    /// The score.
    fn score(self) -> Score {
        let (value, word) = match self.better {
            [Better::Own, Better::Own] => (1.0, "win"),
            [Better::Other, Better::Other] => (0.0, "loss"),
            [Better::Neither, Better::Neither] => (0.5, "tie"),
            _ => (0.5, "inconsistent"),
        };
        let score = Score::new(value, word == "win", word);
        let score = RATES.into_iter().fold(score, |score, rate| {
            score.detail(rate, u64::from(rate == word))
        });
        let score = score.detail("verdict", word);
        let [first, second] = self.better.map(Better::as_str);
        let [length, length_against] = self.lengths;
        let score = score
            .detail("first", first)
            .detail("second", second)
            .detail("length", length)
            .detail("length_against", length_against)
            .detail("reasons", json!(self.reasons));
        match self.repaired {
            0 => score,
            repaired => score.detail("repaired", repaired),
        }
    }
}

/// The labels of a pair by people, and their values: they state which text is better, without orders.
fn rule() -> JudgeRule {
    let values = [("win", 1.0), ("tie", 0.5), ("loss", 0.0)];
    JudgeRule {
        pass: Some(1.0),
        choices: values.map(|(word, value)| (word.to_owned(), value)).into(),
        ..JudgeRule::default()
    }
}

/// The reason given in a reply.
fn reason(reading: &Reading) -> String {
    let reason = reading.comments.get("reason").and_then(Value::as_str);
    reason.unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorer::ask::judge::reading;

    #[track_caller]
    fn check(replies: [&str; 2], value: f64, word: &str) {
        let [first, second] = replies.map(|reply| {
            let text = json!({ "reason": "so", "verdict": reply }).to_string();
            reading::choices(&text, &[FIRST, SECOND, TIE])
        });
        let compared = ComparedPair {
            better: [Better::of(&first, true), Better::of(&second, false)],
            reasons: [reason(&first), reason(&second)],
            lengths: [3, 4],
            repaired: 0,
        };
        let score = compared.score();
        assert!((score.value - value).abs() < 1e-12, "{replies:?}");
        assert_eq!((score.correct, &*score.reason), (word == "win", word));
        for rate in RATES {
            let expect = u64::from(rate == word);
            assert_eq!(score.details.get(rate), Some(&expect.into()), "{replies:?}");
        }
        assert_eq!(score.details.get("reasons"), Some(&json!(["so", "so"])));
    }

    #[test]
    fn one_verdict_in_both_orders_is_one() {
        check([FIRST, SECOND], 1.0, "win");
        check([SECOND, FIRST], 0.0, "loss");
        check([TIE, TIE], 0.5, "tie");
    }

    #[test]
    fn two_that_differ_are_inconsistent() {
        for replies in [
            [FIRST, FIRST],
            [SECOND, SECOND],
            [FIRST, TIE],
            [TIE, SECOND],
            [TIE, FIRST],
        ] {
            check(replies, 0.5, "inconsistent");
        }
    }
}
