//! `on`: which part of a conversation a scorer judges.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::super::{Answer, Beginning, Reads, Scorer};
use super::per_sample::KEY;
use crate::agent::Agent;
use crate::data::conversation::{Script, ScriptTurn, transcript};
use crate::data::{JudgeRule, Output, Sample, Score, Target};
use crate::error::{Error, Result};
use crate::scorer::extract::Extract;

/// What is judged of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// The last answer of the agent.
    Last,
    /// The answer of each turn that has a ground truth.
    EachTurn,
    /// Each turn if one has a ground truth, and otherwise the last answer.
    TurnsOrLast,
    /// All that was said.
    Transcript,
    /// The answer of this turn, from 1.
    Turn(u32),
}

impl On {
    /// Reads the option `on` of a scorer.
    pub(crate) fn from_value(value: &Value) -> Result<Self> {
        let turn = |value: &Value| {
            let turn = value.as_u64().and_then(|turn| u32::try_from(turn).ok());
            turn.filter(|turn| *turn > 0).map(Self::Turn)
        };
        let read = match value {
            Value::String(text) => match text.as_str() {
                "last" => Some(Self::Last),
                "each_turn" => Some(Self::EachTurn),
                "transcript" => Some(Self::Transcript),
                other => {
                    let number = other.strip_prefix("turn:").map(str::trim);
                    number.and_then(|number| turn(&number.parse::<u64>().ok()?.into()))
                }
            },
            Value::Object(map) if map.len() == 1 => map.get("turn").and_then(turn),
            _ => None,
        };
        read.ok_or_else(|| {
            Error::usage(format!(
                "`on` is {value}, which is not a part of a conversation"
            ))
            .hint("write `last`, `each_turn`, `transcript` or `{ turn: 2 }`")
        })
    }

    fn text(self) -> String {
        match self {
            Self::Last => "last".to_owned(),
            Self::EachTurn => "each_turn".to_owned(),
            Self::TurnsOrLast => "turns_or_last".to_owned(),
            Self::Transcript => "transcript".to_owned(),
            Self::Turn(turn) => format!("turn {turn}"),
        }
    }
}

/// A scorer that judges a part of a conversation.
pub(crate) struct OfConversation {
    scorer: Arc<dyn Scorer>,
    on: On,
    /// The eval's extraction, once it is known.
    extract: OnceLock<Extract>,
}

impl OfConversation {
    pub(crate) fn new(scorer: Arc<dyn Scorer>, on: On) -> Self {
        Self {
            scorer,
            on,
            extract: OnceLock::new(),
        }
    }

    /// What is judged, in a conversation with this script.
    fn on(&self, script: &Script) -> On {
        match self.on {
            On::TurnsOrLast if has_truths(script) => On::EachTurn,
            On::TurnsOrLast => On::Last,
            on => on,
        }
    }

    /// Whether a turn is judged: it has a ground truth, or none has one and the scorer needs none.
    fn is_judged(&self, script: &Script, turn: &ScriptTurn) -> bool {
        turn.ground_truth.is_some() || !has_truths(script) && !self.scorer.needs_target()
    }

    /// The verdict on one turn; `place` is that of the turn, from 0.
    fn of_turn(&self, answer: &Answer<'_>, script: &Script, place: usize) -> Result<Score> {
        let turns = answer.output.turns();
        let Some(messages) = turns.get(place) else {
            return Ok(Score::new(0.0, false, "no_such_turn"));
        };
        let turn = script.turns.get(place);
        let truth = turn.and_then(|turn| turn.ground_truth.clone());
        let is_last = place + 1 == script.turns.len();
        let truth = truth
            .map(Target)
            .or_else(|| is_last.then(|| answer.target.clone()));
        let truth = truth.unwrap_or(Target(Value::Null));
        let mut metadata = Cow::Borrowed(answer.metadata);
        if let Some(own) = turn.and_then(|turn| turn.scorer.as_ref()) {
            metadata.to_mut().insert(KEY.to_owned(), own.clone());
        }
        let output = of_messages(messages);
        let prompt = messages
            .first()
            .and_then(|message| message["content"].as_str());
        self.judge(&Answer {
            target: &truth,
            metadata: &metadata,
            output: &output,
            prompt: prompt.or(answer.prompt),
            ..*answer
        })
    }

