//! `review`: what people say of items is on the disk before they are told so.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

use serde_json::{Value, json};

use crate::reviewing::{ReviewWindow, items, word};
use crate::wait::until;

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
    let (code, reply) = window.post("/submit", &half);
    assert_eq!(code, 400);
    assert_eq!(
        reply,
        "missing: `clarity` from 1 to 5, a status, `approved`, `rejected` or `needs_revision`\n"
    );
    assert!(!project.file("items_verifications.json").exists());

    let mut whole = word("gen_aime_2", 0, 4, "approved");
    whole["scores"]["clarity"] = 5.into();
    let (code, reply) = window.post("/submit", &whole);
    assert_eq!(code, 200, "{reply}");
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!(
        (&reply["version"], &reply["reviewed"]),
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

    let (code, reply) = window.post("/undo", &json!({"id": "gen_aime_2", "version": 1}));
    assert_eq!(code, 200, "{reply}");
    assert_eq!(project.read("items_verifications.json").trim(), "{}");
    window.ends().exits(0).says("0 of 3 reviewed");
}

#[test]
fn what_was_submitted_outlives_the_server_and_is_never_written_over() {
    let project = items(3);
    let window = ReviewWindow::open(&project, "items.json --reviewer anna");
    window.says("gen_aime_1", 5, "approved");
    // Another tab of the same reviewer saw the item before that.
    let (code, reply) = window.post("/submit", &word("gen_aime_1", 0, 1, "rejected"));
    assert_eq!(code, 409, "{reply}");
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!(reply["version"], 1);
    assert_eq!(reply["mine"]["status"], "approved");
    // Another server of the same reviewer, and one of somebody else.
    let second = ReviewWindow::open(&project, "items.json --reviewer anna");
    let other = ReviewWindow::open(&project, "items.json --reviewer ../ben");
    second.says("gen_aime_2", 2, "rejected");
    let reply = other.says("gen_aime_2", 4, "approved");
    assert_eq!(reply["agreement"]["others"][0]["reviewer"], "anna");
    assert_eq!(reply["agreement"]["same_status"], false);
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
    // It is cut by whoever writes the next one.
    assert!(
        project
            .read("items_reviews/anna.jsonl")
            .starts_with(&journal)
    );
    let again: Value = serde_json::from_str(&project.read("items_verifications.json")).unwrap();
    assert_eq!(again, file);
}

#[test]
fn only_its_own_page_is_answered() {
    let project = items(2);
    let window = ReviewWindow::open(&project, "items.json --reviewer anna");
    let host = format!("Host: {}", window.host());
    let token = format!("evaltest-token: {}", window.token());
    let origin = format!("Origin: http://{}", window.host());
    let json = "Content-Type: application/json";
    let body = word("gen_aime_1", 0, 5, "approved").to_string();
    assert_eq!(window.token().len(), 32);
    let post = "POST /submit HTTP/1.1";
    let wrong = format!("{token}0");
    for (head, expect) in [
        (vec![post, &host, &origin, json], 403),
        (vec![post, &host, &origin, json, &wrong], 403),
        (vec![post, &host, json, &token], 403),
        (
            vec![post, &host, json, &token, "Origin: http://evil.example"],
            403,
        ),
        (vec![post, &host, json, &token, "Origin: null"], 403),
        (
            vec![post, "Host: evil.example:7860", &origin, json, &token],
            421,
        ),
        (vec![post, &host, &origin, &token], 415),
        (
            vec![post, &host, &origin, &token, "Content-Type: text/plain"],
            415,
        ),
        (
            vec![
                post,
                &host,
                &origin,
                &token,
                "Content-Type: application/x-www-form-urlencoded",
            ],
            415,
        ),
        (
            vec!["POST /etc/passwd HTTP/1.1", &host, &origin, &token, json],
            404,
        ),
        (
            vec!["DELETE /submit HTTP/1.1", &host, &origin, &token, json],
            405,
        ),
    ] {
        let (status, reply) = window.ask(&head, &body);
        assert_eq!(status, expect, "{head:?}: {reply}");
        assert!(!reply.contains("gen_aime"), "{head:?}: {reply}");
    }
    for (path, expect) in [
        ("/item?index=2", 404),
        ("/item?index=-1", 404),
        ("/item", 404),
        ("/items_verifications.json", 404),
    ] {
        let get = format!("GET {path} HTTP/1.1");
        let (status, _) = window.ask(&[&get, &host, &token], "");
        assert_eq!(status, expect, "{path}");
    }
    // What is no word, or one on no item.
    for (body, says) in [
        (json!([]), "this is not a review"),
        (json!({"id": "gen_aime_1"}), "missing field `version`"),
        (word("gen_aime_9", 0, 5, "approved"), "no such item"),
        (
            word("gen_aime_1", 0, 6, "approved"),
            "`clarity` from 1 to 5",
        ),
        (word("gen_aime_1", 0, 5, "fine"), "missing: a status"),
    ] {
        let (status, reply) = window.post("/submit", &body);
        assert!(status == 400 && reply.contains(says), "{status} {reply}");
    }
    let mut more = word("gen_aime_1", 0, 5, "approved");
    more["scores"]["beauty"] = 5.into();
    let (status, reply) = window.post("/submit", &more);
    assert_eq!((status, &*reply), (400, "the rubric has no `beauty`\n"));
    assert!(!project.file("items_verifications.json").exists());
    // The page itself has nothing of any item, and may do nothing but run its script.
    let (status, page) = window.ask(&["GET / HTTP/1.1", &host], "");
    assert_eq!(status, 200);
    assert!(!page.contains("gen_aime") && !page.contains(window.token()));
    assert!(!page.contains("http://") || page.contains("http://www.w3.org"));
}

