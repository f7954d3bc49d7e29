//! `review`: what people say of items is on the disk before they are told so.

use serde_json::{Value, json};

use crate::reviewing::{ReviewWindow, items, word};

#[test]
fn items_are_looked_at_and_what_is_said_of_them_is_saved() {
    let project = items(3);
    let window = ReviewWindow::open(&project, "items.json --reviewer Anna");
    let state = window.get("/state");
    assert_eq!(state["kind"], "items");
    assert_eq!(state["reviewed"], 0);
    assert_eq!(state["count"], 3);
    assert_eq!(state["chosen"], "all");
    assert_eq!(state["reviewer"], "Anna");
    assert_eq!(state["saved_to"], "items_verifications.json");
    assert_eq!(
        state["statuses"],
        json!(["approved", "rejected", "needs_revision"])
    );
    assert_eq!(state["rubric"]["dimensions"][0]["name"], "correctness");
    let expect = json!({"id": "gen_aime_2", "slice": "Algebra", "reviewed": false});
    assert_eq!(state["items"][1], expect);
    let item = window.get("/item?index=1");
    assert_eq!(item["fields"][0]["name"], "problem");
    assert_eq!(item["fields"][0]["text"], "What is $2+1$?");
    assert_eq!(item["fields"][1]["text"], "3");
    assert_eq!(item["mine"], Value::Null);
    assert_eq!(item["version"], 0);
    // Who wrote it is told once it was reviewed.
    assert!(!item.to_string().contains("small"), "{item}");

    // Nothing is taken for granted.
    let mut half = word("gen_aime_2", 0, 4, "approved");
    half["scores"].as_object_mut().unwrap().remove("clarity");
    half.as_object_mut().unwrap().remove("status");
    let (code, said) = window.post("/submit", &half);
    assert_eq!(code, 400);
    assert_eq!(
        said,
        "missing: `clarity` from 1 to 5, a status, `approved`, `rejected` or `needs_revision`\n"
    );
    assert!(!project.file("items_verifications.json").exists());

    let mut whole = word("gen_aime_2", 0, 4, "approved");
    whole["scores"]["clarity"] = 5.into();
    let (code, said) = window.post("/submit", &whole);
    assert_eq!(code, 200, "{said}");
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&said["version"], &said["reviewed"]),
        (&json!(1), &json!(1))
    );
    let file: Value = serde_json::from_str(&project.read("items_verifications.json")).unwrap();
    let entry = &file["gen_aime_2"];
    let mut expect = json!({
        "problem_id": "gen_aime_2",
        "scores": {"clarity": 5, "completeness": 4, "correctness": 4, "difficulty_match": 4},
        "total_score": 4.25, "status": "approved", "comments": "4 points", "reviewer": "Anna", "format_version": 1,
    });
    expect["verified_at"] = entry["verified_at"].clone();
    assert_eq!(entry, &expect);
    assert!(window.get("/item?index=1").to_string().contains("small"));

    let (code, said) = window.post("/undo", &json!({"id": "gen_aime_2", "version": 1}));
    assert_eq!(code, 200, "{said}");
    assert_eq!(project.read("items_verifications.json").trim(), "{}");
    window.ends().exits(0).says("0 of 3 reviewed");
}

#[test]
fn what_was_submitted_outlives_the_server_and_is_never_written_over() {
    let project = items(3);
    let window = ReviewWindow::open(&project, "items.json --reviewer anna");
    window.says("gen_aime_1", 5, "approved");
    // Another tab of the same reviewer saw the item before that.
    let (code, said) = window.post("/submit", &word("gen_aime_1", 0, 1, "rejected"));
    assert_eq!(code, 409, "{said}");
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["version"], 1);
    assert_eq!(said["mine"]["status"], "approved");
    // Another server of the same reviewer, and one of somebody else.
    let second = ReviewWindow::open(&project, "items.json --reviewer anna");
    let other = ReviewWindow::open(&project, "items.json --reviewer ../ben");
    second.says("gen_aime_2", 2, "rejected");
    let said = other.says("gen_aime_2", 4, "approved");
    assert_eq!(said["agreement"]["others"][0]["reviewer"], "anna");
    assert_eq!(said["agreement"]["same_status"], false);
    let (code, _) = window.post("/submit", &word("gen_aime_2", 0, 1, "approved"));
    assert_eq!(code, 409);
    for one in [window, second, other] {
        one.killed();
    }
    let file: Value = serde_json::from_str(&project.read("items_verifications.json")).unwrap();
    assert_eq!(file["gen_aime_1"]["total_score"], 5.0);
    assert_eq!(file["gen_aime_2"]["reviewer"], "../ben");
    // What did not count is kept.
    let journal = project.read("items_reviews/anna.jsonl");
    assert_eq!(journal.lines().count(), 4, "{journal}");
    assert_eq!(journal.matches("\"refused\"").count(), 2, "{journal}");

    // A line that a crash cut off was told to nobody.
    project.write(
        "items_reviews/anna.jsonl",
        journal.clone() + "{\"event\":\"subm",
    );
    project.write("items_verifications.json", "{}");
    let window = ReviewWindow::open(&project, "items.json --reviewer anna");
    assert_eq!(window.get("/state")["reviewed"], 2);
    assert_eq!(project.read("items_reviews/anna.jsonl"), journal);
    let again: Value = serde_json::from_str(&project.read("items_verifications.json")).unwrap();
    assert_eq!(again, file);
}
