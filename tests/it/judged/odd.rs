//! What is told, or refused, of a judge before it is asked anything, and what a guide makes of its verdicts.

use std::process::Command;

use serde_json::Value;

use super::court::{Court, judge, lenient};
use crate::project::root;

#[test]
fn a_judge_that_never_sees_the_answer_is_told() {
    let court = Court::of(1, lenient(), ", sees: [prompt, ground_truth]", "");
    let message = "scorer `judge`: the judge never sees the answer: `sees` has no `prediction`";
    court.run("eval.yaml --dry-run").exits(0).says(message);
    court.run("eval.yaml").exits(0).says(message);
    let court = Court::of(1, lenient(), ", sees: [prediction]", "");
    court
        .run("eval.yaml --dry-run")
        .exits(0)
        .says_nothing_of("never sees the answer");
}

#[test]
fn a_gate_off_the_scale_of_points_is_refused_at_its_line() {
    for (gate, why) in [
        (
            "mean(judge.merit) >= 7",
            "can never pass: `judge.merit` goes from 1 to 5",
        ),
        (
            "mean(judge.total) >= 60%",
            "always passes: `judge.total` goes from 1 to 5",
        ),
    ] {
        let court = Court::of(1, lenient(), "", &format!("gates: ['{gate}']\n"));
        let ran = court.run("eval.yaml").exits(2);
        ran.says(why)
            .says("eval.yaml:")
            .says("hint: write a number in this range, such as");
        assert_eq!((court.answered(), court.judged()), (0, 0), "{gate}");
    }
}

#[test]
fn hidden_truths_are_told_only_where_somebody_misses_them() {
    let message = "have no ground truth";
    for (scorers, is_expected) in [("", false), ("gaia, ", true)] {
        let server = lenient();
        let judge = judge(&server, "");
        let court = Court::with(2, server, &format!("scorers: [{scorers}{judge}]\n"), "");
        let data = court.project.read("data.jsonl");
        let (first, rest) = data.split_once('\n').unwrap();
        let mut line: Value = serde_json::from_str(first).unwrap();
        line.as_object_mut().unwrap().remove("Final answer");
        court.project.write("data.jsonl", format!("{line}\n{rest}"));
        let ran = court.run("eval.yaml --dry-run").exits(0);
        if is_expected {
            ran.says(message);
        } else {
            ran.says_nothing_of(message);
            court.run("eval.yaml").exits(0);
            let id = line["task_id"].as_str().unwrap();
            let show = format!("show {} {id}", court.dir().display());
            court
                .project
                .run(&show)
                .exits(0)
                .says_nothing_of("ground truth");
        }
    }
}

#[test]
fn default_limits_on_another_scale_are_told_before_anybody_is_asked() {
    let court = Court::of(1, lenient(), "", "gates: []\n");
    court.edit("{ name: merit }", "{ name: merit, scale: [0, 10] }");
    let message = "scorer `judge`: totals go from 0 to 10, and by defaults meant for 1 to 5 an answer passes from 3.5";
    court.run("eval.yaml --dry-run").exits(0).says(message);
    assert_eq!(court.judged(), 0);
}

#[test]
fn a_command_that_is_not_there_is_the_judges() {
    let court = Court::with(
        1,
        lenient(),
        "scorers: [{ type: judge, rubric: aime, agent: { type: command, command: [no-such-judge] } }]\n",
        "",
    );
    let ran = court.run("eval.yaml").exits(2);
    ran.says("judge: agent `command`: command not found: `no-such-judge` is not in `PATH`");
}

/// The programs of the guide for `jq`, where that is there.
#[test]
fn the_guide_makes_lines_to_label_of_a_run() {
    let court = Court::of(2, lenient(), "", "");
    court.run("eval.yaml").exits(0);
    let guide = std::fs::read_to_string(root().join("docs/src/guides/judges.md")).unwrap();
    let programs: Vec<_> = guide.split("```jq\n").skip(1).collect();
    assert_eq!(programs.len(), 2);
    for (program, judged) in programs.into_iter().zip(["verdict", "value"]) {
        let program = program.split("```").next().unwrap();
        let program = program.replace("details.verdict", "details.merit");
        let mut jq = Command::new("jq");
        jq.args(["-c", &program])
            .arg(court.dir().join("samples.jsonl"));
        let Ok(output) = jq.output() else {
            return;
        };
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(
            lines.len(),
            2,
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let first = &lines[0];
        assert!(first["id"].is_string() && first["question"].as_str().unwrap().contains("What is"));
        assert!(first["answer"].is_string(), "{first}");
        let expect = if judged == "value" { 0.75 } else { 4.0 };
        assert_eq!(first["judge"].as_f64(), Some(expect));
        let command = if judged == "value" {
            "correct"
        } else {
            "agreement"
        };
        court.project.write("lines.jsonl", &text);
        court
            .project
            .run(&format!("judge {command} lines.jsonl"))
            .exits(0);
    }
}
