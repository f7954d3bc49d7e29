//! Compares JSON for equality.

mod compare;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::Tolerance;
use super::options::fingerprint;
use super::string::text_rule::TextRule;
use super::{Answer, Entry, Example, OptionReader};
use crate::data::{Normalized, Score, Target};
use crate::error::{Error, Result};
use crate::scorer;
use crate::scorer::extract::{Extract, find_json};
use crate::text::{snippet, yaml};
use compare::{Comparison, EarlyEnd};

const NAME: &str = "json";

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "equal JSON in any order of keys; numbers within a tolerance",
    rule: include_str!("json.md"),
    options: &[
        scorer::ABS_TOL,
        scorer::REL_TOL,
        (
            "ignore_keys",
            "the members that do not count, a list of names; default none",
        ),
        (
            "subset",
            "objects of the prediction may have more keys; default false",
        ),
        (
            "unordered_lists",
            "the order of lists does not count; default false",
        ),
    ],
    examples: &[
        Example {
            options: "",
            prediction: "Here it is:\n```json\n{\"b\": [1, 2.0], \"a\": null}\n```",
            ground_truth: r#"{"a": null, "b": [1, 2]}"#,
            correct: true,
            note: "JSON in a fenced block, keys in any order",
        },
        Example {
            options: "",
            prediction: r#"{"a": ["x", "3"]}"#,
            ground_truth: r#"{"a": ["x", 3]}"#,
            correct: false,
            note: "a text is no number: `/a/1: got \"3\", expected 3`",
        },
        Example {
            options: "{ rel_tol: 0.01, ignore_keys: [id] }",
            prediction: r#"{"id": 7, "mass": 99.5}"#,
            ground_truth: r#"{"id": 8, "mass": 100}"#,
            correct: true,
            note: "within a hundredth, and without `id`",
        },
        Example {
            options: "{ subset: true, unordered_lists: true }",
            prediction: r#"{"tags": ["b", "a"], "note": "mine"}"#,
            ground_truth: r#"{"tags": ["a", "b"]}"#,
            correct: true,
            note: "one key more, and another order",
        },
        Example {
            options: "",
            prediction: "It is four.",
            ground_truth: "4",
            correct: false,
            note: "no JSON",
        },
    ],
    make: |options| Ok(Arc::new(Json::read(options)?)),
};

/// Scores equal JSON.
///
#[doc = include_str!("json.md")]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Json {
    /// The tolerance for numbers.
    pub tolerance: Tolerance,
    /// Members to ignore, at every level.
    pub ignore_keys: Vec<String>,
    /// Whether objects of the prediction may have additional keys.
    pub subset: bool,
    /// Whether the order of lists is ignored.
    pub unordered_lists: bool,
}

impl Json {
    fn read(options: &OptionReader<'_>) -> Result<Self> {
        let ignored = options.texts("ignore_keys")?.unwrap_or_default();
        Ok(Self {
            tolerance: Tolerance::read(options)?,
            ignore_keys: ignored.into_iter().map(str::to_owned).collect(),
            subset: options.flag("subset")?,
            unordered_lists: options.flag("unordered_lists")?,
        })
    }
}

/// The ground truth as JSON; a string is parsed.
fn expected(target: &Value) -> Result<Cow<'_, Value>> {
    let Value::String(text) = target else {
        return Ok(Cow::Borrowed(target));
    };
    let value = serde_json::from_str(text).or_else(|error| {
        // A spec may spell a number or a bool as JSON does not.
        let json = yaml::json_spelling(text);
        json.and_then(|json| serde_json::from_str(&json).ok())
            .ok_or(error)
    });
    value.map(Cow::Owned).map_err(|error: serde_json::Error| {
        let text = snippet(text);
        let message =
            format!("`ground_truth` `{text}` is not JSON, but scorer `{NAME}` needs it: {error}");
        Error::usage(message).hint("a text in JSON has quotes of its own: `\"\\\"Paris\\\"\"`")
    })
}

impl TextRule for Json {
    const NAME: &'static str = NAME;

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let expected = expected(&answer.target.0)?;
        let ground_truth = expected.to_string();
        let wrong = |reason| Score::new(0.0, false, reason);
        let Some(prediction) = answer.prediction else {
            return Ok(wrong("no_prediction").normalized(Normalized::None, ground_truth));
        };
        let Some(got) = find_json(prediction) else {
            return Ok(wrong("invalid_json").normalized(Normalized::None, ground_truth));
        };
        let mut comparison = Comparison::new(self);
        let score = match comparison.compare(&got, &expected) {
            Ok(()) => Score::binary(true),
            Err(EarlyEnd::Differs) => {
                wrong("mismatch").detail("difference", comparison.difference())
            }
            Err(EarlyEnd::TooComplex) => wrong("too_complex"),
        };
        Ok(score.normalized(got.to_string(), ground_truth))
    }

    fn extraction(&self) -> Option<Extract> {
        Some(Extract::none())
    }

    fn check(&self, target: &Target) -> Result<()> {
        expected(&target.0).map(drop)
    }

    fn version(&self) -> String {
        fingerprint(NAME, self)
    }
}

#[cfg(test)]
mod tests;
