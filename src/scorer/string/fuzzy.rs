//! Edit distance with a threshold.

use std::sync::Arc;

use serde::Serialize;

use super::super::options::fingerprint;
use super::super::{Answer, Entry, Example, OptionReader};
use super::folding::{self, Folding};
use super::text_rule::{Golds, TextRule};
use crate::data::{Score, Target};
use crate::error::Result;

const NAME: &str = "fuzzy";

const DEFAULT_THRESHOLD: f64 = 0.8;

const DEFAULT_MAX_CHARS: u64 = 4096;

/// Allows 400 million steps, about a second.
const LARGEST_MAX_CHARS: u64 = 20_000;

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "few enough characters differ: edit distance with a threshold",
    rule: include_str!("fuzzy.md"),
    options: &[
        (
            "threshold",
            "the similarity from 0 to 1 that counts as correct; default 0.8",
        ),
        ("ignore_case", "compare in lower case; default true"),
        (
            "collapse_space",
            "any run of white space is one space; default true",
        ),
        folding::IGNORE_PUNCTUATION,
        folding::UNICODE,
        (
            "max_chars",
            "longer texts that have little in common are not compared; default 4096, at most 20000",
        ),
    ],
    examples: &[
        Example {
            options: "",
            prediction: "Reykjavik",
            ground_truth: "Reykjavík",
            correct: true,
            note: "one of nine characters differs: 0.89",
        },
        Example {
            options: "{ threshold: 0.9 }",
            prediction: "Reykjavik",
            ground_truth: "Reykjavík",
            correct: false,
            note: "that is not enough here",
        },
        Example {
            options: "",
            prediction: "1958",
            ground_truth: "1957",
            correct: false,
            note: "one of four: 0.75",
        },
        Example {
            options: "",
            prediction: "new  york city",
            ground_truth: r#"["NYC", "New York City"]"#,
            correct: true,
            note: "the most similar of several",
        },
    ],
    make: |options| Ok(Arc::new(Fuzzy::read(options)?)),
};

/// Scores similar texts.
///
#[doc = include_str!("fuzzy.md")]
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Fuzzy {
    /// Which differences are ignored.
    pub folding: Folding,
    /// The minimum similarity of a correct answer.
    pub threshold: f64,
    /// The maximum number of steps of a comparison is the square of this.
    pub max_chars: u64,
}

impl Default for Fuzzy {
    fn default() -> Self {
        Self {
            folding: Folding::LOOSE,
            threshold: DEFAULT_THRESHOLD,
            max_chars: DEFAULT_MAX_CHARS,
        }
    }
}

impl Fuzzy {
    fn read(options: &OptionReader<'_>) -> Result<Self> {
        let default = Self::default();
        let max_chars = options.count("max_chars")?;
        if max_chars.is_some_and(|count| !(1..=LARGEST_MAX_CHARS).contains(&count)) {
            let wanted = format!("a whole number from 1 to {LARGEST_MAX_CHARS}");
            return Err(options.wrong("max_chars", &wanted));
        }
        Ok(Self {
            folding: Folding::read(options, default.folding)?,
            threshold: options
                .number_in("threshold", 0.0, 1.0)?
                .unwrap_or(default.threshold),
            max_chars: max_chars.unwrap_or(default.max_chars),
        })
    }
}

/// How much two texts differ.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Difference {
    distance: usize,
    similarity: f64,
}

/// Compares two texts, unless that takes more than the remaining steps.
#[expect(clippy::cast_precision_loss, reason = "no text is that long")]
fn compare(left: &str, right: &str, steps: &mut u64) -> Option<Difference> {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let longer = left.len().max(right.len());
    // A common prefix and suffix do not change the distance.
    let start = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[start..], &right[start..]);
    let pairs = left.iter().rev().zip(right.iter().rev());
    let end = pairs.take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[..left.len() - end], &right[..right.len() - end]);
    let product = (left.len() as u64).saturating_mul(right.len() as u64);
    *steps = steps.checked_sub(product)?;
    let distance = if product == 0 {
        left.len().max(right.len())
    } else {
        strsim::generic_levenshtein(&Chars(left), &Chars(right))
    };
    let similarity = if longer == 0 {
        1.0
    } else {
        // Rounded only once, so that four of five is not less than 0.8.
        (longer - distance) as f64 / longer as f64
    };
    Some(Difference {
        distance,
        similarity,
    })
}

/// An adapter for the library.
struct Chars<'a>(&'a [char]);

