//! Word overlap: F1 and exact match over several accepted answers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use super::super::number::numerals;
use super::super::options::fingerprint;
use super::super::{Answer, Entry, Example};
use super::folding::{Folding, Form};
use super::text_rule::{Golds, TextRule};
use crate::data::{Score, Target};
use crate::error::Result;
use crate::text::is_py_space;

const NAME: &str = "token_f1";

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "words in common, as SQuAD counts them: F1, and exact match, the best of several accepted texts",
    rule: include_str!("token_f1.md"),
    options: &[(
        "threshold",
        "the F1 from 0 to 1 that counts as correct; default: the words must be equal",
    )],
    examples: &[
        Example {
            options: "",
            prediction: "The Eiffel Tower!",
            ground_truth: "Eiffel tower",
            correct: true,
            note: "case, articles and punctuation do not count",
        },
        Example {
            options: "",
            prediction: "Paris, France",
            ground_truth: "Paris",
            correct: false,
            note: "precision 1/2, recall 1: `value` is 2/3",
        },
        Example {
            options: "{ threshold: 0.6 }",
            prediction: "Paris, France",
            ground_truth: "Paris",
            correct: true,
            note: "2/3 is enough here",
        },
        Example {
            options: "",
            prediction: "NYC",
            ground_truth: r#"["New York City", "NYC"]"#,
            correct: true,
            note: "the best of several",
        },
        Example {
            options: "",
            prediction: "the",
            ground_truth: "A",
            correct: false,
            note: "an answer that is nothing but an article is a word",
        },
    ],
    make: |options| {
        Ok(Arc::new(TokenF1 {
            threshold: options.number_in("threshold", 0.0, 1.0)?,
        }))
    },
};

/// Scores words in common.
///
#[doc = include_str!("token_f1.md")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TokenF1 {
    /// The minimum F1 of a correct answer; without it the words must be equal.
    pub threshold: Option<f64>,
}

/// Ignores case, punctuation and white space.
const FOLDING: Folding = Folding {
    unicode: Form::Nfc,
    ignore_punctuation: true,
    ..Folding::LOOSE
};

/// The overlap of two texts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Overlap {
    /// The harmonic mean of precision and recall.
    pub f1: f64,
    /// The share of the prediction's words that are in the ground truth.
    pub precision: f64,
    /// The share of the ground truth's words that are in the prediction.
    pub recall: f64,
    /// Whether the words are equal, in order.
    pub is_equal: bool,
}

/// Compares two texts by their words.
#[cfg(test)]
fn overlap(prediction: &str, ground_truth: &str) -> Overlap {
    compare(&normalize(prediction), &normalize(ground_truth))
}

/// The words that count, separated by single spaces.
fn normalize(text: &str) -> String {
    // SQuAD's program splits as Python does.
    let text = python_spaces(text);
    let folded = FOLDING.apply(&text);
    let words: Vec<&str> = words(&folded)
        .filter(|word| !matches!(*word, "a" | "an" | "the"))
        .collect();
    if words.is_empty() {
        return folded.into_owned();
    }
    words.join(" ")
}

/// The text with spaces for the white space that only Python counts as such.
fn python_spaces(text: &str) -> Cow<'_, str> {
    let is_only_python = |c: char| is_py_space(c) && !c.is_whitespace();
    if text.contains(is_only_python) {
        Cow::Owned(text.replace(is_only_python, " "))
    } else {
        Cow::Borrowed(text)
    }
}

fn words(normalized: &str) -> impl Iterator<Item = &str> {
    normalized.split(' ').filter(|word| !word.is_empty())
}

