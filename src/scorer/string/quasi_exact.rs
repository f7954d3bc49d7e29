//! The quasi-exact match of `HelloAgents`: exact, partial or no match of cleaned texts.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::data::{Score, Target};
use crate::error::Result;
use crate::scorer::extract::Extract;
use crate::scorer::number::numerals;
use crate::scorer::string::text_rule::{TextRule, truth_text};
use crate::scorer::{Answer, Entry, Example};
use crate::text::{is_py_space, py_lower};

pub(crate) const ENTRY: Entry = Entry {
    name: "quasi_exact",
    summary: "the rule of HelloAgents: exact, partial or no match of cleaned texts; lists in any order",
    rule: include_str!("quasi_exact.md"),
    options: &[(
        "documented",
        "the rule as its documentation states it, where `$1,234.56` becomes `1234.56`; default false",
    )],
    examples: &[
        Example {
            options: "",
            prediction: "The  Eiffel Tower.",
            ground_truth: "eiffel tower",
            correct: true,
            note: "case, an article at the start, spaces and punctuation at the end do not count",
        },
        Example {
            options: "",
            prediction: "Paris, London, the Hague",
            ground_truth: "london,hague,paris",
            correct: true,
            note: "a list, in any order",
        },
        Example {
            options: "",
            prediction: "the city of Paris",
            ground_truth: "Paris",
            correct: false,
            note: "a partial match: value 0.5, not correct",
        },
        Example {
            options: "",
            prediction: "1.0",
            ground_truth: "1",
            correct: false,
            note: "numbers are compared as texts",
        },
        Example {
            options: "",
            prediction: "1000",
            ground_truth: "1,000",
            correct: false,
            note: "a list of `000` and `1`",
        },
        Example {
            options: "documented: true",
            prediction: "1000 €",
            ground_truth: "1,000",
            correct: true,
            note: "thousands separators go first, the signs of units later",
        },
        Example {
            options: "documented: true",
            prediction: "$1,234.56",
            ground_truth: "1234.56",
            correct: true,
            note: "no list of `1` and `234.56`, as it is without the option",
        },
    ],
    make: |options| {
        let documented = options.flag("documented")?;
        Ok(Arc::new(if documented {
            QuasiExact::as_documented()
        } else {
            QuasiExact::new()
        }))
    },
};

/// Scores as `HelloAgents` does.
///
#[doc = include_str!("quasi_exact.md")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuasiExact {
    documented: bool,
}

impl QuasiExact {
    /// The rule as the program implements it.
    pub fn new() -> Self {
        Self::default()
    }

    /// The rule as documented, which removes thousands separators.
    pub fn as_documented() -> Self {
        Self { documented: true }
    }

    /// The text as it is compared.
    fn normalize(self, text: &str) -> String {
        let text = if self.documented {
            without_thousands_separators(text)
        } else {
            Cow::Borrowed(text)
        };
        let mut normalized = String::with_capacity(text.len());
        if !text.contains(',') {
            push_element(&mut normalized, &text);
            return normalized;
        }
        // The elements in one buffer, sorted by their ranges.
        let mut places: Vec<Range<usize>> = Vec::new();
        for element in text.split(',') {
            let start = normalized.len();
            push_element(&mut normalized, element);
            places.push(start..normalized.len());
        }
        // Byte order equals code point order.
        places.sort_unstable_by(|left, right| {
            normalized[left.clone()].cmp(&normalized[right.clone()])
        });
        let mut sorted = String::with_capacity(normalized.len() + places.len());
        for (count, place) in places.into_iter().enumerate() {
            if count > 0 {
                sorted.push(',');
            }
            sorted.push_str(&normalized[place]);
        }
        sorted
    }
}

