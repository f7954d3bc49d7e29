//! The run directory, field by field.

use std::collections::BTreeMap;
use std::process::Command;

use needs::needs;
use serde_json::{Value, json};

use crate::project::{Project, all_files, sha256};
use crate::wait::{given_time, late};

/// An agent of every outcome, which tells what it used.
const AGENT: &str = r#"#!/bin/sh
while read -r _; do :; done
case $EVALTEST_SAMPLE_ID in
  fails) echo 'no key sk-abcdefghijklmnopqrstuvwxyz123456' >&2; exit 4;;
  hangs) sleep 600;;
  twice) test "$EVALTEST_ATTEMPT" = 2 || exit 1;;
esac
answer=42; test "$EVALTEST_SAMPLE_ID" != wrong || answer=41
printf '{"answer":"So: FINAL ANSWER: %s","messages":[{"role":"assistant","content":"corp-77"}],' $answer
printf '"tool_calls":[{"name":"calculator"}],"usage":{"input_tokens":10,"output_tokens":2},"cost_usd":0.5}'
"#;

fn project(timeout: f64) -> Project {
    let ids = ["right", "wrong", "fails", "hangs", "twice"];
    let questions: Vec<_> = (0_u32..)
        .zip(ids)
        .map(|(n, id)| (id, n % 2 + 1, "How many?", "42"))
        .collect();
    let project = Project::with_eval(
        &questions,
        "{ type: command, command: [./agent.sh], input: json, output: json, options: { api_key: abcdefghijkl } }",
        &format!(
            "extract: final_answer\nlimits: {{ timeout_s: {timeout}, retries: 1, backoff_s: 0, concurrency: 5 }}\n\
             gates: [accuracy >= 0.5, 'accuracy[level=1] >= 0.2', error_rate <= 0.5]\nredact: ['corp-[0-9]+']\n"
        ),
    );
    project.script("agent.sh", AGENT);
    project
}

/// The same after a run, and after one more that resumes it if that is wanted. All but one have time to answer.
fn requested(arguments: &str, resumes: bool) -> Project {
    given_time(0.5, |timeout| {
        let project = project(timeout);
        project.run(&format!("run eval.yaml {arguments}")).exits(3);
        if resumes && late(&project) == ["hangs"] {
            let resume = format!("run --resume {}", project.last_run().display());
            project.run(&resume).exits(3);
        }
        (late(&project) == ["hangs"]).then_some(project)
    })
}

#[track_caller]
fn keys(value: &Value, expect: &[&str]) {
    let keys: Vec<_> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    for key in expect {
        assert!(keys.contains(key), "{key} is missing in {value}");
    }
}

#[test]
fn every_file_holds_what_the_contract_says() {
    let project = requested("--run-id r1", false);
    let dir = project.last_run();
    let name = dir.file_name().unwrap().to_string_lossy().into_owned();
    let (stamp, id) = name.split_once('_').unwrap();
    assert!(
        stamp.len() == 16 && stamp.ends_with('Z') && &stamp[8..9] == "T",
        "{stamp}"
    );
    assert_eq!(id, "r1");
    assert_eq!(project.read("evaltest-runs/.gitignore"), "*\n");
    let mut names: Vec<_> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "errors.jsonl",
            "events.jsonl",
            "manifest.json",
            "samples.jsonl",
            "summary.json",
            "summary.md"
        ]
    );
    samples(&project);
    events(&project);
    summary(&project);
    manifest(&project);
    // Nothing secret is anywhere; counts of tokens are.
    let secrets = ["sk-abcdefghij", "abcdefghijkl", "corp-77"];
    for path in all_files(&dir) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        assert!(
            !secrets.iter().any(|secret| text.contains(secret)),
            "{}",
            path.display()
        );
    }
    let text = std::fs::read_to_string(dir.join("summary.md")).unwrap();
    assert!(text.contains("accuracy") && text.contains('%'), "{text}");
}

