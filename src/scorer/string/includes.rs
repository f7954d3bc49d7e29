//! Checks that the prediction contains the ground truth.

use std::sync::Arc;

use serde::Serialize;

use super::super::number::numerals;
use super::super::options::fingerprint;
use super::super::{Answer, Entry, Example, OptionReader};
use super::folding::{self, Folding};
use super::text_rule::{Golds, TextRule};
use crate::data::{Score, Target};
use crate::error::Result;
use crate::text::contains_whole;

const NAME: &str = "includes";

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "the prediction contains the ground truth, or one or all of several",
    rule: include_str!("includes.md"),
    options: &[
        ("ignore_case", "compare in lower case; default true"),
        (
            "whole_words",
            "what is found must not be part of a longer word or number; default false",
        ),
        (
            "all",
            "of several texts each must be found, not just one; default false",
        ),
        (
            "collapse_space",
            "any run of white space is one space; default true",
        ),
        folding::IGNORE_PUNCTUATION,
        folding::UNICODE,
    ],
    examples: &[
        Example {
            options: "",
            prediction: "It is Paris, of course.",
            ground_truth: "paris",
            correct: true,
            note: "somewhere, in any case",
        },
        Example {
            options: "{ whole_words: true }",
            prediction: "1927",
            ground_truth: "19",
            correct: false,
            note: "not as part of a longer word or number",
        },
        Example {
            options: "",
            prediction: "NYC",
            ground_truth: r#"["New York", "NYC"]"#,
            correct: true,
            note: "one of several is enough",
        },
        Example {
            options: "{ all: true }",
            prediction: "red and green",
            ground_truth: r#"["red", "green", "blue"]"#,
            correct: false,
            note: "one of three is missing: `value` is two thirds",
        },
        Example {
            options: "",
            prediction: "anything",
            ground_truth: "",
            correct: false,
            note: "an empty ground truth is never found",
        },
    ],
    make: |options| Ok(Arc::new(Includes::read(options)?)),
};

/// Scores predictions that contain the ground truth.
///
#[doc = include_str!("includes.md")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Includes {
    /// Which differences are ignored.
    pub folding: Folding,
    /// A match must not be part of a longer word.
    pub whole_words: bool,
    /// All of several texts must be found.
    pub all: bool,
}

impl Default for Includes {
    fn default() -> Self {
        Self {
            folding: Folding::LOOSE,
            whole_words: false,
            all: false,
        }
    }
}

impl Includes {
    fn read(options: &OptionReader<'_>) -> Result<Self> {
        Ok(Self {
            folding: Folding::read(options, Folding::LOOSE)?,
            whole_words: options.flag("whole_words")?,
            all: options.flag("all")?,
        })
    }

    fn finds(&self, prediction: &str, text: &str) -> bool {
        if self.whole_words {
            contains_whole(prediction, text)
        } else {
            !text.is_empty() && prediction.contains(text)
        }
    }

    /// Whether a correct verdict rests on numbers that the answer does not state. If any text suffices, one that it
    /// does state is enough.
    fn misreads(&self, answer: &Answer<'_>, golds: &Golds<'_>, folded: &[String]) -> bool {
        let raw = answer.prediction.unwrap_or_default();
        let differs = |gold: &&str| numerals::differ(raw, gold);
        if self.all || folded.len() == 1 {
            return golds.texts().iter().any(differs);
        }
        let prediction = self.folding.apply(raw);
        let found = golds.texts().iter().zip(folded);
        let mut found = found.filter(|(_, text)| self.finds(&prediction, text));
        found.all(|(gold, _)| differs(gold))
    }
}

