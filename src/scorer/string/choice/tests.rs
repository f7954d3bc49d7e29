use serde_json::{Map, Value, json};

use crate::data::{Output, Score, Target};
use crate::error::Result;
use crate::scorer::Answer;
use crate::scorer::tests::check::{check_all, judge, megabytes, refusal, scorer};
use crate::tests::fuzz::fuzz;

fn judge_with(spec: &str, prediction: &str, truth: &Value, choices: &Value) -> Result<Score> {
    let metadata = Map::from_iter([("options".to_owned(), choices.clone())]);
    scorer(spec).score(&Answer::new(prediction, &Target(truth.clone())).metadata(&metadata))
}

#[test]
fn letters() {
    check_all(
        "choice",
        &[
            ("B", json!("B"), true, 1.0, "exact_match"),
            ("b.", json!("(B)"), true, 1.0, "exact_match"),
            (
                "The answer is (B), not A.",
                json!("b"),
                true,
                1.0,
                "exact_match",
            ),
            ("C", json!("B"), false, 0.0, "mismatch"),
            ("no idea", json!("B"), false, 0.0, "not_a_choice"),
            ("", json!("B"), false, 0.0, "not_a_choice"),
        ],
    );
    check_all(
        "{ type: choice, letters: ABCD, index_base: 1 }",
        &[
            ("Plan E: B", json!(2), true, 1.0, "exact_match"),
            ("E", json!("2"), false, 0.0, "not_a_choice"),
            ("d", json!(4), true, 1.0, "exact_match"),
            ("D", json!("D"), true, 1.0, "exact_match"),
        ],
    );
}

#[test]
fn an_answer_without_a_letter_is_no_missing_answer() {
    let check = |raw: Option<&str>, reason: &str| {
        let scorer = scorer("choice");
        let extract = scorer.extract().expect("one of its own");
        let prediction = raw.and_then(|raw| extract.apply(raw));
        let output = raw.map_or_else(Output::default, Output::text);
        let score = scorer.score(&Answer {
            prediction: prediction.as_deref(),
            ..Answer::new(None, &Target(json!("B"))).output(&output)
        });
        assert_eq!(score.expect("a verdict").reason, reason, "{raw:?}");
    };
    check(Some("I do not know"), "not_a_choice");
    check(Some("Answer: b"), "exact_match");
    check(Some(" \n"), "no_prediction");
    check(None, "no_prediction");
}

#[test]
fn texts_of_choices() {
    let spec = "{ type: choice, choices: options, index_base: 0 }";
    let check = |choices: &Value, prediction: &str, truth: Value, label: &str, target: &str| {
        let score = judge_with(spec, prediction, &truth, choices).expect("a verdict");
        let got = serde_json::to_value(&score.details).expect("JSON");
        let expect = json!({"label": label, "target_label": target});
        assert_eq!(got, expect, "{prediction:?} {truth}");
        assert_eq!(score.correct, label == target);
    };
    let list = json!(["Vitamin A", "Vitamin C", "Iron"]);
    check(&list, "vitamin  c", json!("Vitamin C"), "B", "B");
    check(
        &list,
        "I think.\nFINAL ANSWER: Vitamin C.",
        json!(1),
        "B",
        "B",
    );
    check(&list, "B. Vitamin C", json!("B"), "B", "B");
    check(&list, "(b) Vitamin C", json!("B"), "B", "B");
    check(&list, "The answer is (C) Iron", json!(2), "C", "C");
    check(&list, "Plan D: C", json!("Iron"), "C", "C");
    check(&list, "D", json!("Iron"), "(other)", "C");
    let map = json!({"A": 3, "B": 4.5, "C": true});
    check(&map, "4.5", json!("B"), "B", "B");
    check(&map, "true", json!("3"), "C", "A");
    let columns = json!({"text": ["x", "y"], "label": ["A", "B"]});
    check(&columns, "Y", json!("x"), "B", "A");
}

