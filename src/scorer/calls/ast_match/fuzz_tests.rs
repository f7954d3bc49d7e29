//! Properties of every verdict.

use serde_json::{Value, json};

use super::*;
use crate::calls::{JsonValue as _, Value as Python};
use crate::scorer::tests::check::scorer;
use crate::tests::fuzz::{Dice, fuzz};

/// A generated call: its name and its arguments.
type Plan = (String, Vec<(String, Python)>);

fn value(dice: &mut Dice, depth: usize) -> Python {
    match dice.below(if depth == 0 { 6 } else { 8 }) {
        0 => Python::None,
        1 => Python::Bool(dice.below(2) > 0),
        2 => Python::from(i64::try_from(dice.below(9)).unwrap() - 4),
        3 => Python::Float([0.5, -2.25, 1e300, 1e-7, 3.0][dice.below(5)]),
        4 => Python::from(dice.pick(&[
            "", "a", "it's", "\"q\"", "é\n", "]})", "f(a=1)", "1", "null", "\0", "```",
        ])),
        5 => Python::text(dice.text(&["a", "'", "\"", "\\", "(", " ", "😀", "#"], 5)),
        6 => Python::List((0..dice.below(4)).map(|_| value(dice, depth - 1)).collect()),
        _ => {
            let keys = ["a", "b c", "'"];
            let entries =
                (0..dice.below(4)).map(|_| (dice.pick(&keys).into(), value(dice, depth - 1)));
            Python::Dict(entries.collect())
        }
    }
}

fn plan(dice: &mut Dice, most: usize) -> Vec<Plan> {
    let call = |dice: &mut Dice| {
        let name = dice.pick(&["f", "g.h", "find_it"]).to_owned();
        let mut arguments: Vec<(String, Python)> = Vec::new();
        for name in ["a", "b", "c", "d"] {
            if dice.below(2) > 0 {
                // Few values, so that calls are often similar.
                let value = if dice.below(2) > 0 {
                    Python::from(1)
                } else {
                    value(dice, 2)
                };
                arguments.push((name.to_owned(), value));
            }
        }
        (name, arguments)
    };
    (0..dice.below(most + 1)).map(|_| call(dice)).collect()
}

fn shuffle<T>(items: &mut [T], dice: &mut Dice) {
    for place in (1..items.len()).rev() {
        items.swap(place, dice.below(place + 1));
    }
}

/// A constant expression with this value.
fn spelled(value: &Python, dice: &mut Dice) -> String {
    let space = dice.pick(&["", " ", "\n", "  "]);
    match value {
        Python::Int(int) => {
            let number = int.to_i64().unwrap();
            match dice.below(4) {
                0 => format!("{}+{}", number - 3, 3),
                1 => format!("({number}){space}"),
                2 => format!("-(-({number}))"),
                _ => number.to_string(),
            }
        }
        Python::Str(text) if !text.contains(['\n', '\\', '"', '\0']) && dice.below(2) > 0 => {
            format!("\"{text}\"")
        }
        Python::List(items) => {
            let items: Vec<String> = items.iter().map(|item| spelled(item, dice)).collect();
            format!("[{space}{}]", items.join(&format!(",{space}")))
        }
        Python::Dict(dict) => {
            let mut entries: Vec<String> = dict
                .iter()
                .map(|(key, value)| {
                    format!("{}:{space}{}", key.repr().unwrap(), spelled(value, dice))
                })
                .collect();
            shuffle(&mut entries, dice);
            format!("{{{}}}", entries.join(","))
        }
        other => other.repr().unwrap(),
    }
}

