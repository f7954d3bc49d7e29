//! GAIA's own scorer: quasi-exact match of a number, a list or a string, chosen by the ground truth.
//!
//! The rule is that of `question_scorer` of the GAIA leaderboard (`scorer.py`, Apache-2.0, The GAIA Benchmark Authors,
//! 2023), oddities included: a verdict is only useful if it is the one the leaderboard would give. A surprising verdict
//! is kept, and `details` has a `warning`.

use std::borrow::Cow;
use std::sync::Arc;

use crate::data::{Details, Normalized, Score, Target};
use crate::error::Result;
use crate::scorer::string::text_rule::{TextRule, truth_text};
use crate::scorer::{Answer, Entry, Example};
use crate::text::{is_py_punct, is_py_space, push_py_lower, py_float, py_lower, py_repr_float};

pub(crate) const ENTRY: Entry = Entry {
    name: "gaia",
    summary: "the GAIA leaderboard's own rule: number, list or text, chosen by the ground truth",
    rule: include_str!("gaia.md"),
    options: &[],
    examples: &[
        Example {
            options: "",
            prediction: "$1,234.50",
            ground_truth: "1234.5",
            correct: true,
            note: "a number: `$`, `%` and `,` leave the prediction",
        },
        Example {
            options: "",
            prediction: "Red; 3.0",
            ground_truth: "red, 3",
            correct: true,
            note: "a list, element by element, in order",
        },
        Example {
            options: "",
            prediction: "Sea-gull.",
            ground_truth: "sea gull",
            correct: true,
            note: "a text: case, white space and punctuation do not count",
        },
        Example {
            options: "",
            prediction: "19 km",
            ground_truth: "19",
            correct: false,
            note: "a unit makes it no number",
        },
        Example {
            options: "",
            prediction: "1000",
            ground_truth: "1,000",
            correct: false,
            note: "this ground truth is a list of two numbers",
        },
    ],
    make: |_| Ok(Arc::new(GaiaScorer)),
};

/// Scores like the GAIA leaderboard, see [`question_scorer`].
///
/// `details` holds the `kind` of the ground truth, and a `note` or a `warning` where there is one.
///
#[doc = include_str!("gaia.md")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GaiaScorer;

impl TextRule for GaiaScorer {
    const NAME: &'static str = "gaia";
    const COUNTS_INVISIBLE: bool = true;

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let ground_truth = truth_text(answer.target, Self::NAME)?;
        Ok(question_scorer(answer.prediction, ground_truth).into())
    }

    fn check(&self, target: &Target) -> Result<()> {
        truth_text(target, Self::NAME).map(drop)
    }

    fn detail_names(&self) -> Option<&'static [&'static str]> {
        Some(&["kind", "note", "warning"])
    }
}

/// The kind of ground truth, which determines how it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruthKind {
    /// Python's `float()` accepts it.
    Number,
    /// It contains a comma or a semicolon. `1,000` is a list of two numbers, too.
    List,
    /// Anything else. `50%` is a string, too.
    String,
}

impl TruthKind {
    /// The name in `details`: `number`, `list` or `string`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::List => "list",
            Self::String => "string",
        }
    }
}

/// The result of [`question_scorer`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GaiaVerdict {
    /// The verdict of the official program.
    pub correct: bool,
    /// How the two were compared.
    pub kind: TruthKind,
    /// The prediction as it was compared; none for a list of a different length.
    pub normalized_prediction: Normalized,
    /// The ground truth as it was compared.
    pub normalized_ground_truth: Normalized,
    /// What decided, if the normalised texts do not show it.
    pub note: Option<&'static str>,
    /// Why the verdict may not be what the author of the ground truth meant.
    pub warning: Option<&'static str>,
}