impl TextRule for Includes {
    const NAME: &'static str = NAME;
    const NAMES_NO_ANSWER: bool = true;

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let golds = Golds::read(answer.target, NAME)?;
        let fold = |text: &str| self.folding.apply(text).into_owned();
        golds.compare(answer.prediction, fold, |prediction, texts| {
            let of = texts.len();
            let found = prediction.map_or(0, |prediction| {
                let found = texts.iter().filter(|text| self.finds(prediction, text));
                found.count()
            });
            let correct = if self.all { found == of } else { found > 0 };
            let mut empty = texts.iter().map(String::is_empty);
            let is_unsatisfiable = if self.all {
                empty.any(|is_empty| is_empty)
            } else {
                empty.all(|is_empty| is_empty)
            };
            let reason = match prediction {
                None => "no_prediction",
                _ if correct => "included",
                _ if is_unsatisfiable => "empty_ground_truth",
                _ => "mismatch",
            };
            #[expect(clippy::cast_precision_loss, reason = "no list is that long")]
            let share = found as f64 / of as f64;
            let value = match (self.all, correct) {
                (true, _) => share,
                (false, true) => 1.0,
                (false, false) => 0.0,
            };
            let mut score = Score::new(value, correct, reason);
            if answer.target.0.is_array() {
                score = score.detail("found", found).detail("of", of);
            }
            if correct && self.misreads(answer, &golds, texts) {
                score = score.detail("warning", numerals::WARNING);
            }
            Ok(score)
        })
    }

    fn check(&self, target: &Target) -> Result<()> {
        Golds::read(target, NAME).map(drop)
    }

    fn detail_names(&self) -> Option<&'static [&'static str]> {
        Some(&["found", "of"])
    }

    fn version(&self) -> String {
        fingerprint(NAME, self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::scorer::tests::check::{check_all, judge, megabytes, scorer};
    use crate::tests::fuzz::fuzz;

    #[test]
    fn verdicts() {
        check_all(
            "includes",
            &[
                ("It is PARIS.", json!("paris"), true, 1.0, "included"),
                ("New\n  York", json!("new york"), true, 1.0, "included"),
                ("Pari", json!("Paris"), false, 0.0, "mismatch"),
                ("1927", json!("19"), true, 1.0, "included"),
                ("", json!("a"), false, 0.0, "no_prediction"),
                ("a", json!(""), false, 0.0, "empty_ground_truth"),
                ("", json!(" \n"), false, 0.0, "empty_ground_truth"),
                ("b a", json!(["a", "b"]), true, 1.0, "included"),
                ("c", json!(["a", "b"]), false, 0.0, "mismatch"),
                ("c", json!(["", "b"]), false, 0.0, "mismatch"),
            ],
        );
        check_all(
            "{ type: includes, all: true, ignore_case: false }",
            &[
                ("a and b", json!(["a", "b"]), true, 1.0, "included"),
                ("a", json!(["a", "b"]), false, 0.5, "mismatch"),
                ("A", json!(["a", "b"]), false, 0.0, "mismatch"),
                ("a", json!(["a", ""]), false, 0.5, "empty_ground_truth"),
                ("a", json!("a"), true, 1.0, "included"),
            ],
        );
        check_all(
            "{ type: includes, whole_words: true, ignore_punctuation: true }",
            &[
                ("1927", json!("19"), false, 0.0, "mismatch"),
                ("in '19'.", json!("19"), true, 1.0, "included"),
                ("the sea-gull", json!("seagull"), true, 1.0, "included"),
                ("", json!(""), false, 0.0, "empty_ground_truth"),
            ],
        );
    }

    #[test]
    fn an_array_is_counted() {
        let details = |prediction: &str, truth: serde_json::Value| {
            let score = judge(&*scorer("includes"), Some(prediction), &truth).expect("a verdict");
            serde_json::to_value(&score.details).expect("JSON")
        };
        assert_eq!(
            details("a b", json!(["a", "b", "c"])),
            json!({"found": 2, "of": 3})
        );
        assert_eq!(details("a b", json!("a")), json!({}));
        assert!(judge(&*scorer("includes"), Some("1"), &json!([1])).is_err());
    }

    #[test]
    fn different_numbers_that_are_called_equal_carry_a_warning() {
        let check = |spec: &str, prediction: &str, truth: serde_json::Value, expect: bool| {
            let score = judge(&*scorer(spec), Some(prediction), &truth).expect("a verdict");
            let is_warned = score.details.get("warning").is_some();
            assert_eq!(is_warned, expect, "{spec} {prediction:?} {truth}");
            assert!(score.correct || !is_warned);
        };
        check("includes", "1927", json!("19"), true);
        check("includes", "-5", json!("5"), true);
        check("includes", "It is 5, not 15.", json!("5"), false);
        check("includes", "Paris 1927", json!("Paris"), false);
        check("includes", "6", json!("5"), false);
        check("includes", "1927", json!(["19", "1927"]), false);
        check("includes", "1927", json!(["19", "27"]), true);
        check("includes", "1927", json!(["19", "4"]), true);
        let all = "{ type: includes, all: true }";
        check(all, "19 and 1927", json!(["19", "1927"]), false);
        check(all, "27 and 1927", json!(["19", "27"]), true);
        let joined = "{ type: includes, ignore_punctuation: true }";
        check(joined, "1.5", json!("15"), true);
    }

    const PIECES: &[&str] = &[
        "a", "b", "ab", "a a", " ", "  ", "\n", "é", "e\u{301}", "1", ".", ",", "_", "東", "!",
        "Σ", "ς", "\0", "🦀",
    ];

    const SPECS: &[&str] = &[
        "includes",
        "{ type: includes, whole_words: true }",
        "{ type: includes, all: true, ignore_case: false, collapse_space: false, unicode: none }",
    ];

    /// A match survives adding other words around it, unless they join; a whole-word match is also a partial one.
    #[test]
    fn parts_are_parts() {
        let scorers: Vec<_> = SPECS.iter().map(|spec| scorer(spec)).collect();
        fuzz(|dice| {
            let (text, part) = (dice.wild(PIECES), dice.wild(PIECES));
            let correct: Vec<bool> = scorers
                .iter()
                .map(|scorer| {
                    let correct = |text: &str| {
                        let score = judge(&**scorer, Some(text), &part.as_str().into());
                        score.expect("a verdict").correct
                    };
                    let alone = correct(&text);
                    assert!(
                        !alone || correct(&format!("( {text} )")),
                        "{text:?} {part:?}"
                    );
                    alone
                })
                .collect();
            assert!(!correct[1] || correct[0], "{text:?} {part:?}");
            let both = judge(&*scorers[2], Some(&text), &json!([part, "x"])).expect("a verdict");
            assert_eq!(
                both.value > 0.0,
                correct[2] || text.contains('x'),
                "{text:?} {part:?}"
            );
        });
    }

    #[test]
    fn a_megabyte_takes_linear_time() {
        megabytes(
            SPECS,
            "a",
            &["a", "a ", "ab", "aab", " ", "é", "1.", "a\u{301}", "a b a "],
        );
    }
}
