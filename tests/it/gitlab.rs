//! `run --gitlab` and `report --format gitlab`: what got worse, at its lines.

use serde_json::{Value, json};

use crate::requested;

#[test]
fn what_got_worse_has_a_place_and_a_name_that_stays() {
    let project = requested::project(6, "", "gates: [accuracy >= 0.9]\n");
    let written = |name: &str| -> Value { serde_json::from_str(&project.read(name)).unwrap() };
    project.run("run eval.yaml --gitlab a.json").exits(1);
    let first = written("a.json");
    let [gate] = &first.as_array().unwrap()[..] else {
        panic!("{first}");
    };
    assert_eq!(gate["check_name"], "evaltest.gate");
    assert_eq!(gate["severity"], "critical");
    assert_eq!(
        gate["location"],
        json!({"path": "eval.yaml", "lines": {"begin": 6}})
    );
    project.run("accept --failed-gates").exits(0);
    requested::agent(
        &project,
        "[ $EVALTEST_SAMPLE_ID = q004 ] && { echo '\u{1b}[1m::error::'; exit; }",
    );
    project.run("run eval.yaml --gitlab a.json").exits(1);
    let second = written("a.json");
    assert_eq!(second[0]["fingerprint"], gate["fingerprint"]);
    let flip = &second[1];
    assert_eq!(flip["check_name"], "evaltest.flip");
    assert_eq!(
        flip["location"],
        json!({"path": "data.jsonl", "lines": {"begin": 5}})
    );
    let text = flip["description"].as_str().unwrap();
    assert!(
        text.starts_with("e: q004 became wrong: mismatch: got `\\u{1b}[1m"),
        "{text}"
    );
    let printed = flip["fingerprint"].as_str().unwrap();
    assert_eq!(printed.len(), 64);
    assert_eq!(second.as_array().unwrap().len(), 2);
    project.run("report --format gitlab -o b.json").exits(0);
    assert_eq!(written("b.json"), second);
}

#[test]
fn nothing_worse_is_an_empty_list() {
    let project = requested::project(1, "", "");
    project.run("run eval.yaml --gitlab a.json").exits(0);
    assert_eq!(project.read("a.json"), "[]\n");
}
