use serde_json::{Value, json};

use super::*;
use crate::scorer::tests::check::{check_all, judge, megabytes, scorer};
use crate::tests::fuzz::fuzz;

#[test]
fn numeric_truth_differs_from_text() {
    let numbers = [
        "42",
        "0",
        "-1.5",
        "+7",
        "0.5",
        ".05",
        "0.050",
        "1,000",
        "1 000 000",
        "$5",
        "$0.50",
        "3.5 %",
        "50%",
        "1e5",
        "1e+05",
        "3/4",
        "½",
        "1½",
        r"\frac{3}{4}",
        "2.5 million",
        "10^6",
        "42.",
        "４２",
        "2024",
        "5 EUR",
    ];
    let texts = [
        "007",
        "02139",
        "-007",
        "00",
        "00.5",
        "+049",
        "٠٠٧",
        "5/07",
        "01/02",
        "seven",
        "forty-two",
        "a hundred",
        "5 km",
        "2024-05-01",
        "555-1234",
        "12:30",
        "1.2.3",
        "1,2",
        "1,2,3",
        "inf",
        "nan",
        "1st",
        "0x1F",
        "3-4",
        "50-60 %",
        "",
        "Paris",
        "B52",
        "#5",
        "(5)",
        "VII",
        "1990s",
        "42 or 43",
        "0 123",
    ];
    for text in numbers {
        assert!(is_number(text), "{text}");
    }
    for text in texts {
        assert!(!is_number(text), "{text}");
    }
}

#[test]
fn verdicts() {
    check_all(
        "qa",
        &[
            ("-45", json!("45"), false, 0.0, "mismatch"),
            ("1.5", json!("15"), false, 0.0, "mismatch"),
            ("3/4", json!("34"), false, 0.0, "mismatch"),
            ("45.0", json!("45"), true, 1.0, "exact_match"),
            ("forty-five", json!("45"), true, 1.0, "exact_match"),
            ("1000", json!("1,000"), true, 1.0, "exact_match"),
            ("5", json!("$5"), true, 1.0, "exact_match"),
            ("3.5", json!("3.5 %"), true, 1.0, "exact_match"),
            ("**42**!", json!("42"), true, 1.0, "exact_match"),
            ("“42”.", json!("42"), true, 1.0, "exact_match"),
            ("about 42", json!("42"), false, 0.0, "not_a_number"),
            ("7", json!("007"), false, 0.0, "mismatch"),
            ("007.", json!("007"), true, 1.0, "exact_match"),
            ("2139", json!("02139"), false, 0.0, "mismatch"),
            ("seven", json!("Seven"), true, 1.0, "exact_match"),
            ("5.0 km", json!("5 km"), false, 0.5, "overlap"),
            ("2024-05-01", json!("2024-05-01"), true, 1.0, "exact_match"),
            (
                "the Eiffel Tower",
                json!("Eiffel tower"),
                true,
                1.0,
                "exact_match",
            ),
            ("Paris, France", json!("Paris"), false, 2.0 / 3.0, "overlap"),
            // Of several each by its own rule.
            (
                "-140",
                json!(["140", "140 passengers"]),
                false,
                2.0 / 3.0,
                "overlap",
            ),
            (
                "140 passengers",
                json!(["140", "140 passengers"]),
                true,
                1.0,
                "exact_match",
            ),
            (
                "140.0",
                json!(["140", "140 passengers"]),
                true,
                1.0,
                "exact_match",
            ),
            ("13", json!(["12", "13"]), true, 1.0, "exact_match"),
            ("-13", json!(["12", "13"]), false, 0.0, "mismatch"),
            // JSON numbers.
            ("45.0", json!(45), true, 1.0, "exact_match"),
            ("-45", json!([45, "x"]), false, 0.0, "mismatch"),
        ],
    );
    assert!(judge(&QaScorer, Some("x"), &json!(true)).is_err());
    assert!(judge(&QaScorer, Some("x"), &json!([])).is_err());
}

