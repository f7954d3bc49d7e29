//! `ast_match`: compares tool calls with the expected ones.

mod canonical;
pub(in crate::scorer) mod documents;
mod known;
mod pairing;
mod verdict;

#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::super::options::fingerprint;
use super::super::{Answer, Entry, Example, OptionReader, Reads, Scorer, shares};
use crate::calls::read::{self, Call, FoundCalls, Pattern, TooComplex};
use crate::calls::{JsonValue as _, Value};
use crate::data::{Sample, Score, Target};
use crate::error::{Error, Result};
use crate::scorer::extract::Extract;
pub use canonical::Types;
pub(in crate::scorer) use known::{Interner, Made};
pub(in crate::scorer) use pairing::Rule;
use verdict::CallVerdict;

const NAME: &str = "ast_match";

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "tool calls, equal to the expected ones in any form and order",
    rule: include_str!("ast_match.md"),
    options: &[
        (
            "ordered",
            "whether the order of calls counts; false by default",
        ),
        (
            "allow_extra_arguments",
            "whether calls may have arguments that are not expected; false by default",
        ),
        (
            "types",
            "`strict`: `1` is neither `1.0` nor `\"1\"`; `numeric`, the default: `1` is `1.0`; `lenient`: also `\"1\"`",
        ),
        (
            "found",
            "`exact`, the default: no call is left over; `all`: the expected calls are among those made",
        ),
        (
            "partial_credit",
            "whether `value` is the share of calls and arguments that are right; false by default, for 1 or 0",
        ),
        (
            "pattern",
            "how the agent writes a call in its text: `[TOOL_CALL:{name}:{args}]`, or a regular expression with the \
             groups `name` and `args`",
        ),
        (
            "accepted",
            "whether each expected argument is a list of accepted values, as the leaderboard's data has it; true by \
             default for samples of benchmark `bfcl` alone",
        ),
    ],
    examples: &[
        Example {
            options: "",
            prediction: "[search(limit=2+3, query=\"cats\")]",
            ground_truth: r#"[{"name": "search", "arguments": {"query": "cats", "limit": 5}}]"#,
            correct: true,
            note: "arguments in any order, quotes of any kind, constants evaluated",
        },
        Example {
            options: "",
            prediction: "I will look twice:\n```json\n[{\"name\": \"b\", \"arguments\": {}}, {\"name\": \"a\", \"arguments\": {\"x\": 1.0}}]\n```",
            ground_truth: "[a(x=1), b()]",
            correct: true,
            note: "JSON in a fence; a ground truth in call text; calls in any order",
        },
        Example {
            options: "ordered: true",
            prediction: "[b(), a(x=1)]",
            ground_truth: "[a(x=1), b()]",
            correct: false,
            note: "the order counts",
        },
        Example {
            options: "found: all",
            prediction: "[log(), a(x=1), b()]",
            ground_truth: "[a(x=1), b()]",
            correct: true,
            note: "`log` is called as well; `name_precision` is 0.67, `name_recall` 1",
        },
        Example {
            options: "{ types: lenient, allow_extra_arguments: true }",
            prediction: "Sure, f(a='1', note='mine') does it.",
            ground_truth: r#"{"f": {"a": 1}}"#,
            correct: true,
            note: "`\"1\"` for `1`, and an argument more, in prose",
        },
        Example {
            options: "{ pattern: '[TOOL_CALL:{name}:{args}]', partial_credit: true }",
            prediction: "[TOOL_CALL:get_weather:city=New York, days=3]",
            ground_truth: r#"[{"name": "get_weather", "arguments": {"city": "New York", "days": 2}}]"#,
            correct: false,
            note: "value 0.67: the name and one of two arguments are right",
        },
    ],
    make: |options| Ok(Arc::new(AstMatch::read(options)?)),
};

/// Which of the calls must match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallsToFind {
    /// Exactly the expected calls.
    #[default]
    Exact,
    /// All expected calls; others may be made too, unless no call is expected.
    All,
}

/// Scores tool calls.
///
#[doc = include_str!("ast_match.md")]
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AstMatch {
    /// Whether the order of calls counts.
    pub ordered: bool,
    /// Whether calls may have unexpected arguments.
    pub allow_extra_arguments: bool,
    /// How strictly types are compared.
    pub types: Types,
    /// Whether unexpected calls are allowed.
    pub found: CallsToFind,
    /// Whether `value` is the share that is right.
    pub partial_credit: bool,
    /// Whether expected arguments are lists of accepted values; `None` decides by the sample.
    pub accepted: Option<bool>,
    pattern: Option<(String, Pattern)>,
}

impl AstMatch {
    fn read(options: &OptionReader<'_>) -> Result<Self> {
        let types = options.word("types", &["strict", "numeric", "lenient"])?;
        let scorer = Self {
            ordered: options.flag("ordered")?,
            allow_extra_arguments: options.flag("allow_extra_arguments")?,
            types: match types {
                Some("strict") => Types::Strict,
                Some("lenient") => Types::Lenient,
                _ => Types::Numeric,
            },
            found: match options.word("found", &["exact", "all"])? {
                Some("all") => CallsToFind::All,
                _ => CallsToFind::Exact,
            },
            partial_credit: options.flag("partial_credit")?,
            accepted: options.read("accepted", "true or false", Json::as_bool)?,
            pattern: None,
        };
        match options.text("pattern")? {
            None => Ok(scorer),
            Some(pattern) => scorer
                .pattern(pattern)
                .map_err(|error| options.of("pattern", error)),
        }
    }

