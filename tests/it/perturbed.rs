//! Samples that are asked once more in another form.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::project::{Project, json_lines};

/// Knows what it is asked for if both words are spelt right, and breaks down at a misspelt one while there is `broken`.
const AGENT: &str = r#"#!/bin/sh
question=$(cat)
echo "$EVALTEST_SAMPLE_ID.$EVALTEST_EPOCH" >>asked.log
case $question in
*"Name colour of"*) echo "${EVALTEST_SAMPLE_ID#q}" ;;
*) test -f broken && exit 3; echo wrong ;;
esac
"#;

const PERTURB: &str =
    "perturb: { seed: 7, kinds: [typos, irrelevant_context, reordered_options], rate: 1 }\n";

fn project(more: &str) -> Project {
    let questions: Vec<_> = (1..=4)
        .map(|number| (format!("q{number}"), number.to_string()))
        .collect();
    let questions: Vec<_> = questions
        .iter()
        .map(|(id, answer)| (&**id, 1, "Name colour of it", &**answer))
        .collect();
    let agent = "{ type: command, command: [./agent.sh] }";
    let project = Project::with_eval(&questions, agent, &format!("{PERTURB}{more}"));
    project.script("agent.sh", AGENT);
    project
}

fn requested(project: &Project) -> usize {
    let log = fs::read_to_string(project.file("asked.log")).unwrap_or_default();
    log.lines().count()
}

fn prompts(project: &Project) -> BTreeSet<(String, String)> {
    let records = project.last_lines("samples.jsonl").into_iter();
    let of = |record: Value| {
        let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
        (
            format!("{} {}", text("sample_id"), text("perturb")),
            text("prompt"),
        )
    };
    records.map(of).collect()
}

#[test]
fn drop_of_each_kind_is_reported_beside_the_unperturbed_headline() {
    let gates = "gates: [accuracy >= 0.9, drop(irrelevant_context) <= 0.1, drop(typos) <= 0.1, \
                 'accuracy[perturb=irrelevant_context] >= 0.9']\n";
    let project = project(gates);
    project
        .run("run -v eval.yaml --dry-run")
        .exits(0)
        .says("4 samples, plus 3 perturbed versions of each, 16");
    let ran = project
        .run("run -v eval.yaml")
        .exits(1)
        .says("4 samples, 4 correct, accuracy 100.0 %")
        .says("reordered_options: leaves 4 questions unchanged (not compared)")
        .says("gate drop(irrelevant_context) <= 0.1: passed: drop(irrelevant_context) 0.0 % (4 pairs")
        .says("gate drop(typos) <= 0.1: FAILED: drop(typos) 100.0 % (4 pairs, 4 became wrong and 0 correct")
        .says("gate accuracy[perturb=irrelevant_context] >= 0.9: passed")
        .says("typos: became wrong: q1, q2, q3, q4");
    let next = ran
        .err
        .lines()
        .chain(ran.out.lines())
        .find(|line| line.contains("next:"));
    assert!(next.unwrap().ends_with(" q1"));
    assert_eq!(requested(&project), 12, "what changes nothing is not asked");
    let summary = project.last_json("summary.json");
    assert_eq!(summary["samples"], 4);
    let typos = &summary["perturb"]["typos"];
    assert_eq!(
        [&typos["pairs"], &typos["drop"], &typos["b"], &typos["c"]],
        [&json!(4), &json!(1.0), &json!(4), &json!(0)]
    );
    assert!(typos["p"].as_f64().unwrap() < 0.1 && typos["drop_ci95"].is_array());
    assert_eq!(summary["perturb"]["reordered_options"]["unchanged"], 4);
    assert_eq!(summary["slices"]["perturb"]["typos"]["accuracy"], 0.0);
    // Whoever scores the run again gets the questions as they are.
    let dir = project.last_run();
    let score = project.run(&format!("score --scorer gaia {}", dir.display()));
    assert_eq!(score.exits(0).out.lines().count(), 4);
    project
        .run(&format!("scorers --scorers exact,gaia {}", dir.display()))
        .exits(0)
        .says("4 of 4");
    let records = project.last_lines("samples.jsonl");
    assert_eq!(records.len(), 16);
    let kinds: Vec<_> = records[..4]
        .iter()
        .map(|record| &record["perturb"])
        .collect();
    assert_eq!(
        kinds,
        [
            &Value::Null,
            &json!("typos"),
            &json!("irrelevant_context"),
            &json!("reordered_options")
        ]
    );
    again(&project);
}

