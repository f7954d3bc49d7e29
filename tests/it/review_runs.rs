//! `review` of runs: what a judge said is told afterwards, and what people say calibrates it.

use serde_json::{Value, json};

use crate::project::{Project, json_lines};
use crate::requested;
use crate::reviewing::ReviewWindow;

/// Gives question n the points 1 + 7 n mod 5.
const JUDGE: &str = r#"#!/bin/sh
while read -r line; do case $line in *"What is "[0-9]*) n=${line#*What is }; break;; esac; done
n=${n%%\?*}
echo "{\"reason\": \"r\", \"merit\": $((1 + n * 7 % 5)), \"comments\": \"c\"}"
"#;

/// A run `one` whose judge has a rubric of its own.
pub(crate) fn judged(number: u32) -> Project {
    let judge = "type: judge, agent: { type: command, command: [./judge.sh] }, rubric: { dimensions: [{ name: merit, description: how good }] }";
    let project = requested::project(number, "", &format!("scorers: [{{ {judge} }}]\n"));
    project.script("judge.sh", JUDGE);
    project.run("run eval.yaml --run-id one").exits(0);
    project
}

fn submit(window: &ReviewWindow, id: &str, version: u64, merit: u8, status: &str) -> Value {
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
    let reply = submit(&window, id, 0, points(id), "approved");
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
        submit(&window, id, 0, points(id), status);
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
    let gate = project.run("gate -v one --gate corrected(judge.total)>=2");
    gate.exits(0).says("by 50 labels of 60 answers");
}

#[test]
fn what_is_worth_a_look_comes_first() {
    // One cannot be asked, the agent knows the even ones, and another scorer accepts whatever is said.
    let project = requested::project(
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
    let project = requested::project(3, "", "");
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

#[test]
fn what_people_say_is_in_figures_and_gates() {
    let project = judged(10);
    project
        .run("gate -v one --gate reviewed.approved>=0.5")
        .exits(3)
        .says("INCONCLUSIVE: no item is reviewed: review with `cargo evaltest review RUN_DIR`");
    let window = ReviewWindow::open(&project, "one --reviewer anna");
    // The judge passes from 3.5: q000 has 1, q001 3, q002 5, q003 2, q004 4 points.
    for (id, merit, status) in [
        ("q000", 1, "rejected"),
        ("q001", 4, "approved"),
        ("q002", 5, "approved"),
        ("q004", 2, "needs_revision"),
    ] {
        submit(&window, id, 0, merit, status);
    }
    window.ends().exits(0).says("4 of 10 reviewed");
    let summary = project.run("summarize one --json").exits(0).json();
    let reviewed = &summary["reviewed"];
    let expect = json!([4, 10, 0.4, 0.5, 0.25, 0.25, {"merit": 3.0}]);
    let keys = [
        "n",
        "of",
        "share",
        "approved",
        "rejected",
        "needs_revision",
        "means",
    ];
    let found: Vec<Value> = keys.iter().map(|key| reviewed[*key].clone()).collect();
    assert_eq!(Value::from(found), expect, "{reviewed}");
    assert_eq!(reviewed["agreement"]["n"], 4);
    assert_eq!(reviewed["agreement"]["share"], 0.5);
    for (gate, code, says) in [
        (
            "reviewed.approved>=0.5",
            0,
            "(4 of 10 items reviewed, 95 % interval",
        ),
        ("reviewed.approved>=0.9", 1, "reviewed.approved 50.0 %"),
        ("reviewed.share>=40%", 0, "4 of 10 items"),
        ("reviewed.merit>=3.5", 1, "reviewed.merit 3 "),
        (
            "reviewed.agreement>=0.5",
            0,
            "4 items judged by people and by the judge",
        ),
        (
            "reviewed.tone>=4",
            3,
            "no reviewer gave points for `tone`; they gave points for `merit`",
        ),
        (
            "reviewed.approved>=50",
            2,
            "did you mean `reviewed.approved >= 0.5`?",
        ),
        (
            "reviewed.approved[level=1]>=0.5",
            2,
            "exists only for the whole run",
        ),
    ] {
        let ran = project.run_of(&["gate", "-v", "one", "--gate", gate]);
        ran.exits(code).says(says);
    }
    let line = "4 of 10 items reviewed (40.0 %): 50.0 % (95 % interval 15.0 % to 85.0 %) approved";
    project.run("summarize one").exits(0).says(line);
    project
        .run("summarize one --markdown")
        .exits(0)
        .says("## Reviewed by people");
    for audience in ["developer", "product"] {
        project
            .run(&format!("report one --audience {audience}"))
            .exits(0)
            .says(line);
    }
    project
        .run("report one --format html -o page.html")
        .exits(0);
    assert!(project.read("page.html").contains(line));
    // The files of the run are what it wrote.
    project.run("show one").exits(0).says_nothing_of("changed");
}

#[test]
fn a_damaged_file_is_told_by_its_line_and_stays_as_it_is() {
    let project = judged(3);
    let window = ReviewWindow::open(&project, "one --reviewer anna");
    submit(&window, "q000", 0, 1, "rejected");
    submit(&window, "q001", 0, 4, "approved");
    drop(window);
    let file = project.last_run().join("verifications.json");
    let text = std::fs::read_to_string(&file).unwrap();
    for (wrong, says) in [
        (
            text.replacen("\"approved\"", "\"aproved\"", 1),
            "verifications.json:",
        ),
        (
            text.replacen("\"format_version\": 1", "\"format_version\": 2", 1),
            "`format_version` 2",
        ),
        (
            text[..text.len() / 2].to_owned(),
            "it is not a file of verifications",
        ),
    ] {
        std::fs::write(&file, &wrong).unwrap();
        for command in [
            "summarize one",
            "gate one --gate reviewed.share>=0.1",
            "report one",
            "review one --no-open --port 0",
        ] {
            project.run(command).exits(2).says(says);
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), wrong);
    }
}