#[expect(clippy::cast_precision_loss, reason = "no text has that many words")]
fn compare(prediction: &str, ground_truth: &str) -> Overlap {
    if prediction == ground_truth {
        return Overlap {
            f1: 1.0,
            precision: 1.0,
            recall: 1.0,
            is_equal: true,
        };
    }
    let mut left: HashMap<&str, usize> = HashMap::new();
    for word in words(ground_truth) {
        *left.entry(word).or_default() += 1;
    }
    let mut common = 0;
    let mut predicted = 0;
    for word in words(prediction) {
        predicted += 1;
        if let Some(count) = left.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    if common == 0 {
        return Overlap::default();
    }
    let precision = f64::from(common) / f64::from(predicted);
    let recall = f64::from(common) / words(ground_truth).count() as f64;
    Overlap {
        f1: 2.0 * precision * recall / (precision + recall),
        precision,
        recall,
        is_equal: false,
    }
}

impl TokenF1 {
    /// Whether this overlap is correct.
    fn suffices(&self, overlap: Overlap) -> bool {
        match self.threshold {
            None => overlap.is_equal,
            Some(threshold) => overlap.f1 >= threshold,
        }
    }
}

impl TextRule for TokenF1 {
    const NAME: &'static str = NAME;
    const COUNTS_INVISIBLE: bool = true;
    const NAMES_NO_ANSWER: bool = true;
    const SHARES: &'static [&'static str] = &["f1", "em", "precision", "recall"];

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let golds = Golds::read(answer.target, NAME)?;
        golds.compare(answer.prediction, normalize, |prediction, texts| {
            let mut best = Overlap::default();
            let mut counted = 0;
            if let Some(prediction) = prediction {
                for (place, text) in texts.iter().enumerate() {
                    let overlap = compare(prediction, text);
                    // Equal words have an F1 of 1, but so do the same words in another order.
                    if (overlap.f1, overlap.is_equal) > (best.f1, best.is_equal) {
                        best = overlap;
                        counted = place;
                    }
                }
            }
            let correct = prediction.is_some() && self.suffices(best);
            let reason = match prediction {
                None => "no_prediction",
                Some(_) if best.is_equal => "exact_match",
                Some(_) if best.f1 > 0.0 => "overlap",
                Some(_) => "mismatch",
            };
            let score = Score::new(best.f1, correct, reason)
                .detail("f1", best.f1)
                .detail("em", if best.is_equal { 1.0 } else { 0.0 })
                .detail("precision", best.precision)
                .detail("recall", best.recall)
                .detail("gold", golds.texts()[counted]);
            let raw = answer.prediction.unwrap_or_default();
            let differs = |gold: &str| numerals::differ(raw, gold);
            // The answer may equal another accepted text: `45` in addition to `-45`.
            let is_present = |(gold, text): (&&str, &String)| {
                let overlap = compare(prediction.unwrap_or_default(), text);
                self.suffices(overlap) && !differs(gold)
            };
            let misreads = correct
                && differs(golds.texts()[counted])
                && !golds.texts().iter().zip(texts).any(is_present);
            Ok(if misreads {
                score.detail("warning", numerals::WARNING)
            } else {
                score
            })
        })
    }

    fn check(&self, target: &Target) -> Result<()> {
        Golds::read(target, NAME).map(drop)
    }

    fn detail_names(&self) -> Option<&'static [&'static str]> {
        Some(&["f1", "em", "precision", "recall", "gold"])
    }

    fn version(&self) -> String {
        fingerprint(NAME, self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::scorer::tests::check::{check_all, judge, megabytes, scorer};
    use crate::tests::fuzz::fuzz;

    #[test]
    fn verdicts() {
        check_all(
            "token_f1",
            &[
                (
                    "The Eiffel Tower!",
                    json!("eiffel tower"),
                    true,
                    1.0,
                    "exact_match",
                ),
                ("tower eiffel", json!("Eiffel Tower"), false, 1.0, "overlap"),
                (
                    "Paris is the capital",
                    json!("Paris"),
                    false,
                    0.5,
                    "overlap",
                ),
                ("a a b", json!("a b b"), false, 1.0 / 1.5, "overlap"),
                ("London", json!("Paris"), false, 0.0, "mismatch"),
                ("yes it is", json!("yes"), false, 0.5, "overlap"),
                ("", json!("Paris"), false, 0.0, "no_prediction"),
                ("", json!(""), true, 1.0, "exact_match"),
                ("Paris", json!(""), false, 0.0, "mismatch"),
                ("the", json!("A"), false, 0.0, "mismatch"),
                ("a", json!("A"), true, 1.0, "exact_match"),
                ("?", json!("!"), false, 0.0, "mismatch"),
                ("“It’s”", json!("its"), true, 1.0, "exact_match"),
                ("NYC", json!(["New York", "NYC"]), true, 1.0, "exact_match"),
                // What Python splits at.
                (
                    "Los\u{1f}Angeles",
                    json!("los angeles"),
                    true,
                    1.0,
                    "exact_match",
                ),
                (
                    "34\u{1c}",
                    json!("\u{1d}34\u{1e}"),
                    true,
                    1.0,
                    "exact_match",
                ),
                (
                    "York New",
                    json!(["York New x", "York New"]),
                    true,
                    1.0,
                    "exact_match",
                ),
                ("b c", json!(["c b", "b c"]), true, 1.0, "exact_match"),
            ],
        );
        check_all(
            "{ type: token_f1, threshold: 0.5 }",
            &[
                ("Paris is the capital", json!("Paris"), true, 0.5, "overlap"),
                (
                    "Paris is the capital of it",
                    json!("Paris"),
                    false,
                    1.0 / 3.0,
                    "overlap",
                ),
            ],
        );
    }

    #[test]
    fn the_best_accepted_text_counts() {
        let check = |prediction, expect: Value| {
            let truth = json!(["The Big Apple", "New York City"]);
            let score = judge(&*scorer("token_f1"), prediction, &truth).expect("a verdict");
            assert_eq!(serde_json::to_value(&score.details).expect("JSON"), expect);
        };
        check(
            Some("york"),
            json!({"f1": 0.5, "em": 0.0, "precision": 1.0, "recall": 1.0 / 3.0, "gold": "New York City"}),
        );
        check(
            None,
            json!({"f1": 0.0, "em": 0.0, "precision": 0.0, "recall": 0.0, "gold": "The Big Apple"}),
        );
        assert!(judge(&*scorer("token_f1"), Some("1"), &json!(1)).is_err());
    }

    #[test]
    fn different_numbers_that_are_called_equal_carry_a_warning() {
        let check = |spec: &str, prediction: &str, truth: Value, expect: bool| {
            let score = judge(&*scorer(spec), Some(prediction), &truth).expect("a verdict");
            let warning = score.details.get("warning").and_then(Value::as_str);
            let expect = expect.then_some(numerals::WARNING);
            assert_eq!(warning, expect, "{prediction:?} {truth}");
            assert!(score.correct || warning.is_none());
        };
        check("token_f1", "-45", json!("45"), true);
        check("token_f1", "1.5", json!("15"), true);
        check("token_f1", "1/2 km", json!("12 km"), true);
        check("token_f1", "1,000", json!("1000"), false);
        check("token_f1", "the 45!", json!("45"), false);
        check("token_f1", "44", json!("45"), false);
        // The stated answer is accepted, too.
        check("token_f1", "45", json!(["-45", "45"]), false);
        check("token_f1", "+4.5", json!(["-45", "45"]), true);
        let half = "{ type: token_f1, threshold: 0.5 }";
        check(half, "built in 1962", json!("built in 1963"), true);
        check(half, "built in 1962", json!("built then"), false);
    }

    const PIECES: &[&str] = &[
        "a", "an", "the ", "The", " ", "\n", "paris", "Paris ", "b", "-", ".", "“", "é",
        "e\u{301}", "東京", "\0", "🦀", "\u{85}", "yes", "'s",
    ];

    /// Swapping the texts swaps precision and recall; a text overlaps fully with itself.
    #[test]
    fn overlap_has_two_sides() {
        let scorer = scorer("token_f1");
        fuzz(|dice| {
            let (left, right) = (dice.wild(PIECES), dice.wild(PIECES));
            let (there, back) = (overlap(&left, &right), overlap(&right, &left));
            let mirrored = Overlap {
                precision: back.recall,
                recall: back.precision,
                ..back
            };
            assert!((there.f1 - back.f1).abs() < 1e-12, "{left:?} {right:?}");
            assert_eq!(
                Overlap {
                    f1: back.f1,
                    ..there
                },
                mirrored,
                "{left:?} {right:?}"
            );
            assert!(overlap(&left, &left).is_equal, "{left:?}");
            let best = judge(&*scorer, Some(&left), &json!([right, right])).expect("a verdict");
            assert!((best.value - there.f1).abs() < 1e-12, "{left:?} {right:?}");
            assert_eq!(best.correct, there.is_equal, "{left:?} {right:?}");
        });
    }

    #[test]
    fn a_megabyte_takes_linear_time() {
        megabytes(
            &["token_f1"],
            "a",
            &["a ", "b ", "ab", " ", "the.", "é ", "!", "b c d "],
        );
    }
}
