//! Specs with one mistake each, made from good ones: the error starts with its position.
//!
//! `cases.txt` has the mistakes, each with a mark where the error should point. Decoys of the marked word are placed
//! before it: in a comment, the name, a prompt and a list. Each case runs three times: with every `type` first in its
//! map, in the middle and last.

use std::path::Path;

use serde_json::json;

use self::moved::{Goal, moved};
use super::{Override, parse};
use crate::eval::Eval;
use crate::eval::registry::Registry;

mod moved;

const CASES: &str = include_str!("mutations/cases.txt");
const SPECS: [(&str, &str); 6] = [
    ("block", include_str!("mutations/block.yaml")),
    ("flow", include_str!("mutations/flow.yaml")),
    ("anchors", include_str!("mutations/anchors.yaml")),
    ("bare", include_str!("mutations/bare.yaml")),
    ("openai", include_str!("mutations/openai.yaml")),
    ("http", include_str!("mutations/http.yaml")),
];
const MARK: char = '¦';

/// Whether this build has the agent of a spec.
fn can_be_made(name: &str) -> bool {
    cfg!(feature = "http") || !["openai", "http"].contains(&name)
}

fn load(text: &str) -> crate::Result<Eval> {
    parse(text, Path::new("/nowhere/s.yaml"), &Registry::new(), &[])
}

/// Keys that have no purpose but to contain `word`. In flow style they end in commas.
fn decoys(word: &str, is_flow: bool) -> String {
    let name: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
    let text = |text: String| serde_json::Value::from(text).to_string();
    let prompt = text(format!("{word}: {{prompt}}\t{word}: 1 # {word}"));
    let pattern = text(regex::escape(word));
    let lines = [
        format!("name: e-{name}"),
        format!("prompt: {{ template: {prompt} }}"),
        format!("redact: [ {pattern}, {pattern} ]"),
    ];
    let end = if is_flow { ",\n" } else { "\n" };
    let lines: String = lines.into_iter().map(|line| line + end).collect();
    format!("# {word}: {word}, '{word}', {{ {word}: 1 }}\n{lines}")
}

fn with_decoys(spec: &str, word: &str) -> String {
    let decoys = decoys(word, spec.starts_with('{'));
    spec.replacen("HEAD\n", &decoys, 1)
}

/// Line and column of a character.
fn place(text: &str, at: usize) -> String {
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    format!("{line}:{column}")
}

/// Checks the error of a spec that has a mark in it.
fn check(marked: &str, message: &str) -> Result<(), String> {
    let mark = marked.find(MARK).ok_or("no mark")?;
    let place = place(marked, mark);
    let text = marked.replacen(MARK, "", 1);
    let error = load(&text).err().ok_or("no error")?;
    let expect = format!("/nowhere/s.yaml:{place}: ");
    if error.message().starts_with(&expect) && error.message().contains(message) {
        return Ok(());
    }
    Err(format!("{error}\nexpected {expect}{message}"))
}