/// The same questions once more: their texts are the same, and they can be judged without asking.
fn again(project: &Project) {
    // The texts are the same in each run.
    let dir = project.last_run();
    let first = prompts(project);
    // The snapshots are those of the questions as they are.
    project.run("accept").exits(0);
    project.write(
        "eval.yaml",
        project
            .read("eval.yaml")
            .replace("drop(typos) <= 0.1", "no_regression"),
    );
    project
        .run("run -v eval.yaml")
        .exits(3)
        .says("0 of 4 compared samples became wrong");
    assert_eq!(prompts(project), first);
    // Judged again without asking: the same drop.
    let asked = requested(project);
    let shown = dir.display();
    project
        .run(&format!("rescore -v {shown}"))
        .exits(0)
        .says("drop(typos) 100.0 % (4 pairs");
    project
        .run_of(&[
            "gate",
            "-v",
            &shown.to_string(),
            "--gate",
            "drop(typos) <= 1",
        ])
        .exits(0);
    // Four pairs say little.
    let bound = "drop(irrelevant_context) <= 0.1 (confidence=0.95)";
    project
        .run_of(&["gate", "-v", &shown.to_string(), "--gate", bound])
        .exits(1)
        .says(", upper end of the 95 % interval ");
    project
        .run_of(&[
            "gate",
            "-v",
            &shown.to_string(),
            "--gate",
            "drop(tool_error) <= 1",
        ])
        .exits(2)
        .says("no question is asked with `tool_error`");
    project
        .run(&format!("show {shown} q1"))
        .exits(0)
        .says("q1, typos");
    project
        .run(&format!("report {shown} --format md"))
        .exits(0)
        .says("Perturbed questions");
    assert_eq!(requested(project), asked);
}

#[test]
fn an_outage_of_a_perturbed_question_leaves_its_gate_open_and_is_asked_again_alone() {
    let project = project(
        "gates: ['drop(typos) <= 0.1', error_rate <= 0]\nlimits: { retries: 0, concurrency: 1 }\n",
    );
    project.write("broken", "");
    project
        .run("run -v eval.yaml")
        .exits(3)
        .says("4 samples, 4 correct, accuracy 100.0 %")
        .says("typos: 4 answers have no verdict")
        .says("gate error_rate <= 0: passed");
    let dir = project.last_run();
    fs::remove_file(project.file("broken")).unwrap();
    fs::remove_file(project.file("asked.log")).unwrap();
    project
        .run(&format!("run -v eval.yaml --resume {}", dir.display()))
        .exits(1)
        .says("drop(typos) 100.0 % (4 pairs");
    assert_eq!(requested(&project), 4);
    // Another seed is another run.
    project.write(
        "eval.yaml",
        project.read("eval.yaml").replace("seed: 7", "seed: 8"),
    );
    project
        .run(&format!("run -v eval.yaml --resume {}", dir.display()))
        .exits(2)
        .says("`perturb` has changed since");
}

#[test]
fn shards_and_repaired_runs_have_their_pairs() {
    let project = project("gates: ['drop(typos) <= 0.1']\nepochs: 2\n");
    for shard in ["1/2", "2/2"] {
        project
            .run(&format!("run -v eval.yaml --shard {shard}"))
            .exits(0);
    }
    project
        .run("merge -v evaltest-runs")
        .exits(1)
        .says("drop(typos) 100.0 % (4 pairs");
    let is_merged = |dir: &PathBuf| !dir.to_str().unwrap().ends_with("of2");
    let merged = project.runs().into_iter().find(is_merged).unwrap();
    assert_eq!(json_lines(&merged.join("samples.jsonl")).len(), 4 * 2 * 4);
    let before: Value =
        serde_json::from_slice(&fs::read(merged.join("summary.json")).unwrap()).unwrap();
    project.run("run -v eval.yaml --run-id z").exits(1);
    let whole = project.last_json("summary.json");
    assert_eq!(before["perturb"], whole["perturb"]);
    let dir = project.last_run();
    fs::remove_file(dir.join("samples.jsonl")).unwrap();
    project.run(&format!("repair {}", dir.display()));
    assert_eq!(
        project.last_json("summary.json")["perturb"],
        whole["perturb"]
    );
}