#[test]
fn whatever_an_item_says_is_data() {
    let project = items(1);
    let hostile = "<script>alert(1)</script> javascript:alert(1) \u{202e}gnp.exe $\\href{javascript:a}{b}$ \u{0}\u{2028}";
    let long = "é".repeat(1 << 19);
    let items = json!([
        {"id": hostile, "problem": hostile, "answer": [hostile], "solution": long, hostile: hostile},
        {"id": "../../etc/passwd", "problem": ""},
        {"problem": "without an id"},
    ]);
    project.write("items.json", items.to_string());
    let window = ReviewWindow::open(&project, "items.json --reviewer ../../anna<script>");
    let state = window.get("/state");
    assert_eq!(state["items"][0]["id"], hostile);
    assert_eq!(state["items"][2]["id"], "item_3");
    let item = window.get("/item?index=0");
    assert_eq!(item["fields"][0]["text"], hostile);
    let solution = &item["fields"][2];
    assert_eq!(solution["text"].as_str().unwrap().len(), 64 << 10);
    assert_eq!(solution["cut"], (1 << 20) - (64 << 10));
    window.says(hostile, 4, "approved");
    window.says("../../etc/passwd", 4, "approved");
    let file: Value = serde_json::from_str(&project.read("items_verifications.json")).unwrap();
    assert_eq!(file[hostile]["reviewer"], "../../anna<script>");
    let journals = std::fs::read_dir(project.file("items_reviews")).unwrap();
    let names: Vec<_> = journals.map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    window.ends().exits(0).says_nothing_of("\u{202e}");
}

#[test]
fn what_is_wrong_is_one_clear_line_and_nothing_is_lost() {
    let project = items(2);
    let refused = |arguments: &str, says: &str| {
        let ran = project.run(&format!("review {arguments} --no-open --port 0"));
        ran.exits(2).says(says);
    };
    refused("none.json", "cannot read `none.json`");
    refused("items.json --rubric none", "`none` is not a ready rubric");
    refused(
        "items.json --rubric qa",
        "it has choices instead of dimensions",
    );
    refused(
        "items.json --sample 0",
        "`--sample 0` leaves nothing to review",
    );
    refused("items.json --only failed", "needs the answers of a run");
    refused("items.json --reviewer=", "the reviewer has no name");
    for (text, says) in [
        ("[]", "`bad.json` has no items"),
        ("{\"id\": 1}\n[2]", "bad.json:2: an item must be an object"),
        (
            "[{\"id\": \"a\"},\n{\"id\": \"a\"}]",
            "bad.json:2: the id `a` is already in line 1",
        ),
        ("[{\"id\": \"a\"},\n{", "bad.json:2: broken JSON"),
        (
            "{\"id\": \"a\"}\n{\"id\": {}}",
            "bad.json:2: `id` is neither",
        ),
    ] {
        project.write("bad.json", text);
        refused("bad.json", says);
    }
    // A port in use.
    let window = ReviewWindow::open(&project, "items.json --reviewer anna");
    let port = window.host().split(':').nth(1).unwrap().to_owned();
    let ran = project.run(&format!("review items.json --no-open --port {port}"));
    ran.exits(2).says("cannot listen on").says("--port 0");
}

