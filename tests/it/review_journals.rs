//! What stands in the journals of `review`, and what others put there: nothing of it is lost.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::project::{Project, Ran};
use crate::reviewing::{ReviewWindow, items, word};

const ANNA: &str = "items_reviews/anna.jsonl";
const FILE: &str = "items_verifications.json";

fn refused(project: &Project, says: &str) -> Ran {
    let ran = project.run("review items.json --reviewer anna --no-open --port 0");
    ran.exits(2).says(says)
}

fn pipe(project: &Project, name: &str) {
    let made = Command::new("mkfifo").arg(project.file(name)).status();
    assert!(made.unwrap().success());
}

/// Two words of anna, and what her journal and the file say.
fn reviewed() -> (Project, String, String) {
    let project = items(3);
    let window = ReviewWindow::open(&project, "items.json --reviewer anna");
    window.says("gen_aime_1", 5, "approved");
    window.says("gen_aime_2", 2, "rejected");
    window.killed();
    let (journal, file) = (project.read(ANNA), project.read(FILE));
    (project, journal, file)
}

#[test]
fn what_no_reviewer_wrote_stays_as_it_is() {
    let (project, journal, _) = reviewed();
    let truncated = &journal[..journal.len() - 20];
    for (name, text, says) in [
        (
            "mine",
            "{\"stars\":5}\n{\"stars\":4}",
            "mine.jsonl:1: it is not a line of a review",
        ),
        ("mine", "{\"stars\":4}", "mine.jsonl:1: it is not a line"),
        ("mine", "{\"stars\":", "mine.jsonl:1: it is not a line"),
        (
            "anna",
            &format!("{journal}{{\"stars\":4}}"),
            "anna.jsonl:3: it is not a line",
        ),
        (
            "anna",
            &format!("{{\"stars\":4}}\n{truncated}"),
            "anna.jsonl:1: it is not a line",
        ),
    ] {
        let path = format!("items_reviews/{name}.jsonl");
        project.write(&path, text);
        refused(&project, says);
        assert_eq!(project.read(&path), text);
        let content = if name == "anna" { &*journal } else { "" };
        project.write(&path, content);
    }
    fs::remove_file(project.file("items_reviews/mine.jsonl")).unwrap();
    // Behind a link is a file of somebody else's, even if it looks like a journal.
    project.write("notes.txt", truncated);
    let link = project.file("items_reviews/linked.jsonl");
    symlink(project.file("notes.txt"), &link).unwrap();
    refused(
        &project,
        "linked.jsonl` is a link, and was not made by a review",
    );
    assert_eq!(project.read("notes.txt"), truncated);
    fs::remove_file(link).unwrap();
    // And a pipe is waited for by nobody.
    for name in ["items_reviews/a.jsonl", "items_reviews/.lock"] {
        let _ = fs::remove_file(project.file(name));
        pipe(&project, name);
        refused(&project, "is not a file, and was not made by a review");
        fs::remove_file(project.file(name)).unwrap();
    }
    pipe(&project, "pipe.json");
    let ran = project.run("review pipe.json --no-open --port 0");
    ran.exits(2)
        .says("cannot read `pipe.json`: it is not a file");
}

#[test]
fn a_torn_line_is_cut_by_its_reviewer_alone_and_kept() {
    let (project, journal, file) = reviewed();
    let torn = journal.clone() + "{\"event\":\"subm";
    project.write(ANNA, &torn);
    // Somebody else reads it.
    let ben = ReviewWindow::open(&project, "items.json --reviewer ben");
    ben.says("gen_aime_3", 3, "approved");
    ben.killed();
    assert_eq!(project.read(ANNA), torn);
    let anna = ReviewWindow::open(&project, "items.json --reviewer anna");
    assert_eq!(anna.get("/state")["reviewed"], 2);
    assert_eq!(project.read(ANNA), torn);
    anna.says("gen_aime_3", 4, "approved");
    anna.killed();
    let now = project.read(ANNA);
    assert!(
        now.starts_with(&journal) && now.lines().count() == 3,
        "{now}"
    );
    assert_eq!(
        project.read("items_reviews/anna.jsonl.torn"),
        "{\"event\":\"subm\n"
    );
    // A line that lacks no more than its end is whole.
    project.write(ANNA, journal.trim_end());
    project.write(FILE, &file);
    let anna = ReviewWindow::open(&project, "items.json --reviewer anna");
    assert_eq!(anna.get("/state")["reviewed"], 2);
    assert_eq!(project.read(ANNA), journal.trim_end());
    anna.says("gen_aime_3", 4, "approved");
    let now = project.read(ANNA);
    assert!(
        now.starts_with(&journal) && now.lines().count() == 3,
        "{now}"
    );
}

