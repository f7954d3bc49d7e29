//! `trajectory`: which calls an agent made over its whole run, and in which order.

mod expectation;
#[cfg(test)]
mod tests;
mod verdict;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::super::options::fingerprint;
use super::super::{Answer, Entry, Example, OptionReader, Reads, Scorer, shares};
use super::ast_match::{Interner, Made, Rule, Types, documents};
use crate::calls::read::{self, Call, Pattern, TooComplex};
use crate::calls::{JsonValue as _, Value};
use crate::data::{Sample, Score, Target};
use crate::error::{Error, Result, Under};
use crate::scorer::extract::Extract;
use expectation::{Expectation, KEYS};
use verdict::TrajectoryRun;

const NAME: &str = "trajectory";

/// The metadata entry with the expectation for a sample.
const KEY: &str = "trajectory";

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "the calls of a whole run: required order, forbidden tools, efficiency",
    rule: include_str!("trajectory.md"),
    options: &[
        (
            "after",
            "dependencies: `{ book: [search, log_in] }`, each call of `book` comes after calls of both",
        ),
        (
            "order",
            "tools that must be called, each after the one before it: `[search, book]`",
        ),
        ("required", "tools that must be called"),
        ("forbidden", "tools that must not be called"),
        (
            "minimal_calls",
            "how many calls the shortest run has; efficiency is that over the calls made",
        ),
        (
            "min_efficiency",
            "the smallest efficiency that is correct, from 0 to 1; by default any",
        ),
        (
            "pattern",
            "how the agent writes a call in its texts, as for `ast_match`",
        ),
        (
            "key",
            "the metadata entry with what is expected of one sample; default `trajectory`",
        ),
    ],
    examples: &[
        Example {
            options: "",
            prediction: "[search(q='hotel'), look_at(id=2), book(id=2)]",
            ground_truth: r#"{"after": {"book": ["search"]}, "forbidden": ["pay"], "minimal_calls": 2}"#,
            correct: true,
            note: "a detour, so efficiency is 0.67, which no `min_efficiency` asks about",
        },
        Example {
            options: "{ after: { book: search }, forbidden: [pay] }",
            prediction: "[book(id=2), search(q='hotel')]",
            ground_truth: "{}",
            correct: false,
            note: "`book` came before any `search`: expected of every sample",
        },
        Example {
            options: "min_efficiency: 0.5",
            prediction: "[search(q='a'), search(q='b'), search(q='hotel')]",
            ground_truth: r#"[{"name": "search", "arguments": {"q": "hotel"}}]"#,
            correct: false,
            note: "the expected call was made, but one call in three is too few",
        },
    ],
    make: |options| Ok(Arc::new(Trajectory::read(options)?)),
};

/// Scores the calls of a whole run.
///
#[doc = include_str!("trajectory.md")]
#[derive(Clone, Debug)]
pub struct Trajectory {
    /// The expectation for every sample.
    expected: Expectation,
    pattern: Option<(String, Pattern)>,
    key: String,
}

impl Trajectory {
    fn read(options: &OptionReader<'_>) -> Result<Self> {
        let given: Map<String, Json> = KEYS
            .into_iter()
            .filter(|key| options.has(key))
            .filter_map(|key| Some((key.to_owned(), options.value(key)?.clone())))
            .collect();
        let at = |error: Error| error.at(format_args!("scorer `{NAME}`"));
        let pattern = options.text("pattern")?;
        let pattern = pattern.map(|text| Ok((text.to_owned(), Pattern::parse(text)?)));
        Ok(Self {
            expected: Expectation::read(&given).map_err(at)?,
            pattern: pattern.transpose().map_err(at).under("pattern")?,
            key: options.text("key")?.unwrap_or(KEY).to_owned(),
        })
    }

    /// The expectation for one sample: the common one, and that of its metadata or its ground truth.
    fn expectation(&self, target: &Json, metadata: &Map<String, Json>) -> Result<Expectation> {
        let named = metadata.get(&self.key).filter(|value| !value.is_null());
        let own = match named {
            Some(value) => Expectation::of(value).map_err(|reason| {
                Error::usage(format!("`metadata.{}` {reason}", self.key)).hint(HINT)
            })?,
            None => match Expectation::of_target(target, self.expected.is_empty()) {
                // The entry belongs to another scorer.
                Err(_) if !self.expected.is_empty() => Expectation::default(),
                Err(reason) => {
                    return Err(Error::usage(format!(
                        "`ground_truth` {reason}, and nothing else defines what scorer \
                                                     `{NAME}` expects"
                    ))
                    .hint(HINT));
                }
                Ok(own) => own,
            },
        };
        self.expected.and(own)
    }

