use regex::Regex;
use serde_json::{Value, json};

use super::*;
use crate::data::Target;
use crate::scorer::Scorer;
use crate::tests::{fuzz, needs, parity};

fn judge(scorer: Substring, prediction: Option<&str>, target: impl Into<Target>) -> Result<Value> {
    let score = scorer.score(&Answer::new(prediction, &target.into()))?;
    Ok(serde_json::to_value(score).expect("JSON"))
}

/// `expect` is the reason and `details`.
#[track_caller]
fn check(scorer: Substring, prediction: Option<&str>, ground_truth: &str, expect: &Value) {
    let score = judge(scorer, prediction, ground_truth).expect("a verdict");
    let got = json!([score["reason"], score["details"]]);
    assert_eq!(got, *expect, "{prediction:?} {ground_truth:?}");
    let correct = matches!(
        score["reason"].as_str(),
        Some("exact_match" | "substring_match")
    );
    assert_eq!(score["correct"], correct);
    assert_eq!(score["value"], if correct { 1.0 } else { 0.0 });
}

#[test]
fn texts_are_normalised_in_order() {
    let check = |text, expect: &str| assert_eq!(normalize(text), expect, "{text:?}");
    check("  The\t\n Answer_1! ", "the answer_1");
    check("a - b", "a  b");
    check("! x", " x");
    check(" ! ! ", " ");
    check("naïve", "nave");
    check("-3.14%", "314");
    check("\u{feff}a\u{a0}\u{feff}b\u{feff}", "a b");
    check("a\u{85}b\x1cc", "abc");
    check("K İ", "k i");
    check("東京", "");
}

#[test]
fn bytes_reveal_remaining_characters() {
    for c in '\0'..=char::MAX {
        let text = format!("x{c}y");
        let expect = match fold_char(c) {
            0 => "xy".to_owned(),
            left => format!("x{}y", char::from(left)),
        };
        assert_eq!(normalize(&text), expect, "{c:?}");
    }
}

#[test]
fn one_contains_the_other() {
    let check = |left, right, expect| check(Substring::new(), Some(left), right, &expect);
    check(
        "It is Paris.",
        "paris",
        json!(["substring_match", {"direction": "prediction_contains_ground_truth", "verbose": true}]),
    );
    check(
        "19",
        "1927",
        json!(["substring_match", {"direction": "ground_truth_contains_prediction", "verbose": false, "warning": numerals::WARNING}]),
    );
    check(
        "PARIS!",
        "Paris",
        json!(["exact_match", {"direction": "equal", "verbose": false}]),
    );
    check("Rome", "Paris", json!(["mismatch", {"verbose": false}]));
    check("Parma", "Paris", json!(["mismatch", {"verbose": false}]));
    check(
        "_",
        "_",
        json!(["exact_match", {"direction": "equal", "verbose": false, "warning": NO_WORD}]),
    );
}

#[test]
fn nothing_is_no_match_unless_compat() {
    let none = json!({"verbose": false});
    let part = json!({"direction": "ground_truth_contains_prediction", "verbose": false, "warning": EMPTY_PREDICTION});
    for prediction in [None, Some(""), Some("!!!"), Some("東京")] {
        check(
            Substring::new(),
            prediction,
            "x",
            &json!(["empty_prediction", none]),
        );
        check(
            Substring::compat(),
            prediction,
            "x",
            &json!(["substring_match", part]),
        );
    }
    // A space remains.
    check(
        Substring::new(),
        Some("? !"),
        "x y",
        &json!(["empty_prediction", none]),
    );

    let none = json!({"verbose": false, "warning": NO_WORD});
    let part = json!({"direction": "prediction_contains_ground_truth", "verbose": true, "warning": NO_WORD});
    check(
        Substring::new(),
        Some("x"),
        "東京",
        &json!(["empty_ground_truth", none]),
    );
    check(
        Substring::compat(),
        Some("x"),
        "東京",
        &json!(["substring_match", part]),
    );
    check(
        Substring::new(),
        Some("x"),
        "",
        &json!(["empty_ground_truth", none]),
    );
    check(
        Substring::compat(),
        Some("x"),
        "",
        &json!(["mismatch", none]),
    );
    check(
        Substring::new(),
        Some(""),
        "",
        &json!(["empty_ground_truth", none]),
    );
    check(
        Substring::compat(),
        Some(""),
        "",
        &json!(["mismatch", none]),
    );
}

#[test]
fn a_target_that_is_no_string_is_an_error() {
    let error = judge(Substring::new(), Some("19"), 19);
    assert_eq!(
        error.expect_err("no verdict").message(),
        "`ground_truth` must be a string for scorer `substring`"
    );
}

