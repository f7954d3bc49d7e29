//! Correct if one text contains the other, after cleaning.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::data::{Score, Target};
use crate::error::Result;
use crate::scorer::number::numerals;
use crate::scorer::string::text_rule::{TextRule, truth_text};
use crate::scorer::{Answer, Entry, Example};
use crate::text::{is_js_space, js_lower_word};

pub(crate) const ENTRY: Entry = Entry {
    name: "substring",
    summary: "correct when one text contains the other, in lower case and without punctuation",
    rule: include_str!("substring.md"),
    options: &[(
        "compat",
        "the verdicts of the JavaScript original, to which a text of which nothing is left is part of \
         every other; default false",
    )],
    examples: &[
        Example {
            options: "",
            prediction: "The answer is Paris, France.",
            ground_truth: "paris",
            correct: true,
            note: "the prediction contains the ground truth; longer than needed (`verbose`)",
        },
        Example {
            options: "",
            prediction: "19",
            ground_truth: "1927",
            correct: true,
            note: "the ground truth contains the prediction",
        },
        Example {
            options: "",
            prediction: "-5",
            ground_truth: "5",
            correct: true,
            note: "signs vanish",
        },
        Example {
            options: "",
            prediction: "a - b",
            ground_truth: "a b",
            correct: false,
            note: "two spaces are left where the dash was",
        },
        Example {
            options: "",
            prediction: "...",
            ground_truth: "Paris",
            correct: false,
            note: "nothing is left of the prediction",
        },
        Example {
            options: "compat: true",
            prediction: "...",
            ground_truth: "Paris",
            correct: true,
            note: "every text contains the empty one",
        },
    ],
    make: |options| {
        let compat = options.flag("compat")?;
        Ok(Arc::new(if compat {
            Substring::compat()
        } else {
            Substring::new()
        }))
    },
};

const EMPTY_PREDICTION: &str =
    "nothing is left of the prediction, which makes it part of every other text";
const NO_WORD: &str =
    "the ground truth has no ASCII letter or digit, and this rule compares nothing else";

/// Checks whether one text contains the other.
///
#[doc = include_str!("substring.md")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Substring {
    compat: bool,
}

impl Substring {
    /// The rule in which an empty text is never contained.
    pub fn new() -> Self {
        Self::default()
    }

    /// The rule of the JavaScript original.
    pub fn compat() -> Self {
        Self { compat: true }
    }
}

impl TextRule for Substring {
    const NAME: &'static str = "substring";
    const COUNTS_INVISIBLE: bool = true;

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let ground_truth = truth_text(answer.target, Self::NAME)?;
        let raw = answer.prediction.unwrap_or_default();
        let truth = normalize(ground_truth);
        let prediction = if raw == ground_truth {
            truth.clone()
        } else {
            normalize(raw)
        };
        let direction = if ground_truth.is_empty() {
            None
        } else {
            direction(&prediction, &truth)
        };
        let fault = if self.compat {
            None
        } else if is_blank(&truth) {
            Some("empty_ground_truth")
        } else if is_blank(&prediction) {
            Some("empty_prediction")
        } else {
            None
        };
        let direction = direction.filter(|_| fault.is_none());
        let reason = match (fault, direction) {
            (Some(fault), _) => fault,
            (None, None) => "mismatch",
            (None, Some(Direction::Equal)) => "exact_match",
            (None, Some(_)) => "substring_match",
        };
        let correct = direction.is_some();
        let verbose = direction == Some(Direction::PredictionContains);
        let warning = if !truth.contains(|c: char| c.is_ascii_alphanumeric()) {
            Some(NO_WORD)
        } else if correct && is_blank(&prediction) {
            Some(EMPTY_PREDICTION)
        } else if correct && numerals::differ(raw, ground_truth) {
            Some(numerals::WARNING)
        } else {
            None
        };
        let mut score = Score::new(if correct { 1.0 } else { 0.0 }, correct, reason)
            .normalized(prediction, truth);
        if let Some(direction) = direction {
            score.details.insert("direction", direction.as_str());
        }
        score.details.insert("verbose", verbose);
        if let Some(warning) = warning {
            score.details.insert("warning", warning);
        }
        Ok(score)
    }

    fn check(&self, target: &Target) -> Result<()> {
        truth_text(target, Self::NAME).map(drop)
    }

    fn detail_names(&self) -> Option<&'static [&'static str]> {
        Some(&["direction", "verbose", "warning"])
    }

    fn version(&self) -> String {
        let options = if self.compat { " compat" } else { "" };
        format!("substring{options}")
    }
}

