//! Uses the verdict that came with an answer.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::super::options::fingerprint;
use super::super::{Answer, Entry, Example, OptionReader, Scorer};
use crate::data::{Normalized, Score};
use crate::error::{Error, Result};

/// The name of the scorer.
pub(crate) const NAME: &str = "recorded";

/// The member of an output's metadata with verdicts by name.
pub(crate) const VERDICTS: &str = "recorded_scores";

/// The detail for a number that is not between 0 and 1.
pub(crate) const NUMBER: &str = "recorded";

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "the verdict that was imported with the answer",
    rule: include_str!("recorded.md"),
    options: &[
        (
            "of",
            "the name of the scorer that gave it; without it the prediction itself is the verdict",
        ),
        (
            "correct_at",
            "a number from which on it counts as correct; default 1",
        ),
    ],
    examples: &[
        Example {
            options: "",
            prediction: "C",
            ground_truth: "",
            correct: true,
            note: "without `of` the prediction is the verdict: `C` is correct",
        },
        Example {
            options: "",
            prediction: "P",
            ground_truth: "",
            correct: false,
            note: "partial, a value of 0.5",
        },
        Example {
            options: "{ correct_at: 7 }",
            prediction: "8",
            ground_truth: "",
            correct: true,
            note: "points on a scale of one's own",
        },
    ],
    make: |options| Ok(Arc::new(Recorded::from_options(options)?)),
};

/// The scorer `recorded`.
#[derive(Clone, Debug, Serialize)]
struct Recorded {
    of: Option<String>,
    correct_at: f64,
}

impl Recorded {
    fn from_options(options: &OptionReader<'_>) -> Result<Self> {
        Ok(Self {
            of: options.text("of")?.map(str::to_owned),
            correct_at: options.number("correct_at")?.unwrap_or(1.0),
        })
    }

    /// The verdict of an answer: a value, or an object with a value and other members.
    fn verdict<'a>(&self, answer: &Answer<'a>) -> Option<&'a Value> {
        let verdicts = answer.output.metadata.get(VERDICTS)?;
        let verdict = verdicts.get(self.of.as_ref()?)?;
        let is_there = !verdict_value(verdict).is_null() || error_of(verdict).is_some();
        is_there.then_some(verdict)
    }

    fn judged(&self, value: f64, word: Option<&'static str>) -> Score {
        let share = value.clamp(0.0, 1.0);
        let is_correct = value >= self.correct_at;
        let reason = match word {
            Some(word) => word,
            None if is_correct => "correct",
            None if share > 0.0 => "partial",
            None => "incorrect",
        };
        let score = Score::new(share, is_correct, reason);
        // Keep a number outside of 0 to 1.
        if (0.0..=1.0).contains(&value) {
            return score;
        }
        score.detail(NUMBER, value)
    }
}

/// The value of a verdict.
fn verdict_value(verdict: &Value) -> &Value {
    match verdict {
        Value::Object(members) => members.get("value").unwrap_or(&Value::Null),
        other => other,
    }
}

/// Why there is no value, if the scorer could not judge.
fn error_of(verdict: &Value) -> Option<&str> {
    verdict.get("error")?.as_str()
}

impl Scorer for Recorded {
    fn name(&self) -> &'static str {
        NAME
    }

    fn needs_target(&self) -> bool {
        false
    }

    fn judges(&self, answer: &Answer<'_>) -> bool {
        self.of.is_none() || self.verdict(answer).is_some()
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let prediction = Value::from(answer.prediction.unwrap_or_default().trim());
        let verdict = match &self.of {
            None => &prediction,
            Some(of) => self.verdict(answer).ok_or_else(|| {
                Error::usage(format!("no verdict of `{of}` came with the answer"))
            })?,
        };
        if let Some(error) = error_of(verdict) {
            return Err(Error::usage(error));
        }
        let (value, word) = value_of(verdict_value(verdict))?;
        let mut score = self.judged(value, word);
        let text = |key: &str| verdict.get(key).and_then(Value::as_str);
        if let Some(correct) = verdict.get("correct").and_then(Value::as_bool) {
            score.correct = correct;
        }
        if let Some(reason) = text("reason") {
            score.reason = Cow::Owned(reason.to_owned());
        }
        if let Some(text) = text("answer") {
            score.normalized_prediction = Normalized::Text(text.to_owned());
        }
        if let Some(text) = text("explanation") {
            score = score.detail("explanation", text);
        }
        let details = verdict.get("details").and_then(Value::as_object);
        for (name, value) in details.into_iter().flatten() {
            score = score.detail(name.clone(), value.clone());
        }
        Ok(score)
    }

    fn fingerprint(&self) -> String {
        fingerprint(NAME, self)
    }
}

