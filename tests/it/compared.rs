//! What `compare` says besides: of runs in another order, of errors, of means.

use std::fs;

use serde_json::{Value, json};

use crate::asked;
use crate::compare::{compared, is_the_gates, project, regression, run_with};
use crate::project::json_lines;

#[test]
fn the_order_of_a_run_changes_no_figure() {
    for cluster in ["", " --set benchmark.cluster=Level"] {
        let project = project("gates: [no_regression(min_pairs=0.5)]\nepochs: 2\n");
        let data = project.read("data.jsonl");
        run_with(&project, &[], &format!("--run-id before{cluster}"));
        project.run("accept before").exits(0);
        let turned: Vec<_> = data.lines().rev().collect();
        project.write("data.jsonl", turned.join("\n"));
        let flags = format!("--run-id after{cluster}");
        run_with(&project, &["wrong", "right"], &flags);
        let gate = regression(&project);
        let found = compared(&project, "before after");
        is_the_gates(&found, &gate);
        let lines = json_lines(&project.last_run().join("samples.jsonl"));
        assert_eq!(lines[0]["sample_id"], "q011");
        assert_eq!(found["flips"]["worse"].as_array().unwrap().len(), 4);
        // Some of them alone.
        let flags = format!("--limit 8 --run-id some{cluster}");
        run_with(&project, &["wrong", "right"], &flags);
        let found = compared(&project, "before some");
        assert_eq!(found["n"], 8);
        let missing = found["unpaired"]["only_in_a"].as_array().unwrap();
        assert_eq!(missing.len(), 4);
        assert!(missing.is_sorted_by_key(Value::to_string), "{missing:?}");
        let back = compared(&project, "some before");
        assert_eq!(back["unpaired"]["only_in_b"].as_array().unwrap().len(), 4);
        assert_eq!(back["p_two_sided"], found["p_two_sided"]);
    }
}

#[test]
fn what_errors_could_change_is_told() {
    let project = project("gates: [no_regression]\n");
    run_with(&project, &[], "--run-id before");
    project.run("accept before").exits(0);
    asked::agent(
        &project,
        "case $EVALTEST_SAMPLE_ID in q000|q002|q004|q006) exit 3;; esac",
    );
    run_with(&project, &[], "--run-id after");
    let found = compared(&project, "before after");
    let bounds = &found["error_bounds"];
    assert_eq!(
        (&bounds["errors_a"], &bounds["errors_b"]),
        (&json!(0), &json!(4))
    );
    assert_eq!(bounds["lowest"]["worse"], 4);
    assert_eq!(bounds["highest"]["worse"], 0);
    // As the gate says it.
    let summary = fs::read(project.last_run().join("summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    let [wrong, right] = ["lowest", "highest"].map(|end| bounds[end]["p"].as_f64().unwrap());
    let told = format!("p would be {wrong:.4} if they were wrong, {right:.4} if correct");
    let message = summary["gates"][0]["message"].as_str().unwrap();
    assert!(message.contains(&told), "{told}\n{message}");
    project
        .run("compare before after")
        .exits(0)
        .says("errors: 4 answers have no verdict (4 in B); with them the difference is from -33.3 points (")
        .says("so they could change what is said: B worse");
    let back = compared(&project, "after before");
    assert_eq!(back["error_bounds"]["errors_a"], 4);
    assert_eq!(back["error_bounds"]["highest"]["better"], 4);
    // Nothing in common but errors.
    asked::agent(&project, "exit 3");
    run_with(&project, &[], "--run-id outage --ignore-baseline");
    project
        .run("compare before outage")
        .exits(0)
        .says("nothing to compare")
        .says("12 in B");
}

#[test]
fn means_of_scorers_are_compared() {
    let project = project("scorers: [fuzzy, gaia]\n");
    run_with(&project, &[], "--run-id before");
    run_with(&project, &["wrong"], "--run-id after");
    let found = compared(&project, "before after");
    let value = &found["means"]["fuzzy"]["value"];
    assert_eq!(value["n"], 12);
    let close = |value: &Value, expect: f64| {
        let found = value.as_f64().unwrap();
        assert!((found - expect).abs() < 1e-9, "{value}");
    };
    close(&value["difference"], -4.0 / 12.0);
    assert!(value["difference_ci95"][1].as_f64().unwrap() < 0.0);
    let share = &found["means"]["gaia"]["value"];
    assert_eq!(
        share["difference_ci95"],
        found["scorers"]["gaia"]["difference_ci95"]
    );
    project
        .run("compare before after")
        .exits(0)
        .says("\n  mean of ")
        .says("fuzzy similarity");
}
