use std::collections::HashMap;

use regex::Regex;
use serde_json::json;

use super::*;
use crate::data::{Output, Target};
use crate::tests::{fuzz, needs, parity};
use crate::text::{is_py_space, py_lower};

fn judge(
    scorer: &dyn Scorer,
    prediction: Option<&str>,
    target: &Value,
    messages: &Value,
) -> Result<Score> {
    let output = Output {
        messages: messages.as_array().expect("messages").clone(),
        ..Output::default()
    };
    scorer.score(&Answer::new(prediction, &Target(target.clone())).output(&output))
}

/// `expect` is f1, em, precision, recall.
#[track_caller]
fn check(prediction: &str, gold: &str, expect: [f64; 4], reason: &str) {
    let score = judge(&QaF1, Some(prediction), &gold.into(), &json!([])).expect("a verdict");
    let pair = format!("{prediction:?} {gold:?}");
    assert_eq!(bits(&score), bits_of(expect), "{pair}");
    assert_eq!(score.reason, reason, "{pair}");
    assert_eq!(score.value.to_bits(), expect[0].to_bits(), "{pair}");
    assert_eq!(score.correct, expect[1] > 0.0, "{pair}");
}

/// The bits of reward, f1, em, precision, recall.
fn bits(score: &Score) -> [Option<u64>; 5] {
    ["reward", "f1", "em", "precision", "recall"].map(|name| {
        let figure = score.details.get(name)?;
        // An integer would be written without a point.
        figure.is_f64().then(|| figure.as_f64().map(f64::to_bits))?
    })
}

fn bits_of([f1, em, precision, recall]: [f64; 4]) -> [Option<u64>; 5] {
    [f1, f1, em, precision, recall].map(|figure| Some(figure.to_bits()))
}

#[test]
fn common_words_are_counted() {
    check("The Cat!", "cat", [1.0; 4], "exact_match");
    check(
        "Paris is the capital",
        "Paris",
        [0.5, 0.0, 1.0 / 3.0, 1.0],
        "partial_match",
    );
    check(
        "b b b c",
        "b b d",
        [
            2.0 * 0.5 * (2.0 / 3.0) / (0.5 + 2.0 / 3.0),
            0.0,
            0.5,
            2.0 / 3.0,
        ],
        "partial_match",
    );
    check("c b", "b c", [1.0, 0.0, 1.0, 1.0], "partial_match");
    check("x", "y", [0.0; 4], "mismatch");
    check("", "y", [0.0; 4], "mismatch");
}

#[test]
fn yes_no_and_nothing() {
    check("Yes.", "yes", [1.0; 4], "exact_match");
    check("yes it is", "yes", [0.0; 4], "mismatch");
    check("no", "no it is not", [0.0; 4], "mismatch");
    check("No answer", "noanswer", [0.0; 4], "mismatch");
    check(
        "yes it is",
        "yes no",
        [0.4, 0.0, 1.0 / 3.0, 0.5],
        "partial_match",
    );
    check("the", "a", [0.0, 1.0, 0.0, 0.0], "exact_match");
    check("", "", [0.0, 1.0, 0.0, 0.0], "exact_match");
}

#[test]
fn the_best_of_several_golds_counts() {
    let check = |prediction, golds: Value, gold: &str, f1: f64| {
        let score = judge(&QaF1, prediction, &golds, &json!([])).expect("a verdict");
        assert_eq!(score.details.get("gold"), Some(&gold.into()), "{golds}");
        assert_eq!(score.value.to_bits(), f1.to_bits(), "{golds}");
    };
    check(
        Some("red fox"),
        json!(["cat", "fox red", "Red Fox!", "red fox"]),
        "Red Fox!",
        1.0,
    );
    check(
        Some("red fox"),
        json!(["fox", "red", "cat"]),
        "fox",
        2.0 / 3.0,
    );
    check(Some("red"), json!(["fox", "cat"]), "fox", 0.0);
    check(Some("the"), json!(["fox", "a", "an"]), "a", 0.0);
    check(None, json!(["fox"]), "fox", 0.0);
    let score = judge(&QaF1, Some("fox"), &"fox".into(), &json!([])).expect("a verdict");
    assert_eq!(score.details.get("gold"), None);
}