/// The calls in one of several notations.
fn written(plan: &[Plan], dice: &mut Dice) -> String {
    let mut calls: Vec<(String, Value)> = plan
        .iter()
        .map(|(name, arguments)| {
            let mut arguments = arguments.clone();
            shuffle(&mut arguments, dice);
            let space = dice.pick(&["", " ", "\n"]);
            let pieces: Vec<String> = arguments
                .iter()
                .map(|(name, value)| format!("{name}{space}={}", spelled(value, dice)))
                .collect();
            let text = format!("{name}({space}{})", pieces.join(&format!(",{space}")));
            let json: Map<String, Value> = arguments
                .iter()
                .map(|(name, value)| (name.clone(), value.to_json()))
                .collect();
            let json = match dice.below(3) {
                0 => json!({"name": name, "arguments": json}),
                1 => {
                    json!({"function": {"name": name, "arguments": Value::from(json).to_string()}})
                }
                _ => json!({"tool": name, "parameters": json}),
            };
            (text, json)
        })
        .collect();
    shuffle(&mut calls, dice);
    let (texts, objects): (Vec<String>, Vec<Value>) = calls.into_iter().unzip();
    let (texts, objects) = (
        format!("[{}]", texts.join(", ")),
        Value::from(objects).to_string(),
    );
    match dice.below(6) {
        0 | 1 => texts,
        2 => objects,
        3 if plan.is_empty() => objects,
        3 => format!("<tool_call>{objects}</tool_call>"),
        4 => format!("{{\"tool_calls\": {objects}}}"),
        _ => format!("\n {texts}\t"),
    }
}

fn truth(plan: &[Plan]) -> Value {
    let calls = plan.iter().map(|(name, arguments)| {
        let arguments: Map<String, Value> = arguments
            .iter()
            .map(|(name, value)| (name.clone(), value.to_json()))
            .collect();
        json!({"name": name, "arguments": arguments})
    });
    calls.collect()
}

fn metric(score: &Score, name: &str) -> f64 {
    score.details.get(name).and_then(Value::as_f64).unwrap()
}

#[test]
fn calls_equal_themselves_in_any_order_and_spelling() {
    let scorer = AstMatch {
        partial_credit: true,
        ..AstMatch::default()
    };
    fuzz(|dice| {
        let plan = plan(dice, 4);
        let text = written(&plan, dice);
        let target = Target(truth(&plan));
        let score = scorer.score(&Answer::new(&*text, &target)).unwrap();
        assert!(score.correct, "{text}\n{score:?}");
        for name in [
            "ast_match_rate",
            "parameter_accuracy",
            "precision",
            "recall",
            "f1",
        ] {
            assert!((metric(&score, name) - 1.0).abs() < 1e-12, "{name} {text}");
        }
        // And so do the compared texts.
        let rendered = match &score.normalized_ground_truth {
            crate::data::Normalized::List(calls) => {
                Target(format!("[{}]", calls.join(", ")).into())
            }
            other => panic!("{other:?}"),
        };
        assert!(
            scorer
                .score(&Answer::new(&*text, &rendered))
                .unwrap()
                .correct,
            "{text}\n{rendered:?}"
        );
    });
}

#[test]
fn sides_can_be_swapped_and_pairs_are_at_least_those_taken_in_turn() {
    fuzz(|dice| {
        let scorer = AstMatch {
            partial_credit: true,
            ordered: dice.below(2) > 0,
            types: [Types::Strict, Types::Numeric, Types::Lenient][dice.below(3)],
            ..AstMatch::default()
        };
        let (a, b) = (plan(dice, 4), plan(dice, 4));
        let judge = |predicted: &[Plan], expected: &[Plan]| {
            let target = Target(truth(expected));
            let predicted = truth(predicted).to_string();
            scorer.score(&Answer::new(&*predicted, &target)).unwrap()
        };
        let (one, other) = (judge(&a, &b), judge(&b, &a));
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(
            close(metric(&one, "precision"), metric(&other, "recall")),
            "{a:?} {b:?}"
        );
        assert!(
            close(metric(&one, "recall"), metric(&other, "precision")),
            "{a:?} {b:?}"
        );
        assert!(
            close(metric(&one, "f1"), metric(&other, "f1")),
            "{a:?} {b:?}"
        );
        assert!(close(one.value, other.value), "{a:?} {b:?}");
        assert_eq!(one.correct, other.correct);
        assert_eq!(one.correct, close(one.value, 1.0), "{one:?}");
        let (precision, recall) = (metric(&one, "precision"), metric(&one, "recall"));
        if precision + recall > 0.0 {
            assert!(close(
                metric(&one, "f1"),
                2.0 * precision * recall / (precision + recall)
            ));
        }
        assert!(
            one.value + 1e-9 >= in_turn(&a, &b, scorer.ordered, scorer.types),
            "{a:?} {b:?} {one:?}"
        );
    });
}

