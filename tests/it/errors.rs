//! Errors are neither right nor hidden: what is shown of them, and what they do to verdicts.

use serde_json::{Value, json};

use crate::project::Project;

const AGENT: &str = "{ type: command, command: [./agent.sh] }";

/// An eval of so many questions, `q000` and so on in level 1 and 2 by turns; `script` sees the number as `$n` and the
/// epoch as `$EVALTEST_EPOCH`.
fn project(questions: usize, script: &str, more: &str) -> Project {
    let ids: Vec<String> = (0..questions).map(|n| format!("q{n:03}")).collect();
    let level = |n: usize| u32::try_from(n % 2 + 1).unwrap();
    let rows = ids.iter().enumerate();
    let rows: Vec<_> = rows
        .map(|(n, id)| (id.as_str(), level(n), "What?", "1"))
        .collect();
    let project = Project::with_eval(&rows, AGENT, more);
    let script = format!(
        "#!/bin/sh\nn=${{EVALTEST_SAMPLE_ID#q}}; n=${{n#0}}; n=${{n#0}}\n\
         right() {{ echo 'FINAL ANSWER: 1'; }}\nwrong() {{ echo 'FINAL ANSWER: 2'; }}\n{script}\n"
    );
    project.script("agent.sh", &script);
    project
}

#[test]
fn with_errors_the_headline_is_a_range() {
    let range = "66.7 % to 100 % (10 of 30 without an answer)";
    let project = project(
        30,
        "[ $n -ge 20 ] && { echo out >&2; exit 3; }; right",
        "gates: [error_rate <= 0.5]\n",
    );
    project
        .run("run eval.yaml")
        .exits(0)
        .says(&format!(
            "30 samples, 20 correct, accuracy {range}, 10 errors"
        ))
        .says("level 1 66.7 % to 100 % of 10 (+5 errors)");
    let summary = project.last_json("summary.json");
    let bounds = json!([20.0 / 30.0, 1.0]);
    assert_eq!(summary["accuracy"], 1.0);
    assert_eq!(summary["accuracy_bounds"], bounds);
    assert_eq!(summary["slices"]["level"]["1"]["accuracy_bounds"], bounds);
    let dir = project.last_run();
    let text = std::fs::read_to_string(dir.join("summary.md")).unwrap();
    assert!(
        text.contains(&format!("**{range}** correct: 20 of the 20 scored.")),
        "{text}"
    );
    assert!(
        text.contains("| 1 | 15 | 10 of 10 | 66.7 % to 100 % | 5 |"),
        "{text}"
    );
    let dir = dir.display();
    for again in ["summarize", "gate", "rescore"] {
        let ran = project.run(&format!("{again} {dir}"));
        ran.exits(0).says(range);
    }
    let summary = project.run(&format!("summarize {dir} --json")).json();
    assert_eq!(summary["accuracy_bounds"], bounds);
}

#[test]
fn without_errors_the_bounds_are_the_accuracy() {
    let project = project(4, "[ $n = 3 ] && wrong || right", "");
    project
        .run("run eval.yaml")
        .exits(0)
        .says("accuracy 75.0 % (95 % interval");
    let summary = project.last_json("summary.json");
    assert_eq!(summary["accuracy_bounds"], json!([0.75, 0.75]));
}

#[test]
fn an_epoch_without_an_answer_is_wrong_and_right_within_its_sample() {
    // Of two epochs each the second of `q001` is lost.
    let project = project(
        2,
        "[ $n$EVALTEST_EPOCH = 11 ] && exit 3; right",
        "epochs: 2\ngates:\n  - error_rate <= 0.5\n  - accuracy >= 0.7\n  - accuracy[level=2] >= 0.6\n  - accuracy[level=1] >= 1\n",
    );
    project
        .run("run eval.yaml")
        .exits(3)
        .says("accuracy 75 % to 100 % (1 of 4 without an answer)")
        .says("pass^2 50 % to 100 %")
        .says("gate accuracy >= 0.7: passed")
        .says("gate accuracy[level=2] >= 0.6: INCONCLUSIVE")
        .says("gate accuracy[level=1] >= 1: passed");
    let summary = project.last_json("summary.json");
    assert_eq!(summary["accuracy_bounds"], json!([0.75, 1.0]));
    let slices = &summary["slices"]["level"];
    assert_eq!(slices["1"]["accuracy_bounds"], json!([1.0, 1.0]));
    assert_eq!(slices["2"]["accuracy_bounds"], json!([0.5, 1.0]));
    assert_eq!(slices["2"]["accuracy"], 1.0);
}

