//! Typical replies, scored with all checks together.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::checks::ItemChecks;
use super::fields::ItemFields;
use super::references::{ReferenceItem, ReferenceItems};
use super::*;
use crate::data::{Normalized, Output, Target};
use crate::stats::SplitMix64;

const MILL: &str = "A mill has 12 wheels, each of which turns 30 times while the miller counts his 500 sacks of grain twice over.";
const OTHER: &str = "In how many ways can nine different books stand on three shelves of unequal length if none may be empty?";

/// The built-in items, with one reference and these additional checks.
fn scorer(checks: &Value) -> ItemScorer {
    let ready = ready::of("aime").unwrap();
    let fields = ItemFields::of(ready.fields(), &ready.topics()).unwrap();
    let mut given = ready.checks();
    given.extend(checks.as_object().cloned().unwrap());
    let checks = ItemChecks::of(&given, &fields).unwrap();
    let mut item = Map::new();
    item.insert("problem".to_owned(), MILL.into());
    item.insert("answer".to_owned(), 12.into());
    let reference = ReferenceItem {
        id: "mill".to_owned(),
        item,
    };
    let references = ReferenceItems::of(vec![reference], checks.copy_of.as_deref());
    ItemScorer::new(fields, checks).references(Arc::new(references))
}

/// The score of a reply to a sample that requests algebra and shows the reference.
fn judged(scorer: &ItemScorer, output: &Output) -> Score {
    let target = Target(Value::Null);
    let metadata = json!({ REFERENCE_ID: "mill", TOPIC: "Algebra" });
    let answer = Answer {
        prediction: output.text.as_deref(),
        ..Answer::new(None, &target)
            .output(output)
            .metadata(metadata.as_object().unwrap())
    };
    scorer.score(&answer).unwrap()
}

fn good() -> Value {
    json!({ "problem": OTHER, "answer": 42, "solution": "It is 42.", "topic": "Algebra" })
}

/// The score of the good item with other members.
fn changed(checks: &Value, members: &Value) -> Score {
    let mut item = good();
    for (name, value) in members.as_object().unwrap() {
        item[name] = value.clone();
    }
    judged(&scorer(checks), &Output::text(item.to_string()))
}

#[test]
fn a_good_item_passes_every_check_and_is_normalised() {
    let members = json!({ "answer": "042", "topic": " ALGEBRA", "mood": "good" });
    let score = changed(&json!({}), &members);
    assert_eq!(
        (score.correct, score.value, &*score.reason),
        (true, 1.0, "accepted")
    );
    assert_eq!(score.normalized_prediction, good().to_string().into());
    let details = scorer(&json!({})).details().unwrap();
    for name in details
        .iter()
        .filter(|name| !["repaired", "nearest_share", "no_copy_of_item"].contains(&&***name))
    {
        assert_eq!(score.details.get(name), Some(&json!(1)), "{name}");
    }
    assert_eq!(score.details.get("nearest_share"), Some(&json!(0.0)));
    assert_eq!(score.details.get("topic"), Some(&json!("Algebra")));
}

#[test]
fn a_failed_check_refuses_is_noted_or_is_not_looked_at() {
    let copy = MILL.replace("12", "19").replace("500", "700");
    for (check, members, usual) in [
        ("complete", json!({ "solution": " " }), true),
        ("answer_in_range", json!({ "answer": 1000 }), true),
        ("topic_in_list", json!({ "topic": "Cooking" }), true),
        ("problem_in_form", json!({ "problem": ["a"] }), true),
        ("no_copy_of_reference", json!({ "problem": copy }), true),
        (
            "solution_ends_in_answer",
            json!({ "solution": "It is 41." }),
            false,
        ),
        (
            "answer_differs_from_reference",
            json!({ "answer": 12, "solution": "12" }),
            false,
        ),
        ("topic_as_asked", json!({ "topic": "Geometry" }), false),
    ] {
        let score = changed(&json!({}), &members);
        assert_eq!(score.correct, !usual, "{check}");
        assert_eq!(score.details.get(check), Some(&json!(0)), "{check}");
        assert_eq!(score.details.get(WHY).is_some(), usual, "{check}");
        let score = changed(&json!({ check: "refuse" }), &members);
        assert_eq!((score.correct, &*score.reason), (false, check));
        let why = score.details.get(WHY).and_then(Value::as_str).unwrap();
        assert!(!why.is_empty() && why.len() < 300, "{why}");
        let score = changed(&json!({ check: "note" }), &members);
        assert_eq!(
            (score.correct, score.details.get(check)),
            (true, Some(&json!(0))),
            "{check}"
        );
        let score = changed(&json!({ check: "off" }), &members);
        assert_eq!(
            (score.correct, score.details.get(check)),
            (true, None),
            "{check}"
        );
    }
}