#[test]
fn what_was_edited_or_damaged_is_told_by_its_line_and_stays_as_it_is() {
    let project = items(2);
    let refused = |arguments: &str, says: &str| {
        let ran = project.run(&format!("review {arguments} --no-open --port 0"));
        ran.exits(2).says(says);
    };
    let window = ReviewWindow::open(&project, "items.json --reviewer anna");
    window.says("gen_aime_1", 5, "approved");
    drop(window);
    let files = [
        "items_verifications.json",
        "items_reviews/anna.jsonl",
        "items_labels.jsonl",
    ];
    let whole = files.map(|file| project.read(file));
    let edited = |file: usize, from: &str, to: &str| whole[file].replacen(from, to, 1);
    for (file, text, says) in [
        (
            0,
            edited(0, "\"approved\"", "\"rejected\""),
            "items_verifications.json:2: `gen_aime_1` differs from the reviewers' journals",
        ),
        (
            0,
            edited(0, "5.0", "4.0"),
            "items_verifications.json:2: `gen_aime_1` is not a verification: `total_score` is 4",
        ),
        (
            0,
            edited(0, "\"format_version\": 1", "\"format_version\": 2"),
            "`format_version` 2, but this evaltest writes 1",
        ),
        (
            0,
            edited(0, "\"format_version\": 1", "\"verified\": true"),
            "`format_version` none",
        ),
        (0, "[]".to_owned(), "it is not a file of verifications"),
        (
            1,
            edited(1, "\"clarity\":5", "\"clarity\":7"),
            "anna.jsonl:1: `clarity` is 7, not from 1 to 5",
        ),
        (
            1,
            format!("nonsense\n{}", whole[1]),
            "anna.jsonl:1: it is not a line of a review",
        ),
        (
            1,
            edited(1, "\"format_version\":1", "\"format_version\":3"),
            "anna.jsonl:1: it has version 3",
        ),
        (
            2,
            "{\"id\": \"gen_aime_1\", \"label\": 4}\n".to_owned(),
            "items_labels.jsonl:1: no review wrote this label",
        ),
    ] {
        project.write(files[file], &text);
        refused("items.json --reviewer anna", says);
        let now = files.map(|file| project.read(file));
        for (place, now) in now.iter().enumerate() {
            let expect = if place == file { &text } else { &whole[place] };
            assert_eq!(now, expect, "{says}");
        }
        project.write(files[file], &whole[file]);
    }
    // Without journals, a file is where one goes on.
    std::fs::remove_dir_all(project.file("items_reviews")).unwrap();
    let window = ReviewWindow::open(&project, "items.json --reviewer anna");
    assert_eq!(window.get("/state")["reviewed"], 1);
    let now: Value = serde_json::from_str(&project.read(files[0])).unwrap();
    assert_eq!(now, serde_json::from_str::<Value>(&whole[0]).unwrap());
    // And one that is edited while it is reviewed is not written over either.
    let text = edited(0, "5 points", "no points");
    project.write(files[0], &text);
    let (status, reply) = window.post("/submit", &word("gen_aime_2", 0, 1, "rejected"));
    assert_eq!(status, 500, "{reply}");
    assert!(reply.contains("differs from the reviewers"), "{reply}");
    assert_eq!(project.read(files[0]), text);
}

#[test]
fn several_reviewers_are_told_how_far_they_agree_and_changed_items_are_named() {
    let project = items(3);
    let anna = ReviewWindow::open(&project, "items.json --reviewer anna");
    for id in ["gen_aime_1", "gen_aime_2", "gen_aime_3"] {
        anna.says(id, 4, "approved");
    }
    let ben = ReviewWindow::open(&project, "items.json --reviewer ben");
    ben.says("gen_aime_1", 4, "approved");
    let reply = ben.says("gen_aime_2", 1, "rejected");
    assert_eq!(reply["agreement"]["same_status"], false);
    ben.ends()
        .exits(0)
        .says("2 items were reviewed by several people: the same status on 1 (50.0 %)");
    anna.ends().exits(0).says("the same status on 1");
    let labels = crate::project::json_lines(&project.file("items_labels.jsonl"));
    assert_eq!(labels.len(), 5);
    assert!(labels.iter().all(|label| label["chosen"] == "all"));
    let people: Vec<&Value> = labels.iter().map(|label| &label["person"]).collect();
    assert_eq!(people, ["anna", "ben", "anna", "ben", "anna"]);

    let changed = project
        .read("items.json")
        .replacen("What is $1+1$?", "What is $1+2$?", 1);
    project.write("items.json", changed);
    let anna = ReviewWindow::open(&project, "items.json --reviewer anna");
    assert_eq!(anna.get("/item?index=0")["changed"], true);
    assert_eq!(anna.get("/item?index=1")["changed"], false);
    anna.ends().exits(0).says("1 item changed since its review");
}

#[test]
fn a_server_that_is_killed_at_any_moment_has_lost_nothing_that_it_said_was_saved() {
    let project = items(40);
    for round in 0..4_u64 {
        let window = ReviewWindow::open(&project, "items.json --reviewer anna");
        let reviewed = if round == 0 { 0 } else { 40 };
        assert_eq!(window.get("/state")["reviewed"], reviewed);
        let saved = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..=40 {
                    let id = format!("gen_aime_{number}");
                    let Some(200) = window.tries(&word(&id, round, 3, "approved")) else {
                        return;
                    };
                    saved.fetch_add(1, SeqCst);
                }
            });
            // Amid the next one, wherever that is then.
            until("some are saved", || saved.load(SeqCst) > 3 + 7 * round);
            window.kill();
        });
        let saved = saved.into_inner();
        let journal = project.read("items_reviews/anna.jsonl");
        let lines = journal
            .lines()
            .filter(|line| line.contains(&format!("\"version\":{round},")));
        let lines = lines.count() as u64;
        assert!(lines == saved || lines == saved + 1, "{lines} of {saved}");
        // The rest of the round, so that the next one knows the versions.
        let window = ReviewWindow::open(&project, "items.json --reviewer anna");
        for number in lines + 1..=40 {
            let (code, body) = window.post(
                "/submit",
                &word(&format!("gen_aime_{number}"), round, 3, "approved"),
            );
            assert_eq!(code, 200, "{body}");
        }
    }
}
