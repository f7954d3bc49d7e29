use serde_json::{Value, json};

use crate::scorer::tests::check::{check_all, judge, megabytes, refusal, scorer};
use crate::tests::fuzz::{MEGABYTE, fuzz, in_time};

/// Checks the verdict, or the reported difference.
fn check(spec: &str, prediction: &Value, truth: &Value, expect: &str) {
    let text = prediction.to_string();
    let score = judge(&*scorer(spec), Some(&text), &truth.to_string().into()).expect("a verdict");
    let difference = score.details.get("difference").and_then(Value::as_str);
    let got = difference.unwrap_or(&score.reason);
    assert_eq!(got, expect, "{spec} {prediction} {truth}");
    assert_eq!(score.correct, score.reason == "exact_match");
}

#[test]
fn verdicts() {
    check_all(
        "json",
        &[
            (
                r#" {"b": [1, "x"], "a": null} "#,
                json!({"a": null, "b": [1.0, "x"]}),
                true,
                1.0,
                "exact_match",
            ),
            (
                "Sure:\n```json\n[1]\n```",
                json!("[1]"),
                true,
                1.0,
                "exact_match",
            ),
            ("4", json!(4), true, 1.0, "exact_match"),
            ("\"Paris\"", json!("\"Paris\""), true, 1.0, "exact_match"),
            ("true", json!(1), false, 0.0, "mismatch"),
            ("It is four.", json!(4), false, 0.0, "invalid_json"),
            ("", json!(null), false, 0.0, "invalid_json"),
            ("{\"a\": 1", json!({"a": 1}), false, 0.0, "invalid_json"),
        ],
    );
    let error = judge(&*scorer("json"), Some("1"), &json!("Paris")).expect_err("no verdict");
    assert_eq!(
        error.to_string(),
        "`ground_truth` `Paris` is not JSON, but scorer `json` needs it: expected value at line 1 column 1\n\n\
         hint: a text in JSON has quotes of its own: `\"\\\"Paris\\\"\"`"
    );
    assert_eq!(
        scorer("json")
            .extract()
            .map(|extract| extract.to_string())
            .as_deref(),
        Some("none")
    );
}

#[test]
fn the_first_difference_is_named() {
    let check = |prediction: Value, truth: Value, expect: &str| {
        check("json", &prediction, &truth, expect);
    };
    check(
        json!({"a": [1, 3]}),
        json!({"a": [1, 4]}),
        "/a/1: got 3, expected 4",
    );
    check(
        json!({"a": "1"}),
        json!({"a": 1}),
        "/a: got \"1\", expected 1",
    );
    check(
        json!({}),
        json!({"a": {"b": 1}}),
        "/a: missing, expected {\"b\":1}",
    );
    check(
        json!({"a": 1, "b": 2}),
        json!({"a": 1}),
        "/b: got 2, expected no such key",
    );
    check(
        json!([1]),
        json!([1, 2]),
        "the whole: got a list of 1, expected one of 2",
    );
    check(json!([]), json!({}), "the whole: got [], expected {}");
    check(
        json!({"a/b~c": {"": 1}}),
        json!({"a/b~c": {"": 2}}),
        "/a~1b~0c/: got 1, expected 2",
    );
    check(
        json!(["x".repeat(99)]),
        json!([null]),
        &format!("/0: got \"{}…, expected null", "x".repeat(59)),
    );
    check(json!([1, 2]), json!([2, 1]), "/0: got 1, expected 2");
}

#[test]
fn numbers() {
    let exact = |got: &str, truth: &str, expect| {
        let score = judge(&*scorer("json"), Some(got), &truth.into()).expect("a verdict");
        assert_eq!(score.correct, expect, "{got} {truth}");
    };
    exact("1", "1.0", true);
    exact("-0.0", "0", true);
    exact("1e3", "1000", true);
    exact("9007199254740993", "9007199254740992.0", false);
    exact("9007199254740993", "9007199254740993", true);
    exact("18446744073709551615", "18446744073709551614", false);
    exact("1e300", "1e300", true);
    exact("0.1", "0.10000000000000001", true);
    exact("0.1", "0.2", false);
    let near = "{ type: json, abs_tol: 0.1, rel_tol: 0.01 }";
    check(near, &json!([1.1, 99]), &json!([1, 100]), "exact_match");
    check(near, &json!([1.2]), &json!([1]), "/0: got 1.2, expected 1");
    check(
        near,
        &json!([101.1]),
        &json!([100]),
        "/0: got 101.1, expected 100",
    );
}