fn samples(project: &Project) {
    let records = project.last_lines("samples.jsonl");
    let field =
        |name: &str| -> Vec<Value> { records.iter().map(|record| record[name].clone()).collect() };
    assert_eq!(
        field("sample_id"),
        ["right", "wrong", "fails", "hangs", "twice"],
        "in dataset order"
    );
    assert_eq!(field("eval"), ["e"; 5]);
    assert_eq!(field("epoch"), [0; 5]);
    assert_eq!(field("prompt"), ["How many?"; 5]);
    assert_eq!(field("ground_truth"), ["42"; 5]);
    assert_eq!(records[0]["metadata"]["Level"], 1);
    let status: Vec<_> = records
        .iter()
        .map(|record| record["result"]["status"].as_str().unwrap())
        .collect();
    assert_eq!(
        status,
        ["scored", "scored", "agent_failed", "timed_out", "scored"]
    );
    for record in &records {
        keys(
            &record["result"],
            &[
                "status",
                "output",
                "prediction",
                "score",
                "usage",
                "error",
                "attempts",
                "latency_s",
            ],
        );
    }
    let right = &records[0]["result"];
    assert_eq!(right["prediction"], "42");
    assert_eq!(
        right["usage"],
        json!({"input_tokens": 10, "output_tokens": 2, "cost_usd": 0.5})
    );
    assert_eq!(right["output"]["text"], "So: FINAL ANSWER: 42");
    assert_eq!(
        right["output"]["tool_calls"],
        json!([{"name": "calculator"}])
    );
    assert_eq!(right["redacted"], 1);
    assert_eq!(right["error"], Value::Null);
    assert!(right["latency_s"].as_f64().unwrap() > 0.0);
    let score = &right["score"];
    assert_eq!(
        (
            &score["value"],
            &score["correct"],
            &score["reason"],
            &score["normalized_prediction"]
        ),
        (
            &json!(1.0),
            &json!(true),
            &json!("exact_match"),
            &json!("42.0")
        )
    );
    assert_eq!(records[1]["result"]["score"]["reason"], "mismatch");
    let error = &records[2]["result"]["error"];
    assert_eq!(
        (&error["kind"], &error["exit_code"]),
        (&json!("exited"), &json!(4))
    );
    assert!(
        error["stderr_tail"]
            .as_str()
            .unwrap()
            .starts_with("no key "),
        "{error}"
    );
    assert!(error["message"].is_string());
    assert_eq!(records[2]["result"]["score"], Value::Null);
    assert_eq!(records[3]["result"]["error"]["kind"], "timed_out");
    let attempts: Vec<_> = records
        .iter()
        .map(|record| record["result"]["attempts"].clone())
        .collect();
    assert_eq!(
        attempts,
        [1, 1, 2, 1, 2],
        "failures are repeated, wrong answers and timeouts are not"
    );
    assert_eq!(project.last_lines("errors.jsonl"), records[2..4]);
}

fn events(project: &Project) {
    let events = project.last_lines("events.jsonl");
    let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (place, event) in events.iter().enumerate() {
        keys(
            event,
            &[
                "sample_id",
                "event_index",
                "epoch",
                "attempt",
                "kind",
                "time",
            ],
        );
        assert_eq!(event["event_index"], place);
        assert!(event["time"].as_str().unwrap().ends_with('Z'));
        let text = |key: &str| event[key].as_str().unwrap().to_owned();
        assert_eq!(event["kind"] == "answered", event.get("output").is_some());
        assert_eq!(event["kind"] == "failed", event.get("error").is_some());
        kinds
            .entry(text("sample_id"))
            .or_default()
            .push(text("kind"));
    }
    assert_eq!(kinds["right"], ["started", "answered", "scored"]);
    assert_eq!(
        kinds["fails"],
        ["started", "failed", "started", "failed", "ended"]
    );
    assert_eq!(kinds["hangs"], ["started", "failed", "ended"]);
    assert_eq!(
        kinds["twice"],
        ["started", "failed", "started", "answered", "scored"]
    );
}