    /// The syntax of calls in text: `[TOOL_CALL:{name}:{args}]`, or a regular expression with the groups `name` and
    /// `args`.
    ///
    /// # Errors
    /// When it is neither.
    pub fn pattern(self, pattern: &str) -> Result<Self> {
        let compiled = Pattern::parse(pattern)?;
        Ok(Self {
            pattern: Some((pattern.to_owned(), compiled)),
            ..self
        })
    }

    /// The calls of an answer and their form; `None` if it has none.
    fn calls(&self, answer: &Answer<'_>) -> Result<Option<FoundCalls>, TooComplex> {
        if !answer.output.tool_calls.is_empty() {
            return Ok(Some(FoundCalls {
                calls: read::native(answer.output),
                form: "tool_calls",
            }));
        }
        let mut none = None;
        if let Some(text) = answer.prediction {
            let found = match &self.pattern {
                None => read::find(text)?,
                Some((_, pattern)) => Some(pattern.find(text)?)
                    .filter(|calls| !calls.is_empty())
                    .map(|calls| FoundCalls {
                        calls,
                        form: "pattern",
                    }),
            };
            // A text that says `[]` made no calls itself.
            if found.as_ref().is_some_and(|found| !found.calls.is_empty()) {
                return Ok(found);
            }
            none = found;
        }
        let pattern = self.pattern.as_ref().map(|(_, pattern)| pattern);
        let calls = read::trajectory(answer.output, pattern)?.concat();
        if calls.is_empty() {
            return Ok(none);
        }
        Ok(Some(FoundCalls {
            calls,
            form: "messages",
        }))
    }

    /// Whether expected arguments are lists of accepted values.
    fn is_accepted(&self, metadata: &Map<String, Json>, expected: &[Call]) -> bool {
        let are_lists = |call: &Call| {
            let mut values = call.named.iter().map(|(_, value)| value);
            call.positional.is_empty() && values.all(|value| value.as_list().is_some())
        };
        self.accepted.unwrap_or_else(|| {
            metadata.contains_key("category")
                && metadata.contains_key("function")
                && expected.iter().all(are_lists)
        })
    }
}

/// The expected calls.
fn expected(target: &Target) -> Result<Vec<Call>> {
    read::calls_or_reason(&Value::from_serde(&target.0)).map_err(|reason| {
        Error::usage(format!("`ground_truth` {reason}, as scorer `{NAME}` needs it")).hint(
            "write a list of calls: `[{\"name\": \"f\", \"arguments\": {\"a\": 1}}]`, `[{\"f\": {\"a\": 1}}]` or \"f(a=1)\"",
        )
    })
}

impl Scorer for AstMatch {
    fn name(&self) -> &'static str {
        NAME
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let expected = expected(answer.target)?;
        let mut names = Interner::new(self.types, documents::parameters(answer.metadata));
        names.learn(&expected);
        let is_accepted = self.is_accepted(answer.metadata, &expected);
        let wanted = expected
            .iter()
            .map(|call| names.expected(call, is_accepted))
            .collect::<Result<Vec<_>>>()?;
        let found = self.calls(answer);
        let mut made = Vec::new();
        if let Ok(Some(found)) = &found {
            let dotted = documents::dotted(&expected, answer.metadata);
            for call in &found.calls {
                // Native call interfaces allow no dots in names.
                let name = dotted
                    .get(call.name.as_str())
                    .filter(|_| found.form == "tool_calls");
                made.push(match name {
                    Some(name) => names.made(&Call {
                        name: name.clone(),
                        ..call.clone()
                    }),
                    None => names.made(call),
                });
            }
        }
        let rule = Rule {
            ordered: self.ordered,
            allow_extra_arguments: self.allow_extra_arguments,
        };
        let verdict = CallVerdict {
            names: &names,
            expected: &wanted,
            made: &made,
            rule,
            pairing: rule.pair(&wanted, &made),
            may_be_more: self.found == CallsToFind::All,
            found: found
                .as_ref()
                .map(|found| found.as_ref().map(|found| found.form)),
            has_answer: answer.prediction.is_some() || !made.is_empty(),
        };
        Ok(verdict.score(self.partial_credit))
    }

    /// Calls may be anywhere except in the model's reasoning.
    fn extract(&self) -> Option<Extract> {
        Some(Extract::none().strip_think())
    }

    fn reads(&self) -> Reads {
        Reads::Calls
    }

    /// The function documents give the names of positional arguments.
    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        if let Some(target) = &sample.target {
            let calls = expected(target)?;
            let mut names = Interner::default();
            let is_accepted = self.is_accepted(&sample.metadata, &calls);
            for call in &calls {
                names.expected(call, is_accepted)?;
            }
        }
        Ok(documents::fingerprint(&sample.metadata))
    }

    fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
        shares(&[
            "ast_match_rate",
            "parameter_accuracy",
            "precision",
            "recall",
            "f1",
            "name_precision",
            "name_recall",
            "name_f1",
        ])
    }

    fn fingerprint(&self) -> String {
        #[derive(Serialize)]
        struct Options<'a> {
            ordered: bool,
            allow_extra_arguments: bool,
            types: Types,
            // Omitted by default, so that the fingerprint and its baselines stay comparable.
            #[serde(skip_serializing_if = "Option::is_none")]
            found: Option<CallsToFind>,
            partial_credit: bool,
            accepted: Option<bool>,
            pattern: Option<&'a str>,
        }
        let options = Options {
            ordered: self.ordered,
            allow_extra_arguments: self.allow_extra_arguments,
            types: self.types,
            found: Some(self.found).filter(|found| *found != CallsToFind::Exact),
            partial_credit: self.partial_credit,
            accepted: self.accepted,
            pattern: self.pattern.as_ref().map(|(text, _)| text.as_str()),
        };
        fingerprint(NAME, &options)
    }
}