#[test]
fn keys_and_orders_that_do_not_count() {
    let ignoring = "{ type: json, ignore_keys: [id, at] }";
    check(
        ignoring,
        &json!([{"id": 1, "a": 2}]),
        &json!([{"a": 2, "at": 3}]),
        "exact_match",
    );
    check(
        ignoring,
        &json!({"id": 1}),
        &json!({"a": 2}),
        "/a: missing, expected 2",
    );
    let subset = "{ type: json, subset: true }";
    check(
        subset,
        &json!({"a": {"b": 1, "c": 2}, "d": 3}),
        &json!({"a": {"b": 1}}),
        "exact_match",
    );
    check(
        subset,
        &json!({}),
        &json!({"a": 1}),
        "/a: missing, expected 1",
    );
    check(
        subset,
        &json!([1, 2]),
        &json!([1]),
        "the whole: got a list of 2, expected one of 1",
    );
    let unordered = "{ type: json, unordered_lists: true }";
    check(
        unordered,
        &json!([1, [2, 3], 1]),
        &json!([[3, 2], 1, 1]),
        "exact_match",
    );
    check(
        unordered,
        &json!({"a": [1, 1, 2]}),
        &json!({"a": [1, 2, 2]}),
        "/a: no element left equals 2",
    );
    check(
        unordered,
        &json!([[1]]),
        &json!([[2]]),
        "/0/0: got 1, expected 2",
    );
}

#[test]
fn elements_are_paired_off_where_one_fits_several() {
    let loose = "{ type: json, unordered_lists: true, subset: true, abs_tol: 1 }";
    // The first of the prediction fits both, the second only one.
    check(loose, &json!([2, 1]), &json!([1.5, 3]), "exact_match");
    check(
        loose,
        &json!([{"a": 5, "b": 5}, {"a": 5}]),
        &json!([{"a": 5}, {"b": 5}]),
        "exact_match",
    );
    // Each change requires another one.
    check(
        loose,
        &json!([1, 2, 3, 4, 5]),
        &json!([2, 3, 4, 5, 6]),
        "exact_match",
    );
    check(
        loose,
        &json!([5, 4, 3, 2, 1]),
        &json!([2, 3, 4, 5, 6]),
        "exact_match",
    );
    check(
        loose,
        &json!([1, 1, 5]),
        &json!([2, 3, 5]),
        "the whole: no element left equals 3",
    );
}

#[test]
fn lists_of_thousands_are_paired_off_and_larger_ones_given_up() {
    let reversed = |count: u32| {
        let list: Vec<u32> = (0..count).collect();
        let back: Vec<u32> = list.iter().rev().copied().collect();
        (json!(back), json!(list))
    };
    for (spec, fit) in [
        ("{ type: json, unordered_lists: true }", 3_000),
        ("{ type: json, unordered_lists: true, subset: true }", 1_000),
    ] {
        let (got, truth) = reversed(fit);
        check(spec, &got, &truth, "exact_match");
        // One was inserted, the others are in order.
        let list: Vec<u32> = (0..20_000).collect();
        let moved: Vec<u32> = std::iter::once(19_999).chain(0..19_999).collect();
        check(spec, &json!(moved), &json!(list), "exact_match");
    }
    let (got, truth) = reversed(10_000);
    let spec = "{ type: json, unordered_lists: true }";
    check(spec, &got, &truth, "too_complex");
}