fn summary(project: &Project) {
    let summary = project.last_json("summary.json");
    keys(
        &summary,
        &[
            "format_version",
            "eval",
            "samples",
            "scored",
            "correct",
            "errors",
            "accuracy",
            "accuracy_ci95",
            "failure_rate",
            "failure_rate_ci95",
            "error_rate",
            "means",
            "slices",
            "usage",
            "attempts",
            "recovered_by_retry",
            "gates",
            "exit_code",
        ],
    );
    let counts = ["samples", "scored", "correct", "errors", "exit_code"];
    let counts: Vec<_> = counts.iter().map(|name| summary[name].clone()).collect();
    assert_eq!(counts, [5, 3, 2, 2, 3]);
    assert_eq!(summary["recovered_by_retry"]["recovered"], 1);
    let close = |value: &Value, expect: f64| (value.as_f64().unwrap() - expect).abs() < 1e-4;
    assert!(close(&summary["accuracy"], 2.0 / 3.0) && close(&summary["error_rate"], 0.4));
    assert!(
        close(&summary["accuracy_ci95"][0], 0.2077) && close(&summary["accuracy_ci95"][1], 0.9385)
    );
    // The mirror, with the two that lack a verdict as right and as wrong.
    let failure_rate = &summary["failure_rate_ci95"];
    assert!(close(&summary["failure_rate"], 1.0 / 3.0));
    assert!(close(&failure_rate[0], 1.0 - 0.9385) && close(&failure_rate[1], 1.0 - 0.2077));
    let bounds = &summary["failure_rate_bounds"];
    assert!(close(&bounds[0], 0.2) && close(&bounds[1], 0.6));
    // right, fails and twice; wrong and hangs.
    let levels = &summary["slices"]["level"];
    assert_eq!(
        (&levels["1"]["samples"], &levels["1"]["correct"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(
        (&levels["2"]["samples"], &levels["2"]["accuracy"]),
        (&json!(2), &json!(0.0))
    );
    assert_eq!(summary["usage"]["input_tokens"], 30);
    assert!(close(&summary["usage"]["cost_usd"], 1.5));
    let gates = summary["gates"].as_array().unwrap();
    for gate in gates {
        keys(gate, &["gate", "verdict", "value", "threshold", "message"]);
    }
    let of = |key: &str| -> Vec<Value> { gates.iter().map(|gate| gate[key].clone()).collect() };
    assert_eq!(
        of("gate"),
        [
            "accuracy >= 0.5",
            "accuracy[level=1] >= 0.2",
            "error_rate <= 0.5"
        ]
    );
    assert_eq!(of("verdict"), ["inconclusive", "passed", "passed"]);
    assert_eq!(of("threshold"), [0.5, 0.2, 0.5]);
}

fn manifest(project: &Project) {
    let manifest = project.last_json("manifest.json");
    keys(
        &manifest,
        &[
            "format_version",
            "evaltest_version",
            "run_id",
            "eval",
            "benchmark",
            "status",
            "started_at",
            "ended_at",
            "duration_s",
            "git_sha",
            "environment",
            "config",
            "dataset_hash",
            "artifacts",
        ],
    );
    assert_eq!(
        (&manifest["run_id"], &manifest["eval"]),
        (&json!("r1"), &json!("e"))
    );
    assert_eq!(
        (&manifest["status"], &manifest["whole"]),
        (&json!("finished"), &json!(true))
    );
    assert_eq!(manifest["dataset_hash"].as_str().unwrap().len(), 64);
    assert!(manifest["started_at"].as_str() < manifest["ended_at"].as_str());
    let artifacts = manifest["artifacts"].as_object().unwrap();
    assert_eq!(artifacts.len(), 5);
    for (name, hash) in artifacts {
        assert_eq!(*hash, sha256(&project.last_run().join(name)), "{name}");
    }
}

#[needs(git)]
#[test]
fn a_run_knows_its_commit() {
    let project = project(300.0);
    project.write(".gitignore", "evaltest-runs/\n");
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=n",
                "-c",
                "user.email=e@example.org",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(arguments)
            .current_dir(project.path())
            .output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "all"]);
    project.run("run eval.yaml --limit 1 --agent echo").exits(0);
    let manifest = project.last_json("manifest.json");
    assert_eq!(manifest["git_sha"], git(&["rev-parse", "HEAD"]));
    assert_eq!(manifest["git_dirty"], false);
    assert_eq!(manifest["whole"], false);
}

#[test]
fn resumed_runs_keep_their_hashes_true() {
    let project = requested("", true);
    let dir = project.last_run();
    let manifest = project.last_json("manifest.json");
    for (name, hash) in manifest["artifacts"].as_object().unwrap() {
        assert_eq!(*hash, sha256(&dir.join(name)), "{name}");
    }
    let events = project.last_lines("events.jsonl");
    let started = |event: &&Value| event["kind"] == "started" && event["sample_id"] == "fails";
    let attempts: Vec<_> = events
        .iter()
        .filter(started)
        .map(|event| event["attempt"].clone())
        .collect();
    assert_eq!(attempts, [1, 2, 3, 4], "attempts are numbered through");
    assert_eq!(
        project.last_lines("samples.jsonl")[2]["result"]["attempts"],
        4
    );
    assert_eq!(
        project.last_lines("samples.jsonl")[0]["result"]["attempts"],
        1
    );
}

#[test]
fn a_sample_of_a_large_run_is_shown_from_its_place() {
    let project = Project::new();
    let row = |n: u32| {
        format!(
            "{{\"task_id\":\"q{n:04}\",\"Question\":\"{n}\",\"Level\":1,\"Final answer\":\"{n}\",\"file_name\":\"\"}}\n"
        )
    };
    project.write("data.jsonl", (0..6000).map(row).collect::<String>());
    project.spec("echo", "gates: []\n");
    project.run("run eval.yaml").exits(0);
    let dir = project.last_run();
    let show = format!("show {} q4321 --json", dir.display());
    let shown = project.run(&show).exits(0).json();
    assert_eq!(
        shown["prompt"].as_str().unwrap().lines().last(),
        Some("4321")
    );
    assert_eq!(shown["events"].as_array().unwrap().len(), 3);
    let records = std::fs::read_to_string(dir.join("samples.jsonl")).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(records.contains(from));
        std::fs::write(dir.join("samples.jsonl"), records.replacen(from, to, 1)).unwrap();
        project.run(&show).exits(0)
    };
    let notice = "samples.jsonl changed after the run";
    let other = ("\"ground_truth\":\"17\"", "\"ground_truth\":\"18\"");
    let own = ("\"ground_truth\":\"4321\"", "\"ground_truth\":\"4322\"");
    // What is shown is checked, and nothing else is read.
    changed(other.0, other.1).says_nothing_of(notice);
    changed(own.0, own.1).says(notice);
    changed("}\n", "} \n").says(notice);
    std::fs::write(dir.join("samples.jsonl"), &records).unwrap();
    // The beginning of an id, and a run without indexes, are as in a small run.
    let begins = format!("show {} q432", dir.display());
    project
        .run(&begins)
        .says("`q432` is the beginning of several ids: q4320");
    for name in ["samples.index", "events.index"] {
        std::fs::remove_file(dir.join(name)).unwrap();
    }
    assert_eq!(project.run(&show).exits(0).json(), shown);
    changed(other.0, other.1).says(notice);
}