#[test]
fn the_option_is_part_of_the_fingerprint() {
    assert_ne!(
        Substring::new().fingerprint(),
        Substring::compat().fingerprint()
    );
}

#[test]
fn a_mebibyte_takes_no_time() {
    for part in ["a", "ab", " ", "!", "é", "a b "] {
        let text = fuzz::megabyte(part);
        let half = part.repeat(text.len() / part.len() / 2) + "b";
        fuzz::in_time(part, || judge(Substring::new(), Some(&text), half)).expect("a verdict");
    }
}

/// The rule step by step.
struct Naive {
    spaces: Regex,
    rest: Regex,
}

impl Naive {
    fn new() -> Self {
        let space = r"\t-\r\x20\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}";
        let regex = |pattern: String| Regex::new(&pattern).expect("a pattern");
        Self {
            spaces: regex(format!("[{space}]+")),
            rest: regex(format!("[^A-Za-z0-9_{space}]")),
        }
    }

    fn normalize(&self, text: &str) -> String {
        let text = text.to_lowercase();
        let trimmed = text.trim_matches(|c: char| self.spaces.is_match(c.encode_utf8(&mut [0; 4])));
        let text = self.spaces.replace_all(trimmed, " ");
        self.rest.replace_all(&text, "").into_owned()
    }
}

#[test]
fn any_pair_matches_the_stepwise_rule() {
    let parts = [
        " ", "  ", "\t", "\n", "a", "B", "the ", "x_y", "17", "-", ".", "!", "(", "\x1f",
        "\0", // ASCII
        "é", "É", "K", "İ", "Σ", "ſ", "\u{85}", "\u{a0}", "\u{3000}", "\u{feff}", "\u{200b}", "１",
        "東", "😀",
    ];
    let naive = Naive::new();
    let mut random = fuzz::Dice::new(3);
    for _ in 0..fuzz::cases() {
        let parts = &parts[..[15, parts.len()][random.below(2)]];
        let prediction = random.text(parts, 8);
        let ground_truth = match random.below(3) {
            0 => random.text(parts, 2) + &prediction,
            1 => prediction.replace(parts[random.below(parts.len())], ""),
            _ => random.text(parts, 3),
        };
        let (p, g) = (naive.normalize(&prediction), naive.normalize(&ground_truth));
        let contained = !ground_truth.is_empty() && (p.contains(&g) || g.contains(&p));
        let some = |text: &str| !text.trim().is_empty();
        for (scorer, correct) in [
            (Substring::compat(), contained),
            (Substring::new(), contained && some(&p) && some(&g)),
        ] {
            let score = judge(scorer, Some(&prediction), &*ground_truth).expect("a verdict");
            let got = json!([
                score["normalized_prediction"],
                score["normalized_ground_truth"],
                score["correct"],
                score["details"]["verbose"],
            ]);
            let expect = json!([p, g, correct, correct && p.len() > g.len()]);
            assert_eq!(got, expect, "{scorer:?} {prediction:?} {ground_truth:?}");
        }
    }
}

#[needs(data = "vectors/substring.jsonl")]
#[test]
fn every_verdict_of_the_original_is_reproduced() {
    let text = parity::text("vectors/substring.jsonl");
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let ground_truth = row["ground_truth"].as_str().expect("a string");
        let score = judge(
            Substring::compat(),
            row["prediction"].as_str(),
            ground_truth,
        );
        let score = score.expect("a verdict");
        let got = json!([
            score["correct"],
            score["normalized_prediction"],
            score["normalized_ground_truth"]
        ]);
        let expect = json!([
            row["correct"],
            row["norm_prediction"],
            row["norm_ground_truth"]
        ]);
        assert_eq!(got, expect, "{line}");
    }
}

#[test]
fn different_numbers_that_are_called_equal_carry_a_warning() {
    let check = |prediction: &str, truth: &str, expect: bool| {
        for scorer in [Substring::new(), Substring::compat()] {
            let score = judge(scorer, Some(prediction), truth).expect("a verdict");
            let is_warned = score["details"].get("warning").is_some();
            assert_eq!(is_warned, expect, "{prediction:?} {truth:?}");
        }
    };
    check("-5", "5", true);
    check("314", "3.14", true);
    check("19", "1927", true);
    check("It is 1927.", "19", true);
    check("It is 19, not 27.", "19", false);
    check("1,000", "1000", false);
    check("Paris 2024", "paris", false);
    check("6", "5", false);
}
