use serde_json::{Value, json};

use super::*;
use crate::data::Output;
use crate::scorer::tests::check::{refusal, scorer};

fn score(spec: &str, output: Value, target: Value) -> Score {
    let output: Output = serde_json::from_value(output).unwrap();
    let target = Target(target);
    let answer = Answer::new(output.text.as_deref(), &target).output(&output);
    scorer(spec)
        .score(&answer)
        .unwrap_or_else(|error| panic!("{spec}: {error}"))
}

/// Steps of tool names, as messages.
fn messages(steps: &[&[&str]]) -> Value {
    let messages = steps.iter().map(|names| {
        let calls = names
            .iter()
            .map(|name| json!({"function": {"name": name, "arguments": "{}"}}));
        json!({"role": "assistant", "tool_calls": calls.collect::<Vec<_>>()})
    });
    json!({"messages": messages.collect::<Vec<_>>()})
}

fn check(spec: &str, steps: &[&[&str]], target: &Value, value: f64, reason: &str) {
    let score = score(spec, messages(steps), target.clone());
    assert_eq!(score.reason, reason, "{spec} {steps:?} {score:?}");
    assert_eq!(score.correct, reason == "as_expected");
    assert!(
        (score.value - value).abs() < 1e-12,
        "{spec} {steps:?} {score:?}"
    );
}

#[test]
fn dependencies_are_a_partial_order() {
    let spec = "{ type: trajectory, after: { book: [search, log_in], pay: book } }";
    let none = Value::Null;
    check(
        spec,
        &[&["search"], &["log_in"], &["book"], &["pay"]],
        &none,
        1.0,
        "as_expected",
    );
    check(
        spec,
        &[&["log_in", "search"], &["x"], &["book"], &["search"]],
        &none,
        1.0,
        "as_expected",
    );
    check(spec, &[], &none, 1.0, "as_expected");
    check(
        spec,
        &[&["search"], &["book"], &["log_in"]],
        &none,
        0.5,
        "wrong_order",
    );
    // The calls of one message are made at the same time.
    check(
        spec,
        &[&["search", "log_in", "book"]],
        &none,
        0.0,
        "wrong_order",
    );
    check(spec, &[&["pay"]], &none, 0.0, "wrong_order");
    let scored = score(spec, messages(&[&["book"], &["search", "pay"]]), none);
    let expect = json!(["`pay` was called without `x`"]);
    assert_ne!(scored.details.get("faults"), Some(&expect));
    let faults = scored.details.get("faults").unwrap().to_string();
    assert_eq!(
        faults,
        r#"["`book` was called without `log_in`","`book` was called before `search`"]"#
    );
}

#[test]
fn tools_are_required_forbidden_and_in_a_chain() {
    let none = Value::Null;
    let spec = "{ type: trajectory, order: [a, b, c], forbidden: rm }";
    check(spec, &[&["a"], &["b"], &["c"]], &none, 1.0, "as_expected");
    check(spec, &[&["a"], &["c"]], &none, 3.0 / 5.0, "missing_call");
    check(
        spec,
        &[&["a"], &["b"], &["c"], &["rm"]],
        &none,
        5.0 / 6.0,
        "forbidden_call",
    );
    check(
        "{ type: trajectory, required: [a] }",
        &[&["b"]],
        &none,
        0.0,
        "missing_call",
    );
}

#[test]
fn efficiency_is_the_shortest_run_over_the_one_made() {
    let efficiency = |minimal: u64, steps: &[&[&str]]| {
        let score = score(
            "trajectory",
            messages(steps),
            json!({"minimal_calls": minimal}),
        );
        score.details.get("efficiency").and_then(Value::as_f64)
    };
    assert_eq!(efficiency(2, &[&["a", "b"], &["c"], &["d"]]), Some(0.5));
    assert_eq!(efficiency(2, &[&["a"]]), Some(1.0));
    assert_eq!(efficiency(2, &[]), Some(0.0));
    assert_eq!(efficiency(0, &[]), Some(1.0));
    assert_eq!(efficiency(0, &[&["a"]]), Some(0.0));
    let spec = "{ type: trajectory, minimal_calls: 1, min_efficiency: 0.6 }";
    check(spec, &[&["a"], &["b"]], &Value::Null, 0.0, "inefficient");
    // The sample's figures win.
    check(
        spec,
        &[&["a"], &["b"]],
        &json!({"minimal_calls": 2}),
        1.0,
        "as_expected",
    );
    check(
        spec,
        &[&["a"], &["b"]],
        &json!(["a()", "b()"]),
        1.0,
        "as_expected",
    );
}

#[test]
fn a_sample_lists_the_calls_of_its_shortest_run() {
    let run = json!({"tool_calls": [
        {"name": "look", "arguments": {}}, {"name": "find", "arguments": {"q": 2}}, {"name": "book", "arguments": {"id": "x"}},
    ]});
    let check = |target: Value, reason: &str| {
        assert_eq!(
            score("trajectory", run.clone(), target.clone()).reason,
            reason,
            "{target}"
        );
    };
    check(
        json!([{"book": {"id": "x"}}, {"find": {"q": 1 + 1}}]),
        "as_expected",
    );
    check(json!("[\"find(q=2)\"]"), "as_expected");
    check(json!([{"find": {"q": 3}}]), "missing_call");
    check(
        json!({"calls": ["book(id='x')", "find(q=2)"]}),
        "as_expected",
    );
    check(
        json!({"calls": ["book(id='x')", "find(q=2)"], "ordered": true}),
        "missing_call",
    );
    let text = score(
        "trajectory",
        json!({"text": "find(q=2) and then book(id='x')"}),
        json!({"order": ["find", "book"]}),
    );
    assert!(text.correct, "{text:?}");
}

