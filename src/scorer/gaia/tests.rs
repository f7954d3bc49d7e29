use serde_json::{Value, json};

use super::*;
use crate::data::Target;
use crate::scorer::Scorer;
use crate::tests::{needs, parity};

fn check(prediction: Option<&str>, ground_truth: &str, expect: &Value) {
    let verdict = question_scorer(prediction, ground_truth);
    let left = serde_json::to_value(&verdict.normalized_prediction).expect("JSON");
    let right = serde_json::to_value(&verdict.normalized_ground_truth).expect("JSON");
    let got = json!([verdict.correct, verdict.kind.as_str(), left, right]);
    assert_eq!(got, *expect, "{prediction:?} {ground_truth:?}");
}

#[test]
fn numbers() {
    let check = |left, right, expect| check(Some(left), right, &expect);
    check(
        "$1,234.5",
        "1234.50",
        json!([true, "number", "1234.5", "1234.5"]),
    );
    check("1$2%3", "123", json!([true, "number", "123.0", "123.0"]));
    check("１９", " 19 ", json!([true, "number", "19.0", "19.0"]));
    check("19 km", "19", json!([false, "number", "inf", "19.0"]));
    check("1 000", "1000", json!([false, "number", "inf", "1000.0"]));
    check("-0", "0", json!([true, "number", "-0.0", "0.0"]));
    check("1_0", "10", json!([true, "number", "10.0", "10.0"]));
}

#[test]
fn lists() {
    let check = |left, right, expect| check(Some(left), right, &expect);
    check(
        "A B;$3.0",
        "ab, 3",
        json!([true, "list", ["ab", "3.0"], ["ab", "3.0"]]),
    );
    check("b,a", "a,b", json!([false, "list", ["b", "a"], ["a", "b"]]));
    check(
        "a.,b",
        "a,b",
        json!([false, "list", ["a.", "b"], ["a", "b"]]),
    );
    check(
        "1000",
        "1,000",
        json!([false, "list", null, ["1.0", "0.0"]]),
    );
    check("a,", "a;", json!([true, "list", ["a", ""], ["a", ""]]));
    check("a", "a,b", json!([false, "list", null, ["a", "b"]]));
}

#[test]
fn strings() {
    let check = |left, right, expect| check(Some(left), right, &expect);
    check(
        "Sea gull!",
        "sea-gull",
        json!([true, "string", "seagull", "seagull"]),
    );
    check("The cat", "cat", json!([false, "string", "thecat", "cat"]));
    check("50", "50%", json!([true, "string", "50", "50"]));
    check("?!", "", json!([true, "string", "", ""]));
    check(
        "ΟΔΟΣ ΑΒ",
        "οδοσαβ",
        json!([true, "string", "οδοσαβ", "οδοσαβ"]),
    );
    check("ΑΣ.Β", "ασβ", json!([true, "string", "ασβ", "ασβ"]));
    check("a\x1c\u{85}b", "AB", json!([true, "string", "ab", "ab"]));
    check("“a”", "a", json!([false, "string", "“a”", "a"]));
}

#[test]
fn texts_are_normalised_as_step_by_step() {
    let naive = |text: &str, punctuation| {
        let joined: String = text.chars().filter(|&c| !is_py_space(c)).collect();
        let stays = |&c: &char| punctuation == Punctuation::Preserved || !is_py_punct(c);
        py_lower(&joined).chars().filter(stays).collect::<String>()
    };
    // Characters that become something else, and some others.
    let chars = ('\0'..='\u{2fff}')
        .chain('\u{3000}'..='\u{3002}')
        .chain('\u{a7c0}'..='\u{a7df}')
        .chain('\u{10d40}'..='\u{10d70}');
    for c in chars {
        for text in [format!("A{c}"), format!("é.{c} b")] {
            for punctuation in [Punctuation::Preserved, Punctuation::Removed] {
                let expect = naive(&text, punctuation);
                assert_eq!(normalize(&text, punctuation), expect, "{text:?}");
            }
        }
    }
}

#[test]
fn traps_keep_the_verdict_and_are_named() {
    let check = |prediction, ground_truth, correct, warning| {
        let verdict = question_scorer(prediction, ground_truth);
        let got = (verdict.correct, verdict.warning);
        assert_eq!(got, (correct, warning), "{prediction:?} {ground_truth:?}");
    };
    check(Some("garbage"), "inf", true, Some(INFINITE));
    check(Some("7"), "1e400", false, Some(INFINITE));
    check(Some("a, garbage"), "a, Infinity", true, Some(INFINITE));
    check(Some("garbage"), "-inf", false, None);
    check(Some("nan"), "NaN", false, Some(NOT_A_NUMBER));
    check(Some("a, nan"), "a, nan", false, Some(NOT_A_NUMBER));
    check(None, "None", true, Some(NULL_IS_NONE));
    check(None, " n.o.n.e ", true, Some(NULL_IS_NONE));
    check(Some("none"), "None", true, None);
    check(None, "nobody", false, None);
    check(None, "inf", true, Some(INFINITE));
}

#[test]
fn a_score_carries_kind_note_and_warning() {
    let score = Score::from(question_scorer(Some("a"), "a, nan"));
    let expect = json!({
        "value": 0.0, "correct": false, "reason": "mismatch",
        "normalized_prediction": null, "normalized_ground_truth": ["a", "nan"],
        "details": {"kind": "list", "note": OTHER_LENGTH, "warning": NOT_A_NUMBER},
    });
    assert_eq!(serde_json::to_value(score).expect("JSON"), expect);
}

#[test]
fn a_target_that_is_no_string_is_an_error() {
    let error = GaiaScorer.score(&Answer::new("19", &Target::from(19)));
    assert_eq!(
        error.expect_err("no verdict").message(),
        "`ground_truth` must be a string for scorer `gaia`"
    );
}

#[needs(data = "vectors/gaia.jsonl")]
#[test]
fn every_verdict_of_the_official_program_is_reproduced() {
    let text = parity::text("vectors/gaia.jsonl");
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let expect = json!([
            row["correct"],
            row["kind"],
            row["norm_prediction"],
            row["norm_ground_truth"]
        ]);
        let ground_truth = row["ground_truth"].as_str().expect("a string");
        check(row["prediction"].as_str(), ground_truth, &expect);
    }
}