#[test]
fn the_good_specs_are_good() {
    for (name, spec) in SPECS.into_iter().filter(|(name, _)| can_be_made(name)) {
        for text in [spec.to_owned(), spec.replace('\n', "\r\n")] {
            let text = text.replace("HEAD\r\n", "HEAD\n");
            load(&with_decoys(&text, "word")).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        // Moving keys does not change the spec.
        let config = |text: &str| {
            let eval = load(&with_decoys(text, "word"));
            eval.unwrap_or_else(|error| panic!("{name}: {error}\n{text}"))
                .config
        };
        for goal in [Goal::Middle, Goal::Last] {
            let moved = moved(spec, goal).expect("a `type` that can be moved");
            assert_eq!(config(&moved), config(spec), "{name} {goal:?}");
        }
    }
}

#[test]
fn every_mistake_is_placed() {
    let (mut name, mut spec) = ("", "");
    let mut wrong = Vec::new();
    let mut checked = 0;
    for case in CASES.lines().filter(|line| !line.starts_with('#')) {
        if let Some(next) = case.strip_prefix("= ") {
            let found = SPECS.into_iter().find(|(name, _)| *name == next);
            (name, spec) = found.expect("a spec");
        }
        let case = case.replace("\\n", "\n");
        let Some((from, rest)) = case.split_once(" => ").filter(|_| can_be_made(name)) else {
            continue;
        };
        let (to, message) = rest.rsplit_once(" | ").expect(&case);
        assert_eq!(spec.matches(from).count(), 1, "{from}");
        let mutated = spec.replacen(from, to, 1);
        let word = to.split(MARK).nth(1).unwrap_or_default();
        let is_end = |c: char| !(c.is_alphanumeric() || c == '_');
        let word = word.trim_start_matches(is_end).split(is_end).next();
        // A mistake in a `type` itself would have another position.
        let goals = [Goal::Middle, Goal::Last].map(|goal| moved(&mutated, goal));
        let goals = goals.into_iter().flatten();
        let goals = goals.filter(|_| !message.contains("type`"));
        let texts = std::iter::once(mutated.clone()).chain(goals);
        let texts = texts.map(|text| with_decoys(&text, word.unwrap_or_default()));
        for text in texts.flat_map(|text| [text.replace('\n', "\r\n"), text]) {
            checked += 1;
            wrong.extend(
                check(&text, message)
                    .err()
                    .map(|why| format!("{from} => {to}\n{why}")),
            );
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {checked}:\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
    assert!(checked > 1000, "{checked}");
}

#[test]
fn options_of_a_user_s_own_are_placed() {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[serde(rename = "speed")]
        _speed: Option<u8>,
        list: Vec<u8>,
    }
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Mine {
        inner: Inner,
    }
    const SPEC: &str = "\
# tempo, list, inner, mine
benchmark: { type: custom, samples: [ { id: mine, prompt: 'inner: list', ground_truth: x } ] }
scorers: [ exact, { type: mine, inner: { list: [1, 2] } } ]
agent:
  type: mine
  inner:
    list: [1, 2]
";
    let read = |options: &crate::Options| options.read::<Mine>().map(|mine| mine.inner);
    let registry = Registry::new()
        .agent("mine", move |options| {
            let inner = read(options)?;
            if inner.list.is_empty() {
                return Err(crate::Error::usage("the list is empty"));
            }
            Ok(crate::agent::echo::Echo::new(None))
        })
        .scorer("mine", move |options| {
            read(options)?;
            Ok(crate::scorer::gaia::GaiaScorer)
        });
    let check = |from: &str, to: &str, message: &str| {
        let marked = SPEC.replacen(from, to, 1);
        let place = place(&marked, marked.find(MARK).unwrap());
        let text = marked.replacen(MARK, "", 1);
        let error = parse(&text, Path::new("s.yaml"), &registry, &[])
            .err()
            .unwrap();
        let expect = format!("s.yaml:{place}: {message}");
        assert!(error.message().starts_with(&expect), "{error}\n{expect}");
    };
    parse(SPEC, Path::new("s.yaml"), &registry, &[]).unwrap();
    let agent = |to: &str, message: &str| check("  inner:\n    list: [1, 2]", to, message);
    agent(
        "  inner:\n    list: [1, ¦x]",
        "agent `mine`: invalid type: string \"x\"",
    );
    agent(
        "  inner:\n    list: [1]\n    ¦tempo: 1",
        "agent `mine`: unknown field `tempo`",
    );
    agent(
        "  inner:\n    ¦speed: 1",
        "agent `mine`: missing field `list`",
    );
    agent("  ¦outer: 1", "agent `mine`: unknown field `outer`");
    agent("  inner: ¦3", "agent `mine`: invalid type: integer `3`");
    // For errors of a user's own constructor no key is known.
    check(
        "mine\n  inner:\n    list: [1, 2]",
        "¦mine\n  inner:\n    list: []",
        "the list is empty",
    );
    let scorer = |to: &str, message: &str| check("{ list: [1, 2] }", to, message);
    scorer(
        "{ list: [1, ¦300] }",
        "scorer `mine`: invalid value: integer `300`",
    );
    scorer(
        "{ list: [], ¦tempo: 1 }",
        "scorer `mine`: unknown field `tempo`",
    );
}

#[test]
fn what_the_command_line_says_has_no_place_in_the_spec() {
    const SPEC: &str = "\
benchmark: { type: custom, samples: [ { id: a, prompt: b, ground_truth: c } ] }
agent: echo
limits: { concurrency: 2 }
scorer: exact
gates: [accuracy >= 0.5]
";
    let check = |overrides: &[(&str, serde_json::Value)], expect: &str| {
        let overrides = overrides
            .iter()
            .map(|(key, value)| Override::new(*key, value.clone()));
        let overrides: Vec<_> = overrides.collect();
        let result = parse(SPEC, Path::new("s.yaml"), &Registry::new(), &overrides);
        let Err(error) = result else {
            panic!("no error: {expect}");
        };
        assert!(error.message().starts_with(expect), "{error}\n{expect}");
    };
    check(
        &[("limits.concurrency", 0.into())],
        "s.yaml: limits.concurrency must be",
    );
    check(
        &[("limits", json!({"limit": 0}))],
        "s.yaml: limits.limit must be",
    );
    check(
        &[("limits.limit", 0.into())],
        "s.yaml: limits.limit must be",
    );
    check(
        &[("scorer", "exakt".into())],
        "s.yaml: unknown scorer `exakt`",
    );
    check(
        &[("scorers", json!(["exact", "exact"]))],
        "s.yaml: two scorers are called",
    );
    check(&[("agent", "ecko".into())], "s.yaml: unknown agent `ecko`");
    check(
        &[("agent.type", "ecko".into())],
        "s.yaml: unknown agent `ecko`",
    );
    check(
        &[("agent.type", "command".into())],
        "s.yaml:2:8: agent.command is missing",
    );
    check(
        &[("gates", json!(["x"]))],
        "s.yaml with `gates=[\"x\"]`: gate `x`: ",
    );
    check(
        &[("prompt", "official".into()), ("limits.limit", 1.into())],
        "s.yaml: benchmark `custom`",
    );
    // The mistake is in the spec: the gate fails only with the dataset.
    let overrides = [Override::new("limits.limit", 1)];
    let eval = parse(SPEC, Path::new("/s.yaml"), &Registry::new(), &overrides).unwrap();
    assert_eq!(eval.gate_places, [Some("/s.yaml:5:9".to_owned())]);
    let overrides = [Override::new("gates", json!(["accuracy >= 0.5"]))];
    let eval = parse(SPEC, Path::new("/s.yaml"), &Registry::new(), &overrides).unwrap();
    assert_eq!(eval.gate_places, [None]);
}