#[test]
fn where_no_sample_has_an_answer_everything_is_open() {
    let project = project(3, "exit 3", "");
    project
        .run("run eval.yaml")
        .exits(3)
        .says("accuracy 0 % to 100 % (3 of 3 without an answer)");
    let summary = project.last_json("summary.json");
    assert_eq!(summary["accuracy"], Value::Null);
    assert_eq!(summary["accuracy_bounds"], json!([0.0, 1.0]));
}

const DEFAULT: &str = "e::gate::error_rate";

#[test]
fn an_eval_without_an_error_rate_has_one() {
    let fails = |more: &str| project(20, "[ $n -lt $(cat down) ] && exit 3; right", more);
    let check = |project: &Project, down: &str, code: i32, says: &str| {
        project.write("down", down);
        project.run("run eval.yaml").exits(code).says(says);
        project.last_json("summary.json")["gates"].clone()
    };
    let own = fails("gates: [accuracy >= 0.5]\n");
    let gates = check(
        &own,
        "1",
        0,
        "gate error_rate <= 0.05: passed: error_rate is 0.05",
    );
    assert_eq!(gates[0]["default"], Value::Null, "{gates}");
    assert_eq!(gates[1]["gate"], "error_rate <= 0.05");
    assert_eq!(gates[1]["default"], true);
    let gates = check(&own, "2", 3, "gate error_rate <= 0.05: FAILED");
    assert_eq!(gates[0]["verdict"], "passed", "{gates}");
    assert_eq!(gates[1]["verdict"], "failed");
    // It is no other gate than any, wherever gates are asked.
    let dir = own.last_run();
    let dir = dir.display();
    own.run(&format!("gate {dir}"))
        .exits(3)
        .says("gate error_rate <= 0.05: FAILED");
    own.run(&format!("summarize {dir}"))
        .says("unless `gates` has an `error_rate` of its own");
    own.run(&format!("rescore {dir}"))
        .says("gate error_rate <= 0.05: FAILED");
    own.run(&format!("gate {}", own.last_run().display()))
        .exits(3);
    let manifest = own.last_json("manifest.json");
    assert_eq!(manifest["config"]["gates"], json!(["accuracy >= 0.5"]));
    // Whoever names gates asks for these alone.
    own.run_of(&["gate", &dir.to_string(), "--gate", "accuracy >= 0.5"])
        .exits(0)
        .says_nothing_of("gate error_rate");
    // One of its own takes its place, and that of a slice does not.
    let other = fails("gates: [error_rate <= 0.1]\n");
    let gates = check(&other, "2", 0, "gate error_rate <= 0.1: passed");
    assert_eq!(gates.as_array().unwrap().len(), 1);
    let slice = fails("gates:\n  - error_rate[level=1] <= 0.5\n");
    check(&slice, "2", 3, "gate error_rate <= 0.05: FAILED");
    for (project, names) in [
        (&own, ["e::gate::accuracy", DEFAULT].as_slice()),
        (&other, &[DEFAULT]),
        (&slice, &["e::gate::error_rate[level=1]", DEFAULT]),
    ] {
        let listing = project.run("list eval.yaml --json").json();
        assert_eq!(listing[0]["gates"], json!(names));
    }
}

#[test]
fn a_part_of_an_eval_has_the_default_error_rate_too() {
    let project = project(
        20,
        "[ $n -lt 2 ] && exit 3; right",
        "gates: [accuracy >= 0.5]\n",
    );
    project
        .run("run eval.yaml --filter q00")
        .exits(3)
        .says("gate accuracy >= 0.5: ignored: 10 of 20 samples selected")
        .says("gate error_rate <= 0.05: FAILED: error_rate is 0.2 (2 of 10 asked samples)");
    project
        .run("run eval.yaml --filter q01")
        .says("gate error_rate <= 0.05: passed: error_rate is 0 (0 of 10 asked samples)");
}