/// A verdict as a number, as in Inspect's `value_to_float`, and the reason if it is a grade. Unknown values, which
/// Inspect treats as 0, are an error here.
fn value_of(value: &Value) -> Result<(f64, Option<&'static str>)> {
    let number = match value {
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.as_str() {
            "C" => return Ok((1.0, Some("correct"))),
            "P" => return Ok((0.5, Some("partial"))),
            "I" => return Ok((0.0, Some("incorrect"))),
            "N" => return Ok((0.0, Some("no_answer"))),
            other => match other.to_lowercase().as_str() {
                "yes" | "true" => Some(1.0),
                "no" | "false" => Some(0.0),
                other => other.parse().ok(),
            },
        },
        _ => None,
    };
    let number = number.filter(|number| number.is_finite());
    number.map(|number| (number, None)).ok_or_else(|| {
        let excerpt: String = value.to_string().chars().take(80).collect();
        Error::usage(format!(
            "`{excerpt}` is not a verdict: neither a number nor a grade"
        ))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::{Output, Target};

    fn output(verdict: &Value) -> Output {
        let mut output = Output::text("whatever");
        let verdicts = json!({ "match": verdict });
        output.metadata.insert(VERDICTS.to_owned(), verdicts);
        output
    }

    fn scorer(correct_at: f64) -> Recorded {
        Recorded {
            of: Some("match".to_owned()),
            correct_at,
        }
    }

    #[test]
    fn grades_and_numbers_are_verdicts() {
        fn check(verdict: &Value, value: f64, correct: bool, reason: &str) {
            let output = output(verdict);
            let target = Target::from("");
            let answer = Answer::new("whatever", &target).output(&output);
            assert!(scorer(1.0).judges(&answer), "{verdict}");
            let score = scorer(1.0).score(&answer).unwrap();
            let verdict_value = (score.value, score.correct, &*score.reason);
            assert_eq!(verdict_value, (value, correct, reason), "{verdict}");
        }
        check(&json!("C"), 1.0, true, "correct");
        check(&json!("I"), 0.0, false, "incorrect");
        check(&json!("P"), 0.5, false, "partial");
        check(&json!("N"), 0.0, false, "no_answer");
        check(&json!(true), 1.0, true, "correct");
        check(&json!("No"), 0.0, false, "incorrect");
        check(&json!("0.25"), 0.25, false, "partial");
        check(&json!({ "value": 1 }), 1.0, true, "correct");
        check(&json!({ "value": 7 }), 1.0, true, "correct");
        check(&json!({ "value": -1 }), 0.0, false, "incorrect");
        let recorded = json!({ "value": 0.5, "correct": true, "reason": "close" });
        check(&recorded, 0.5, true, "close");
    }

    #[test]
    fn what_is_missing_is_unscored_and_what_cannot_be_read_is_an_error() {
        let target = Target::from("");
        let missing = output(&Value::Null);
        assert!(!scorer(1.0).judges(&Answer::new("x", &target).output(&missing)));
        assert!(!scorer(1.0).judges(&Answer::new("x", &target)));
        for verdict in [
            json!("A"),
            json!([1]),
            json!({ "value": { "a": 1 } }),
            json!("inf"),
        ] {
            let output = output(&verdict);
            let answer = Answer::new("x", &target).output(&output);
            let error = scorer(1.0).score(&answer).unwrap_err();
            assert!(error.message().contains("is not a verdict"), "{error}");
        }
    }

    #[test]
    fn points_are_correct_from_a_number_on() {
        let output = output(&json!({ "value": 7 }));
        let target = Target::from("");
        let answer = Answer::new("x", &target).output(&output);
        let score = |correct_at| scorer(correct_at).score(&answer).unwrap();
        assert!(score(7.0).correct && !score(7.5).correct);
        assert_eq!(score(7.0).details.get("recorded"), Some(&json!(7.0)));
    }
}