impl TextRule for QuasiExact {
    const NAME: &'static str = "quasi_exact";
    const COUNTS_INVISIBLE: bool = true;

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let ground_truth = truth_text(answer.target, Self::NAME)?;
        let raw = answer.prediction.unwrap_or_default();
        let prediction = self.normalize(raw);
        let normalized = self.normalize(ground_truth);
        // Checks that the raw texts are not empty; the cleaned ones may be.
        let both = !raw.is_empty() && !ground_truth.is_empty();
        let exact = both && prediction == normalized;
        let partial = exact || both && is_partial(&prediction, &normalized);
        let (value, reason) = match (exact, partial) {
            (true, _) => (1.0, "exact_match"),
            (false, true) => (0.5, "partial_match"),
            (false, false) => (0.0, "mismatch"),
        };
        let score = Score::new(value, exact, reason)
            .normalized(prediction, normalized)
            .detail("exact_match", exact)
            .detail("partial_match", partial)
            .detail("extracted", answer.prediction);
        Ok(if exact && numerals::differ(raw, ground_truth) {
            score.detail("warning", numerals::WARNING)
        } else {
            score
        })
    }

    fn extraction(&self) -> Option<Extract> {
        Some(Extract::first_answer())
    }

    fn check(&self, target: &Target) -> Result<()> {
        truth_text(target, Self::NAME).map(drop)
    }

    fn detail_names(&self) -> Option<&'static [&'static str]> {
        Some(&["exact_match", "partial_match", "extracted"])
    }

    fn version(&self) -> String {
        let options = if self.documented { " documented" } else { "" };
        format!("quasi_exact{options}")
    }
}

/// Appends an element, or an answer that is not a list.
fn push_element(out: &mut String, element: &str) {
    let text = if element.is_ascii() {
        Cow::Borrowed(element)
    } else {
        Cow::Owned(py_lower(element.trim_matches(is_py_space)))
    };
    let start = out.len();
    let words = text.split(is_py_space).filter(|word| !word.is_empty());
    for (place, word) in words.enumerate() {
        let is_article = |article: &&str| word.eq_ignore_ascii_case(article);
        if place == 0 && ["the", "a", "an"].iter().any(is_article) {
            continue;
        }
        let before = out.len();
        if before > start {
            out.push(' ');
        }
        let with_space = out.len();
        for part in word.split(['$', '%', '€', '£']) {
            out.push_str(part);
        }
        // Only signs: not a word.
        if out.len() == with_space {
            out.truncate(before);
        }
    }
    // Characters beyond ASCII are in lower case already.
    out[start..].make_ascii_lowercase();
    let end = out[start..].trim_end_matches(['.', ',', ';', ':', '!', '?']);
    out.truncate(start + end.len());
}

/// Removes commas between one to three digits and exactly three others.
fn without_thousands_separators(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let is_separator = |comma: usize| {
        let before = digits(bytes[..comma].iter().rev());
        let after = digits(bytes[comma + 1..].iter());
        let is_fraction = || match bytes[..comma - before] {
            [.., digit, b'.'] => digit.is_ascii_digit(),
            _ => false,
        };
        (1..=3).contains(&before) && after == 3 && !is_fraction()
    };
    let mut separators = text
        .match_indices(',')
        .map(|(comma, _)| comma)
        .filter(|&comma| is_separator(comma))
        .peekable();
    if separators.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut without = String::with_capacity(text.len());
    let mut start = 0;
    for comma in separators {
        without.push_str(&text[start..comma]);
        start = comma + 1;
    }
    without.push_str(&text[start..]);
    Cow::Owned(without)
}

/// The number of leading digits; 4 for more than three.
fn digits<'a>(bytes: impl Iterator<Item = &'a u8>) -> usize {
    let digits = bytes.take_while(|byte| byte.is_ascii_digit());
    digits.take(4).count()
}

/// Whether one contains the other, or the prediction has most words of the ground truth.
fn is_partial(prediction: &str, ground_truth: &str) -> bool {
    let (long, short) = if prediction.len() >= ground_truth.len() {
        (prediction, ground_truth)
    } else {
        (ground_truth, prediction)
    };
    if long.contains(short) {
        return true;
    }
    // A ground truth without words is empty, and therefore contained.
    let expected = words(ground_truth);
    let given = words(prediction);
    let common = expected
        .iter()
        .filter(|word| given.binary_search(word).is_ok());
    ratio(common.count(), expected.len()) >= 0.7
}

/// The distinct words, sorted.
fn words(text: &str) -> Vec<&str> {
    let words = text.split(is_py_space).filter(|word| !word.is_empty());
    let mut words: Vec<_> = words.collect();
    words.sort_unstable();
    words.dedup();
    words
}

#[expect(
    clippy::cast_precision_loss,
    reason = "as the program divides; no answer has 2^53 words"
)]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

#[cfg(test)]
mod tests;
