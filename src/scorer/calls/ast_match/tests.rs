use serde_json::{Value, json};

use super::*;
use crate::data::Output;
use crate::scorer::tests::check::{check_all, refusal, scorer};

/// Checks prediction, ground truth, value and reason.
fn check(spec: &str, cases: &[(&str, Value, f64, &str)]) {
    for (prediction, truth, value, reason) in cases {
        let correct = *reason == "exact_match";
        check_all(
            spec,
            &[(prediction, truth.clone(), correct, *value, reason)],
        );
    }
}

fn score(spec: &str, prediction: &str, truth: Value) -> Score {
    let target = Target(truth);
    scorer(spec)
        .score(&Answer::new(prediction, &target))
        .unwrap()
}

#[test]
fn names_and_arguments_count_and_their_spelling_does_not() {
    let truth = json!([{"name": "f", "arguments": {"a": 5, "b": "x y"}}]);
    let right = [
        "f(a=5, b='x y')",
        "[ f( b = \"x y\" , a = 2+3 ) ]",
        "f(5, 'x ' 'y')",
        "f(a=5.0, b='''x y''')",
        r#"{"name": "f", "arguments": {"b": "x y", "a": 5}}"#,
        r#"[{"function": {"name": "f", "arguments": "{\"a\": 5, \"b\": \"x y\"}"}}]"#,
        "{'name': 'f', 'arguments': {'a': 5, 'b': 'x y'}}",
        r#"{"f": {"a": 5, "b": "x y"}}"#,
        "Let me see.\n```python\nf(a=5,\n  b='x y')\n```\nDone.",
        "```json\n{\"tool_calls\": [{\"name\": \"f\", \"arguments\": {\"a\": 5, \"b\": \"x y\"}}]}\n```",
        "```tool_call\nf(a=5, b='x y')\n```",
        // The same call in two notations.
        "```json\n{\"f\": {\"a\": 5, \"b\": \"x y\"}}\n```\nIn code:\n```python\nf(a=5, b='x y')\n```",
        "I call {\"f\": {\"a\": 5, \"b\": \"x y\"}}:\n```python\nf(a=5, b='x y')\n```",
        "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 5, \"b\": \"x y\"}}\n</tool_call>",
        "<tool_calls><tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 5, \"b\": \"x y\"}}</tool_call></tool_calls>",
        "I don't know (yet), so {maybe} f(a=5, b='x y') will tell me about g(x).",
        "Calling {\"name\": \"f\", \"arguments\": {\"a\": 5, \"b\": \"x y\"}} now.",
        "result = f(a=5, b='x y')\nprint = None",
    ];
    for prediction in right {
        check(
            "ast_match",
            &[(prediction, truth.clone(), 1.0, "exact_match")],
        );
    }
    check(
        "ast_match",
        &[
            ("f(a=5, b='x  y')", truth.clone(), 0.0, "wrong_arguments"),
            ("f(a=5, b='X Y')", truth.clone(), 0.0, "wrong_arguments"),
            ("f(a=5)", truth.clone(), 0.0, "wrong_arguments"),
            // In one notation it is made twice.
            (
                "```\nf(a=5, b='x y')\n```\nand\n```\nf(a=5, b='x y')\n```",
                truth.clone(),
                0.0,
                "wrong_count",
            ),
            (
                "f(a=5, b='x y', c=1)",
                truth.clone(),
                0.0,
                "wrong_arguments",
            ),
            ("F(a=5, b='x y')", truth.clone(), 0.0, "wrong_function"),
            (
                "f(a=5, b='x y'), f(a=5, b='x y')",
                truth.clone(),
                0.0,
                "wrong_count",
            ),
            ("I cannot do that.", truth.clone(), 0.0, "no_call"),
            ("[]", truth.clone(), 0.0, "no_call"),
            ("def f(a=5, b='x y'): pass", truth.clone(), 0.0, "no_call"),
            ("f(x)", json!([]), 0.0, "unexpected_call"),
            ("About f(x) and f(0).", json!([]), 1.0, "exact_match"),
            ("[]", json!([]), 1.0, "exact_match"),
        ],
    );
}

