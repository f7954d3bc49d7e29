//! A verdict in words that a person understands, and which options an answer met. Made on demand: the check
//! itself does not need it.

use super::checker::Checker;
use super::entry::{Argument, Entry, Expected};
use super::kind::Language;
use super::value::{Dict, Value};
use super::{Request, Verdict};

/// What an answer met, and where it first went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The option that each argument met, for the calls that fit an expected call.
    pub matched: Vec<Matched>,
    /// The first difference, such as ``"`unit`: got `kelvin`, accepted `celsius` or nothing"``.
    pub difference: Option<String>,
}

/// An argument that met an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    /// Place of the call in the answer.
    pub call: usize,
    /// Name of the argument.
    pub argument: String,
    /// Place of the option in the ground truth.
    pub option: usize,
}

/// Explains the verdict on a request.
pub fn explain(request: &Request<'_>, verdict: &Verdict) -> Explanation {
    let entry = request.entry;
    let Some(calls) = verdict.decoded.as_ref().and_then(Value::as_list) else {
        let reason = "the answer holds no calls that can be read";
        return Explanation {
            matched: Vec::new(),
            difference: (!verdict.valid).then(|| reason.to_owned()),
        };
    };
    if request.category.contains("relevance") {
        let reason = match calls.len() {
            0 => "a call was expected, the answer has none".to_owned(),
            count => format!("no call was expected, the answer has {count}"),
        };
        return Explanation {
            matched: Vec::new(),
            difference: (!verdict.valid).then_some(reason),
        };
    }
    let explainer = Explainer {
        entry,
        checker: Checker {
            entry,
            language: Language::of_category(request.category),
            underscore_to_dot: request.underscore_to_dot,
        },
    };
    explainer.explain(calls, verdict.valid)
}

struct Explainer<'a> {
    entry: &'a Entry,
    checker: Checker<'a>,
}

impl Explainer<'_> {
    fn explain(&self, calls: &[Value], valid: bool) -> Explanation {
        let mut explanation = Explanation::default();
        let mut left: Vec<usize> = (0..calls.len()).collect();
        for expected in &self.entry.expected {
            let fits = |&place: &usize| self.checker.fits(&calls[place], expected);
            let Some(position) = left.iter().position(fits) else {
                if explanation.difference.is_none() {
                    explanation.difference = Some(self.difference(calls, &left, expected));
                }
                continue;
            };
            let place = left.remove(position);
            explanation
                .matched
                .extend(self.matched(place, &calls[place], expected));
        }
        let (got, wanted) = (calls.len(), self.entry.expected.len());
        explanation.difference = match explanation.difference {
            _ if valid => None,
            None if got != wanted => Some(format!("{got} calls, expected {wanted}")),
            difference => difference,
        };
        explanation
    }

    /// The call of the expected name is the one to compare with, else there is none.
    fn difference(&self, calls: &[Value], left: &[usize], expected: &Expected) -> String {
        let name = self.checker.expected_name(&expected.name);
        let arguments = left
            .iter()
            .find_map(|&place| arguments_of(&calls[place], &name));
        let Some(arguments) = arguments else {
            let names: Vec<String> = left
                .iter()
                .filter_map(|&place| name_of(&calls[place]))
                .collect();
            return match &*names {
                [] => format!("no call of `{name}`"),
                names => format!("no call of `{name}`, but of {}", listed(names, "and")),
            };
        };
        for (key, value) in arguments {
            let Some(argument) = key.as_str().and_then(|key| expected.argument(key)) else {
                return format!("`{}`: is no argument of `{name}` here", shown(key));
            };
            if !self.checker.accepts(expected, argument, value) {
                let accepted = accepted(argument);
                return format!(
                    "`{}`: got `{}`, accepted {accepted}",
                    argument.name,
                    shown(value)
                );
            }
        }
        let missing = expected.arguments.iter().find(|argument| {
            !argument.options.optional && arguments.get_str(&argument.name).is_none()
        });
        match missing {
            Some(argument) => format!(
                "`{}`: is missing, accepted {}",
                argument.name,
                accepted(argument)
            ),
            None => format!("`{name}` was called once too often or lacks a required argument"),
        }
    }

    fn matched(&self, call: usize, value: &Value, expected: &Expected) -> Vec<Matched> {
        let name = self.checker.expected_name(&expected.name);
        let arguments = arguments_of(value, &name)
            .map(Dict::iter)
            .into_iter()
            .flatten();
        let matched = arguments.filter_map(|(key, value)| {
            let argument = expected.argument(key.as_str()?)?;
            let option = self.checker.option_of(expected, argument, value)?;
            Some(Matched {
                call,
                argument: argument.name.clone(),
                option,
            })
        });
        matched.collect()
    }
}