/// Which text contains the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    PredictionContains,
    GroundTruthContains,
    Equal,
}

impl Direction {
    fn as_str(self) -> &'static str {
        match self {
            Self::PredictionContains => "prediction_contains_ground_truth",
            Self::GroundTruthContains => "ground_truth_contains_prediction",
            Self::Equal => "equal",
        }
    }
}

/// Only the longer text can contain the other, so one search is enough.
fn direction(prediction: &str, truth: &str) -> Option<Direction> {
    let (found, direction) = match prediction.len().cmp(&truth.len()) {
        Ordering::Greater => (prediction.contains(truth), Direction::PredictionContains),
        Ordering::Less => (truth.contains(prediction), Direction::GroundTruthContains),
        Ordering::Equal => (prediction == truth, Direction::Equal),
    };
    found.then_some(direction)
}

/// Whether nothing is left except spaces around removed punctuation.
fn is_blank(normalized: &str) -> bool {
    normalized.bytes().all(|byte| byte == b' ')
}

/// The text as it is compared: `a` to `z`, digits, `_`, and one space for each run of white space between other
/// characters, including removed ones.
///
/// Lower-casing neither adds nor removes white space, so all steps are done at once. Without branches if the first byte
/// of a character determines the result, because word ends are unpredictable.
fn normalize(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut normalized = zeros(bytes.len());
    let mut length = 0;
    let mut place = 0;
    // Drops leading white space, as if more preceded it.
    let mut after_space = true;
    while let Some(&byte) = bytes.get(place) {
        let (mut folded, mut width) = (BYTES[usize::from(byte)], 1);
        if folded == UNCLEAR {
            let c = text[place..].chars().next().unwrap_or_default();
            (folded, width) = (fold_char(c), c.len_utf8());
        }
        normalized[length] = folded;
        let is_space = folded == b' ';
        let has_output = folded != 0 && !(is_space && after_space);
        length += usize::from(has_output);
        after_space = is_space;
        place += width;
    }
    normalized.truncate(length);
    // Drop the space of trailing white space.
    if after_space {
        normalized.pop();
    }
    String::from_utf8(normalized).unwrap_or_default()
}

#[expect(
    clippy::slow_vector_initialization,
    reason = "asking the allocator for zeros takes longer than writing so few"
)]
fn zeros(length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length);
    bytes.resize(length, 0);
    bytes
}

/// The character after normalisation: a space for white space; 0 if it is removed.
fn fold_char(c: char) -> u8 {
    match js_lower_word(c) {
        Some(c) => u8::try_from(c).unwrap_or_default(),
        None if is_js_space(c) => b' ',
        None => 0,
    }
}

/// Marks a first byte for which the whole character must be checked.
const UNCLEAR: u8 = u8::MAX;

/// The result for a character with this first byte, see [`fold_char`]. Its other bytes are removed.
const BYTES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < u8::MAX {
        table[byte as usize] = match byte {
            c @ (b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_') => c.to_ascii_lowercase(),
            b'\t'..=b'\r' | b' ' => b' ',
            // U+00A0, `İ`, U+1680, U+2000 to U+2FFF, U+3000, U+FEFF.
            0xc2 | 0xc4 | 0xe1 | 0xe2 | 0xe3 | 0xef => UNCLEAR,
            _ => 0,
        };
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests;
