use serde_json::{Value, json};

use super::*;
use crate::data::Target;
use crate::scorer::Scorer;
use crate::tests::{fuzz, needs, parity};

fn judge(scorer: QuasiExact, prediction: Option<&str>, target: impl Into<Target>) -> Result<Score> {
    scorer.score(&Answer::new(prediction, &target.into()))
}

#[track_caller]
fn check(prediction: &str, ground_truth: &str, reason: &str) {
    let score = judge(QuasiExact::new(), Some(prediction), ground_truth).expect("a verdict");
    assert_eq!(score.reason, reason, "{prediction:?} {ground_truth:?}");
}

#[track_caller]
fn check_normal(scorer: QuasiExact, text: &str, expect: &str) {
    assert_eq!(scorer.normalize(text), expect, "{text:?}");
}

#[test]
fn texts_are_cleaned() {
    let check = |text, expect| check_normal(QuasiExact::new(), text, expect);
    check(" The\tRed  Fox ", "red fox");
    check("the a fox", "a fox");
    check("A", "");
    check("theory", "theory");
    check("the", "");
    check("$ The fox", "the fox");
    check("a $5 %", "5");
    check("€1£0", "10");
    check("wait ?!.", "wait ");
    check("(yes).", "(yes)");
    check("x;:", "x");
    check("a\x1cb\u{85}c\u{200b}", "b c\u{200b}");
    check("ΟΔΟΣ", "οδος");
    check("K", "k");
    check("İ", "i\u{307}");
}

#[test]
fn commas_make_lists() {
    let check = |text, expect| check_normal(QuasiExact::new(), text, expect);
    check("Paris, London., the Hague", "hague,london,paris");
    check("c,b,", ",b,c");
    // An element that is an article.
    check("c,b,a", ",b,c");
    check(",", ",");
    check("$1,234.56", "1,234.56");
    check("1,000", "000,1");
    check("é,z,\u{10ffff},\u{ffff}", "z,é,\u{ffff},\u{10ffff}");
    check("a;b", "a;b");
    check("1，000", "1，000");
}

#[test]
fn documented_thousands_separators_go() {
    let check = |text, expect| check_normal(QuasiExact::as_documented(), text, expect);
    check("$1,234.56", "1234.56");
    check("1,000", "1000");
    check("12,345,678 km", "12345678 km");
    check("1,000, 2,500", "1000,2500");
    check("1,000,2,000", "1000,2000");
    check("100,200", "100200");
    // Lists.
    check("1, 000", "000,1");
    check("1,2,3", "1,2,3");
    check("2021,2020", "2020,2021");
    check("1,0000", "0000,1");
    check("1000,000", "000,1000");
    check("3.141,592", "3.141,592");
    check("c,b", "b,c");
    check(",000", ",000");
    check("1,", ",1");
    check("é,123", "123,é");
    check("1,00é", "00é,1");
    // The surrounding text does not matter.
    check("no.1,000", "no.1000");
    check("x1,000y", "x1000y");
}

#[test]
fn exact_partial_or_neither() {
    check("The fox.", "fox", "exact_match");
    check("b, a", "a,b", "exact_match");
    check("a", "the", "exact_match");
    check("the red fox", "fox", "partial_match");
    check("f", "fox", "partial_match");
    check("the", "fox", "partial_match");
    check("fox", "%", "partial_match");
    check("1000", "1,000", "mismatch");
    check("1.0", "1", "partial_match");
    check("2.0", "20", "mismatch");
    check("", "fox", "mismatch");
    check("fox", "", "mismatch");
    check("", "", "mismatch");
    // Seven of ten words, and six of nine.
    check("j i g f e d c", "b c d e f g h i j k", "partial_match");
    check("j i g f e d", "b c d e f g h i j", "mismatch");
    check("d c b b b", "b b b b c d e f", "mismatch");
    check("f d c b", "b b b b c d e f", "partial_match");
}

#[test]
fn a_score_says_what_was_compared() {
    let score = judge(QuasiExact::new(), Some("$5 and more"), "$5").expect("a verdict");
    let expect = json!({
        "value": 0.5, "correct": false, "reason": "partial_match",
        "normalized_prediction": "5 and more", "normalized_ground_truth": "5",
        "details": {"exact_match": false, "partial_match": true, "extracted": "$5 and more"},
    });
    assert_eq!(serde_json::to_value(score).expect("JSON"), expect);

    let score = judge(QuasiExact::new(), None, "the").expect("a verdict");
    let expect = json!({
        "value": 0.0, "correct": false, "reason": "mismatch",
        "normalized_prediction": "", "normalized_ground_truth": "",
        "details": {"exact_match": false, "partial_match": false, "extracted": null},
    });
    assert_eq!(serde_json::to_value(score).expect("JSON"), expect);
}

#[test]
fn a_target_that_is_no_string_is_an_error() {
    let error = judge(QuasiExact::new(), Some("19"), json!(["19"]));
    assert_eq!(
        error.expect_err("no verdict").message(),
        "`ground_truth` must be a string for scorer `quasi_exact`"
    );
}

#[test]
fn the_option_is_part_of_the_fingerprint() {
    assert_ne!(
        QuasiExact::new().fingerprint(),
        QuasiExact::as_documented().fingerprint()
    );
    assert_eq!(QuasiExact::new().extract(), Some(Extract::first_answer()));
}

#[test]
fn a_mebibyte_takes_no_time() {
    for part in [
        ",", "1,000,", "a ", "b, ", "$", " ", "?", "ab", "é ", "zq,yq ",
    ] {
        let text = fuzz::megabyte(part);
        for scorer in [QuasiExact::new(), QuasiExact::as_documented()] {
            let other = part.repeat(text.len() / part.len() / 2) + "x";
            fuzz::in_time(part, || judge(scorer, Some(&text), other)).expect("a verdict");
        }
    }
}

