//! Multiple choice.
//!
#![doc = include_str!("choice.md")]

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::{Answer, Entry, Example, OptionReader, Reads, Scorer};
use super::folding::Folding;
use crate::data::score::OTHER;
use crate::data::{Normalized, Score};
use crate::error::{Error, Result};
use crate::scorer::extract::{Extract, reference_value};
use crate::text::{is_invisible, snippet};

const NAME: &str = "choice";

const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "multiple choice: the letter that the answer names; by letter, number or text of the choice",
    rule: include_str!("choice.md"),
    options: &[
        (
            "letters",
            "the letters there are, as in `ABCD`; default A to Z, or as many as there are choices",
        ),
        (
            "index_base",
            "what the first choice has as number in the ground truth, 0 or 1",
        ),
        (
            "choices",
            "the metadata column with the texts of the choices",
        ),
    ],
    examples: &[
        Example {
            options: "",
            prediction: "The answer is (B), because A is wrong.",
            ground_truth: "B",
            correct: true,
            note: "the letter that is named as the answer",
        },
        Example {
            options: "{ index_base: 0 }",
            prediction: "**C**",
            ground_truth: "2",
            correct: true,
            note: "the ground truth counts from 0",
        },
        Example {
            options: "",
            prediction: "I do not know",
            ground_truth: "A",
            correct: false,
            note: "no choice is named: `label` is `(other)`",
        },
    ],
    make: |options| Ok(Arc::new(Choice::read(options)?)),
};

/// Scores multiple-choice answers.
struct Choice {
    /// The letters, if the spec sets them.
    letters: Option<String>,
    index_base: Option<u64>,
    /// The metadata column of the choices.
    column: Option<String>,
    /// Extracts letters from A to Z, or those of the spec.
    extract: Extract,
}

impl Choice {
    fn read(options: &OptionReader<'_>) -> Result<Self> {
        let letters = options.text("letters")?;
        let is_upper = |letters: &str| letters.bytes().all(|byte| byte.is_ascii_uppercase());
        if letters.is_some_and(|letters| letters.is_empty() || !is_upper(letters)) {
            return Err(options.wrong("letters", "a text of letters from A to Z"));
        }
        let index_base = options.count("index_base")?;
        if index_base.is_some_and(|base| base > 1) {
            return Err(options.wrong("index_base", "0 or 1"));
        }
        Ok(Self {
            letters: letters.map(str::to_owned),
            index_base,
            column: options.text("choices")?.map(str::to_owned),
            extract: extract(letters)?,
        })
    }

    /// The texts of the choices, in order; `None` if the spec names no column.
    fn choices<'a>(&self, metadata: &'a Map<String, Value>) -> Result<Option<Vec<Cow<'a, str>>>> {
        let Some(column) = &self.column else {
            return Ok(None);
        };
        let value = metadata.get(column).ok_or_else(|| {
            Error::usage(format!(
                "the sample has no metadata `{column}`, but scorer `{NAME}` needs its choices there"
            ))
        })?;
        let texts = match value {
            Value::Array(texts) => texts.iter().map(text_of).collect(),
            Value::Object(map) => match map.get("text") {
                Some(Value::Array(texts)) => texts.iter().map(text_of).collect(),
                _ => by_letter(map),
            },
            _ => None,
        };
        let texts = texts.filter(|texts: &Vec<_>| (1..=ALPHABET.len()).contains(&texts.len()));
        texts.map(Some).ok_or_else(|| {
            Error::usage(format!(
                "metadata `{column}` has no choices for scorer `{NAME}`: \
                 a list of 1 to 26 texts, or a map from `A`, `B` … to texts"
            ))
        })
    }

    /// The letter of the correct choice.
    fn target(&self, target: &Value, letters: &str, choices: &[Cow<'_, str>]) -> Result<char> {
        let fault = |reason: &str| {
            let text = snippet(&target.to_string());
            Error::usage(format!(
                "`ground_truth` {text} {reason} for scorer `{NAME}`"
            ))
        };
        let index = match target {
            Value::Number(number) => Some(number.as_u64().ok_or_else(|| fault("is not a choice"))?),
            Value::String(text) => text
                .trim()
                .parse()
                .ok()
                .filter(|_| self.index_base.is_some()),
            _ => return Err(fault("must be a string or a number")),
        };
        let by_index = match (index, self.index_base) {
            (None, _) => None,
            (Some(_), None) => {
                return Err(fault("is a number")
                    .hint("say where counting starts: `index_base: 0` or `index_base: 1`"));
            }
            (Some(index), Some(base)) => index
                .checked_sub(base)
                .and_then(|place| usize::try_from(place).ok())
                .and_then(|place| letters.chars().nth(place)),
        };
        let text = target.as_str().unwrap_or_default();
        let by_letter = |text| bare_letter(text).filter(|letter| letters.contains(*letter));
        let (text, by_letter) = match (by_letter(text), reference_value(text)) {
            (None, Some(value)) if named(text, letters, choices).is_none() => {
                (value, by_letter(value))
            }
            (by_letter, _) => (text, by_letter),
        };
        let by_text = named(text, letters, choices);
        match (by_index.or(by_letter), by_text) {
            (Some(letter), Some(other)) if letter != other => {
                Err(fault("is one choice and the text of another"))
            }
            (Some(letter), _) | (None, Some(letter)) => Ok(letter),
            (None, None) => Err(fault("is not a choice")),
        }
    }

    /// The letter that the prediction names.
    fn predicted(
        &self,
        prediction: &str,
        letters: &str,
        choices: &[Cow<'_, str>],
    ) -> Result<Option<char>> {
        let is_legal = |letter: &char| letters.contains(*letter);
        if !choices.is_empty() {
            let last = Extract::final_answer().apply(prediction);
            if let Some(letter) = named(&last.unwrap_or_default(), letters, choices) {
                return Ok(Some(letter));
            }
        }
        if let Some(letter) = bare_letter(prediction).filter(is_legal) {
            return Ok(Some(letter));
        }
        let found = if self.column.is_some() {
            extract(Some(letters))?.apply(prediction)
        } else {
            self.extract.apply(prediction)
        };
        Ok(found.as_deref().and_then(bare_letter).filter(is_legal))
    }
}

/// The extraction for these letters.
fn extract(letters: Option<&str>) -> Result<Extract> {
    match letters {
        None => Ok(Extract::choice()),
        Some(letters) => Extract::from_value(&json!({"type": "choice", "letters": letters})),
    }
}

/// Whether the raw answer is missing or blank.
fn says_nothing(answer: &Answer<'_>) -> bool {
    let text = answer.output.text.as_deref();
    text.is_none_or(|text| text.trim().is_empty())
}

/// A string, number or boolean as text.
fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(text.as_str().into()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string().into()),
        _ => None,
    }
}

