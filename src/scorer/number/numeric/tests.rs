mod forms;

use serde_json::{Value, json};

use crate::scorer::tests::check::{check_all, judge, megabytes, refusal, scorer};
use crate::tests::fuzz::{Dice, fuzz};

#[test]
fn verdicts() {
    check_all(
        "numeric",
        &[
            ("42.0", json!("forty-two"), true, 1.0, "exact_match"),
            ("42", json!(42), true, 1.0, "exact_match"),
            ("0.1", json!(0.1), true, 1.0, "exact_match"),
            ("1e21", json!(1e21), true, 1.0, "exact_match"),
            ("50%", json!("50"), true, 1.0, "exact_match"),
            ("$50", json!("50 €"), true, 1.0, "exact_match"),
            ("0.333333333333333333", json!("1/3"), false, 0.0, "mismatch"),
            (
                "12345678901234567891",
                json!("12345678901234567890"),
                false,
                0.0,
                "mismatch",
            ),
            (
                "12,345,678,901,234,567,890",
                json!("12345678901234567890"),
                true,
                1.0,
                "exact_match",
            ),
            ("1.0000000000000000000001", json!(1), false, 0.0, "mismatch"),
            ("unknown", json!(1), false, 0.0, "not_a_number"),
            ("", json!(1), false, 0.0, "no_prediction"),
        ],
    );
    check_all(
        "{ type: numeric, abs_tol: 0.1, rel_tol: 0.001 }",
        &[
            ("1.1", json!(1), true, 1.0, "within_tolerance"),
            ("1.11", json!(1), false, 0.0, "mismatch"),
            ("1001", json!(1000), true, 1.0, "within_tolerance"),
            ("1/3", json!("0.33"), true, 1.0, "within_tolerance"),
            ("1e400", json!("1e401"), false, 0.0, "mismatch"),
            ("1e400", json!("10e399"), true, 1.0, "exact_match"),
        ],
    );
    check_all(
        "{ type: numeric, decimal: comma }",
        &[("1.234,5", json!(1234.5), true, 1.0, "exact_match")],
    );
}

#[test]
fn errors_are_reported() {
    let score = judge(&*scorer("numeric"), Some("9"), &json!(10)).expect("a verdict");
    let details = serde_json::to_value(&score.details).expect("JSON");
    assert_eq!(details, json!({"abs_error": 1.0, "rel_error": 0.1}));
    let score = judge(&*scorer("numeric"), Some("9"), &json!(0)).expect("a verdict");
    let details = serde_json::to_value(&score.details).expect("JSON");
    assert_eq!(details, json!({"abs_error": 9.0}));
    let score = judge(&*scorer("numeric"), None, &json!("042")).expect("a verdict");
    assert_eq!(
        serde_json::to_value(score.normalized_ground_truth).expect("JSON"),
        json!("42.0")
    );
}

#[test]
fn a_ground_truth_that_is_no_number_is_an_error() {
    let check = |ground_truth: &Value, expect: &str| {
        let error = judge(&*scorer("numeric"), Some("1"), ground_truth);
        assert_eq!(error.expect_err("no verdict").to_string(), expect);
    };
    check(
        &json!("unknown"),
        "`ground_truth` \"unknown\" is not a number, but scorer `numeric` needs one",
    );
    check(
        &json!("42 km"),
        "`ground_truth` \"42 km\" is not a number, but scorer `numeric` needs one\n\nhint: write \
         `{ type: numeric, units: ignore }` if the text after the number does not count",
    );
    check(
        &json!([1]),
        "`ground_truth` must be a number or a string for scorer `numeric`",
    );
    assert_eq!(
        refusal("{ type: numeric, percent: drop }"),
        "scorer `numeric`, option `percent`: unknown value `drop`, expected one of `ignore`, `scale`"
    );
    assert_eq!(
        refusal("{ type: numeric, abs_tol: -1 }"),
        "scorer `numeric`, option `abs_tol`: `-1` is not a number from 0"
    );
}

const PIECES: &[&str] = &[
    "1",
    "0",
    "42",
    "000",
    "999",
    "3",
    ",",
    ".",
    "-",
    "−",
    "+",
    " ",
    "e",
    "E5",
    "/",
    "½",
    "⅒",
    "%",
    "‰",
    "$",
    "€",
    "USD",
    "US$",
    "km",
    "m²",
    "x 10^",
    "×10³",
    "10",
    "^",
    "{",
    "}",
    "**",
    "\\frac{1}{2}",
    "\\frac12",
    "\\times",
    "{,}",
    "'",
    "_",
    "forty",
    "-two",
    " hundred",
    " and ",
    "a ",
    "half",
    " thousand",
    " million",
    " point ",
    "zero",
    "one",
    "third",
    "quarters",
    "minus ",
    "percent",
    "５",
    "٣",
    "⁻",
    "²",
    "\u{a0}",
    "\u{200b}",
];

