//! Explains a verdict: the first difference, the options that arguments matched, and how much of the answer is right.
//! Computed on demand; the check itself does not need it.

use super::entry::{AnswerKey, Argument, Expected};
use super::kind::{Check, Language};
use super::{BfclVerdict, CheckRequest, VerdictMessage};
use crate::bfcl::checker::ast::Checker;
use crate::bfcl::checker::entry::PossibleValues;
use crate::calls::{Dict, Value};

/// Maximum number of wrong parameters listed per answer.
const MOST_WRONG: usize = 50;

/// The matches and errors of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Explanation {
    /// The option that each argument matched, for calls that match an expected call.
    pub matched: Vec<Matched>,
    /// The first difference, such as ``"`unit`: got `kelvin`, accepted `celsius` or nothing"``.
    pub difference: Option<String>,
    /// Partial credit of a wrong answer; `None` for a right one, or if no calls are expected.
    pub partial: Option<Partial>,
}

/// An argument that matched an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matched {
    /// Index of the call in the answer.
    pub call: usize,
    /// Name of the argument.
    pub argument: String,
    /// Index of the option in the ground truth.
    pub option: usize,
}

/// Partial credit of a wrong answer.
///
/// Each expected call takes the first unused call that fits it; then each unmatched expected call takes the first
/// unused call with its name, and their parameters are compared one by one. A parameter counts as expected if it is
/// required, or optional and given. The parameters of an expected call without a counterpart are expected and missing;
/// those of a call without one are given and not expected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Partial {
    /// Calls that match an expected one.
    pub calls: Share,
    /// Parameters with an accepted value.
    pub parameters: Share,
    /// The first 50 wrong parameters of calls with a counterpart.
    pub wrong: Vec<WrongParameter>,
}

/// Number of right values, of those expected and of those given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    /// Both expected and given.
    pub right: u64,
    /// In the ground truth.
    pub expected: u64,
    /// In the answer.
    pub given: u64,
}

/// A wrong parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrongParameter {
    /// The function, by its name in the ground truth.
    pub function: String,
    /// The parameter; names invented by the model are truncated.
    pub parameter: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// Wrong value or type.
    Value,
    /// Missing.
    Missing,
    /// The function has no such parameter, or it is not expected here.
    Unexpected,
}

impl Problem {
    /// Its name in `details`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Missing => "missing",
            Self::Unexpected => "unexpected",
        }
    }
}

/// Explains the verdict on a request.
pub(crate) fn explain(request: &CheckRequest<'_>, verdict: &BfclVerdict) -> Explanation {
    let calls = verdict.decoded.as_ref().and_then(Value::as_list);
    if let Check::Irrelevance | Check::Relevance = Check::of_category(request.category) {
        return Explanation {
            difference: (!verdict.valid).then(|| match calls.unwrap_or_default().len() {
                0 => "a call was expected, the answer has none".to_owned(),
                1 => "no call was expected, the answer has one".to_owned(),
                count => format!("no call was expected, the answer has {count}"),
            }),
            ..Explanation::default()
        };
    }
    let explainer = Explainer {
        entry: request.entry,
        fits: &verdict.fits,
        checker: Checker {
            entry: request.entry,
            language: Language::of_category(request.category),
            underscore_to_dot: request.underscore_to_dot,
        },
    };
    if verdict.valid {
        return explainer.right(calls.unwrap_or_default());
    }
    let mut explanation = explainer.wrong(calls.unwrap_or_default());
    if calls.is_none() {
        explanation.difference = Some("the answer has no readable calls".to_owned());
    } else if explanation.difference.is_none() {
        // Nothing can be compared: the entry is faulty, or the official program crashes.
        explanation.difference = verdict.error.iter().find_map(|message| match message {
            VerdictMessage::Text(text) => Some(text.clone()),
            VerdictMessage::Attempt(_) => None,
        });
    }
    explanation
}

struct Explainer<'a> {
    entry: &'a AnswerKey,
    /// Matches found by the check.
    fits: &'a [Option<usize>],
    checker: Checker<'a>,
}