#[test]
fn two_messages_of_tools_are_needed() {
    let check = |messages: Value, calls: u64, reason: &str| {
        let score = judge(&QaF1Format, Some("fox"), &"fox".into(), &messages).expect("a verdict");
        assert_eq!(score.reason, reason, "{messages}");
        assert_eq!(score.details.get("tool_calls"), Some(&calls.into()));
        let figure = if calls < 2 { 0.0 } else { 1.0 };
        assert_eq!(bits(&score), bits_of([figure; 4]), "{messages}");
        assert_eq!((score.correct, score.value > 0.0), (calls >= 2, calls >= 2));
    };
    let tool = json!({"role": "tool"});
    check(json!([]), 0, "too_few_tool_calls");
    check(
        json!([tool, {"role": "Tool"}, {"role": null}]),
        1,
        "too_few_tool_calls",
    );
    check(json!([tool, {"role": "user"}, tool]), 2, "exact_match");
}

#[test]
fn unscorable_input_is_an_error() {
    let check = |scorer: &dyn Scorer, target: Value, messages: Value, expect: &str| {
        let error = judge(scorer, Some("x"), &target, &messages).expect_err("no verdict");
        assert_eq!(error.message(), expect);
    };
    let none = json!([]);
    check(
        &QaF1,
        json!(19),
        none.clone(),
        "`ground_truth` must be a string or an array of strings for scorer `qa_f1`",
    );
    check(
        &QaF1Format,
        json!(["a", 19]),
        none.clone(),
        "`ground_truth` must be a string or an array of strings for scorer `qa_f1_format`",
    );
    check(
        &QaF1,
        none.clone(),
        none,
        "`ground_truth` is an empty array for scorer `qa_f1`",
    );
    for message in [json!({"content": "role"}), json!("role"), json!(null)] {
        check(
            &QaF1Format,
            json!("x"),
            json!([{"role": "tool"}, message]),
            "message 2 of the conversation has no `role`",
        );
    }
}

#[test]
fn a_mebibyte_takes_no_time() {
    for part in ["a ", "the ", "b c ", "word", "é ", "’", "."] {
        let text = fuzz::megabyte(part);
        let half = part.repeat(text.len() / part.len() / 2) + " x";
        let score = fuzz::in_time(part, || judge(&QaF1, Some(&text), &half.into(), &json!([])));
        score.expect("a verdict");
    }
}

#[test]
fn many_golds_take_no_time() {
    let golds = (0..fuzz::MEGABYTE / 20).map(|gold| format!("w{gold}").into());
    let golds: Vec<Value> = golds.collect();
    let prediction = fuzz::megabyte("b c d e f g h ");
    let score = fuzz::in_time("many golds", || {
        judge(&QaF1, Some(&prediction), &golds.into(), &json!([]))
    });
    assert_eq!(score.expect("a verdict").reason, "mismatch");
}

/// The rule step by step.
struct Naive {
    /// Letters and anything with a numeric value: what Python's `\w` matches, besides `_`.
    word: Regex,
}