impl From<GaiaVerdict> for Score {
    fn from(verdict: GaiaVerdict) -> Self {
        let mut details = Details::new();
        let entries = [
            ("kind", Some(verdict.kind.as_str())),
            ("note", verdict.note),
            ("warning", verdict.warning),
        ];
        for (key, text) in entries {
            if let Some(text) = text {
                details.insert(key, text);
            }
        }
        Self {
            normalized_prediction: verdict.normalized_prediction,
            normalized_ground_truth: verdict.normalized_ground_truth,
            details,
            ..Self::binary(verdict.correct)
        }
    }
}

const OTHER_LENGTH: &str = "lists have different lengths";
const INFINITE: &str = "the ground truth is infinite: any prediction that is not a number is also read as infinite \
                        and counts as correct";
const NOT_A_NUMBER: &str = "the ground truth is `nan`, which no prediction equals";
const NULL_IS_NONE: &str =
    "the prediction is null, which the official program turns into the text `None`";

/// GAIA's `question_scorer`.
///
/// - The ground truth is a number: `$`, `%` and `,` are removed from the prediction, then the values are compared. A
///   prediction that is not a number counts as infinite.
/// - It contains a comma or semicolon: both are split there. The elements are compared one by one, as numbers if the
///   ground truth's is one, otherwise in lower case and without white space.
/// - Otherwise both are compared in lower case, without white space and ASCII punctuation.
///
/// A missing prediction is scored as the text `None`, as in the official program.
///
/// ```
/// use evaltest::scorer::question_scorer;
/// assert!(question_scorer(Some("$1,234.50"), "1234.5").correct);
/// assert!(question_scorer(Some("Red; 3.0"), "red, 3").correct);
/// assert!(question_scorer(Some("Sea gull."), "seagull").correct);
/// assert!(!question_scorer(Some("19 km"), "19").correct);
/// ```
pub fn question_scorer(prediction: Option<&str>, ground_truth: &str) -> GaiaVerdict {
    let text = prediction.unwrap_or("None");
    let mut verdict = if let Some(number) = py_float(ground_truth) {
        judge_number(text, number)
    } else if ground_truth.contains(SEPARATORS) {
        judge_list(text, ground_truth)
    } else {
        judge_string(text, ground_truth)
    };
    if prediction.is_none() && verdict.correct && verdict.warning.is_none() {
        verdict.warning = Some(NULL_IS_NONE);
    }
    verdict
}

const SEPARATORS: [char; 2] = [',', ';'];

fn judge_number(prediction: &str, ground_truth: f64) -> GaiaVerdict {
    let (correct, number) = equals_number(prediction, ground_truth);
    GaiaVerdict {
        correct,
        kind: TruthKind::Number,
        normalized_prediction: Normalized::Text(py_repr_float(number)),
        normalized_ground_truth: Normalized::Text(py_repr_float(ground_truth)),
        note: None,
        warning: number_warning(ground_truth),
    }
}

fn judge_list(prediction: &str, ground_truth: &str) -> GaiaVerdict {
    let elements = prediction.split(SEPARATORS);
    let same_length = elements.clone().count() == ground_truth.split(SEPARATORS).count();
    let mut correct = same_length;
    let mut warning = None;
    let mut left = Vec::new();
    let mut right = Vec::new();
    // A prediction of a different length is not compared: empty texts stand in for its elements.
    let elements = elements.chain(std::iter::repeat(""));
    for (element, truth) in elements.zip(ground_truth.split(SEPARATORS)) {
        if let Some(truth) = py_float(truth) {
            let (equal, number) = equals_number(element, truth);
            correct &= equal;
            left.push(py_repr_float(number));
            right.push(py_repr_float(truth));
            warning = warning.or(number_warning(truth));
        } else {
            let element = normalize(element, Punctuation::Preserved);
            let truth = normalize(truth, Punctuation::Preserved);
            correct &= element == truth;
            left.push(element);
            right.push(truth);
        }
    }
    GaiaVerdict {
        correct,
        kind: TruthKind::List,
        normalized_prediction: if same_length {
            Normalized::List(left)
        } else {
            Normalized::None
        },
        normalized_ground_truth: Normalized::List(right),
        note: (!same_length).then_some(OTHER_LENGTH),
        warning,
    }
}