    /// The verdict on another output.
    fn judge(&self, answer: &Answer<'_>) -> Result<Score> {
        let own = self.scorer.extract().filter(|_| !answer.extract_is_given);
        let extract = own.as_ref().or_else(|| self.extract.get());
        let text = answer.output.text.as_deref();
        let prediction = match extract {
            Some(extract) => text.and_then(|text| extract.apply(text)),
            None => text.map(Cow::Borrowed),
        };
        super::parts::verdict(
            &*self.scorer,
            &Answer {
                prediction: prediction.as_deref(),
                ..*answer
            },
        )
    }
}

fn has_truths(script: &Script) -> bool {
    script.turns.iter().any(|turn| turn.ground_truth.is_some())
}

/// The messages of a turn as an output: the text of the last reply, and the calls of all.
fn of_messages(messages: &[Value]) -> Output {
    let mut replies = messages
        .iter()
        .filter(|message| message["role"] == "assistant");
    let calls = replies
        .clone()
        .filter_map(|reply| reply.get("tool_calls")?.as_array());
    let text = replies
        .next_back()
        .and_then(|reply| reply["content"].as_str());
    Output {
        text: text.map(str::to_owned),
        tool_calls: calls.flatten().cloned().collect(),
        messages: messages.to_vec(),
        ..Output::default()
    }
}

impl Scorer for OfConversation {
    fn name(&self) -> &str {
        self.scorer.name()
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let script = Script::of_metadata(answer.metadata).unwrap_or_default();
        match self.on(&script) {
            On::Last | On::TurnsOrLast => self.scorer.score(answer),
            On::Transcript => {
                let output = Output {
                    text: Some(transcript(&answer.output.messages)),
                    ..answer.output.clone()
                };
                self.scorer.score(&Answer {
                    prediction: output.text.as_deref(),
                    output: &output,
                    ..*answer
                })
            }
            On::Turn(turn) => self.of_turn(answer, &script, turn as usize - 1),
            On::EachTurn => {
                let turns = script.turns.iter().enumerate();
                let judged = turns.filter(|(_, turn)| self.is_judged(&script, turn));
                let mut scores = Vec::new();
                for (place, _) in judged {
                    let score = self.of_turn(answer, &script, place);
                    let number = place + 1;
                    scores.push((
                        number,
                        score.map_err(|error| error.at(format_args!("turn {number}")))?,
                    ));
                }
                if scores.is_empty() {
                    return Err(Error::usage("no turn has a ground truth")
                        .hint("write `ground_truth` into a turn, or `on: last`"));
                }
                Ok(of_all(scores))
            }
        }
    }

    fn needs_target(&self) -> bool {
        matches!(self.on, On::Last | On::Transcript) && self.scorer.needs_target()
    }

    fn extract(&self) -> Option<Extract> {
        match self.on {
            On::Transcript => Some(Extract::none()),
            _ => self.scorer.extract(),
        }
    }

    fn reads(&self) -> Reads {
        Reads::Everything.max(self.scorer.reads())
    }

    fn judges(&self, answer: &Answer<'_>) -> bool {
        let script = Script::of_metadata(answer.metadata).unwrap_or_default();
        let has_target = !answer.target.0.is_null() || !self.scorer.needs_target();
        let has_truth = |turn: u32| {
            let turn = script.turns.get(turn as usize - 1);
            turn.is_some_and(|turn| self.is_judged(&script, turn))
        };
        match self.on(&script) {
            On::EachTurn => script
                .turns
                .iter()
                .any(|turn| self.is_judged(&script, turn)),
            On::Turn(turn) if has_truth(turn) => true,
            On::Turn(turn) => has_target && turn as usize == script.turns.len(),
            _ => has_target && self.scorer.judges(answer),
        }
    }

