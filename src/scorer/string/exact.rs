//! Compares texts for equality.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::super::options::fingerprint;
use super::super::{Answer, Entry, Example, OptionReader};
use super::folding::{self, Folding};
use super::text_rule::{Golds, TextRule};
use crate::data::score::OTHER;
use crate::data::{Score, Target};
use crate::error::{Error, Result};
use crate::text::snippet;

const NAME: &str = "exact";

/// Longer texts are not labels, so that a verbose agent cannot fill a confusion matrix.
const LABEL_CHARS: usize = 60;

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "equal texts, or one of several accepted texts; with `labels`, precision and recall of each",
    rule: include_str!("exact.md"),
    options: &[
        ("ignore_case", "compare in lower case; default false"),
        ("trim", "leave out white space at both ends; default true"),
        (
            "collapse_space",
            "any run of white space is one space; default false",
        ),
        folding::IGNORE_PUNCTUATION,
        folding::UNICODE,
        (
            "labels",
            "the labels that answers are, or `true` for any short text; default none",
        ),
    ],
    examples: &[
        Example {
            options: "",
            prediction: "Paris\n",
            ground_truth: "Paris",
            correct: true,
            note: "white space at the ends does not count",
        },
        Example {
            options: "",
            prediction: "paris",
            ground_truth: "Paris",
            correct: false,
            note: "case counts",
        },
        Example {
            options: "{ ignore_case: true, ignore_punctuation: true }",
            prediction: "sea-GULL!",
            ground_truth: "Sea-gull",
            correct: true,
            note: "neither counts when told so",
        },
        Example {
            options: "",
            prediction: "NYC",
            ground_truth: r#"["New York", "NYC"]"#,
            correct: true,
            note: "one of several accepted texts",
        },
        Example {
            options: "{ labels: [yes, no], ignore_case: true }",
            prediction: "Yes",
            ground_truth: "yes",
            correct: true,
            note: "a label, for macro-F1 and the confusion matrix",
        },
    ],
    make: |options| Ok(Arc::new(Exact::read(options)?)),
};

/// Scores equal texts, or labels.
///
#[doc = include_str!("exact.md")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Exact {
    /// Which differences are ignored.
    pub folding: Folding,
    /// Which texts are labels.
    pub labels: LabelSet,
}

/// Which texts are labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LabelSet {
    /// Answers are not labels.
    None,
    /// Any text of up to 60 characters.
    Any,
    /// Only these texts.
    Of(Vec<String>),
}

impl Default for Exact {
    fn default() -> Self {
        Self {
            folding: Folding::TRIMMED,
            labels: LabelSet::None,
        }
    }
}

impl Exact {
    fn read(options: &OptionReader<'_>) -> Result<Self> {
        let folding = Folding::read(options, Folding::TRIMMED)?;
        let labels = match options.value("labels") {
            None | Some(Value::Bool(false)) => LabelSet::None,
            Some(Value::Bool(true)) => LabelSet::Any,
            Some(Value::Array(labels)) if !labels.is_empty() => {
                let labels: Option<Vec<&str>> = labels.iter().map(Value::as_str).collect();
                let labels = labels.ok_or_else(|| wrong_labels(options))?;
                for (place, label) in labels.iter().enumerate() {
                    let same = |other: &&&str| folding.apply(other) == folding.apply(label);
                    if let Some(other) = labels[..place].iter().find(same) {
                        let message =
                            format!("the labels `{other}` and `{label}` are the same one");
                        return Err(options.of("labels", Error::usage(message).under(place)));
                    }
                }
                LabelSet::Of(labels.into_iter().map(str::to_owned).collect())
            }
            Some(_) => return Err(wrong_labels(options)),
        };
        Ok(Self { folding, labels })
    }

    /// The label of a normalised text, if it is one.
    fn label<'a>(&'a self, folded: &'a str) -> Option<&'a str> {
        match &self.labels {
            LabelSet::None => None,
            LabelSet::Any => (folded.chars().nth(LABEL_CHARS).is_none()).then_some(folded),
            LabelSet::Of(labels) => {
                let mut labels = labels.iter().map(String::as_str);
                labels.find(|label| self.folding.apply(label) == folded)
            }
        }
    }
}