/// Half of the time something like a number.
fn text(dice: &mut Dice) -> String {
    if dice.below(2) > 0 {
        return dice.wild(PIECES);
    }
    let before = dice.pick(&["", "", "-", "−", "$", "minus ", "EUR "]);
    let whole = dice.pick(&[
        "",
        "0",
        "7",
        "42",
        "1,234",
        "1 000",
        "12345678901234567890",
        "1 1/2",
        "２",
    ]);
    let middle = dice.pick(&["", "", ".5", ".500", "/7", "½", " ⅓", "\\frac12", ". "]);
    let after = dice.pick(&[
        "", "", "e5", "e-400", " x 10^3", " million", "%", "€", " thirds", ".",
    ]);
    format!("{before}{whole}{middle}{after}")
}

const SPECS: &[&str] = &[
    "numeric",
    "{ type: numeric, percent: scale, units: ignore }",
    "{ type: numeric, decimal: comma, abs_tol: 0.5, rel_tol: 0.1 }",
];

/// A parsed number prints as text that parses to the same number, equals itself, and equality is symmetric.
#[test]
fn any_text_is_a_number_or_none() {
    let scorers: Vec<_> = SPECS.iter().map(|spec| scorer(spec)).collect();
    let normalized = |dice: &mut Dice, exact: &dyn crate::Scorer| -> Option<String> {
        let text = text(dice);
        let score = judge(exact, Some(&text), &json!(1)).expect("a verdict");
        let printed = serde_json::to_value(score.normalized_prediction).expect("JSON");
        let printed = printed.as_str()?.to_owned();
        let again = judge(exact, Some(&text), &json!(printed)).expect("a number");
        assert!(again.correct, "{text:?} {printed}");
        Some(printed)
    };
    let mut numbers = 0_u32;
    fuzz(|dice| {
        for scorer in &scorers {
            let _ = judge(
                &**scorer,
                Some(&dice.wild(PIECES)),
                &dice.wild(PIECES).into(),
            );
        }
        let (left, right) = (
            normalized(dice, &*scorers[0]),
            normalized(dice, &*scorers[0]),
        );
        if let (Some(left), Some(right)) = (left, right) {
            numbers += 1;
            let there = judge(&*scorers[0], Some(&left), &json!(right)).expect("numbers");
            let back = judge(&*scorers[0], Some(&right), &json!(left)).expect("numbers");
            assert_eq!(there.correct, back.correct, "{left} {right}");
            assert_eq!(there.correct, left == right, "{left} {right}");
        }
    });
    assert!(numbers > 50, "{numbers}");
}

#[test]
fn a_megabyte_takes_linear_time() {
    megabytes(
        &SPECS[..2],
        "1",
        &[
            "1",
            "0",
            "1,",
            "1 ",
            "000,",
            ",000",
            "1/",
            "-",
            "$",
            "½",
            "e5",
            "10^",
            "{",
            "\\frac{1}",
            "one ",
            "and ",
            "a ",
            "hundred ",
            "million ",
            "half ",
            " ",
            "x",
            "km ",
            "\\",
            "%",
            "₀",
        ],
    );
}

#[test]
fn a_ground_truth_that_is_no_number_is_an_error_before_an_agent_is_asked() {
    let check = |spec: &str, truth: serde_json::Value, expect: &str| {
        let mut sample = crate::data::Sample::new("q", "?");
        sample.target = Some(crate::data::Target(truth));
        let error = crate::scorer::tests::check::scorer(spec)
            .criterion(&sample)
            .err();
        let message = error
            .map(|error| error.message().to_owned())
            .unwrap_or_default();
        assert!(
            message.contains(expect) && message.is_empty() == expect.is_empty(),
            "{spec}: {message}"
        );
    };
    check("numeric", "the fraction".into(), "is not a number");
    check("numeric", "1/2".into(), "");
    check(
        "{ type: not, scorer: numeric }",
        "x".into(),
        "is not a number",
    );
    check(
        "{ type: any_of, scorer: numeric }",
        serde_json::json!(["1", "x"]),
        "accepted answer 2: `ground_truth` \"x\"",
    );
    check(
        "{ type: any_of, scorer: numeric }",
        serde_json::json!(["1", "2"]),
        "",
    );
    check(
        "{ type: list, scorer: numeric }",
        "1, two, x".into(),
        "element `x` of the ground truth",
    );
    check("{ type: list, scorer: numeric }", "1, two".into(), "");
    check("aime", "1025".into(), "must be an integer");
    check("gsm8k", "none".into(), "must be a number");
    check("regex", "(".into(), "`ground_truth`");
    check("json", "{".into(), "is not JSON");
    check("gaia", serde_json::json!(["a"]), "must be a string");
}