impl Explainer<'_> {
    fn right(&self, calls: &[Value]) -> Explanation {
        let mut remaining: Vec<usize> = (0..calls.len()).collect();
        let mut matched = Vec::new();
        for (number, expected) in self.entry.expected.iter().enumerate() {
            // The last remaining call needs no check.
            let found = match *remaining {
                [only] => Some(only),
                _ => self.fitting(calls, &remaining, number),
            };
            if let Some(place) = found {
                remaining.retain(|&other| other != place);
                self.matched(place, calls, expected, &mut matched);
            }
        }
        Explanation {
            matched,
            ..Explanation::default()
        }
    }

    fn wrong(&self, calls: &[Value]) -> Explanation {
        let mut remaining: Vec<usize> = (0..calls.len()).collect();
        let mut open = Vec::new();
        let mut matched = Vec::new();
        let mut partial = Partial::default();
        for (number, expected) in self.entry.expected.iter().enumerate() {
            match self.fitting(calls, &remaining, number) {
                None => open.push(expected),
                Some(place) => {
                    remaining.retain(|&other| other != place);
                    self.matched(place, calls, expected, &mut matched);
                    partial.calls.right += 1;
                    let count = count(&calls[place]);
                    partial.parameters.right += count;
                    partial.parameters.expected += count;
                }
            }
        }
        partial.calls.expected = self.entry.expected.len() as u64;
        partial.calls.given = calls.len() as u64;
        partial.parameters.given = calls.iter().map(count).sum();
        let mut difference = None;
        for expected in open {
            let name = self.checker.expected_name(&expected.name);
            let of_name = |&place: &usize| arguments_of(&calls[place], &name).is_some();
            let found = remaining
                .iter()
                .position(of_name)
                .map(|position| remaining.remove(position));
            let arguments = found.and_then(|place| arguments_of(&calls[place], &name));
            let reason =
                arguments.and_then(|arguments| self.compare(expected, arguments, &mut partial));
            if arguments.is_none() {
                let must = expected
                    .arguments
                    .iter()
                    .filter(|argument| !argument.options.optional);
                partial.parameters.expected += must.count() as u64;
            }
            if difference.is_none() {
                let names = || {
                    remaining
                        .iter()
                        .filter_map(|&place| name_of(&calls[place]))
                        .collect::<Vec<_>>()
                };
                difference = reason.or_else(|| match (arguments, &*names()) {
                    (Some(_), _) => None,
                    (None, []) => Some(format!("no call of `{name}`")),
                    (None, names) => Some(format!("no call of `{name}`, but of {}", listed(names))),
                });
            }
        }
        let (got, wanted) = (calls.len(), self.entry.expected.len());
        if got != wanted && got > 0 {
            let calls = if got == 1 { "call" } else { "calls" };
            let count = format!("{got} {calls}, expected {wanted}");
            difference = Some(match difference {
                None => count,
                Some(difference) => format!("{count}; {difference}"),
            });
        }
        Explanation {
            matched,
            difference,
            partial: Some(partial),
        }
    }

    /// The first unused call that matches an expected one.
    fn fitting(&self, calls: &[Value], remaining: &[usize], number: usize) -> Option<usize> {
        if let Some(&known) = self.fits.get(number) {
            return known;
        }
        let expected = &self.entry.expected[number];
        let mut remaining = remaining.iter().copied();
        remaining.find(|&place| self.checker.fits(&calls[place], expected))
    }

    /// Compares the parameters of a call that does not match. Returns the first difference in the order of the
    /// official program: missing required parameters, given ones, other missing ones.
    fn compare(
        &self,
        expected: &Expected,
        arguments: &Dict,
        partial: &mut Partial,
    ) -> Option<String> {
        let name = &expected.name;
        let required = self.checker.required(expected);
        let lacking = required.iter().find_map(|name| {
            let name = name.as_str()?;
            arguments.get_str(name).is_none().then_some(name)
        });
        let mut difference = lacking.map(|name| missing(name, expected.argument(name)));
        let mut is_reported = false;
        let mut differs = |parameter: &str, problem, describe: &dyn Fn() -> String| {
            if partial.wrong.len() < MOST_WRONG {
                partial.wrong.push(WrongParameter {
                    function: name.clone(),
                    parameter: parameter.to_owned(),
                    problem,
                });
            }
            is_reported = true;
            difference.get_or_insert_with(describe);
        };
        for (key, value) in arguments {
            let Some(argument) = key.as_str().and_then(|key| expected.argument(key)) else {
                let key = display(key);
                differs(&key, Problem::Unexpected, &|| {
                    format!("`{key}`: is not an argument of `{name}` here")
                });
                continue;
            };
            partial.parameters.expected += 1;
            if self.checker.accepts(expected, argument, value) {
                partial.parameters.right += 1;
            } else {
                differs(&argument.name, Problem::Value, &|| {
                    self.refused(argument, value)
                });
            }
        }
        let omitted = expected.arguments.iter().filter(|argument| {
            !argument.options.optional && arguments.get_str(&argument.name).is_none()
        });
        for argument in omitted {
            partial.parameters.expected += 1;
            differs(&argument.name, Problem::Missing, &|| {
                missing(&argument.name, Some(argument))
            });
        }
        if let Some(name) = lacking.filter(|_| !is_reported) {
            // Optional in the ground truth but required by the function's document.
            partial.parameters.expected += 1;
            partial.wrong.push(WrongParameter {
                function: expected.name.clone(),
                parameter: name.to_owned(),
                problem: Problem::Missing,
            });
        }
        difference
    }

    fn refused(&self, argument: &Argument, value: &Value) -> String {
        let (name, got, accepted) = (&argument.name, display(value), accepted(&argument.options));
        // Values of the other languages are converted to texts before comparison.
        let is_python = self.checker.language == Language::Python;
        match kinds(value, argument).filter(|_| is_python) {
            None => format!("`{name}`: got `{got}`, accepted {accepted}"),
            Some((is, wanted)) => {
                format!("`{name}`: got `{got}` ({is}), accepted {accepted} ({wanted})")
            }
        }
    }

    fn matched(
        &self,
        call: usize,
        calls: &[Value],
        expected: &Expected,
        matched: &mut Vec<Matched>,
    ) {
        let name = self.checker.expected_name(&expected.name);
        let arguments = arguments_of(&calls[call], &name);
        for (key, value) in arguments.map(Dict::iter).into_iter().flatten() {
            let Some(argument) = key.as_str().and_then(|key| expected.argument(key)) else {
                continue;
            };
            // The call matches, so the only option, or the first equal one, is it.
            let option = match &*argument.options.values {
                [_] => Some(0),
                [first, ..] if first == value => Some(0),
                _ => self.checker.option_of(expected, argument, value),
            };
            matched.extend(option.map(|option| Matched {
                call,
                argument: argument.name.clone(),
                option,
            }));
        }
    }
}

