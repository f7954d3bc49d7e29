//! What one variant used up of the budget is not there for the others.

use serde_json::{Value, json};

use super::{evals, manifests};
use crate::project::Project;
use crate::requested::{self, requested};
use crate::trials;

/// Two agents that tell what they cost, 0.25 dollars an answer, and six questions.
fn paid(limits: &str) -> Project {
    let project = Project::new();
    requested::write_questions(&project, 6);
    let reply = r#"echo '{"answer": "no", "usage": {"input_tokens": 10, "output_tokens": 0, "cost_usd": 0.25}}'; exit"#;
    requested::agent(&project, reply);
    let agent = "{ type: command, command: [../agent.sh], output: json }";
    project.write(
        "evals/e.yaml",
        format!(
            "benchmark: {{ type: gaia, path: ../data.jsonl }}\nsnapshot: {{ answers: plain }}\n\
             agents: {{ a: {agent}, b: {agent}, c: {agent} }}\nlimits: {{ concurrency: 4, {limits} }}\n"
        ),
    );
    project
}

#[test]
fn it_is_shared_by_all_variants() {
    for (key, most, total_requests) in [
        ("requests", "9", 9),
        ("cost_usd", "2", 8),
        ("tokens", "70", 7),
    ] {
        // The second place opens after minutes: nothing is asked before what it will cost is known.
        let project = paid(&format!("ramp_up_s: 1000, budget: {{ {key}: {most} }}"));
        let ran = project.run("run --json").exits(3);
        assert_eq!(requested(&project).len(), total_requests, "{key}");
        let ended: Vec<Value> = manifests(&project)
            .iter()
            .map(|it| it["status"].clone())
            .collect();
        assert_eq!(ended, ["finished", "stopped", "stopped"], "{key}");
        let reason = manifests(&project)[1]["stop_reason"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(
            reason.contains(&format!("`limits.budget.{key}`), shared by all variants")),
            "{reason}"
        );
        let table = &ran.json()["matrix"][0];
        let notices = table["notices"].to_string();
        assert!(
            notices.contains("`e@c` ended early: the budget is used up"),
            "{notices}"
        );
    }
}

#[test]
fn a_run_that_goes_on_knows_what_the_others_had() {
    let project = paid("ramp_up_s: 1000, budget: { requests: 8 }");
    project.run("run").exits(3);
    assert_eq!(requested(&project).len(), 8);
    let dir = project.runs()[1].clone();
    let dir = dir.file_name().unwrap().to_str().unwrap();
    // 6 were asked of `a` and 2 of `b`: two more are left.
    project
        .run(&format!(
            "run --resume {dir} --set limits.budget.requests=10"
        ))
        .exits(3);
    assert_eq!(requested(&project).len(), 10);
    project
        .run(&format!(
            "run --resume {dir} --set limits.budget.requests=12"
        ))
        .exits(0);
    assert_eq!(requested(&project).len(), 12);
    assert_eq!(evals(&project), ["e@a", "e@b", "e@c"]);
    // A new command has a budget of its own.
    project.run("run e@c").exits(0);
    assert_eq!(requested(&project).len(), 18);
}

#[test]
fn under_a_test_harness_it_is_shared_too() {
    let project = trials::project(
        4,
        ":",
        "limits: { concurrency: 1, budget: { requests: 5 } }\n",
    );
    let agent = "{ type: command, command: [../../agent.sh] }";
    trials::edit(
        &project,
        &format!("agent: {agent}"),
        &format!("agents: {{ a: {agent}, b: {agent} }}"),
    );
    trials::run(&project, "")
        .exits(101)
        .says("shared by all variants of the spec");
    assert_eq!(requested(&project).len(), 5);
    // A process for each test, as under nextest: those before count.
    trials::forget(&project);
    let modes = [
        ("NEXTEST_EXECUTION_MODE", "process-per-test"),
        ("NEXTEST_RUN_ID", "n1"),
    ];
    let names = [
        "a::level1::q000",
        "b::level1::q000",
        "b::level2::q001",
        "a::level2::q001",
        "a::level3::q002",
    ];
    for name in names {
        trials::run_with(&project, &format!("--exact e@{name}"), &modes).says("running 1 test");
    }
    trials::run_with(&project, "--exact e@b::level3::q002", &modes)
        .exits(101)
        .says("shared by all variants of the spec");
    assert_eq!(requested(&project).len(), 5);
}

#[test]
fn without_one_each_has_what_it_needs_and_the_cache_is_shared() {
    let project = paid("retries: 0");
    let spec = project.read("evals/e.yaml") + "cache: true\n";
    project.write("evals/e.yaml", spec);
    project
        .run("run")
        .exits(0)
        .says("`e@b`: 6 of 6 answers are from the cache");
    // All three are the same agent: what one was asked no other is.
    assert_eq!(requested(&project).len(), 6);
    let cached = |at: usize| {
        let lines = crate::project::json_lines(&project.runs()[at].join("samples.jsonl"));
        lines
            .iter()
            .filter(|line| line["result"]["cached_from"] != json!(null))
            .count()
    };
    assert_eq!([cached(0), cached(1), cached(2)], [0, 6, 6]);
}

#[test]
fn one_that_tells_no_cost_ends_alone() {
    let silent = "silent: { type: echo, text: no }";
    for is_first in [true, false] {
        let project = paid("budget: { cost_usd: 100 }");
        let spec = project.read("evals/e.yaml");
        let spec = if is_first {
            spec.replace("agents: { ", &format!("agents: {{ {silent}, "))
        } else {
            spec.replace(" }\nlimits", &format!(", {silent} }}\nlimits"))
        };
        assert!(spec.contains(silent), "{spec}");
        project.write("evals/e.yaml", spec);
        // More than are asked before ten have answered.
        requested::write_questions(&project, 20);
        let ran = project.run("run --json").exits(3).json();
        let ended = |eval: &str| {
            let mut manifests = manifests(&project).into_iter();
            let of_eval = manifests.find(|it| it["eval"] == eval).unwrap();
            of_eval["stop_reason"].as_str().map(str::to_owned)
        };
        for eval in ["e@a", "e@b", "e@c"] {
            assert_eq!(ended(eval), None);
        }
        let reason = ended("e@silent").unwrap();
        assert!(
            reason.contains("none of 10 answers reports its usage")
                && !reason.contains("variants of the spec"),
            "{reason}"
        );
        assert_eq!(ran["matrix"][0]["runs"].as_array().unwrap().len(), 4);
    }
}