fn name_of(call: &Value) -> Option<String> {
    let (name, _) = call.as_dict()?.iter().next()?;
    Some(shown(name))
}

fn arguments_of<'a>(call: &'a Value, name: &str) -> Option<&'a Dict> {
    call.as_dict()?.get_str(name)?.as_dict()
}

/// `a`, `b` or nothing.
fn accepted(argument: &Argument) -> String {
    let options = argument
        .options
        .values
        .iter()
        .filter(|option| !option.is_empty_text());
    let mut texts: Vec<String> = options.map(shown).collect();
    let nothing = argument.options.optional.then_some("nothing");
    match (&*texts, nothing) {
        ([], _) => "nothing".to_owned(),
        (_, None) => listed(&texts, "or"),
        (_, Some(nothing)) => {
            let last = texts.pop().unwrap_or_default();
            texts.push(format!("{last}` or {nothing}"));
            format!("`{}", texts.join("`, `"))
        }
    }
}

fn listed(texts: &[String], word: &str) -> String {
    match texts {
        [] => String::new(),
        [text] => format!("`{text}`"),
        [start @ .., last] => {
            let start: Vec<String> = start.iter().map(|text| format!("`{text}`")).collect();
            format!("{} {word} `{last}`", start.join(", "))
        }
    }
}

/// A text as it is, any other value as Python writes it; long ones cut.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = match value {
        Value::Str(text) => text.clone(),
        other => other.repr().unwrap_or_else(|_| "a huge number".to_owned()),
    };
    if text.chars().count() <= LONGEST {
        return text;
    }
    let start: String = text.chars().take(LONGEST - 1).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorer::bfcl::{Answer, check};

    fn explained(category: &str, answer: &str) -> Explanation {
        let functions = r#"[{"name": "weather.get", "parameters": {"required": ["city"], "properties": {
            "city": {"type": "string"}, "unit": {"type": "string"}, "days": {"type": "integer"}
        }}}]"#;
        let call = r#"{"weather.get": {"city": ["Rome", "Roma"], "unit": ["celsius", "c", ""], "days": [3]}}"#;
        let ground_truth = match category {
            "parallel" => {
                format!(r#"[{call}, {{"weather.get": {{"city": ["Oslo"], "days": [1, ""]}}}}]"#)
            }
            _ => format!("[{call}]"),
        };
        let read = |text: &str| Value::from_json(text).unwrap();
        let entry = Entry::new(&read(functions), Some(&read(&ground_truth))).unwrap();
        let answer = Value::from(answer);
        let request = Request::new(&entry, category, Answer::Prompt(&answer));
        explain(&request, &check(&request))
    }

    #[test]
    fn differences() {
        fn check(category: &str, answer: &str, expect: Option<&str>) {
            let got = explained(category, answer).difference;
            assert_eq!(got.as_deref(), expect, "{answer}");
        }
        let simple = |answer, expect| check("simple_python", answer, expect);
        simple("weather.get(city='rome', days=3)", None);
        simple(
            "weather.get(city='Rome', days=3, unit='kelvin')",
            Some("`unit`: got `kelvin`, accepted `celsius`, `c` or nothing"),
        );
        simple(
            "weather.get(city='Oslo', days=3)",
            Some("`city`: got `Oslo`, accepted `Rome` or `Roma`"),
        );
        simple(
            "weather.get(city='Rome', days='3')",
            Some("`days`: got `3`, accepted `3`"),
        );
        simple(
            "weather.get(city='Rome')",
            Some("`days`: is missing, accepted `3`"),
        );
        simple(
            "weather.get(city='Rome', day=3)",
            Some("`day`: is no argument of `weather.get` here"),
        );
        simple(
            "news.get()",
            Some("no call of `weather.get`, but of `news.get`"),
        );
        simple("[]", Some("no call of `weather.get`"));
        simple("Sunny.", Some("the answer holds no calls that can be read"));
        check(
            "parallel",
            "weather.get(city='Oslo'), weather.get(city='Roma', days=3)",
            None,
        );
        check(
            "parallel",
            "weather.get(city='Roma', days=3), weather.get(city='Bern')",
            Some("`city`: got `Bern`, accepted `Oslo`"),
        );
        check(
            "live_irrelevance",
            "f(a=1)",
            Some("no call was expected, the answer has 1"),
        );
        check(
            "live_relevance",
            "[]",
            Some("a call was expected, the answer has none"),
        );
    }

    #[test]
    fn options_met() {
        let explanation = explained(
            "parallel",
            "weather.get(city='Oslo'), weather.get(city='roma', days=3)",
        );
        let matched: Vec<(usize, &str, usize)> = explanation
            .matched
            .iter()
            .map(|matched| (matched.call, &*matched.argument, matched.option))
            .collect();
        assert_eq!(matched, [(1, "city", 1), (1, "days", 0), (0, "city", 0)]);
    }
}
