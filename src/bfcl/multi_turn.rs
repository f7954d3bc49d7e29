//! The multi-turn categories of the leaderboard: conversations with tools that have a state.
//!
//! The simulators of these tools, eight classes of Python, are those of the user's own package `bfcl-eval`. A program of
//! ours runs them in a sandbox without network ([`Simulators`]), as the environment of conversations and to judge them
//! ([`MultiTurnScorer`]). It evaluates nothing that an agent writes. Here a reply becomes calls as the official program
//! executes them: texts such as `cd(folder='document')`.
//!
//! Prompts, tools, messages and verdicts are those of bfcl-eval 2026.3.23; the calls of 6,948 conversations have the
//! official results, states and verdicts. Source of the calls: `default_decode_execute_prompting` and
//! `convert_to_function_call` in `bfcl_eval/model_handler/utils.py`.

mod entry;
mod package;
mod scorer;
mod simulators;

use crate::calls::decode::prompt;
use crate::calls::{CallFormat, Dict, JsonValue as _, Value};

pub(crate) use entry::{entries, samples};
pub(crate) use package::Package;
pub(crate) use scorer::{ENTRY, MultiTurnScorer};
pub(crate) use simulators::Simulators;

/// A call.
#[derive(Debug, PartialEq)]
struct Expression {
    /// As it is executed.
    text: String,
    /// Its arguments as JSON.
    arguments: String,
}

/// The calls of a step; `None` if it cannot be decoded.
fn calls(step: &Value, is_native: bool) -> Option<Vec<Expression>> {
    if is_native {
        return native(step);
    }
    let decoded = prompt(step.as_str()?, CallFormat::Python, false).ok()?;
    let mut calls = Vec::new();
    for call in decoded.as_list()?.iter().filter_map(Value::as_dict) {
        for (name, arguments) in call {
            let members = named(arguments.as_dict()?, ", ", nested)?;
            calls.push(Expression {
                text: format!("{}({members})", key(name)?),
                arguments: arguments.to_json().to_string(),
            });
        }
    }
    Some(calls)
}

/// Native calls: `{name: arguments}`, or a list of them.
fn native(step: &Value) -> Option<Vec<Expression>> {
    let items = match step {
        Value::Dict(_) => std::slice::from_ref(step),
        Value::List(items) => items,
        // Nothing is iterated over.
        Value::Str(text) if text.is_empty() => &[],
        _ => return None,
    };
    let mut calls = Vec::new();
    for call in items {
        for (name, arguments) in call.as_dict()? {
            let read = match arguments {
                Value::Str(text) => &Value::from_encoded_json(text).ok()?,
                other => other,
            };
            let members = named(read.as_dict()?, ",", |value| value.repr().ok())?;
            calls.push(Expression {
                text: format!("{}({members})", key(name)?),
                arguments: read.to_json().to_string(),
            });
        }
    }
    Some(calls)
}

/// As Python's `str(key)`.
fn key(key: &Value) -> Option<String> {
    match key {
        Value::Str(text) => Some(text.clone()),
        other => other.repr().ok(),
    }
}

fn named(
    arguments: &Dict,
    comma: &str,
    write: impl Fn(&Value) -> Option<String>,
) -> Option<String> {
    let arguments = arguments.iter();
    let arguments =
        arguments.map(|(name, value)| Some(format!("{}={}", key(name)?, write(value)?)));
    Some(arguments.collect::<Option<Vec<_>>>()?.join(comma))
}

/// A value; what consists of dicts alone is taken for a call.
fn nested(value: &Value) -> Option<String> {
    let Value::Dict(dict) = value else {
        return value.repr().ok();
    };
    if dict.iter().all(|(_, value)| value.as_dict().is_some()) {
        let (name, arguments) = dict.iter().next()?;
        return Some(format!(
            "{}({})",
            key(name)?,
            named(arguments.as_dict()?, ", ", nested)?
        ));
    }
    let members = dict.iter();
    let members =
        members.map(|(name, value)| Some(format!("'{}': {}", key(name)?, nested(value)?)));
    Some(format!(
        "{{{}}}",
        members.collect::<Option<Vec<_>>>()?.join(", ")
    ))
}

#[cfg(test)]
mod parity_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<&[&str]>) {
        let got = calls(&Value::text(text), false);
        let got = got
            .as_ref()
            .map(|calls| calls.iter().map(|call| &*call.text).collect::<Vec<_>>());
        assert_eq!(got.as_deref(), expect, "{text}");
    }

    #[test]
    fn texts_become_expressions() {
        check(
            "[cd(folder=\"it's\"), ls( a = True )]",
            Some(&["cd(folder=\"it's\")", "ls(a=True)"]),
        );
        check(
            "```\nmean(numbers=[1, 2.50, -3])\n```",
            Some(&["mean(numbers=[1, 2.5, -3])"]),
        );
        // Positional arguments vanish.
        check("sort('a.txt')", Some(&["sort()"]));
        check("f(x=g(y=1), z=g(2))", Some(&["f(x=g(y=1), z='g(2)')"]));
        check(
            "f(x={'a': 1, 'b': [2]})",
            Some(&["f(x={'a': 1, 'b': [2]})"]),
        );
        // An empty dict has no first key.
        check("f(x={})", None);
        check("f(x={'a': {}})", Some(&["f(x=a())"]));
        check("I am done.", None);
        check("[]", Some(&[]));
        check("", Some(&[]));
    }

    #[test]
    fn native_calls_become_expressions() {
        let check = |json: &str, expect: Option<&[&str]>| {
            let got = calls(&Value::from_json(json).unwrap(), true);
            let got = got
                .as_ref()
                .map(|calls| calls.iter().map(|call| &*call.text).collect::<Vec<_>>());
            assert_eq!(got.as_deref(), expect, "{json}");
        };
        check(
            r#"[{"cd": "{\"folder\": \"it's\"}"}, {"f": {"a": 1.0, "b": null}}]"#,
            Some(&["cd(folder=\"it's\")", "f(a=1.0,b=None)"]),
        );
        check(r#"[{"f": "{}"}]"#, Some(&["f()"]));
        check(r#"[{"f": "{"}]"#, None);
        check(r#"[{"f": "[]"}]"#, None);
        check(r#""done""#, None);
        check(r#""""#, Some(&[]));
        check("null", None);
        check("[]", Some(&[]));
    }
}
