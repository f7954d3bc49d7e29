//! Runs that are killed, and go on.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use super::{json_of, only, words, writer};
use crate::project::{Project, json_lines};
use crate::wait::until;

/// What a run made, but for times, and for what only says which run it was.
fn made(folder: &Path) -> (Value, String, Value) {
    let mut items = json_of(&only(folder, "words_generated_", ".json"));
    for item in items.as_array_mut().unwrap() {
        item["generated_at"].take();
    }
    let report = fs::read_to_string(only(folder, "generation_report_", ".md")).unwrap();
    let own = [
        "| began |",
        "| took |",
        "| a reply took |",
        "| run |",
        "generat",
        "evaltest",
        "`2",
    ];
    let report = report
        .lines()
        .filter(|line| !own.iter().any(|own| line.contains(own)));
    let report = report.collect::<Vec<_>>().join("\n");
    let run = only(folder, "2", "");
    let mut figures = json_of(&run.join("generation.json"))["statistics"].take();
    for own in ["started_at", "duration_s", "run_id", "latency_s"] {
        figures[own].take();
    }
    (items, report, figures)
}

#[test]
fn killed_at_any_moment_no_reply_is_asked_for_again() {
    let server = writer();
    let project = Project::new();
    let more = "limits: { concurrency: 2, requests_per_minute: 3000 }\n";
    project.write("words.yaml", words(&server.openai(""), more));
    project.run("generate words.yaml --output whole").exits(0);
    let whole = made(&project.file("whole"));
    assert_eq!(whole.0.as_array().unwrap().len(), 11);
    let first_requests = server.requested().len();
    // 12 items, of which five are asked for again once and one three times.
    assert_eq!(first_requests, 12 + 5 + 3);
    let reasons = whole.2["replies"]["reasons"].to_string();
    assert_eq!(reasons, r#"[["answer_in_range",8],["no_copy_of_item",1]]"#);
    for lines in [1, 5, 9, 16, 24, 33, 41, 52] {
        let folder = format!("killed-{lines}");
        let out = project.file(&folder);
        let mut command = project.command(&format!("generate words.yaml --output {folder}"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let journal = || {
            let run = super::files(&out, "2", "").pop();
            let text = run.and_then(|run| fs::read_to_string(run.join("events.jsonl")).ok());
            text.map_or(0, |text| text.matches('\n').count())
        };
        until("it goes on", || {
            journal() >= lines || child.try_wait().unwrap().is_some()
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let run = only(&out, "2", "");
        project
            .run_of(&["generate", "--resume", run.to_str().unwrap()])
            .exits(0);
        assert_eq!(made(&out), whole, "killed at {lines}");
        // Whatever has an answer in the journal was asked for once.
        let mut answered = BTreeMap::new();
        for event in json_lines(&run.join("events.jsonl")) {
            if event["kind"] == "answered" {
                let id = event["sample_id"].as_str().unwrap().to_owned();
                *answered.entry(id).or_insert(0) += 1;
            }
        }
        assert_eq!(
            answered.values().sum::<usize>(),
            first_requests,
            "{answered:?}"
        );
    }
}

#[test]
fn what_was_killed_before_its_files_were_there_writes_them_and_nothing_twice() {
    let server = writer();
    let project = Project::new();
    project.write("words.yaml", words(&server.openai(""), ""));
    project.run("generate words.yaml --output out").exits(0);
    let out = project.file("out");
    let (items, report) = (
        only(&out, "words_generated_", ".json"),
        only(&out, "generation_report_", ".md"),
    );
    let before = fs::read(&items).unwrap();
    // As if it was killed between its end and its files, of which one is not whole.
    fs::write(&items, "").unwrap();
    fs::remove_file(&report).unwrap();
    let run = only(&out, "2", "");
    let requested = server.requested().len();
    project
        .run_of(&["generate", "--resume", run.to_str().unwrap()])
        .exits(0);
    assert_eq!(fs::read(&items).unwrap(), before);
    assert!(report.exists());
    assert_eq!(server.requested().len(), requested);
}