/// The texts of a map by letter. Its keys must be the first letters of the alphabet, each once.
fn by_letter(map: &Map<String, Value>) -> Option<Vec<Cow<'_, str>>> {
    let text = |place: usize| {
        let letter = ALPHABET.get(place..=place)?;
        let lower = letter.to_ascii_lowercase();
        text_of(map.get(letter).or_else(|| map.get(&lower))?)
    };
    (0..map.len()).map(text).collect()
}

/// The letter of the first choice with this text, which may follow the letter: `B. Paris`.
fn named(text: &str, letters: &str, choices: &[Cow<'_, str>]) -> Option<char> {
    let find = |text: &str| {
        let text = Folding::LOOSE.apply(text);
        let bare = text.strip_suffix('.').unwrap_or(&text);
        let place = choices.iter().position(|choice| {
            let choice = Folding::LOOSE.apply(choice);
            choice == text || choice == bare
        })?;
        letters.chars().nth(place)
    };
    find(text).or_else(|| {
        let (label, rest) = text.split_once([')', '.', ':'])?;
        find(rest).filter(|letter| bare_letter(label) == Some(*letter))
    })
}

/// The letter, if the text is nothing else: `B`, `b`, `(B)`, `B.`, `**B**`.
fn bare_letter(text: &str) -> Option<char> {
    let is_around = |c: char| c.is_whitespace() || is_invisible(c) || "()[]{}*_`.:$".contains(c);
    let mut chars = text.trim_matches(is_around).chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    chars.next().is_none().then(|| letter.to_ascii_uppercase())
}

impl Scorer for Choice {
    fn name(&self) -> &'static str {
        NAME
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let choices = self.choices(answer.metadata)?.unwrap_or_default();
        let letters = match &self.letters {
            Some(letters) => letters,
            None if choices.is_empty() => ALPHABET,
            None => &ALPHABET[..choices.len()],
        };
        let target = self.target(&answer.target.0, letters, &choices)?;
        let predicted = match answer.prediction {
            None => None,
            Some(prediction) => self.predicted(prediction, letters, &choices)?,
        };
        let score = match predicted {
            Some(letter) => Score::binary(letter == target),
            // The extraction finds no letter if the answer names none.
            None if answer.prediction.is_none() && says_nothing(answer) => {
                Score::new(0.0, false, "no_prediction")
            }
            None => Score::new(0.0, false, "not_a_choice"),
        };
        let target = target.to_string();
        let label = predicted.map_or_else(|| OTHER.to_owned(), String::from);
        let predicted = predicted.map_or(Normalized::None, |letter| letter.to_string().into());
        Ok(score
            .detail("label", label)
            .detail("target_label", target.as_str())
            .normalized(predicted, target))
    }

    fn extract(&self) -> Option<Extract> {
        Some(match self.column {
            Some(_) => Extract::none(),
            None => self.extract.clone(),
        })
    }

    fn details(&self) -> Option<Vec<Cow<'static, str>>> {
        Some(["label", "target_label"].map(Into::into).to_vec())
    }

    fn reads(&self) -> Reads {
        match self.column {
            Some(_) => Reads::Everything,
            None => Reads::Text,
        }
    }

    fn fingerprint(&self) -> String {
        let (letters, base, column) = (&self.letters, self.index_base, &self.column);
        format!("{NAME} letters={letters:?} index_base={base:?} choices={column:?}")
    }
}

#[cfg(test)]
mod tests;
