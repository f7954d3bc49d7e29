//! GSM8K scorer: compares the number at the end of a worked solution.

use std::sync::Arc;

use serde_json::Value;

use crate::data::{Normalized, Score, Target};
use crate::error::{Error, Result};
use crate::scorer::extract::gsm8k::leading_number;
use crate::scorer::extract::{Extract, reference_value};
use crate::scorer::string::text_rule::TextRule;
use crate::scorer::{Answer, Entry, Example};

pub(crate) const ENTRY: Entry = Entry {
    name: "gsm8k",
    summary: "the number after `####` or `A:`, compared by its decimal value",
    rule: include_str!("gsm8k.md"),
    options: &[],
    examples: &[
        Example {
            options: "",
            prediction: "1,234",
            ground_truth: "2*617=<<2*617=1234>>1234\n#### 1234",
            correct: true,
            note: "the ground truth may be a whole solution; commas do not count",
        },
        Example {
            options: "",
            prediction: "That is 9 * 2.\n#### $18.00 a day",
            ground_truth: "18",
            correct: true,
            note: "a currency sign, trailing zeros and what follows do not count",
        },
        Example {
            options: "",
            prediction: "18.5",
            ground_truth: "18",
            correct: false,
            note: "nothing is rounded",
        },
        Example {
            options: "",
            prediction: "#### 36/2",
            ground_truth: "18",
            correct: false,
            note: "nothing is calculated",
        },
    ],
    make: |_| Ok(Arc::new(Gsm8kScorer)),
};

/// Compares the numbers at the end of two solutions.
///
#[doc = include_str!("gsm8k.md")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gsm8kScorer;

impl TextRule for Gsm8kScorer {
    const NAME: &'static str = "gsm8k";

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let truth = ground_truth(answer.target)?;
        let official = answer.output.text.as_deref().and_then(published_number);
        let differs = |score: &Score| {
            let is_right = official.as_ref().map(|number| *number == truth);
            is_right.is_some_and(|is_right| is_right != score.correct)
        };
        let score = judge(answer, &truth);
        Ok(match &official {
            Some(number) if differs(&score) => {
                let warning = format!(
                    "the program published with the questions reads `{number}`, after the first `####`"
                );
                score.detail("warning", warning)
            }
            _ => score,
        })
    }

    fn detail_names(&self) -> Option<&'static [&'static str]> {
        Some(&["warning"])
    }

    fn extraction(&self) -> Option<Extract> {
        Some(Extract::gsm8k())
    }

    fn check(&self, target: &Target) -> Result<()> {
        ground_truth(target).map(drop)
    }
}

fn judge(answer: &Answer<'_>, truth: &str) -> Score {
    let wrong =
        |reason: &'static str| Score::new(0.0, false, reason).normalized(Normalized::None, truth);
    let Some(prediction) = answer.prediction else {
        return wrong("no_answer");
    };
    match leading_number(prediction) {
        None => wrong("not_a_number"),
        Some(number) => Score::binary(number == truth).normalized(number, truth),
    }
}

/// The number that the program published with the questions takes from an answer: what follows the first `#### `,
/// without its commas.
fn published_number(raw: &str) -> Option<String> {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let mut parts = raw.split("#### ").skip(1);
    parts.find_map(|rest| {
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let end = digits.find(|c| !is_number(c)).unwrap_or(digits.len());
        let length = rest.len() - digits.len() + end;
        (end > 0).then(|| rest[..length].replace(',', ""))
    })
}

/// The number of a ground truth: a solution, a text that starts with a number, or a number.
pub(crate) fn ground_truth(target: &Target) -> Result<String> {
    let number = match &target.0 {
        Value::String(text) => Extract::gsm8k()
            .apply(text)
            .and_then(|found| leading_number(&found))
            .or_else(|| leading_number(reference_value(text)?)),
        Value::Number(number) => leading_number(&number.to_string()),
        _ => None,
    };
    number.ok_or_else(|| {
        Error::usage("`ground_truth` must be a number for scorer `gsm8k`, or end in one")
            .hint("write `18`, or a solution with a last line `#### 18`")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::Output;
    use crate::scorer::Scorer;

    fn score(raw: &str, truth: Value) -> Result<Score> {
        let extracted = Extract::gsm8k().apply(raw);
        Gsm8kScorer
            .score(&Answer::new(extracted.as_deref(), &Target(truth)).output(&Output::text(raw)))
    }

    #[test]
    fn verdicts_have_reasons() {
        let check = |raw: &str, truth: Value, reason: &str| {
            let score = score(raw, truth).unwrap();
            assert_eq!(
                (score.reason.as_ref(), score.correct),
                (reason, reason == "exact_match")
            );
        };
        check(
            "9*2=<<9*2=18>>18\n#### 18",
            json!("16-3-4=9\nA: 18"),
            "exact_match",
        );
        check("#### 18", json!(18), "exact_match");
        check("#### 18.0", json!(18.0), "exact_match");
        check("A: 19", json!("18"), "mismatch");
        check("A: about 18", json!("18"), "not_a_number");
        check("9 * 2 = 18", json!("18"), "no_answer");
        check("#### 0.5", json!(".50"), "exact_match");
    }

    #[test]
    fn compared_values_are_reported() {
        let score = score("#### $1,800.50 a year", json!("1800.5")).unwrap();
        assert_eq!(score.normalized_prediction, "1800.5".into());
        assert_eq!(score.normalized_ground_truth, "1800.5".into());
    }

    #[test]
    fn a_ground_truth_without_a_number_is_an_error() {
        for truth in [
            json!("unknown"),
            json!("2 + 2 = 4"),
            json!([18]),
            json!(null),
            json!("A: ?"),
        ] {
            let error = score("#### 4", truth).unwrap_err();
            assert!(
                error
                    .message()
                    .starts_with("`ground_truth` must be a number"),
                "{error}"
            );
        }
    }
}