#[test]
fn a_ground_truth_has_many_forms() {
    for truth in [
        json!([{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]),
        json!([{"function": {"name": "f", "arguments": "{\"a\": 1}"}}, {"type": "function", "function": {"name": "g"}}]),
        json!([{"f": {"a": 1}}, {"g": {}}]),
        json!({"f": {"a": 1}, "g": {}}),
        json!(["f(a=1)", "g()"]),
        json!("f(a=1), g()"),
        json!("[f(a=1), g()]"),
        json!(r#"[{"f": {"a": 1}}, {"name": "g"}]"#),
    ] {
        check("ast_match", &[("[g(), f(a=1)]", truth, 1.0, "exact_match")]);
    }
    for truth in [
        json!(3),
        json!([3]),
        json!("what?"),
        json!(true),
        json!([{"name": "f"}, {}]),
    ] {
        let error = scorer("ast_match").score(&Answer::new("f()", &Target(truth.clone())));
        let error = error.unwrap_err().to_string();
        assert!(
            error.starts_with("`ground_truth` ") && error.contains("hint: write a list"),
            "{truth} {error}"
        );
    }
}

#[test]
fn calls_are_a_set_unless_they_are_ordered() {
    let truth = json!("a(x=1), b(), a(x=2)");
    check(
        "ast_match",
        &[
            ("a(x=2), a(x=1), b()", truth.clone(), 1.0, "exact_match"),
            ("a(x=2), a(x=2), b()", truth.clone(), 0.0, "wrong_arguments"),
        ],
    );
    check(
        "{ type: ast_match, ordered: true, partial_credit: true }",
        &[
            ("a(x=1), b(), a(x=2)", truth.clone(), 1.0, "exact_match"),
            (
                "a(x=2), a(x=1), b()",
                truth.clone(),
                2.0 / 3.0,
                "wrong_order",
            ),
            // A missing call does not shift the others.
            ("b(), a(x=2)", truth, 2.0 / 3.0, "wrong_count"),
        ],
    );
}

#[test]
fn pairs_are_chosen_for_the_most_not_in_turn() {
    // The first expected call fits both, the second only one of them.
    let spec = "{ type: ast_match, allow_extra_arguments: true }";
    check(
        spec,
        &[(
            "f(a=1, b=2, c=3), f(a=1, b=2)",
            json!("f(a=1), f(a=1, c=3)"),
            1.0,
            "exact_match",
        )],
    );
    let spec = "{ type: ast_match, partial_credit: true }";
    // Greedily: 3/4 for the first pair and 1/4 for the second.
    let truth = json!("f(a=1, b=2, c=3), f(a=1, b=2, c=4)");
    check(
        spec,
        &[(
            "f(a=1, b=2, c=9), f(a=7, b=8, c=3)",
            truth,
            5.0 / 8.0,
            "wrong_arguments",
        )],
    );
}

#[test]
fn partial_credit_is_optional() {
    let truth = json!("f(a=1, b=2), g(c=3)");
    let spec = "{ type: ast_match, partial_credit: true }";
    check(
        spec,
        &[
            ("f(a=1, b=2)", truth.clone(), 0.5, "wrong_count"),
            (
                "f(a=1, b=0), g(c=0)",
                truth.clone(),
                7.0 / 12.0,
                "wrong_arguments",
            ),
            (
                "f(a=1, b=2, x=0), g(c=3)",
                truth.clone(),
                0.875,
                "wrong_arguments",
            ),
            ("h()", truth.clone(), 0.0, "wrong_count"),
            ("h(), h()", truth.clone(), 0.0, "wrong_function"),
            ("nothing", truth, 0.0, "no_call"),
            ("g()", json!([]), 0.0, "unexpected_call"),
        ],
    );
}

#[test]
fn metrics_are_in_the_details() {
    let metrics = |prediction: &str, truth: Value| {
        let score = score("ast_match", prediction, truth);
        [
            "ast_match_rate",
            "parameter_accuracy",
            "precision",
            "recall",
            "f1",
        ]
        .map(|name| score.details.get(name).and_then(Value::as_f64).unwrap())
    };
    let check = |prediction: &str, truth: &str, expect: [f64; 5]| {
        let got = metrics(prediction, json!(truth));
        let close = got.iter().zip(expect).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close, "{prediction} {truth}: {got:?}");
    };
    check("f(a=1)", "f(a=1)", [1.0; 5]);
    check(
        "f(a=1, b=0)",
        "f(a=1, b=2), g(c=3)",
        [0.0, 1.0 / 3.0, 0.0, 0.0, 0.0],
    );
    check(
        "f(a=1), g(c=3), h()",
        "f(a=1), g(c=4)",
        [0.0, 0.5, 1.0 / 3.0, 0.5, 0.4],
    );
    check("f()", "f()", [1.0; 5]);
    check("no", "f(a=1)", [0.0; 5]);
    check("f(a=1)", "[]", [0.0, 1.0, 0.0, 0.0, 0.0]);
    check("no", "[]", [1.0; 5]);
}

#[test]
fn differences_are_described() {
    let check = |prediction: &str, truth: &str, expect: &str| {
        let score = score("ast_match", prediction, json!(truth));
        let difference = score.details.get("difference").and_then(Value::as_str);
        assert_eq!(difference, Some(expect));
    };
    check(
        "f(unit='kelvin')",
        "f(unit='celsius')",
        "`f`: `unit`: got `'kelvin'`, expected `'celsius'`",
    );
    check(
        "f()",
        "f(unit='celsius')",
        "`f`: `unit` is missing, expected `'celsius'`",
    );
    check("f(a=1)", "f()", "`f`: `a` is not expected, got `1`");
    check("no", "f(b=2, a=1)", "got no call, expected `f(a=1, b=2)`");
    check("g()", "f(a=1)", "got `g()`, expected `f(a=1)`");
    check("f()", "f(), g(1)", "`g(1)` is missing");
    check("f(), g()", "f()", "`g()` is not expected");
}

#[test]
fn native_calls_come_first_and_messages_last() {
    let target = Target(json!("math.add(a=1)"));
    let check = |output: Value, expect: (&str, &str)| {
        let output: Output = serde_json::from_value(output).unwrap();
        let answer = Answer::new(output.text.as_deref(), &target).output(&output);
        let score = scorer("ast_match").score(&answer).unwrap();
        let form = score.details.get("found_in").and_then(Value::as_str);
        assert_eq!((&*score.reason, form.unwrap_or("")), expect, "{output:?}");
    };
    let call = json!({"id": "1", "function": {"name": "math_add", "arguments": "{\"a\": 1}"}});
    check(
        json!({"text": "math.add(a=2)", "tool_calls": [call]}),
        ("exact_match", "tool_calls"),
    );
    check(
        json!({"tool_calls": [{"name": "math.add", "input": {"a": 1.0}}]}),
        ("exact_match", "tool_calls"),
    );
    check(json!({"tool_calls": [7]}), ("wrong_function", "tool_calls"));
    check(
        json!({"tool_calls": [{"name": "math.add", "arguments": "{\"a\": "}]}),
        ("wrong_arguments", "tool_calls"),
    );
    check(json!({"text": "math_add(a=1)"}), ("wrong_function", "text"));
    check(
        json!({"messages": [{"role": "assistant", "tool_calls": [{"name": "math.add", "arguments": {"a": 1}}]}], "text": "It is 2."}),
        ("exact_match", "messages"),
    );
    check(json!({}), ("no_prediction", ""));
}

#[test]
fn no_call_is_expected_and_none_was_made() {
    let target = Target(json!([]));
    let check = |output: Value, reason: &str| {
        let output: Output = serde_json::from_value(output).unwrap();
        let answer = Answer::new(output.text.as_deref(), &target).output(&output);
        let score = scorer("ast_match").score(&answer).unwrap();
        assert_eq!(score.reason, reason, "{output:?} {score:?}");
        assert_eq!(score.correct, reason == "exact_match");
    };
    let item = json!({"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"});
    let spoken = json!({"type": "message", "content": [{"type": "output_text", "text": "No."}]});
    let thought = json!({"type": "reasoning", "summary": []});
    check(
        json!({"text": "No.", "messages": [thought, spoken]}),
        "exact_match",
    );
    check(json!({"text": "[]", "messages": [spoken]}), "exact_match");
    check(json!({"text": "[]", "messages": [item]}), "unexpected_call");
    check(
        json!({"text": "No.", "messages": [item]}),
        "unexpected_call",
    );
    check(json!({"messages": [item]}), "unexpected_call");
    // What cannot be read is a call, too.
    check(
        json!({"text": "No.", "messages": [{"type": "function_call"}]}),
        "unexpected_call",
    );
    check(json!({"text": "No.", "tool_calls": [7]}), "unexpected_call");
}

#[test]
fn documents_name_positions_and_accepted_values_are_those_of_the_leaderboard() {
    let metadata = json!({"category": "simple_python", "function": [{"name": "f", "parameters": {
        "properties": {"x": {"type": "integer"}, "y": {"type": "dict"}}}}]});
    let check = |spec: &str, prediction: &str, truth: Value, expect: &str| {
        let target = Target(truth);
        let answer = Answer::new(prediction, &target).metadata(metadata.as_object().unwrap());
        let score = scorer(spec).score(&answer).unwrap();
        assert_eq!(score.reason, expect, "{prediction} {score:?}");
    };
    let truth = json!([{"f": {"y": [{"k": [1, ""]}, ""], "x": [1, 2]}}]);
    check("ast_match", "f(2)", truth.clone(), "exact_match");
    check("ast_match", "f(2, {'k': 1})", truth.clone(), "exact_match");
    check("ast_match", "f(x=1, y={})", truth.clone(), "exact_match");
    check("ast_match", "f(3)", truth.clone(), "wrong_arguments");
    check(
        "ast_match",
        "f(1, {'k': 2})",
        truth.clone(),
        "wrong_arguments",
    );
    check("ast_match", "f()", truth.clone(), "wrong_arguments");
    check(
        "{ type: ast_match, accepted: false }",
        "f(y=[{'k': [1, '']}, ''], x=[1, 2])",
        truth,
        "exact_match",
    );
    check("ast_match", "f(1, 2)", json!("f(y=2, x=1)"), "exact_match");
}

#[test]
fn patterns_locate_calls() {
    let truth = json!([{"name": "find", "arguments": {"q": "a]b", "n": 2}}]);
    let check = |pattern: &str, prediction: &str, expect: &str| {
        let spec = format!("{{ type: ast_match, pattern: '{pattern}' }}");
        check(
            &spec,
            &[(
                prediction,
                truth.clone(),
                if expect == "exact_match" { 1.0 } else { 0.0 },
                expect,
            )],
        );
    };
    let template = "[TOOL_CALL:{name}:{args}]";
    check(
        template,
        "So: [TOOL_CALL:find:{\"q\": \"a]b\", \"n\": 2}]!",
        "exact_match",
    );
    check(
        template,
        "[TOOL_CALL:find:{\"q\": \"a]b\", \"n\": 2} ]",
        "exact_match",
    );
    check(
        template,
        "[TOOL_CALL:find:q=\"a]b\", n=2] [x]",
        "exact_match",
    );
    check(template, "[TOOL_CALL:find:q=[a]b, n=2]", "wrong_arguments");
    check(template, "[TOOL_CALL:find:q=a, n=2]", "wrong_arguments");
    check(template, "[TOOL_CALL:find:q=\"a\", n=2", "no_call");
    check(template, "find(q='a]b', n=2)", "no_call");
    check(
        "<{tool_name}>{parameters}</end>",
        "<find>q=a]b,n=2</end>",
        "exact_match",
    );
    check(
        "call {name} with {args}",
        "call find with q=a]b, n=2\ncall me",
        "exact_match",
    );
    check(
        r"(?<name>\w+) <- (?<args>.*)",
        "find <- q=a]b, n=2",
        "exact_match",
    );
    self::check(
        "{ type: ast_match, pattern: \"!{name};\" }",
        &[("!f; !g;", json!("g(), f()"), 1.0, "exact_match")],
    );
    let lists = json!("[f(a=[1, [2]]), g(b='[2', c=\"it's\")]");
    self::check(
        &format!("{{ type: ast_match, pattern: '{template}' }}"),
        &[(
            "[TOOL_CALL:f:a=[1, [2]]] and [TOOL_CALL:g:b=[2, c=it's].",
            lists,
            1.0,
            "exact_match",
        )],
    );
    for (pattern, expect) in [
        (
            "[TOOL_CALL:name:args]",
            "does not show the place of a call's name",
        ),
        ("<{name}>{args}</{name}>", "has the name of a call twice"),
        ("{args} {name}", "has the arguments before the name"),
        ("{name}:{args}", "needs some text before and after the name"),
        ("x{name}{args}", "needs some text before and after the name"),
        ("(", "is not a regular expression"),
    ] {
        let message = refusal(&format!("{{ type: ast_match, pattern: '{pattern}' }}"));
        assert!(message.contains(expect), "{pattern}: {message}");
        assert!(
            message.starts_with("scorer `ast_match`, option `pattern`: "),
            "{message}"
        );
    }
}

#[test]
fn types_count_as_configured() {
    let check = |prediction: &str, truth: Value, expect: [bool; 3]| {
        let got = ["strict", "numeric", "lenient"].map(|types| {
            let spec = format!("{{ type: ast_match, types: {types} }}");
            score(&spec, prediction, truth.clone()).correct
        });
        assert_eq!(got, expect, "{prediction} {truth}");
    };
    check("f(a=1)", json!([{"f": {"a": 1}}]), [true; 3]);
    check("f(a=1.0)", json!([{"f": {"a": 1}}]), [false, true, true]);
    check("f(a='1')", json!([{"f": {"a": 1}}]), [false, false, true]);
    check("f(a=true)", json!([{"f": {"a": 1}}]), [false; 3]);
    check("f(a=red)", json!([{"f": {"a": "red"}}]), [true; 3]);
}

#[test]
fn all_found_allows_more_calls_and_no_fewer() {
    let truth = json!("a(x=1), b()");
    check(
        "{ type: ast_match, found: all, partial_credit: true }",
        &[
            ("a(x=1), b()", truth.clone(), 1.0, "exact_match"),
            ("a(x=2), a(x=1), c()", truth.clone(), 0.5, "wrong_function"),
            ("a(x=2), b(), c()", truth.clone(), 0.75, "wrong_arguments"),
            ("a(x=1)", truth.clone(), 0.5, "wrong_count"),
            ("Hm.", truth.clone(), 0.0, "no_call"),
            ("c()", json!([]), 0.0, "unexpected_call"),
        ],
    );
    let more = score(
        "{ type: ast_match, found: all }",
        "c(), b(), a(x=1)",
        truth.clone(),
    );
    assert!(more.correct);
    assert_eq!(more.reason, "all_found");
    assert_eq!(more.details.get("extra"), Some(&json!(["c()"])));
    let exact = score("ast_match", "c(), b(), a(x=1)", truth.clone());
    assert_eq!(exact.reason, "wrong_count");
    check(
        "{ type: ast_match, found: all, ordered: true }",
        &[("b(), a(x=1), c()", truth, 0.0, "wrong_order")],
    );
}

#[test]
fn functions_count_by_name_once() {
    let check = |prediction: &str, truth: &str, expect: [f64; 3]| {
        let score = score("ast_match", prediction, json!(truth));
        let figure = |name: &str| score.details.get(name).and_then(Value::as_f64).unwrap();
        let figures = ["name_precision", "name_recall", "name_f1"].map(figure);
        for (figure, expect) in figures.iter().zip(expect) {
            assert!((figure - expect).abs() < 1e-12, "{prediction}: {figures:?}");
        }
    };
    check("a(x=1), a(x=2), c()", "a(x=9), b()", [0.5, 0.5, 0.5]);
    check("a(x=1)", "a(x=9), b(), d()", [1.0, 1.0 / 3.0, 0.5]);
    check("Hm.", "a()", [0.0, 0.0, 0.0]);
    check("Hm.", "[]", [1.0, 1.0, 1.0]);
    check("a()", "[]", [0.0, 0.0, 0.0]);
}