#[test]
fn copy_reports_reference_and_share() {
    let copy = MILL.replace("12", "19");
    let score = changed(&json!({}), &json!({ "problem": copy }));
    assert_eq!(score.details.get("nearest"), Some(&json!("mill")));
    assert_eq!(score.details.get("nearest_share"), Some(&json!(1.0)));
    let why = score.details.get(WHY).and_then(Value::as_str).unwrap();
    assert!(why.contains("the reference that it was shown"), "{why}");
}

#[test]
fn what_cannot_be_read_says_why() {
    let unread = |output: &Output| {
        let score = judged(&scorer(&json!({})), output);
        assert_eq!((score.correct, &*score.reason), (false, READABLE));
        assert_eq!(score.details.get(READABLE), Some(&json!(0)));
        score
            .details
            .get("unread")
            .and_then(Value::as_str)
            .unwrap()
            .to_owned()
    };
    assert_eq!(unread(&Output::text("no")), "invalid_response_format");
    assert_eq!(unread(&Output::default()), "no_response");
    assert_eq!(
        unread(&Output::text(r#"{"answer": 1, "answer": 2}"#)),
        "conflicting"
    );
    let mut truncated = Output::text(r#"{"problem": "How"#);
    truncated
        .metadata
        .insert("finish_reason".to_owned(), "length".into());
    assert_eq!(unread(&truncated), "truncated");
}

/// Any reply gets a verdict; and an accepted item is accepted again in its written form.
#[test]
fn replies_of_any_kind_have_a_verdict_and_what_passes_stays_what_it_is() {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\n",
        "problem",
        "\"problem\"",
        "\"answer\"",
        "\"solution\"",
        "\"topic\"",
        "42",
        "\"042\"",
        "-1",
        "1e999",
        "NaN",
        "null",
        "true",
        "Algebra",
        "\"Algebra\"",
        "\\frac",
        "\\u12",
        "\u{202e}",
        "\u{200b}",
        "<think>",
        "</think>",
        "```json\n",
        "```",
        "é",
    ];
    let scorer = scorer(&json!({ "no_copy_of_reference": "off" }));
    let mut random = SplitMix64(7);
    let mut accepted = 0;
    for round in 0..crate::tests::fuzz::cases() {
        let mut text = good().to_string();
        // With few changes some items stay valid.
        for _ in 0..random.below(4) {
            let piece = pieces[random.below(pieces.len())];
            let place = text.floor_char_boundary(random.below(text.len() + 1));
            let end = text.floor_char_boundary((place + random.below(9)).min(text.len()));
            if random.below(2) == 0 {
                text.replace_range(place..end.max(place), piece);
            } else {
                text.insert_str(place, piece);
            }
        }
        let score = judged(&scorer, &Output::text(text.clone()));
        if !score.correct {
            assert!(score.details.get(WHY).is_some(), "{round}: {text}");
            continue;
        }
        accepted += 1;
        let Normalized::Text(item) = &score.normalized_prediction else {
            panic!("{round}: {text}");
        };
        let again = judged(&scorer, &Output::text(item.clone()));
        assert!(again.correct, "{round}: {text}");
        assert_eq!(
            again.normalized_prediction, score.normalized_prediction,
            "{round}: {text}"
        );
    }
    assert!(accepted > 10, "{accepted}");
}