impl Naive {
    fn normalize(&self, text: &str) -> String {
        let mut text = py_lower(text);
        text.retain(|c| !c.is_ascii_punctuation());
        let text = self
            .word
            .replace_all(&text, |word: &regex::Captures<'_>| match &word[0] {
                "a" | "an" | "the" => " ".to_owned(),
                other => other.to_owned(),
            });
        let words = text.split(is_py_space).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ")
    }

    #[expect(clippy::cast_precision_loss, reason = "a few words")]
    fn figures(&self, prediction: &str, gold: &str) -> [f64; 4] {
        let (p, g) = (self.normalize(prediction), self.normalize(gold));
        let em = f64::from(u8::from(p == g));
        let special = ["yes", "no", "noanswer"];
        if p != g && (special.contains(&&*p) || special.contains(&&*g)) {
            return [0.0, em, 0.0, 0.0];
        }
        let count = |text: &str| {
            let mut counts: HashMap<String, usize> = HashMap::new();
            for word in text.split_whitespace() {
                *counts.entry(word.to_owned()).or_default() += 1;
            }
            counts
        };
        let (left, right) = (count(&p), count(&g));
        let shared = |(word, &count): (&String, &usize)| count.min(*right.get(word).unwrap_or(&0));
        let same: usize = left.iter().map(shared).sum();
        if same == 0 {
            return [0.0, em, 0.0, 0.0];
        }
        let precision = same as f64 / left.values().sum::<usize>() as f64;
        let recall = same as f64 / right.values().sum::<usize>() as f64;
        let f1 = (2.0 * precision * recall) / (precision + recall);
        [f1, em, precision, recall]
    }
}

#[test]
fn any_pair_matches_the_stepwise_rule() {
    let parts = [
        " ", " ", "\t", "\x1f", "the", "The ", "a", "an ", "yes", "no ", "noanswer", "fox ",
        "red ", "b ", "c ", "-", ".", "_", "'", "1", "\0", // ASCII up to here
        "\u{85}", "\u{3000}", "’", "·", "é", "É", "Σ", "ς ", "²", "½", "\u{301}", "\u{200d}",
        "\u{93e}", "東", "İ", "K",
    ];
    let naive = Naive {
        word: Regex::new(r"[\p{L}\p{N}]+").expect("a pattern"),
    };
    let mut random = fuzz::Dice::new(4);
    for _ in 0..fuzz::cases() {
        let parts = &parts[..[21, parts.len()][random.below(2)]];
        let prediction = random.text(parts, 12);
        let gold = match random.below(3) {
            0 => random.text(parts, 2) + &prediction,
            1 => prediction.replace(parts[random.below(parts.len())], ""),
            _ => random.text(parts, 12),
        };
        let score = judge(&QaF1, Some(&prediction), &gold.as_str().into(), &json!([]));
        let score = score.expect("a verdict");
        let pair = format!("{prediction:?} {gold:?}");
        let expect = naive.figures(&prediction, &gold);
        assert_eq!(bits(&score), bits_of(expect), "{pair}");
        assert_eq!(
            score.normalized_prediction,
            naive.normalize(&prediction).into()
        );
        assert_eq!(score.normalized_ground_truth, naive.normalize(&gold).into());
    }
}

#[needs(data = "vectors/qa.jsonl")]
#[test]
fn every_figure_of_the_original_is_reproduced() {
    let text = parity::text("vectors/qa.jsonl");
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let scorers: [(&dyn Scorer, &str); 2] = [
            (&QaF1, "qa_f1_reward"),
            (&QaF1Format, "qa_f1_reward_format"),
        ];
        for (scorer, name) in scorers {
            let (gold, prediction) = (&row["golden_answer"], row["prediction"].as_str());
            let score = judge(scorer, prediction, gold, &row["trajectory"]);
            if row[name] == "EXC:KeyError" {
                assert!(score.is_err(), "{line}");
                continue;
            }
            let score = score.expect("a verdict");
            let figure = |key: &str| parity::get::<f64>(&row[name], key);
            let expect = ["f1", "em", "precision", "recall"].map(figure);
            assert_eq!(bits(&score), bits_of(expect), "{name} {line}");
            assert_eq!(figure("reward").to_bits(), expect[0].to_bits(), "{line}");
            assert_eq!(score.value.to_bits(), expect[0].to_bits(), "{line}");
            assert_eq!(score.correct, expect[1] > 0.0, "{line}");
            let normalized = json!([score.normalized_prediction, score.normalized_ground_truth]);
            let expect = json!([row["norm_prediction"], row["norm_golden"]]);
            assert_eq!(normalized, expect, "{line}");
        }
    }
}