#[test]
fn rule_and_figures_are_reported() {
    let check = |prediction, truth: Value, expect: Value| {
        let score = judge(&QaScorer, prediction, &truth).expect("a verdict");
        let scored = serde_json::to_value(&score).expect("JSON");
        for (key, expect) in expect.as_object().expect("an object") {
            let place = if scored.get(key).is_some() {
                &scored[key]
            } else {
                &scored["details"][key]
            };
            assert_eq!(place, expect, "{key} {scored}");
        }
    };
    check(
        Some("45"),
        json!("45"),
        json!({"scorer": "numeric", "gold": "45", "f1": 1.0, "em": 1.0, "precision": 1.0, "recall": 1.0,
               "abs_error": 0.0, "normalized_prediction": "45.0", "normalized_ground_truth": "45.0"}),
    );
    check(
        Some("44"),
        json!("45"),
        json!({"scorer": "numeric", "f1": 0.0, "em": 0.0, "abs_error": 1.0}),
    );
    check(
        None,
        json!("45"),
        json!({"scorer": "numeric", "reason": "no_prediction", "f1": 0.0}),
    );
    check(
        Some("Paris, France"),
        json!("Paris"),
        json!({"scorer": "token_f1", "gold": "Paris", "em": 0.0, "normalized_ground_truth": "paris"}),
    );
    check(
        Some("140 men"),
        json!(["a crew", "140", "140 Men"]),
        json!({"scorer": "token_f1", "gold": "140 Men", "correct": true,
               "normalized_ground_truth": ["crew", "140.0", "140 men"]}),
    );
    check(
        Some("140"),
        json!(["140", "140 men"]),
        json!({"scorer": "numeric", "gold": "140", "normalized_ground_truth": ["140.0", "140 men"]}),
    );
    check(
        Some("12"),
        json!(["11", "12"]),
        json!({"scorer": "numeric", "gold": "12", "normalized_ground_truth": ["11.0", "12.0"]}),
    );
}

#[test]
fn what_a_run_says() {
    let scored = |truths: &[Value]| {
        let mut rules = QaRules::default();
        for truth in truths {
            rules.add(&Target(truth.clone()));
        }
        rules.notice()
    };
    assert_eq!(scored(&[]), None);
    assert_eq!(scored(&[json!("x"), json!("007")]), None);
    let some = scored(&[
        json!("x"),
        json!("42"),
        json!(["1", "2"]),
        json!(["1", "one"]),
    ]);
    let expect = "scorer `qa` scores 2 samples with `numeric` (their ground truth is a number), 1 with `numeric` or `token_f1` \
        (whichever fits the accepted answer) and 1 with `token_f1`";
    assert_eq!(some.as_deref(), Some(expect));
}

/// Old baselines are distinguished, and so are those of another version of either rule.
#[test]
fn it_is_another_scorer_than_token_f1() {
    let fingerprint = QaScorer.fingerprint();
    assert_ne!(fingerprint, TokenF1::default().fingerprint());
    assert!(fingerprint.contains(&Numeric::default().fingerprint()));
    assert!(fingerprint.contains(&TokenF1::default().fingerprint()));
}

const PIECES: &[&str] = &[
    "1", "0", "5", ".", ",", "-", " ", "$", "%", "/", "e", "½", "a", "the ", "x", "*", "'", "٣",
];

/// It always agrees with one of the two rules.
#[test]
fn it_is_one_rule_or_the_other() {
    let [numeric, token_f1] = ["numeric", "token_f1"].map(scorer);
    fuzz(|dice| {
        let (prediction, truth) = (dice.wild(PIECES), dice.wild(PIECES));
        let truth = json!(truth);
        let got = judge(&QaScorer, Some(&prediction), &truth).expect("a verdict");
        let is_text = got.details.get("scorer") == Some(&json!("token_f1"));
        let rule = if is_text { &token_f1 } else { &numeric };
        let bare = if is_text {
            &prediction
        } else {
            without_marks(&prediction)
        };
        let expect = judge(&**rule, Some(bare), &truth).expect("a verdict");
        assert_eq!((got.correct, got.value), (expect.correct, expect.value));
        let same = judge(&QaScorer, Some(truth.as_str().unwrap()), &truth).expect("a verdict");
        assert!(same.correct, "{truth}");
    });
}

#[test]
fn a_megabyte_takes_linear_time() {
    megabytes(
        &["qa"],
        "1",
        &[
            "1", "0", "1,", "1 ", "1.", "a ", "½", "-", "/0", " ", "\"", "٣",
        ],
    );
}