    /// The ground truths of the turns, which no other hash has.
    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        let script = Script::of(sample).unwrap_or_default();
        let own = if self.on(&script) == On::Last {
            self.scorer.criterion(sample)?
        } else {
            None
        };
        let mut turns = Vec::new();
        for (turn, number) in script.turns.iter().zip(1..) {
            // A scorer that cannot be made would fail once the conversation is paid for.
            if turn.scorer.is_some() && self.is_judged(&script, turn) {
                let mut one = sample.clone();
                one.metadata
                    .insert(KEY.to_owned(), turn.scorer.clone().unwrap_or_default());
                one.target = turn.ground_truth.clone().map(Target);
                let checked = self.scorer.criterion(&one);
                checked.map_err(|error| error.at(format_args!("turn {number}")))?;
            }
            turns.push(json!([turn.ground_truth, turn.scorer]));
        }
        Ok(Some(json!([own, turns]).to_string()))
    }

    fn check_samples(&self, is_there: &dyn Fn(&str) -> bool) -> Result<()> {
        self.scorer.check_samples(is_there)
    }

    fn begin(&self, about: &Beginning<'_>) -> Result<()> {
        let _ = self.extract.set(about.extract.clone());
        self.scorer.begin(about)
    }

    fn secrets(&self) -> Vec<String> {
        self.scorer.secrets()
    }

    fn agents(&self) -> Vec<Arc<dyn Agent>> {
        self.scorer.agents()
    }

    fn asks_opinions(&self) -> bool {
        self.scorer.asks_opinions()
    }

    fn secret_variables(&self) -> Vec<(String, String)> {
        self.scorer.secret_variables()
    }

    fn unset_variables(&self) -> Vec<String> {
        self.scorer.unset_variables()
    }

    fn notices(&self) -> Vec<String> {
        self.scorer.notices()
    }

    fn details(&self) -> Option<Vec<Cow<'static, str>>> {
        match self.on {
            On::EachTurn | On::TurnsOrLast => None,
            _ => self.scorer.details(),
        }
    }

    fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
        match self.on {
            On::EachTurn | On::TurnsOrLast => Vec::new(),
            _ => self.scorer.bounds(),
        }
    }

    fn judge_rule(&self) -> Option<JudgeRule> {
        match self.on {
            On::EachTurn | On::TurnsOrLast => None,
            _ => self.scorer.judge_rule(),
        }
    }

    fn calibration(&self) -> Option<&Path> {
        self.scorer.calibration()
    }

    fn fingerprint(&self) -> String {
        format!("{} on {}", self.scorer.fingerprint(), self.on.text())
    }
}

/// The verdict on all turns: correct if each is, and their mean value.
fn of_all(scores: Vec<(usize, Score)>) -> Score {
    #[expect(clippy::cast_precision_loss, reason = "nobody has so many turns")]
    let count = scores.len() as f64;
    let value = scores.iter().map(|(_, score)| score.value).sum::<f64>() / count;
    let wrong = scores.iter().find(|(_, score)| !score.correct);
    let reason = match wrong {
        Some((turn, _)) => format!("turn_{turn}_wrong"),
        None => "all_turns".to_owned(),
    };
    let turns = scores.iter().map(|(turn, score)| {
        json!({"turn": turn, "value": score.value, "correct": score.correct, "reason": score.reason})
    });
    let turns: Vec<Value> = turns.collect();
    let is_correct = wrong.is_none();
    let shown = wrong.map_or(scores.len() - 1, |(turn, _)| {
        scores
            .iter()
            .position(|(other, _)| other == turn)
            .unwrap_or_default()
    });
    let first_wrong = wrong.map(|(turn, _)| *turn);
    let mut scores = scores;
    let (_, shown) = scores.swap_remove(shown);
    let score = Score::new(value, is_correct, reason).detail("turns", turns);
    let score = match first_wrong {
        Some(turn) => score.detail("first_wrong_turn", turn),
        None => score,
    };
    score.normalized(shown.normalized_prediction, shown.normalized_ground_truth)
}
