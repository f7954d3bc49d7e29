//! What a verdict rests on beside the files of a run: history, calibration, reviews and shards, each damaged in each way.

use serde_json::json;

use super::matrix::file_of_the_project;
use crate::project::Project;
use crate::reviewing::ReviewWindow;
use crate::{calibrate, review_runs};

const QUESTIONS: [(&str, u32, &str, &str); 3] = [
    ("q1", 2, "What is 1?", "What is 1?"),
    ("q2", 3, "What is 2?", "2"),
    ("q3", 1, "What is 3?", "What is 3?"),
];

/// Lines of a history may be removed, and stand there twice.
const LESS: [&str; 4] = ["empty", "a line less", "a line twice", "gone"];

#[test]
fn a_history_that_alerts_need() {
    let more = "gates: []\nalerts: ['accuracy < 0.1', 'drop(accuracy, against=median(5))']\n";
    let project = Project::with_eval(&QUESTIONS, "echo", more);
    for _ in 0..3 {
        project.run("run eval.yaml --history").exits(0);
    }
    let commands = ["run eval.yaml --history", "trend eval.yaml"];
    let dir = project.last_run();
    file_of_the_project(&project, &dir, ("history.jsonl", &LESS), &commands);
}

#[test]
fn a_calibration() {
    let more = "gates: [mean(judge.total) >= 2]\n";
    let project = calibrate::project(20, "", more);
    project.run("run eval.yaml").exits(0);
    calibrate::labels(&project, 20, "all");
    calibrate::calibrate(&project).exits(0);
    let commands = [
        "gate DIR",
        "gate DIR --gate corrected(judge.total)>=2.5",
        "summarize DIR",
        "rescore DIR",
        "run eval.yaml",
    ];
    let dir = project.last_run();
    // Without one, gates on the judge alone hold as before.
    file_of_the_project(&project, &dir, (calibrate::FILE, &["gone"]), &commands);
}

#[test]
fn reviews() {
    let project = review_runs::judged(5);
    let window = ReviewWindow::open(&project, "one --reviewer anna");
    for (id, status) in [
        ("q000", "rejected"),
        ("q001", "approved"),
        ("q002", "approved"),
    ] {
        let word = json!({"id": id, "version": 0, "scores": {"merit": 4}, "status": status});
        assert_eq!(window.post("/submit", &word).0, 200);
    }
    window.ends().exits(0);
    let dir = project.last_run();
    let commands = ["gate DIR --gate reviewed.approved>=0.5"];
    // A line that stands there twice says the same; without journals the file beside them counts.
    let file = ("verifications.json", &["a line twice"][..]);
    file_of_the_project(&project, &dir, file, &commands);
    let journal = ("anna.jsonl", &["a line twice", "gone"][..]);
    file_of_the_project(&project, &dir, journal, &commands);
}

#[test]
fn shards() {
    let project = Project::with_eval(&QUESTIONS, "echo", "gates: [accuracy >= 0.1]\n");
    project.run("run eval.yaml --shard 1/2").exits(0);
    project.run("run eval.yaml --shard 2/2").exits(0);
    let dir = project.last_run();
    let name = dir.file_name().unwrap().to_str().unwrap();
    for file in [
        "manifest.json",
        "places.json",
        "samples.jsonl",
        "summary.json",
    ] {
        let file = format!("{name}/{file}");
        file_of_the_project(&project, &dir, (&file, &[]), &["merge evaltest-runs"]);
    }
}