#[test]
fn call_text_lists_the_calls_too() {
    let run = json!({"tool_calls": [{"name": "find", "arguments": {"q": 2}}]});
    let reason = |spec: &str, target: &str| {
        let score = score(spec, run.clone(), json!(target));
        score.reason.into_owned()
    };
    assert_eq!(reason("trajectory", "[find(q=1 + 1)]"), "as_expected");
    assert_eq!(reason("trajectory", " find(q=2) "), "as_expected");
    assert_eq!(reason("trajectory", "[find(q=3)]"), "missing_call");
    // Where the spec has an expectation, the text is for another scorer.
    let spec = "{ type: trajectory, required: find }";
    assert_eq!(reason(spec, "[find(q=3)]"), "as_expected");
    assert_eq!(reason(spec, "f(2)"), "as_expected");
    assert_eq!(reason(spec, "[1"), "as_expected");
}

#[test]
fn what_cannot_be_read_breaks_a_rule_of_absence() {
    let unread = json!({"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": "{}"}}, 7]}]});
    let check = |options: &str, reason: &str| {
        let spec = format!("{{ type: trajectory, {options} }}");
        let score = score(&spec, unread.clone(), Value::Null);
        assert_eq!(score.reason, reason, "{options}");
        assert_eq!(score.correct, reason == "as_expected");
    };
    check("forbidden: [rm]", "unreadable_call");
    check("after: { book: a }", "unreadable_call");
    check("required: [a]", "as_expected");
    check("required: [b]", "missing_call");
    check("forbidden: [a]", "forbidden_call");
}

#[test]
fn expectations_of_a_sample_are_in_its_metadata_when_the_ground_truth_is_the_answer() {
    let output = Output {
        tool_calls: vec![json!({"name": "rm", "arguments": {}})],
        ..Output::text("Paris")
    };
    let target = Target::from("Paris");
    let metadata = json!({"trajectory": {"forbidden": ["rm"]}});
    let answer = Answer::new("Paris", &target).output(&output);
    let judge = |spec: &str, answer: &Answer<'_>| {
        scorer(spec)
            .score(answer)
            .map(|score| score.reason.into_owned())
    };
    let with = answer.metadata(metadata.as_object().unwrap());
    assert_eq!(judge("trajectory", &with).unwrap(), "forbidden_call");
    assert_eq!(
        judge("{ type: trajectory, required: rm }", &answer).unwrap(),
        "as_expected"
    );
    let error = judge("trajectory", &answer).unwrap_err().to_string();
    assert!(
        error.starts_with("`ground_truth` is not a list of calls, and nothing else defines what"),
        "{error}"
    );
    let error = judge("{ type: trajectory, required: rm }", &with).unwrap_err();
    assert_eq!(error.message(), "`rm` is both required and forbidden");
}

#[test]
fn texts_of_messages_count_with_a_pattern() {
    let output = json!({"messages": [
        {"role": "user", "content": "[TOOL:rm:]"},
        {"role": "assistant", "content": "[TOOL:find:q=1]"},
        {"role": "assistant", "content": [{"type": "text", "text": "[TOOL:book:id=1]"}]},
    ], "text": "done"});
    let spec = "{ type: trajectory, pattern: '[TOOL:{name}:{args}]', order: [find, book], forbidden: [rm] }";
    assert_eq!(score(spec, output, Value::Null).reason, "as_expected");
}

#[test]
fn what_no_run_can_satisfy_is_refused() {
    let check = |options: &str, expect: &str| {
        let message = refusal(&format!("{{ type: trajectory, {options} }}"));
        assert_eq!(
            message.lines().next(),
            Some(format!("scorer `trajectory`: {expect}").as_str())
        );
    };
    check(
        "after: { a: b, b: [a] }",
        "the order is circular: `a`, `b` would have to come after themselves",
    );
    check(
        "after: { a: a }",
        "the order is circular: `a` would have to come after themselves",
    );
    check(
        "order: [a, b, a]",
        "the order is circular: `a`, `b` would have to come after themselves",
    );
    check(
        "required: a, forbidden: [a]",
        "`a` is both required and forbidden",
    );
    check(
        "after: [a]",
        "`after` is `[\"a\"]`, not a map of names to lists of names",
    );
    check("forbidden: 3", "`forbidden` is `3`, not a list of names");
    check(
        "min_efficiency: 2",
        "`min_efficiency` is `2`, not a number from 0 to 1",
    );
    let metadata = json!({"trajectory": {"forbiden": ["a"], "order": ["b"]}});
    let target = Target(Value::Null);
    let answer = Answer::new("x", &target).metadata(metadata.as_object().unwrap());
    let error = scorer("trajectory").score(&answer).unwrap_err();
    assert_eq!(
        error.message(),
        "`metadata.trajectory` has a `forbiden`, which is not an expectation, did you mean `forbidden`?"
    );
}

#[test]
fn missing_call_is_reported() {
    let listed = json!([{"name": "a", "arguments": {"x": 1}}, {"name": "b", "arguments": {}}]);
    let scored = score("trajectory", messages(&[&["b"], &["a"]]), listed);
    let expect = json!(["1 of 2 expected calls were made; missing: `a(x=1)`"]);
    assert_eq!(scored.details.get("faults"), Some(&expect));
    let many: Vec<Value> = (0..9)
        .map(|n| json!({"name": "f", "arguments": {"n": n}}))
        .collect();
    let scored = score("trajectory", messages(&[&["b"]]), many.into());
    let expect = json!([
        "0 of 9 expected calls were made; missing: `f(n=0)`, `f(n=1)`, `f(n=2)` and 6 more"
    ]);
    assert_eq!(scored.details.get("faults"), Some(&expect));
}
