//! Compares what an environment ended with.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::extract::find_json;
use super::{Answer, Entry, Example, Reads, Scorer};
use crate::data::conversation::Script;
use crate::data::{Sample, Score};
use crate::error::{Error, Result};
use crate::scorer::extract::Extract;

const NAME: &str = "state";

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "the environment of a conversation ended with the expected state",
    rule: include_str!("state.md"),
    options: &[],
    examples: &[
        Example {
            options: "",
            prediction: r#"{"paid": true, "items": 2}"#,
            ground_truth: r#"{"paid": true}"#,
            correct: true,
            note: "the expected keys have the expected values",
        },
        Example {
            options: "",
            prediction: r#"{"paid": false}"#,
            ground_truth: r#"{"paid": true}"#,
            correct: false,
            note: "`state_mismatch`",
        },
    ],
    make: |_| Ok(Arc::new(State)),
};

/// Compares the final state of an environment with `expected_state`, key by key.
///
#[doc = include_str!("state.md")]
#[derive(Clone, Copy, Debug, Default)]
pub struct State;

impl State {
    fn expected(answer: &Answer<'_>) -> Option<Map<String, Value>> {
        let script = Script::of_metadata(answer.metadata);
        let expected = script.and_then(|script| script.expected_state);
        expected.or_else(|| match &answer.target.0 {
            Value::Object(map) => Some(map.clone()),
            Value::String(text) => match find_json(text) {
                Some(Value::Object(map)) => Some(map),
                _ => None,
            },
            _ => None,
        })
    }

    fn actual<'a>(answer: &Answer<'a>) -> Option<Cow<'a, Value>> {
        match &answer.output.conversation {
            Some(conversation) => conversation.state.as_ref().map(Cow::Borrowed),
            None => find_json(answer.prediction?).map(Cow::Owned),
        }
    }
}

/// Equality of JSON, in which 1 and 1.0 are the same number.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(key, value): (&String, &Value)| {
                other.get(key).is_some_and(|it| is_same(value, it))
            };
            one.len() == other.len() && one.iter().all(has)
        }
        _ => one == other,
    }
}

impl Scorer for State {
    fn name(&self) -> &'static str {
        NAME
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let expected = Self::expected(answer).ok_or_else(|| {
            Error::usage("the sample has no `expected_state`")
                .hint("write it next to `turns`: `expected_state: { paid: true }`")
        })?;
        let Some(actual) = Self::actual(answer) else {
            return Ok(Score::new(0.0, false, "missing_state"));
        };
        let differs = |(key, value): &(&String, &Value)| {
            let own = actual.get(key.as_str());
            !own.is_some_and(|own| is_same(own, value))
        };
        let differing: Vec<Value> = expected
            .iter()
            .filter(differs)
            .map(|(key, _)| key.as_str().into())
            .collect();
        let is_correct = differing.is_empty();
        let reason = if is_correct {
            "equal"
        } else {
            "state_mismatch"
        };
        let shown = expected
            .keys()
            .map(|key| (key.clone(), actual.get(key).cloned().unwrap_or_default()));
        let shown: Map<String, Value> = shown.collect();
        let score = Score::new(f64::from(u8::from(is_correct)), is_correct, reason);
        let score = if is_correct {
            score
        } else {
            score.detail("differs", differing)
        };
        Ok(score.normalized(
            Value::Object(shown).to_string(),
            Value::Object(expected).to_string(),
        ))
    }

    fn needs_target(&self) -> bool {
        false
    }

    fn extract(&self) -> Option<Extract> {
        Some(Extract::none())
    }

    fn judges(&self, answer: &Answer<'_>) -> bool {
        Self::expected(answer).is_some()
    }

    fn reads(&self) -> Reads {
        Reads::Everything
    }

    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        let script = Script::of(sample).unwrap_or_default();
        Ok(script
            .expected_state
            .map(|state| Value::Object(state).to_string()))
    }
}