fn judge_string(prediction: &str, ground_truth: &str) -> GaiaVerdict {
    let prediction = normalize(prediction, Punctuation::Removed);
    let ground_truth = normalize(ground_truth, Punctuation::Removed);
    GaiaVerdict {
        correct: prediction == ground_truth,
        kind: TruthKind::String,
        normalized_prediction: Normalized::Text(prediction),
        normalized_ground_truth: Normalized::Text(ground_truth),
        note: None,
        warning: None,
    }
}

/// Whether the prediction equals the number, and which number it was read as.
#[expect(clippy::float_cmp, reason = "the official program compares exactly")]
fn equals_number(prediction: &str, ground_truth: f64) -> (bool, f64) {
    let number = normalize_number(prediction);
    (number == ground_truth, number)
}

/// The number after removing every `$`, `%` and `,`; infinite if it is not a number.
fn normalize_number(text: &str) -> f64 {
    let signs = ['$', '%', ','];
    let text = if text.contains(signs) {
        Cow::Owned(text.replace(signs, ""))
    } else {
        Cow::Borrowed(text)
    };
    py_float(&text).unwrap_or(f64::INFINITY)
}

fn number_warning(ground_truth: f64) -> Option<&'static str> {
    if ground_truth.is_nan() {
        Some(NOT_A_NUMBER)
    } else if ground_truth == f64::INFINITY {
        Some(INFINITE)
    } else {
        None
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Punctuation {
    Preserved,
    Removed,
}

/// Removes white space, lower-cases, and optionally removes punctuation.
fn normalize(text: &str, punctuation: Punctuation) -> String {
    let ascii = match punctuation {
        Punctuation::Preserved => &ASCII,
        Punctuation::Removed => &ASCII_WITHOUT_PUNCTUATION,
    };
    if text.is_ascii() {
        return normalize_ascii(text.as_bytes(), ascii);
    }
    if text.contains('Σ') {
        // The order matters: a final sigma depends on its neighbours, which include punctuation but no white space.
        let joined: String = text.chars().filter(|&c| !is_py_space(c)).collect();
        let mut lower = py_lower(&joined);
        lower.retain(|c| punctuation == Punctuation::Preserved || !is_py_punct(c));
        return lower;
    }
    let mut normalized = String::with_capacity(text.len());
    for c in text.chars() {
        match ascii.get(c as usize) {
            Some(&left) if left != NOTHING => normalized.push(char::from(left)),
            None if !is_py_space(c) => push_py_lower(&mut normalized, c),
            _ => {}
        }
    }
    normalized
}

/// Without branches, because word ends are unpredictable.
fn normalize_ascii(text: &[u8], table: &[u8; 128]) -> String {
    let mut normalized = vec![0; text.len()];
    let mut length = 0;
    for &byte in text {
        let left = table[usize::from(byte & 0x7f)];
        normalized[length] = left;
        length += usize::from(left != NOTHING);
    }
    normalized.truncate(length);
    String::from_utf8(normalized).unwrap_or_default()
}

/// Marks a character that is removed.
const NOTHING: u8 = u8::MAX;

/// The replacement of each ASCII character.
const ASCII: [u8; 128] = {
    let mut table = [NOTHING; 128];
    let mut byte = 0_u8;
    while byte < 128 {
        if !matches!(byte, b'\t'..=b'\r' | 0x1c..=0x1f | b' ') {
            table[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    table
};

const ASCII_WITHOUT_PUNCTUATION: [u8; 128] = {
    let mut table = ASCII;
    let mut byte = 0_u8;
    while byte < 128 {
        if byte.is_ascii_punctuation() {
            table[byte as usize] = NOTHING;
        }
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests;