#[test]
fn a_word_whose_line_was_torn_is_taken_from_the_file() {
    let (project, journal, file) = reviewed();
    let same = |file: &str| {
        let now: Value = serde_json::from_str(&project.read(FILE)).unwrap();
        assert_eq!(now, serde_json::from_str::<Value>(file).unwrap());
    };
    let torn = &journal[..journal.len() - 20];
    project.write(ANNA, torn);
    // Who reads it keeps the word, and leaves the journal to its reviewer.
    let ben = ReviewWindow::open(&project, "items.json --reviewer ben");
    assert_eq!(project.read(ANNA), torn);
    same(&file);
    let anna = ReviewWindow::open(&project, "items.json --reviewer anna");
    assert_eq!(anna.get("/state")["reviewed"], 2);
    same(&file);
    let reply = ben.says("gen_aime_2", 1, "rejected");
    assert_eq!(
        reply["agreement"]["others"],
        json!([{"reviewer": "anna", "status": "rejected",
        "scores": {"clarity": 2, "completeness": 2, "correctness": 2, "difficulty_match": 2}}])
    );
    ben.ends().exits(0);
    anna.ends().exits(0);
    assert_eq!(project.read(ANNA).lines().count(), 2);
    assert!(project.file("items_reviews/anna.jsonl.torn").exists());
    // What was edited is none of that.
    project.write(ANNA, torn);
    let edited = file.replacen("\"approved\"", "\"rejected\"", 1);
    project.write(FILE, &edited);
    let ran = refused(
        &project,
        "`gen_aime_1` differs from the reviewers' journals",
    );
    ran.says("rename the file");
    assert_eq!(
        (project.read(ANNA), project.read(FILE)),
        (torn.to_owned(), edited)
    );
}

#[test]
fn what_could_not_be_shown_is_refused_and_what_is_saved_is_told_so() {
    let project = items(2);
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    for hostile in [&*deep, "1e999", "\"\\ud800\""] {
        let item = |more: &str| format!("{{\"id\": \"b\",\n\"problem\": {more}}}");
        project.write(
            "deep.json",
            format!("[{{\"id\": \"a\"}},\n{}]", item(hostile)),
        );
        let ran = project.run("review deep.json --no-open --port 0");
        ran.exits(2).says("deep.json:3: broken JSON");
    }
    // Files that are made from the journal may be written later.
    let window = ReviewWindow::open(&project, "items.json --reviewer anna");
    fs::create_dir(project.file("items_labels.jsonl")).unwrap();
    let (code, reply) = window.post("/submit", &word("gen_aime_1", 0, 4, "approved"));
    assert_eq!(code, 200, "{reply}");
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!(reply["saved_to"], ANNA);
    assert!(
        reply["warning"].as_str().unwrap().contains("cannot write"),
        "{reply}"
    );
    fs::remove_dir(project.file("items_labels.jsonl")).unwrap();
    window.says("gen_aime_2", 4, "approved");
    let file: Value = serde_json::from_str(&project.read(FILE)).unwrap();
    assert_eq!(file.as_object().unwrap().len(), 2);
}

#[test]
fn what_a_killed_program_left_half_written_is_removed() {
    let project = items(1);
    let abandoned = [
        "items_verifications.json.4194999.7.tmp",
        "items_labels.jsonl.4194999.0.tmp",
    ];
    let others = [
        "items_verifications.json.tmp",
        "items_verifications.json.12.tmp",
        "items_verifications.json.1.2.3.tmp",
        "items_verifications.json.a.1.tmp",
        "other_verifications.json.1.1.tmp",
    ];
    for name in abandoned.iter().chain(&others) {
        project.write(name, "{");
    }
    let _window = ReviewWindow::open(&project, "items.json --reviewer anna");
    assert!(abandoned.iter().all(|name| !project.file(name).exists()));
    assert!(others.iter().all(|name| project.file(name).exists()));
}
