//! Answers of any size and shape are scored in linear time.

use serde_json::json;

use super::fuzz_tests::PIECES;
use super::*;
use crate::scorer::tests::check::scorer;
use crate::tests::fuzz::{in_time, megabyte};

#[test]
fn megabytes_take_linear_time() {
    let specs = [
        "ast_match",
        "{ type: ast_match, ordered: true, allow_extra_arguments: true, types: lenient }",
        "{ type: ast_match, pattern: '[TOOL_CALL:{name}:{args}]' }",
        "{ type: ast_match, pattern: '(?<name>\\w+)\\((?<args>.*)\\)' }",
        "trajectory",
    ];
    let scorers = specs.map(|spec| (spec, scorer(spec)));
    let target = Target(json!(["f(a=1)", "g()"]));
    for piece in PIECES.into_iter().chain([
        "f(a=1)",
        "f(a=1), ",
        "f(a=(",
        "f(x f(x f(x",
        "f(a=[1,{",
        "f('",
        "f(\"a\\",
        "{\"a\":",
        "[1,",
        "[{\"f\":",
        "[TOOL_CALL:f:{\"",
        "[TOOL_CALL:f:[1,",
        "[TOOL_CALL:f:a=1]",
        "{\"name\": \"f\", \"arguments\": {}}\n",
        "```\nf(a=1)\n",
        "<tool_call>f(a=1)",
        "1+",
        "--",
        "f(1e308)",
        "0xffffffffffffffff",
        "9",
        "a.",
        "f(a=1,",
        "{'a': ",
        "{\"\\ud800\": 1}, ",
        "<tool_call>{\"name\": \"f\", \"arguments\": ",
    ]) {
        let long = megabyte(piece);
        let texts = [
            long.clone(),
            format!("f(a={long})"),
            format!("[{long}]"),
            format!("x {long}"),
        ];
        // Unoptimised, two of them are enough to notice superlinear time.
        let many = if cfg!(debug_assertions) { 2 } else { 4 };
        for text in texts.into_iter().take(many) {
            for (spec, scorer) in &scorers {
                let score = in_time(format_args!("{spec} {piece:?}"), || {
                    scorer.score(&Answer::new(&*text, &target))
                });
                assert!(score.is_ok(), "{spec} {piece:?}");
            }
            let own = Target(text.clone().into());
            let _ = in_time(format_args!("ground truth {piece:?}"), || {
                scorers[0].1.score(&Answer::new("f()", &own))
            });
        }
    }
}

#[test]
fn many_calls_are_paired_or_given_up_in_time() {
    let calls = |count: usize, argument: &dyn Fn(usize) -> usize| {
        let calls =
            (0..count).map(|place| format!("{{\"f\":{{\"a\":{},\"b\":0}}}}", argument(place)));
        format!("[{}]", calls.collect::<Vec<_>>().join(","))
    };
    let check = |spec: &str, predicted: &str, expected: &str, reason: &str| {
        let target = Target(expected.into());
        let scorer = scorer(spec);
        let score = in_time(format_args!("{spec} {reason}"), || {
            scorer.score(&Answer::new(predicted, &target)).unwrap()
        });
        assert_eq!(score.reason, reason, "{spec}");
        score
    };
    let many = if cfg!(debug_assertions) {
        2_000
    } else {
        30_000
    };
    let (up, down) = (
        calls(many, &|place| place),
        calls(many, &|place| many - 1 - place),
    );
    check("ast_match", &up, &down, "exact_match");
    check(
        "{ type: ast_match, ordered: true }",
        &up,
        &up,
        "exact_match",
    );
    let other = calls(many, &|place| place + many);
    let spec = "{ type: ast_match, partial_credit: true }";
    check(spec, &up, &other, "too_complex");
    check(
        "{ type: ast_match, ordered: true }",
        &up,
        &other,
        "too_complex",
    );
    // A single wrong call among many right ones.
    let nearly = calls(many, &|place| if place == 7 { many } else { place });
    let score = check(spec, &up, &nearly, "wrong_arguments");
    assert!(score.value > 0.999 && score.value < 1.0);
    let few = if cfg!(debug_assertions) { 60 } else { 300 };
    let score = check(
        spec,
        &calls(few, &|place| place),
        &calls(few, &|place| place + few),
        "wrong_arguments",
    );
    assert!((score.value - 2.0 / 3.0).abs() < 1e-9, "{}", score.value);
    let spec = "{ type: ast_match, allow_extra_arguments: true }";
    check(spec, &calls(few, &|place| place), "[f(a=1)]", "wrong_count");
}

#[test]
fn depth_is_bounded() {
    let target = Target(json!("f(a=1)"));
    let scorer = scorer("ast_match");
    let deep = |open: &str, close: &str, inside: &str| {
        format!("{}{inside}{}", open.repeat(10_000), close.repeat(10_000))
    };
    for text in [
        deep("[", "]", ""),
        deep("{\"f\":", "}", "{}"),
        deep("f(a=", ")", "1"),
        deep("(", ")", "f(a=1)"),
        format!("f(a={})", deep("[", "]", "1")),
        format!("f(a={})", "-".repeat(10_000) + "1"),
        format!("f(a={}1)", "1+".repeat(10_000)),
        format!("{}(a=1)", "f.".repeat(10_000) + "g"),
        format!(
            "{{\"name\": \"f\", \"arguments\": {}}}",
            deep("[", "]", "1")
        ),
        format!(
            "{{\"name\": \"f\", \"arguments\": {{\"a\": {}1{}}}}}",
            "[".repeat(900),
            "]".repeat(900)
        ),
    ] {
        let score = in_time("depth", || scorer.score(&Answer::new(&*text, &target)));
        assert!(score.is_ok());
        let own = Target(text.into());
        let _ = in_time("depth", || scorer.score(&Answer::new("f(a=1)", &own)));
    }
}