#[test]
fn what_is_no_choice_is_an_error() {
    let check = |spec: &str, truth: Value, choices: Value, expect: &str| {
        let error = judge_with(spec, "A", &truth, &choices);
        assert_eq!(
            error.expect_err("no verdict").to_string(),
            expect,
            "{truth}"
        );
    };
    check(
        "choice",
        json!(1),
        json!(null),
        "`ground_truth` 1 is a number for scorer `choice`\n\nhint: say where counting starts: \
         `index_base: 0` or `index_base: 1`",
    );
    check(
        "choice",
        json!("Paris"),
        json!(null),
        "`ground_truth` \"Paris\" is not a choice for scorer `choice`",
    );
    check(
        "choice",
        json!(["A"]),
        json!(null),
        "`ground_truth` [\"A\"] must be a string or a number for scorer `choice`",
    );
    let spec = "{ type: choice, choices: options, index_base: 1 }";
    let is_no_choice = |truth: Value, rendered: &str| {
        let expect = format!("`ground_truth` {rendered} is not a choice for scorer `choice`");
        check(spec, truth, json!(["x", "y"]), &expect);
    };
    is_no_choice(json!("C"), "\"C\"");
    is_no_choice(json!(0), "0");
    is_no_choice(json!(3), "3");
    is_no_choice(json!(-1), "-1");
    is_no_choice(json!(1.5), "1.5");
    check(
        spec,
        json!("2"),
        json!(["2", "3"]),
        "`ground_truth` \"2\" is one choice and the text of another for scorer `choice`",
    );
    let no_choices = "metadata `options` has no choices for scorer `choice`: a list of 1 to 26 texts, or a \
                      map from `A`, `B` … to texts";
    for choices in [
        json!([]),
        json!("a"),
        json!([["a"]]),
        json!({"B": "x"}),
        json!(vec!["a"; 27]),
    ] {
        check(spec, json!("A"), choices, no_choices);
    }
    check(
        "{ type: choice, choices: answers }",
        json!("A"),
        json!(["x"]),
        "the sample has no metadata `answers`, but scorer `choice` needs its choices there",
    );
    assert_eq!(
        refusal("{ type: choice, letters: abc }"),
        "scorer `choice`, option `letters`: `\"abc\"` is not a text of letters from A to Z"
    );
    assert_eq!(
        refusal("{ type: choice, index_base: 2 }"),
        "scorer `choice`, option `index_base`: `2` is not 0 or 1"
    );
}

#[test]
fn the_extraction_leaves_what_the_scorer_needs() {
    let extract = |spec: &str| scorer(spec).extract().expect("an extraction").to_string();
    assert_eq!(extract("choice"), "choice");
    assert_eq!(
        extract("{ type: choice, letters: AB }"),
        r#"{"type":"choice","letters":"AB"}"#
    );
    assert_eq!(extract("{ type: choice, choices: options }"), "none");
}

const PIECES: &[&str] = &[
    "A",
    "B",
    "b",
    "(C)",
    "D.",
    " ",
    "\n",
    "The answer is ",
    "FINAL ANSWER:",
    "Vitamin C",
    "iron",
    "I",
    "**",
    "é",
    "\\boxed{",
    "}",
    ")",
    ":",
    "0",
    "1",
    "🦀",
    "Ａ",
];

/// A letter names itself, and text that is not a choice is not taken for one.
#[test]
fn any_answer_is_a_choice_or_none() {
    let plain = scorer("choice");
    let spec = "{ type: choice, choices: options, index_base: 0 }";
    fuzz(|dice| {
        let text = dice.wild(PIECES);
        let truth = dice.pick(&["A", "B", "C"]);
        let score = judge(&*plain, Some(&text), &truth.into()).expect("a verdict");
        let label = score
            .details
            .get("label")
            .and_then(Value::as_str)
            .expect("a label");
        assert_eq!(score.correct, label == truth, "{text:?}");
        assert!(
            label == "(other)" || text.replace('Ａ', "A").to_uppercase().contains(label),
            "{text:?} {label}"
        );
        let itself = judge(&*plain, Some(truth), &truth.into()).expect("a verdict");
        assert!(itself.correct);
        let choices = dice.json(PIECES, 2);
        if let Ok(score) = judge_with(spec, &text, &dice.json(PIECES, 0), &choices) {
            assert!(score.details.get("target_label").is_some(), "{text:?}");
        }
    });
}

#[test]
fn a_megabyte_takes_linear_time() {
    megabytes(
        &["choice", "{ type: choice, letters: AB }"],
        "A",
        &[
            "A",
            "A ",
            "(A",
            "answer is (",
            "b.",
            "\n",
            "I'm ",
            "\\boxed{",
            "(",
            "{",
        ],
    );
}
