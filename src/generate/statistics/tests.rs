use serde_json::{Value, json};

use super::*;
use crate::data::{AgentError, Normalized, Outcome, Score};

fn record(id: &str, correct: bool, reason: &str, details: Value) -> Record {
    let mut score = Score::binary(correct);
    score.reason = reason.to_owned().into();
    if let Value::Object(details) = details {
        score.details = details.into();
    }
    score.normalized_prediction =
        Normalized::Text(json!({ "problem": id, "answer": 7, "topic": "Geometry" }).to_string());
    let mut record = Record::scored(id, score);
    record.slices.insert("topic".to_owned(), "Algebra".into());
    record
        .metadata
        .insert("reference_id".to_owned(), "real-1".into());
    record
}

fn tallied(records: &[Record]) -> GenerationTally {
    let mut tally = GenerationTally::default();
    for record in records {
        tally.add(record, GeneratedItem::of(record, None, None).as_ref());
    }
    tally
}

#[test]
fn items_replies_and_checks_are_counted() {
    let good = json!({ "readable": 1, "solution_ends_in_answer": 0, "repaired": 3, "nearest": "real-4",
        "nearest_share": 0.25, "solver_agrees": 1, "nearest_item": "d", "nearest_item_share": 0.0, "topic": 1 });
    let copy = json!({ "readable": 1, "no_copy_of_reference": 0, "why": "0.8 of it is in real-1" });
    let mut failed = record("d", false, "", Value::Null);
    failed.result = Outcome {
        status: Status::AgentFailed,
        error: Some(AgentError::new("no")),
        ..Outcome::default()
    };
    let mut skipped = failed.clone();
    skipped.result.status = Status::Skipped;
    let mut again = record("a", true, "accepted", good);
    again.result.refused = serde_json::from_value(json!([
        { "attempt": 1, "reason": "readable", "details": { "readable": 0, "why": "was no object" } }
    ]))
    .unwrap();
    let tally = tallied(&[
        again,
        record("b", false, "no_copy_of_reference", copy),
        failed,
        skipped,
    ]);
    assert_eq!(
        (
            tally.items.requested,
            tally.items.accepted,
            tally.items.never_passed
        ),
        (4, 1, 1)
    );
    assert_eq!((tally.items.errors, tally.items.not_requested), (1, 1));
    assert_eq!((tally.replies.checked, tally.replies.refused), (3, 2));
    assert_eq!(tally.replies.repaired, 1);
    let reasons = tally.reasons.iter();
    let reasons: Vec<_> = reasons.map(|(name, count)| (&**name, *count)).collect();
    assert_eq!(reasons, [("readable", 1), ("no_copy_of_reference", 1)]);
    assert_eq!(tally.examples[1].message, "0.8 of it is in real-1");
    assert_eq!((tally.solver.solved, tally.solver.agrees), (1, 1));
    assert_eq!(tally.nearest[0].reference_id.as_deref(), Some("real-4"));
    assert_eq!(tally.references.len(), 1);
    let noted = tally.checks.iter();
    let mut noted = noted.filter(|check| check.failed > 0 && check.accepted > 0);
    assert_eq!(noted.next().unwrap().name, "solution_ends_in_answer");
    // A measure that happens to be 0 or 1 is not a check.
    let names = tally.checks.iter().map(|check| &*check.name);
    let names: Vec<_> = names.collect();
    assert_eq!(
        names,
        [
            "readable",
            "solution_ends_in_answer",
            "solver_agrees",
            "no_copy_of_reference"
        ]
    );
    // The requested topic comes from the prompt, the reached one from the item.
    let topics = tally.topics.figures().topics;
    let topics: Vec<_> = topics
        .iter()
        .map(|it| (&*it.topic, it.requested, it.reached))
        .collect();
    assert_eq!(topics, [("Algebra", 4, 0), ("Geometry", 0, 1)]);
}

#[test]
fn item_holds_the_redacted_reply() {
    let mut one = record("a", true, "accepted", Value::Null);
    let score = one.result.score.as_mut().unwrap();
    score.normalized_prediction = Normalized::Text("[REDACTED]".to_owned());
    assert_eq!(GeneratedItem::of(&one, None, None), None);
    one.result.prediction =
        Some(r#"Here: {"problem": "$\frac{1}{2}$ of [REDACTED]", "answer": 7}"#.to_owned());
    let item = GeneratedItem::of(&one, Some("small"), None).unwrap();
    assert_eq!(
        item.to_json().to_string(),
        r#"{"id":"a","problem":"$\\frac{1}{2}$ of [REDACTED]","answer":7,"reference_id":"real-1","model":"small","generated_at":null}"#
    );
}