/// An independent version of the rule: texts, exact, partial.
fn naive(prediction: &str, ground_truth: &str) -> (String, String, bool, bool) {
    fn strip(text: &str) -> &str {
        text.trim_matches(is_py_space)
    }
    fn split(text: &str) -> Vec<String> {
        let words = text.split(is_py_space).map(str::to_owned);
        words.filter(|word| !word.is_empty()).collect()
    }
    fn single(text: &str) -> String {
        let mut text = py_lower(strip(text));
        let words = split(&text);
        if words
            .first()
            .is_some_and(|word| matches!(word.as_str(), "the" | "a" | "an"))
        {
            text = words[1..].join(" ");
        }
        let text = text.replace(['$', '%', '€', '£'], "");
        let text = split(&text).join(" ");
        text.trim_end_matches(|c| ".,;:!?".contains(c)).to_owned()
    }
    fn normalize(text: &str) -> String {
        let text = strip(text);
        if !text.contains(',') {
            return single(text);
        }
        let mut parts: Vec<String> = text.split(',').map(single).collect();
        parts.sort_by_key(|part| part.chars().collect::<Vec<_>>());
        parts.join(",")
    }
    let (p, e) = (normalize(prediction), normalize(ground_truth));
    if prediction.is_empty() || ground_truth.is_empty() {
        return (p, e, false, false);
    }
    let exact = p == e;
    let mut partial = p.contains(&e) || e.contains(&p);
    if !partial {
        let given: std::collections::HashSet<_> = split(&p).into_iter().collect();
        let expected: std::collections::HashSet<_> = split(&e).into_iter().collect();
        let common = given.intersection(&expected).count();
        partial = !expected.is_empty() && ratio(common, expected.len()) >= 0.7;
    }
    (p, e, exact, partial)
}

#[test]
fn any_pair_matches_the_word_rule() {
    let parts = [
        " ", "  ", "\t", "the", "The ", "a ", "an ", "fox", "red ", "b ", "c ", "d", ",", ", ",
        ".", "?", ";", "$", "%", "1,000", "17", "x", "\n", "\x1f", // ASCII up to here
        "€", "£", "é", "É", "Σ", "ς ", "\u{85}", "\u{3000}", "K", "İ", "，", "１", "ꟌΣ",
    ];
    let mut random = fuzz::Dice::new(2);
    for _ in 0..fuzz::cases() {
        let parts = &parts[..[24, parts.len()][random.below(2)]];
        let prediction = random.text(parts, 8);
        // Often similar to the prediction.
        let ground_truth = match random.below(3) {
            0 => random.text(parts, 2) + &prediction,
            1 => prediction.replace(parts[random.below(parts.len())], ""),
            _ => random.text(parts, 8),
        };
        let score = judge(QuasiExact::new(), Some(&prediction), &*ground_truth);
        let score = score.expect("a verdict");
        let (p, e, exact, partial) = naive(&prediction, &ground_truth);
        let pair = format!("{prediction:?} {ground_truth:?}");
        assert_eq!(score.normalized_prediction, p.into(), "{pair}");
        assert_eq!(score.normalized_ground_truth, e.into(), "{pair}");
        assert_eq!(score.correct, exact, "{pair}");
        assert_eq!(
            score.details.get("partial_match"),
            Some(&partial.into()),
            "{pair}"
        );
    }
}

#[needs(data = "vectors/quasi.jsonl")]
#[test]
fn every_verdict_of_the_program_is_reproduced() {
    let text = parity::text("vectors/quasi.jsonl");
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let extracted = match row["response"].as_str() {
            Some(response) => Extract::first_answer().apply(response).expect("an answer"),
            None => row["predicted"].as_str().expect("a string").into(),
        };
        let ground_truth = row["expected"].as_str().expect("a string");
        let score = judge(QuasiExact::new(), Some(&extracted), ground_truth).expect("a verdict");
        let score = serde_json::to_value(score).expect("JSON");
        let got = json!({
            "extracted": score["details"]["extracted"],
            "norm_predicted": score["normalized_prediction"],
            "norm_expected": score["normalized_ground_truth"],
            "exact_match": score["details"]["exact_match"],
            "partial_match": score["details"]["partial_match"],
            "score": score["value"], "correct": score["correct"],
        });
        let expect = json!({
            "extracted": row["predicted"],
            "norm_predicted": row["norm_predicted"],
            "norm_expected": row["norm_expected"],
            "exact_match": row["exact_match"],
            "partial_match": row["partial_match"],
            "score": row["score"], "correct": row["exact_match"],
        });
        assert_eq!(got, expect, "{line}");
    }
}

#[test]
fn different_numbers_that_are_called_equal_carry_a_warning() {
    let check = |scorer, prediction: &str, truth: &str, expect: bool| {
        let score = judge(scorer, Some(prediction), truth).expect("a verdict");
        let is_warned = score.details.get("warning").is_some();
        assert_eq!(is_warned, expect, "{prediction:?} {truth:?}");
        assert!(score.correct || !is_warned);
    };
    check(QuasiExact::new(), "000, 1", "1,000", true);
    check(QuasiExact::new(), "5$0", "50", true);
    check(QuasiExact::new(), "$45.", "45", false);
    check(QuasiExact::new(), "3, 12", "12,3", false);
    // A partial match is not correct.
    check(QuasiExact::new(), "-45", "45", false);
    check(QuasiExact::as_documented(), "1,000", "1000", false);
}