    /// The steps of a run.
    fn steps(&self, answer: &Answer<'_>) -> Result<Vec<Vec<Call>>, TooComplex> {
        let pattern = self.pattern.as_ref().map(|(_, pattern)| pattern);
        let steps = read::trajectory(answer.output, pattern)?;
        let Some(text) = answer.prediction.filter(|_| steps.is_empty()) else {
            return Ok(steps);
        };
        let calls = match pattern {
            Some(pattern) => pattern.find(text)?,
            None => read::find(text)?
                .map(|found| found.calls)
                .unwrap_or_default(),
        };
        Ok(calls.into_iter().map(|call| vec![call]).collect())
    }
}

/// Limit of missing calls named in the details.
const MISSING_NAMED: usize = 3;

const HINT: &str = "write `{\"after\": {\"book\": [\"search\"]}, \"forbidden\": [\"pay\"], \"minimal_calls\": 2}`, or the list of \
                    calls of the shortest run";

impl Scorer for Trajectory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let expected = self.expectation(&answer.target.0, answer.metadata)?;
        let mut names = Interner::new(Types::default(), documents::parameters(answer.metadata));
        names.learn(&expected.calls);
        let wanted = expected
            .calls
            .iter()
            .map(|call| names.expected(call, false));
        let wanted = wanted.collect::<Result<Vec<_>>>()?;
        let Ok(steps) = self.steps(answer) else {
            return Ok(Score::new(0.0, false, "too_complex"));
        };
        let made: Vec<Made> = steps
            .iter()
            .flatten()
            .map(|call| names.made(call))
            .collect();
        let rule = Rule {
            ordered: expected.ordered,
            allow_extra_arguments: false,
        };
        let pairing = rule.pair(&wanted, &made);
        let run = TrajectoryRun {
            expected: &expected,
            steps: &steps,
            matched: pairing.matched,
            missing: pairing
                .missing(wanted.len())
                .into_iter()
                .take(MISSING_NAMED)
                .map(|place| names.show_expected(&wanted[place]))
                .collect(),
        };
        let rendered = made.iter().map(|call| names.show(call));
        let score = run.score();
        Ok(Score {
            normalized_prediction: rendered.collect::<Vec<_>>().into(),
            ..score
        })
    }

    /// A common expectation needs none.
    fn needs_target(&self) -> bool {
        false
    }

    fn extract(&self) -> Option<Extract> {
        Some(Extract::none().strip_think())
    }

    fn reads(&self) -> Reads {
        Reads::Calls
    }

    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        let none = Target(Json::Null);
        let target = sample.target.as_ref().unwrap_or(&none);
        self.expectation(&target.0, &sample.metadata)?;
        let own = sample.metadata.get(&self.key);
        let documents = documents::fingerprint(&sample.metadata);
        Ok(own
            .map(Json::to_string)
            .into_iter()
            .chain(documents)
            .reduce(|a, b| format!("{a} {b}")))
    }

    fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
        shares(&["required_rate", "order_rate", "efficiency"])
    }

    fn fingerprint(&self) -> String {
        let pattern = self.pattern.as_ref().map(|(text, _)| text);
        fingerprint(NAME, &json!([self.expected.to_json(), pattern, self.key]))
    }
}

/// Parses JSON inside a string, as in a cell of a CSV file.
fn inside(value: &Json) -> Cow<'_, Json> {
    let text = value
        .as_str()
        .filter(|text| text.trim_start().starts_with(['{', '[']));
    match text.and_then(|text| serde_json::from_str(text).ok()) {
        Some(value) => Cow::Owned(value),
        None => Cow::Borrowed(value),
    }
}

/// The calls of a list, or why there are none.
fn expected_calls(value: &Json) -> Result<Vec<Call>, String> {
    read::calls_or_reason(&Value::from_serde(value))
}