/// Text for a missing parameter: the accepted values, unless it is optional in the ground truth.
fn missing(name: &str, argument: Option<&Argument>) -> String {
    match argument.filter(|argument| !argument.options.optional) {
        Some(argument) => {
            let accepted = accepted(&argument.options);
            format!("`{name}`: is missing, accepted {accepted}")
        }
        None => format!("`{name}`: is missing, and required"),
    }
}

/// How many arguments a call has.
fn count(call: &Value) -> u64 {
    let arguments = call
        .as_dict()
        .and_then(|call| call.iter().next()?.1.as_dict());
    arguments.map_or(0, |arguments| arguments.iter().count() as u64)
}

fn name_of(call: &Value) -> Option<String> {
    let (name, _) = call.as_dict()?.iter().next()?;
    Some(display(name))
}

fn arguments_of<'a>(call: &'a Value, name: &str) -> Option<&'a Dict> {
    call.as_dict()?.get_str(name)?.as_dict()
}

/// Maximum number of values listed.
const LISTED: usize = 8;

/// `a`, `b` or nothing.
fn accepted(options: &PossibleValues) -> String {
    let values = options.values.iter();
    let mut texts: Vec<String> = values
        .filter(|option| !option.is_empty_text())
        .take(LISTED + 1)
        .map(|option| format!("`{}`", display(option)))
        .collect();
    if texts.len() > LISTED {
        texts.truncate(LISTED);
        texts.push("others".to_owned());
    }
    if options.optional || texts.is_empty() {
        texts.push("nothing".to_owned());
    }
    joined(&texts, "or")
}

/// `a`, `b` and `c`.
fn listed(texts: &[String]) -> String {
    let mut names: Vec<String> = texts
        .iter()
        .take(LISTED)
        .map(|text| format!("`{text}`"))
        .collect();
    if texts.len() > LISTED {
        names.push(format!("{} more", texts.len() - LISTED));
    }
    joined(&names, "and")
}

fn joined(texts: &[String], word: &str) -> String {
    match texts {
        [] => String::new(),
        [text] => text.clone(),
        [start @ .., last] => format!("{} {word} {last}", start.join(", ")),
    }
}

/// The types of a value and of its argument, if they differ: `("text", "integer")`.
fn kinds(value: &Value, argument: &Argument) -> Option<(&'static str, &'static str)> {
    let mut options = argument.options.values.iter();
    let option = options.find(|option| !option.is_empty_text())?;
    let (got, wanted) = (kind(value), kind(option));
    (got != wanted).then_some((got, wanted))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::None => "null",
        Value::Bool(_) => "boolean",
        Value::Int(_) => "integer",
        Value::Float(_) => "float",
        Value::Str(_) => "text",
        Value::List(_) => "list",
        Value::Tuple(_) => "tuple",
        Value::Dict(_) => "dictionary",
        _ => "something else",
    }
}

/// A text as it is, other values in Python syntax; long ones are truncated.
fn display(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = match value {
        Value::Str(text) => text.clone(),
        other => other.repr().unwrap_or_else(|_| "a huge number".to_owned()),
    };
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some(_) => text.chars().take(LONGEST - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests;
