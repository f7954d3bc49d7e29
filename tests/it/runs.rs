//! `runs`: what was run, a line each, and runs by parts of their names.

use std::fs;

use serde_json::Value;

use crate::project::Project;
use crate::requested;

const GATE: &str = "gates: [accuracy >= 0.4]\n";

/// A run of 4 questions, of which every second is answered rightly.
fn project() -> Project {
    let project = requested::project(4, "", GATE);
    project.run("run eval.yaml --run-id first").exits(0);
    project
}

fn listed(project: &Project, command: &str) -> Vec<Value> {
    let ran = project.run(command).exits(0);
    let value: Value = serde_json::from_str(&ran.out).unwrap();
    value["runs"].as_array().unwrap().clone()
}

#[test]
fn runs_are_listed_the_newest_first() {
    let project = project();
    project
        .run("run eval.yaml --run-id second --limit 2 --set name=other")
        .exits(0);
    let text = project.run("runs").exits(0).out;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("started (UTC)"), "{text}");
    assert!(lines[0].trim_end().ends_with("run"), "{text}");
    assert_eq!(lines.len(), 3, "{text}");
    let first = lines.iter().find(|line| line.ends_with("first")).unwrap();
    for expected in ["e  ", "agent.sh", " 4 ", "50.0 %", "2 ✓", "s  "] {
        assert!(first.contains(expected), "{expected}: {text}");
    }
    let second = lines.iter().find(|line| line.ends_with("second")).unwrap();
    assert!(second.contains("2 (partial)"), "{text}");

    let runs = listed(&project, "runs --json");
    assert_eq!(runs.len(), 2);
    let of_eval = listed(&project, "runs other --json");
    assert_eq!(of_eval.len(), 1);
    let run = &of_eval[0];
    assert_eq!(run["run_id"], "second");
    assert_eq!(run["samples"], 2);
    assert_eq!(run["accuracy"], 0.5);
    assert_eq!(run["status"], "finished");
    assert_eq!(run["partial"], true);
    assert_eq!(run["agent"], "command");
    assert_eq!(run["exit_code"], 0);
    assert!(run["gates"]["ignored"].as_u64() > Some(0), "{run}");
}

#[test]
fn with_errors_the_accuracy_is_a_range() {
    // Two that are right, two that nobody knows of.
    let then = "case $EVALTEST_SAMPLE_ID in q001|q003) exit 4;; esac";
    let more = "limits: { keep_going: true }\ngates: [error_rate <= 1]\n";
    let project = requested::project(4, then, more);
    project.run("run eval.yaml").exits(0);
    project.run("runs").exits(0).says("50.0 % to 100.0 %");
    let run = &listed(&project, "runs --json")[0];
    assert_eq!(run["accuracy"], 1.0);
    assert_eq!(run["accuracy_bounds"], serde_json::json!([0.5, 1.0]));
}

#[test]
fn gates_have_the_colour_of_the_worst() {
    let project = project();
    for command in ["runs", "gate", "summarize"] {
        let coloured = |value: &str| {
            let mut command = project.command(command);
            command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", value);
            let out = command.output().unwrap().stdout;
            String::from_utf8(out).unwrap().contains("\u{1b}[32m")
        };
        assert_eq!([coloured("1"), coloured("0")], [true, false], "{command}");
    }
}

#[test]
fn the_rest_is_counted_and_what_cannot_be_read_is_named() {
    let project = project();
    project.run("run eval.yaml --run-id second").exits(0);
    let ran = project.run("runs --limit 1").exits(0);
    assert_eq!(ran.out.lines().count(), 2);
    ran.says("1 older: `cargo evaltest runs --limit 0`");

    let dir = project.last_run();
    fs::write(dir.join("summary.json"), "{").unwrap();
    let ran = project.run("runs").exits(0);
    assert_eq!(ran.out.lines().count(), 2);
    ran.says("cannot read `evaltest-runs/").says("repair");
}

#[test]
fn a_project_without_runs_says_so() {
    let project = requested::project(2, "", "");
    project.run("runs").exits(0).says("no run found");
    assert!(listed(&project, "runs --json").is_empty());
}

#[test]
fn a_run_is_named_by_a_part_that_no_other_has() {
    let project = project();
    project.run("run eval.yaml --run-id second").exits(0);
    project.run("gate fir").exits(0);
    project.run("show seco q000").exits(0).says("sample: q000");
    project.run("gate e").exits(0);
    project
        .run("summarize s")
        .exits(2)
        .says("`s` matches the names of 2 runs")
        .says("_first`");
    project
        .run("gate third")
        .exits(2)
        .says("there is no run `third`")
        .says("cargo evaltest runs");
}

#[test]
fn a_samples_id_comes_before_a_part_of_a_runs_name() {
    let project = Project::new();
    project.write("q.csv", "id,question,answer\n2,two?,two?\n20,many?,no\n");
    let spec =
        "name: e\nbenchmark: { type: qa, path: q.csv }\nagent: echo\ngates: [accuracy >= 0]\n";
    project.write("eval.yaml", spec);
    project.run("run eval.yaml").exits(0);
    // Names of runs begin with the year.
    project.run("show 2").exits(0).says("sample: 2 of eval e\n");
    project
        .run("show 20")
        .exits(0)
        .says("sample: 20 of eval e\n");
    project.run("show 202").exits(0).says("wrong          20");
}

#[test]
fn an_eval_without_runs_is_not_one_with_a_longer_name() {
    let project = requested::project(2, "", "");
    let spec = project.read("eval.yaml");
    let name = spec.lines().find(|line| line.starts_with("name:")).unwrap();
    let longer = spec.replace(name, "name: short-long");
    project.write(
        "evals/long.yaml",
        longer.replace("data.jsonl", "../data.jsonl"),
    );
    let short = spec.replace(name, "name: short");
    project.write(
        "evals/short.yaml",
        short.replace("data.jsonl", "../data.jsonl"),
    );
    project.run("run short-long --limit 1");
    project
        .run("gate short")
        .exits(2)
        .says("eval `short` has no run yet");
}