fn wrong_labels(options: &OptionReader<'_>) -> Error {
    options
        .wrong("labels", "a list of texts, or true")
        .hint("quote `true`, `false` and numbers: `labels: ['true', 'false']`")
}

impl TextRule for Exact {
    const NAME: &'static str = NAME;
    const NAMES_NO_ANSWER: bool = true;

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let golds = Golds::read(answer.target, NAME)?;
        let fold = |text: &str| self.folding.apply(text).into_owned();
        golds.compare(answer.prediction, fold, |prediction, texts| {
            let matched =
                prediction.and_then(|prediction| texts.iter().position(|text| text == prediction));
            let score = match prediction {
                None => Score::new(0.0, false, "no_prediction"),
                Some(_) => Score::binary(matched.is_some()),
            };
            if self.labels == LabelSet::None {
                return Ok(score);
            }
            let target = matched.unwrap_or(0);
            let target_label = self.label(&texts[target]).ok_or_else(|| {
                let text = snippet(golds.texts()[target]);
                Error::usage(format!(
                    "`ground_truth` `{text}` is not a label of scorer `{NAME}`"
                ))
            })?;
            let label = prediction.and_then(|text| self.label(text));
            Ok(score
                .detail("label", label.unwrap_or(OTHER))
                .detail("target_label", target_label))
        })
    }

    fn check(&self, target: &Target) -> Result<()> {
        Golds::read(target, NAME).map(drop)
    }

    fn detail_names(&self) -> Option<&'static [&'static str]> {
        Some(match self.labels {
            LabelSet::None => &[],
            _ => &["label", "target_label"],
        })
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
            "exact",
            &[
                ("Paris", json!("Paris"), true, 1.0, "exact_match"),
                (
                    "\tParis\u{3000}\n",
                    json!("Paris "),
                    true,
                    1.0,
                    "exact_match",
                ),
                ("paris", json!("Paris"), false, 0.0, "mismatch"),
                ("Paris.", json!("Paris"), false, 0.0, "mismatch"),
                ("Zu\u{308}rich", json!("Zürich"), true, 1.0, "exact_match"),
                ("ﬁ", json!("fi"), false, 0.0, "mismatch"),
                ("1.0", json!("1"), false, 0.0, "mismatch"),
                ("", json!(" "), true, 1.0, "exact_match"),
                ("b", json!(["a", "b"]), true, 1.0, "exact_match"),
                ("c", json!(["a", "b"]), false, 0.0, "mismatch"),
            ],
        );
        check_all(
            "{ type: exact, trim: false, unicode: none }",
            &[
                ("a ", json!("a"), false, 0.0, "mismatch"),
                ("e\u{301}", json!("é"), false, 0.0, "mismatch"),
            ],
        );
        check_all(
            "{ type: exact, ignore_case: true, collapse_space: true, ignore_punctuation: true, unicode: nfkc }",
            &[
                (
                    "“New\n  York!”",
                    json!("new york"),
                    true,
                    1.0,
                    "exact_match",
                ),
                ("ﬁve", json!("Five"), true, 1.0, "exact_match"),
                ("?", json!("!"), false, 0.0, "mismatch"),
                ("?", json!("?"), true, 1.0, "exact_match"),
            ],
        );
    }

    #[test]
    fn labels() {
        let check = |spec: &str,
                     prediction: Option<&str>,
                     truth: Value,
                     label: &str,
                     target_label: &str| {
            let score = judge(&*scorer(spec), prediction, &truth).expect("a verdict");
            let got = serde_json::to_value(&score.details).expect("JSON");
            let expect = json!({"label": label, "target_label": target_label});
            assert_eq!(got, expect, "{prediction:?} {truth}");
        };
        let spec = "{ type: exact, labels: ['Yes', 'No'], ignore_case: true }";
        check(spec, Some("YES "), json!("yes"), "Yes", "Yes");
        check(spec, Some("no"), json!("yes"), "No", "Yes");
        check(spec, Some("maybe"), json!("yes"), "(other)", "Yes");
        check(spec, None, json!("no"), "(other)", "No");
        check(spec, Some("no"), json!(["yes", "no"]), "No", "No");
        check(spec, Some("none"), json!(["yes", "no"]), "(other)", "Yes");
        let any = "{ type: exact, labels: true }";
        check(any, Some("b "), json!("a"), "b", "a");
        check(any, Some(&"é".repeat(60)), json!("a"), &"é".repeat(60), "a");
        check(any, Some(&"é".repeat(61)), json!("a"), "(other)", "a");
        let error = judge(&*scorer(spec), Some("yes"), &json!("maybe"));
        assert_eq!(
            error.expect_err("no label").message(),
            "`ground_truth` `maybe` is not a label of scorer `exact`"
        );
    }

    #[test]
    fn what_is_illegal_is_an_error() {
        let error = judge(&*scorer("exact"), Some("19"), &json!(19));
        assert_eq!(
            error.expect_err("no verdict").message(),
            "`ground_truth` must be a string or a non-empty array of strings for scorer `exact`"
        );
        for truth in [json!([]), json!(["a", 1]), json!(null), json!({"a": "b"})] {
            assert!(judge(&*scorer("exact"), None, &truth).is_err(), "{truth}");
        }
        assert_eq!(
            refusal("{ type: exact, labels: [true, false] }"),
            "scorer `exact`, option `labels`: `[true,false]` is not a list of texts, or true\n\n\
             hint: quote `true`, `false` and numbers: `labels: ['true', 'false']`"
        );
        assert_eq!(
            refusal("{ type: exact, labels: ['a', 'A'], ignore_case: true }"),
            "scorer `exact`, option `labels`: the labels `a` and `A` are the same one"
        );
        assert_eq!(
            refusal("{ type: exact, ignore_cases: true }"),
            "scorer `exact`: unknown option `ignore_cases`, expected one of `ignore_case`, `trim`, \
             `collapse_space`, `ignore_punctuation`, `unicode`, `labels`\n\nhint: did you mean `ignore_case`?"
        );
        assert_eq!(
            refusal("{ type: exact, trim: 1 }"),
            "scorer `exact`, option `trim`: `1` is not true or false"
        );
    }

    const PIECES: &[&str] = &[
        "a",
        "A",
        " ",
        "\n",
        "\u{a0}",
        "é",
        "e\u{301}",
        "\u{301}",
        "ﬁ",
        "Σ",
        "ς",
        "İ",
        "ß",
        "!",
        "“",
        "。",
        "東京",
        "🦀",
        "\u{1f468}\u{200d}",
        "\0",
        "ǅ",
        "가",
        "\u{1100}\u{1161}",
        "\u{fdfa}",
    ];

    const SPECS: &[&str] = &[
        "exact",
        "{ type: exact, trim: false, unicode: none, labels: true }",
        "{ type: exact, ignore_case: true, collapse_space: true, ignore_punctuation: true, unicode: nfkc }",
    ];

    /// Equality is reflexive and symmetric.
    #[test]
    fn equality_is_what_it_should_be() {
        let scorers: Vec<_> = SPECS.iter().map(|spec| scorer(spec)).collect();
        fuzz(|dice| {
            let (left, right) = (dice.wild(PIECES), dice.wild(PIECES));
            for scorer in &scorers {
                let correct = |prediction: &str, truth: &str| {
                    let score = judge(&**scorer, Some(prediction), &truth.into());
                    score.expect("a verdict").correct
                };
                assert!(correct(&left, &left), "{left:?}");
                assert_eq!(
                    correct(&left, &right),
                    correct(&right, &left),
                    "{left:?} {right:?}"
                );
                let several = json!([right, left]);
                let score = judge(&**scorer, Some(&left), &several).expect("a verdict");
                assert!(score.correct, "{left:?} {right:?}");
            }
        });
    }

    #[test]
    fn a_megabyte_takes_linear_time() {
        megabytes(
            SPECS,
            "a",
            &["a", " ", "\u{301}", "é", "!", "“", "ΑΣ", "\u{fdfa}", "\n "],
        );
    }
}
