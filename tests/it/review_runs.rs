//! `review` of runs: what a judge said is told afterwards, and what people say calibrates it.

use serde_json::{Value, json};

use crate::asked;
use crate::project::{Project, json_lines};
use crate::reviewing::ReviewWindow;

/// Gives question n the points 1 + 7 n mod 5.
const JUDGE: &str = r#"#!/bin/sh
n=$(sed -n 's/.*What is \([0-9]*\)?.*/\1/p' | head -n 1)
echo "{\"reason\": \"r\", \"merit\": $((1 + n * 7 % 5)), \"comments\": \"c\"}"
"#;

/// A run `one` whose judge has a rubric of its own.
fn judged(number: u32) -> Project {
    let judge = "type: judge, agent: { type: command, command: [./judge.sh] }, rubric: { dimensions: [{ name: merit, description: how good }] }";
    let project = asked::project(number, "", &format!("scorers: [{{ {judge} }}]\n"));
    project.script("judge.sh", JUDGE);
    project.run("run eval.yaml --run-id one").exits(0);
    project
}

fn said(window: &ReviewWindow, id: &str, version: u64, merit: u8, status: &str) -> Value {
    let word = json!({"id": id, "version": version, "scores": {"merit": merit}, "status": status});
    let (code, body) = window.post("/submit", &word);
    assert_eq!(code, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

#[test]
fn people_are_asked_before_they_know_the_judge_and_calibrate_it() {
    let project = judged(60);
    let dir = project.last_run();
    let window = ReviewWindow::open(&project, "one --reviewer anna --seed 7");
    let state = window.get("/state");
    assert_eq!(state["kind"], "run");
    let expect = json!([{"name": "merit", "description": "how good"}]);
    assert_eq!(state["rubric"]["dimensions"], expect);
    // In the order of a lot, so that the first labels are of a draw.
    assert_eq!(
        (&state["chosen"], &state["seed"]),
        (&json!("random"), &json!(7))
    );
    let drawn = project
        .run("judge calibrate one --draw 2 --seed 7")
        .exits(0);
    let drawn: Vec<Value> = drawn
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let items = state["items"].as_array().unwrap();
    assert_eq!(items.len(), 60);
    assert_eq!(items[0]["id"], drawn[0]["id"]);
    assert_eq!(items[1]["id"], drawn[1]["id"]);
    // The verdict is the judge's, and nothing tells it.
    let item = window.get("/item?index=0");
    assert_eq!(item["judge"], Value::Null);
    assert!(!item.to_string().contains("verdict"), "{item}");
    assert_eq!(items[0].get("tag"), None);
    assert_eq!(item["fields"][0]["name"], "prompt");
    let id = items[0]["id"].as_str().unwrap();
    let points = |id: &str| u8::try_from(1 + id[1..].parse::<u32>().unwrap() * 7 % 5).unwrap();
    let reply = said(&window, id, 0, points(id), "approved");
    assert_eq!(reply["judge"]["scores"]["merit"], f64::from(points(id)));
    let item = window.get("/item?index=0");
    assert_eq!(item["judge"]["scores"]["merit"], f64::from(points(id)));
    assert!(item.to_string().contains("verdict"), "{item}");
    for item in &items[1..50] {
        let id = item["id"].as_str().unwrap();
        let status = if points(id) > 3 {
            "approved"
        } else {
            "rejected"
        };
        said(&window, id, 0, points(id), status);
    }
    drop(window);
    let labels = json_lines(&dir.join("labels.jsonl"));
    assert_eq!(labels.len(), 50);
    let keys = ["chosen", "seed", "person", "run"].map(|key| labels[0][key].clone());
    assert_eq!(
        keys,
        [json!("random"), json!(7), json!("anna"), json!("one")]
    );
    let ran = project.run(&format!(
        "judge calibrate one --labels {}",
        dir.join("labels.jsonl").display()
    ));
    ran.exits(0)
        .says("== merit")
        .says_nothing_of("does not give");
    let gate = project.run("gate one --gate corrected(judge.total)>=2");
    gate.exits(0).says("by 50 labels of 60 answers");
}

#[test]
fn what_is_worth_a_look_comes_first() {
    // One cannot be asked, the agent knows the even ones, and another scorer accepts whatever is said.
    let project = asked::project(
        6,
        "test \"$EVALTEST_SAMPLE_ID\" != q004 || exit 1",
        "scorers: [exact, { type: regex, pattern: '00[0-3]' }]\n",
    );
    project.run("run eval.yaml --run-id one");
    let window = ReviewWindow::open(&project, "one");
    let state = window.get("/state");
    assert_eq!(state["chosen"], "all");
    let listed = |state: &Value| {
        let items = state["items"].as_array().unwrap().iter();
        let item = |item: &Value| {
            let tag = item["tag"].as_str().unwrap_or("-");
            format!(
                "{} {tag} {}",
                item["id"].as_str().unwrap(),
                item["slice"].as_str().unwrap()
            )
        };
        items.map(item).collect::<Vec<_>>()
    };
    assert_eq!(
        listed(&state),
        [
            "q004 exited level=2",
            "q003 disagreeing level=1",
            "q001 disagreeing level=2",
            "q005 failed level=3",
            "q000 - level=1",
            "q002 - level=3",
        ]
    );
    let item = window.get("/item?index=1");
    let facts = item["facts"].as_array().unwrap().iter();
    let facts: Vec<String> = facts
        .map(|fact| {
            format!(
                "{}: {}",
                fact["name"].as_str().unwrap(),
                fact["text"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        facts,
        [
            "expected: something else",
            "level: 1",
            "verdict: wrong (0): mismatch",
            "verdict of regex: correct (1): matched"
        ]
    );
    drop(window);
    let window = ReviewWindow::open(&project, "one --only failed --reviewer anna");
    let state = window.get("/state");
    assert_eq!(state["chosen"], "picked");
    assert_eq!(listed(&state).len(), 4);
    window.says("q005", 2, "rejected");
    drop(window);
    let labels = json_lines(&project.last_run().join("labels.jsonl"));
    assert_eq!(labels[0]["chosen"], "picked");
    project
        .run("review one --only flipped --no-open --port 0")
        .exits(2)
        .says("nothing in")
        .says("is flipped");
    let window = ReviewWindow::open(&project, "one --sample 3 --seed 1");
    assert_eq!(listed(&window.get("/state")).len(), 3);
}

#[test]
fn a_masked_run_is_reviewed_only_where_somebody_asks_for_its_texts() {
    let project = asked::project(3, "", "");
    let spec = project
        .read("eval.yaml")
        .replace("answers: plain", "answers: masked");
    project.write("eval.yaml", spec);
    project.run("run eval.yaml --run-id one");
    project
        .run("review one --no-open --port 0")
        .exits(2)
        .says("masked")
        .says("--show-texts");
    let window = ReviewWindow::open(&project, "one --show-texts");
    assert!(window.get("/item?index=0").to_string().contains("What is"));
}