#[test]
fn depth_is_bounded() {
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    for spec in ["json", "{ type: json, unordered_lists: true }"] {
        let scorer = scorer(spec);
        let reason = |prediction: &str, truth: &str| {
            let score = judge(&*scorer, Some(prediction), &truth.into());
            score.expect("a verdict").reason
        };
        assert_eq!(reason(&deep(127), &deep(127)), "exact_match");
        assert_eq!(reason(&deep(128), &deep(127)), "invalid_json");
        assert_eq!(reason(&deep(500_000), "1"), "invalid_json");
        let twice = |levels: usize| "[[],".repeat(levels) + "1" + &"]".repeat(levels);
        assert_eq!(reason(&twice(120), &twice(120)), "exact_match");
        assert!(judge(&*scorer, Some("1"), &deep(200).into()).is_err());
    }
}

#[test]
fn what_is_illegal_is_an_error() {
    assert_eq!(
        refusal("{ type: json, ignore_keys: id }"),
        "scorer `json`, option `ignore_keys`: `\"id\"` is not a list of texts"
    );
    assert!(
        refusal("{ type: json, rel_tol: -1 }")
            .starts_with("scorer `json`, option `rel_tol`: `-1` is not")
    );
}

const PIECES: &[&str] = &[
    "a", "b", "{\"a\":", "[1,2]", "}", "]", ",", "1", "\"", "```", "\n", "null", "é", "\\u00e9",
    "🦀",
];

const SPECS: &[&str] = &[
    "json",
    "{ type: json, unordered_lists: true }",
    "{ type: json, unordered_lists: true, subset: true, abs_tol: 0.01, ignore_keys: [id] }",
];

/// The same value with its lists and keys in another order.
fn shuffled(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().rev().map(shuffled).collect(),
        Value::Object(map) => {
            let entries = map.iter().rev();
            entries
                .map(|(key, value)| (key.clone(), shuffled(value)))
                .collect()
        }
        other => other.clone(),
    }
}

/// A value equals itself in any order; strict equality is symmetric; equal values stay equal under looser rules.
#[test]
fn equality_is_what_it_should_be() {
    let scorers: Vec<_> = SPECS.iter().map(|spec| scorer(spec)).collect();
    fuzz(|dice| {
        let (left, right) = (dice.json(PIECES, 3), dice.json(PIECES, 3));
        let correct = |which: usize, got: &Value, truth: &Value| {
            let score = judge(
                &*scorers[which],
                Some(&got.to_string()),
                &truth.to_string().into(),
            );
            let score = score.expect("a verdict");
            let has_difference = score.details.get("difference").is_some();
            assert_eq!(has_difference, score.reason == "mismatch", "{got} {truth}");
            score.correct
        };
        let other = shuffled(&left);
        assert!(correct(0, &left, &left), "{left}");
        assert!(correct(1, &other, &left), "{left}");
        assert!(correct(2, &other, &left), "{left}");
        for which in [0, 1] {
            assert_eq!(
                correct(which, &left, &right),
                correct(which, &right, &left),
                "{left} {right}"
            );
        }
        assert!(
            !correct(0, &left, &right) || correct(1, &left, &right),
            "{left} {right}"
        );
        assert!(
            !correct(1, &left, &right) || correct(2, &left, &right),
            "{left} {right}"
        );
        let text = dice.wild(PIECES);
        for scorer in &scorers {
            let _ = judge(&**scorer, Some(&text), &right.to_string().into()).expect("a verdict");
        }
    });
}

#[test]
fn a_megabyte_takes_linear_time() {
    megabytes(
        SPECS,
        "1",
        &[
            "[",
            "[],",
            "{\"a\":",
            "1",
            "```\n",
            "```\n[1]\n",
            "\"",
            " ",
            "\\",
            "1,",
        ],
    );
    let list: Vec<usize> = (0..MEGABYTE / 4).map(|place| place % 7).collect();
    let other: Vec<usize> = (0..MEGABYTE / 4).map(|place| place % 5).collect();
    for spec in SPECS {
        let (scorer, truth) = (scorer(spec), json!(json!(other).to_string()));
        let score = in_time(spec, || {
            judge(&*scorer, Some(&json!(list).to_string()), &truth)
        });
        assert!(!score.expect("a verdict").correct);
    }
}