impl<'a> IntoIterator for &'a Chars<'_> {
    type Item = &'a char;
    type IntoIter = std::slice::Iter<'a, char>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl TextRule for Fuzzy {
    const NAME: &'static str = NAME;
    const NAMES_NO_ANSWER: bool = true;
    const SHARES: &'static [&'static str] = &["similarity"];

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let golds = Golds::read(answer.target, NAME)?;
        let fold = |text: &str| self.folding.apply(text).into_owned();
        golds.compare(answer.prediction, fold, |prediction, texts| {
            let Some(prediction) = prediction else {
                return Ok(Score::new(0.0, false, "no_prediction"));
            };
            let mut steps = self.max_chars.saturating_pow(2);
            let mut best: Option<(Difference, usize)> = None;
            let mut is_too_long = false;
            for (place, text) in texts.iter().enumerate() {
                let Some(difference) = compare(prediction, text, &mut steps) else {
                    is_too_long = true;
                    continue;
                };
                if best.is_none_or(|best| difference.similarity > best.0.similarity) {
                    best = Some((difference, place));
                }
            }
            let similarity = best.map_or(0.0, |best| best.0.similarity);
            let correct = best.is_some() && similarity >= self.threshold;
            let reason = match best {
                Some(best) if best.0.distance == 0 => "exact_match",
                Some(_) if correct => "similar",
                _ if is_too_long => "too_long",
                _ => "mismatch",
            };
            let mut score =
                Score::new(similarity, correct, reason).detail("similarity", similarity);
            if let Some((difference, place)) = best {
                score = score.detail("distance", difference.distance);
                if answer.target.0.is_array() {
                    score = score.detail("gold", golds.texts()[place]);
                }
            }
            Ok(score)
        })
    }

    fn check(&self, target: &Target) -> Result<()> {
        Golds::read(target, NAME).map(drop)
    }

    fn detail_names(&self) -> Option<&'static [&'static str]> {
        Some(&["similarity", "distance", "gold"])
    }

    fn version(&self) -> String {
        fingerprint(NAME, self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scorer::tests::check::{check_all, judge, megabytes, refusal, scorer};
    use crate::tests::fuzz::fuzz;

    #[test]
    fn verdicts() {
        check_all(
            "fuzzy",
            &[
                (
                    "Reykjavik",
                    json!("Reykjavík"),
                    true,
                    1.0 - 1.0 / 9.0,
                    "similar",
                ),
                (" reykjavík\n", json!("Reykjavík"), true, 1.0, "exact_match"),
                ("1958", json!("1957"), false, 0.75, "mismatch"),
                ("12345", json!("1234"), true, 0.8, "similar"),
                (
                    "kitten",
                    json!("sitting"),
                    false,
                    1.0 - 3.0 / 7.0,
                    "mismatch",
                ),
                ("", json!(""), true, 1.0, "exact_match"),
                ("", json!("a"), false, 0.0, "no_prediction"),
                (
                    "new  york city",
                    json!(["NYC", "New York City"]),
                    true,
                    1.0,
                    "exact_match",
                ),
            ],
        );
        check_all(
            "{ type: fuzzy, threshold: 0, ignore_case: false }",
            &[("a", json!("B"), true, 0.0, "similar")],
        );
    }

    #[test]
    fn details_name_the_match() {
        let details = |truth: serde_json::Value| {
            let score = judge(&*scorer("fuzzy"), Some("sitting"), &truth).expect("a verdict");
            serde_json::to_value(&score.details).expect("JSON")
        };
        assert_eq!(
            details(json!(["x", "kitting"])),
            json!({"similarity": 6.0 / 7.0, "distance": 1, "gold": "kitting"})
        );
        assert_eq!(
            details(json!("sitting")),
            json!({"similarity": 1.0, "distance": 0})
        );
    }

    #[test]
    fn long_texts_are_compared_where_they_can_be() {
        let (left, right) = ("ab".repeat(5_000), "cd".repeat(5_000));
        let cases = [
            (left.as_str(), json!(right), false, 0.0, "too_long"),
            (
                &left,
                json!(format!("{left}x")),
                true,
                1.0 - 1.0 / 10_001.0,
                "similar",
            ),
            (
                &left,
                json!(format!("x{left}")),
                true,
                1.0 - 1.0 / 10_001.0,
                "similar",
            ),
            (&left, json!("dc"), false, 0.0, "mismatch"),
            (&left, json!([right, "ab"]), false, 0.0002, "too_long"),
            (&left, json!([right, left]), true, 1.0, "exact_match"),
        ];
        check_all("fuzzy", &cases);
        assert_eq!(
            refusal("{ type: fuzzy, max_chars: 20001 }"),
            "scorer `fuzzy`, option `max_chars`: `20001` is not a whole number from 1 to 20000"
        );
        assert_eq!(
            refusal("{ type: fuzzy, threshold: 80 }"),
            "scorer `fuzzy`, option `threshold`: `80` is not a number from 0 to 1"
        );
        assert!(judge(&*scorer("fuzzy"), Some("1"), &json!(1)).is_err());
    }

    const PIECES: &[&str] = &[
        "a", "b", "ab", "A", " ", "\n", "é", "e\u{301}", "東", "🦀", "\0", "abc", ".",
    ];

    /// The distance is symmetric, satisfies the triangle inequality, and is not changed by removing common ends.
    #[test]
    fn distance_is_what_it_should_be() {
        let scorers = [
            scorer("fuzzy"),
            scorer("{ type: fuzzy, max_chars: 2, ignore_punctuation: true }"),
        ];
        fuzz(|dice| {
            let (left, right) = (dice.wild(PIECES), dice.wild(PIECES));
            for scorer in &scorers {
                let there =
                    judge(&**scorer, Some(&left), &right.as_str().into()).expect("a verdict");
                let back =
                    judge(&**scorer, Some(&right), &left.as_str().into()).expect("a verdict");
                assert_eq!(
                    (there.value, there.correct),
                    (back.value, back.correct),
                    "{left:?} {right:?}"
                );
            }
            let compared = compare(&left, &right, &mut u64::MAX.clone()).expect("short texts");
            assert_eq!(
                compared.distance,
                strsim::levenshtein(&left, &right),
                "{left:?} {right:?}"
            );
        });
    }

    #[test]
    fn a_megabyte_takes_linear_time() {
        megabytes(
            &["fuzzy", "{ type: fuzzy, max_chars: 1000 }"],
            "a",
            &["a", "ab", "b", "é", " ", "a "],
        );
    }
}