/// The value if each expected call takes the first best of the remaining ones.
fn in_turn(predicted: &[Plan], expected: &[Plan], ordered: bool, types: Types) -> f64 {
    let share = |a: &Plan, b: &Plan| {
        if a.0 != b.0 {
            return 0.0;
        }
        let equal = |(name, value): &&(String, Python)| {
            let other = b.1.iter().find(|(other, _)| other == name);
            // Both sides pass through JSON.
            other.is_some_and(|(_, other)| {
                types.canonical(&Python::from_serde(&value.to_json()))
                    == types.canonical(&Python::from_serde(&other.to_json()))
            })
        };
        let right = a.1.iter().filter(equal).count();
        let common =
            a.1.iter()
                .filter(|(name, _)| b.1.iter().any(|(other, _)| other == name))
                .count();
        pairing::ratio(right + 1, a.1.len() + b.1.len() - common + 1)
    };
    let mut remaining: Vec<usize> = (0..predicted.len()).collect();
    let mut sum = 0.0;
    for call in expected {
        let mut best: Option<(usize, f64)> = None;
        for (place, &other) in remaining.iter().enumerate() {
            let value = share(call, &predicted[other]);
            if value > best.map_or(0.0, |best| best.1) {
                best = Some((place, value));
            }
        }
        if let Some((place, value)) = best {
            sum += value;
            remaining.drain(if ordered { 0..=place } else { place..=place });
        }
    }
    match predicted.len().max(expected.len()) {
        0 => 1.0,
        longer => sum / pairing::ratio(longer, 1),
    }
}

pub(super) const PIECES: [&str; 46] = [
    "f(",
    "g.h(",
    ")",
    "a=",
    "b=",
    ",",
    "1",
    "-",
    "+",
    "'",
    "\"",
    "[",
    "]",
    "{",
    "}",
    ":",
    "\"name\":",
    "\"arguments\":",
    "\"f\"",
    "```",
    "```json\n",
    "```python\n",
    "<tool_call>",
    "</tool_call>",
    "\n",
    "\\",
    "\0",
    "null",
    "True",
    "1e999",
    "**",
    "0x",
    "lambda",
    "[TOOL_CALL:",
    "\\ud800",
    "\u{10f800}",
    "é",
    "(",
    "#",
    "f'{",
    "not ",
    "*",
    "if",
    ".",
    " ",
    "f(a=1)",
];

#[test]
fn wild_texts_get_verdicts() {
    let specs = [
        "ast_match",
        "{ type: ast_match, ordered: true, allow_extra_arguments: true, types: lenient, partial_credit: true }",
        "{ type: ast_match, pattern: '[TOOL_CALL:{name}:{args}]' }",
        "{ type: ast_match, pattern: '(?<name>\\w+)\\((?<args>[^)]*)\\)' }",
        "trajectory",
    ];
    let scorers = specs.map(scorer);
    let target = Target(json!([{"name": "f", "arguments": {"a": 1, "b": ["x"]}}, "f(a=1)"]));
    fuzz(|dice| {
        let text = if dice.below(2) > 0 {
            dice.wild(&PIECES)
        } else {
            dice.text(&PIECES, 30)
        };
        let output: crate::Output = serde_json::from_value(json!({
            "tool_calls": if dice.below(4) == 0 { vec![dice.json(&PIECES, 3)] } else { vec![] },
            "messages": if dice.below(4) == 0 { vec![dice.json(&PIECES, 3)] } else { vec![] },
        }))
        .unwrap();
        for scorer in &scorers {
            let score = scorer
                .score(&Answer::new(&*text, &target).output(&output))
                .unwrap();
            assert!((0.0..=1.0).contains(&score.value), "{text:?} {score:?}");
            assert!(score.value >= 1.0 || !score.correct, "{text:?} {score:?}");
        }
        // As a ground truth it is read or rejected.
        let target = Target(text.clone().into());
        let _ = scorers[0].score(&Answer::new(&*text, &target));
        let _ = scorers[4].score(&Answer::new(&*text, &target));
    });
}