#[test]
fn a_call_of_a_tool_fails_once_where_the_seed_says() {
    let project = Project::new();
    project.script(
        "agent.sh",
        r#"#!/bin/sh
read -r task
last=${task##*'"role":'}
case $last in
*'"content":"error: '*) echo '{"answer": "gave up"}' ;;
'"tool"'*) echo '{"answer": "rain"}' ;;
*'?"'*) echo '{"tool_calls": [{"name": "weather", "arguments": {}}]}' ;;
*) echo '{"answer": "rain"}' ;;
esac
"#,
    );
    project.write(
        "tools.yaml",
        "- { name: weather, returns: [{ result: rain }] }\n",
    );
    let line = |id: &str, user: &str| {
        format!(
            "{{\"id\": \"{id}\", \"turns\": [{{\"user\": \"{user}\", \"ground_truth\": \"rain\"}}]}}\n"
        )
    };
    project.write("c.jsonl", line("a", "Oslo?") + &line("b", "Hello"));
    let spec = |tools: &str| {
        project.write(
            "eval.yaml",
            format!(
                "benchmark: {{ type: conversations, path: c.jsonl }}\n\
                 agent: {{ type: command, command: [./agent.sh], input: json, output: json }}\n{tools}\
                 perturb: {{ seed: 7, kinds: [tool_error, tool_timeout] }}\ngates: ['drop(tool_error) <= 0.5']\n"
            ),
        );
    };
    spec("tools: { mock: tools.yaml }\n");
    project
        .run("run -v eval.yaml")
        .exits(1)
        .says("2 samples, 2 correct")
        .says("drop(tool_error) 100.0 % (1 pair,")
        .says("tool_timeout: leaves 1 question unchanged");
    let records = project.last_lines("samples.jsonl");
    assert_eq!(records[1]["result"]["turns"][0]["injected"], true);
    let heard = &records[2]["result"]["output"]["messages"][2]["content"];
    assert_eq!(heard, "error: the call took too long and was ended");
    assert_eq!(records[4]["unchanged"], true);
    spec("");
    project
        .run("run -v eval.yaml")
        .exits(2)
        .says("`tool_error` of `perturb` is for conversations whose tools the eval executes");
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is() {
    let refused = |perturb: &str, more: &str, expect: &str| {
        let project = project("");
        let spec = project.read("eval.yaml").replace(PERTURB, perturb);
        project.write("eval.yaml", spec + more);
        project.run("run eval.yaml").exits(2).says(expect);
        assert_eq!(requested(&project), 0);
    };
    let with = |kinds: &str| format!("perturb: {{ seed: 7, kinds: {kinds} }}\n");
    refused(&with("[]"), "", "`kinds` of `perturb` is empty");
    refused(&with("[typos, typos]"), "", "has `typos` twice");
    refused(&with("[typo]"), "", "typos");
    refused(
        "perturb: { seed: 7, kinds: [typos], rate: 2 }\n",
        "",
        "must be above 0 and at most 1",
    );
    refused("perturb: { kinds: [typos] }\n", "", "seed");
    refused(
        "",
        "gates: ['drop(typos) <= 0.1']\n",
        "write `perturb: { seed: 7, kinds: [typos] }`",
    );
    refused(
        "",
        "gates: ['accuracy[perturb=typos] >= 0.1']\n",
        "write `perturb: { seed: 7, kinds: [typos] }`",
    );
    refused(
        &with("[typos]"),
        "gates: ['drop(typo) <= 0.1']\n",
        "did you mean `typos`?",
    );
    refused(
        &with("[typos]"),
        "gates: ['drop(typos) <= 10']\n",
        "a drop is at most 1",
    );
    refused(
        &with("[typos]"),
        "gates: ['drop(typos) <= 0.1 (confidence=0.9)']\n",
        "write `confidence=0.95`",
    );
}
