//! Juries and pairs beside human labels: what they say is corrected as that of a single judge is.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::project::Project;

/// Gives question n the points 1 + 7 n mod 5, and the same less one where its argument says so.
const JUROR: &str = r#"#!/bin/sh
while read -r line; do case $line in *"What is "[0-9]*) n=${line#*What is }; break;; esac; done
n=${n%%\?*}
points=$((1 + n * 7 % 5 - ${1:-0}))
test $points -lt 1 && points=1
echo "{\"reason\": \"r\", \"merit\": $points, \"comments\": \"c\"}"
"#;

/// Finds the answer of the even questions better than `other`, in whatever order they are shown.
const COMPARER: &str = r#"#!/bin/sh
text=$(cat)
n=${text#*What is }
n=${n%%\?*}
first=$(printf '%s\n' "$text" | sed -n '/^<<<BEGIN first/,/^<<<END first/p' | grep -c other)
test $((n % 2)) = 0 && own=1 || own=0
test $((own + first)) = 1 && verdict=first || verdict=second
echo "{\"reason\": \"r\", \"verdict\": \"$verdict\"}"
"#;

/// Labels of all questions by what a function says of each.
fn label(project: &Project, questions: u32, of: impl Fn(u32) -> Value) {
    let mut lines = String::new();
    for n in 0..questions {
        let line = json!({ "id": format!("q{n:03}"), "label": of(n), "chosen": "all" });
        writeln!(lines, "{line}").unwrap();
    }
    project.write("labels.jsonl", lines);
}

fn calibrated(project: &Project, scorer: &str) -> Value {
    let dir = project.last_run().display().to_string();
    project
        .run(&format!("judge calibrate {dir} --labels labels.jsonl"))
        .exits(0)
        .says(&format!("e.{scorer}.calibration.json"));
    project.run(&format!("gate -v {dir}")).exits(0);
    let json = project.run(&format!("gate -v {dir} --json")).exits(0).out;
    serde_json::from_str(&json).unwrap()
}

#[test]
fn what_a_jury_says_is_corrected_by_labels_of_its_run() {
    let juror = |name: &str, less: u32| {
        format!(
            "{{ name: {name}, rubric: {{ dimensions: [{{ name: merit }}] }}, \
             agent: {{ type: command, command: [./juror.sh, '{less}'] }} }}"
        )
    };
    let judges = [juror("a", 0), juror("b", 0), juror("c", 1)].join(", ");
    let scorer = format!("type: jury, judges: [{judges}]");
    let project = crate::requested::project(
        60,
        "",
        &format!("scorers: [{{ {scorer} }}]\ngates: [mean(jury.total) >= 2]\n"),
    );
    project.script("juror.sh", JUROR);
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("judge `jury` is uncalibrated (no human labels)")
        .says("alpha 0.86, any two judges agree on 80.0 % to 100.0 % of answers, uncalibrated (no human labels)")
        .says(", uncalibrated (as its jury is)");
    let dir = project.last_run().display().to_string();
    let gate = |bound: &str| format!("gate -v {dir} --gate corrected(jury.total)>={bound}");
    project
        .run(&gate("1"))
        .exits(3)
        .says("no labels of this run");
    // People give one point less where the number is a multiple of four, of which 12 of 15 have one to lose.
    label(&project, 60, |n| {
        let points = 1 + n * 7 % 5;
        (points - u32::from(n % 4 == 0 && points > 1)).into()
    });
    calibrated(&project, "jury");
    project
        .run(&gate("2.5"))
        .exits(0)
        .says("corrected(jury.total) 2.8 (by 60 labels of 60 answers");
    project.run(&gate("2.9")).exits(1);
    project
        .run(&format!("gate -v {dir} --gate corrected(merit)>=2.5"))
        .exits(0);
    // It is named in the spec of the next run, whose answers are the same.
    project.spec(
        "{ type: command, command: [./agent.sh] }",
        &format!(
            "scorers: [{{ {scorer}, calibration: e.jury.calibration.json }}]\ngates: [corrected(jury.total) >= 2.5]\n"
        ),
    );
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("corrected(jury.total) >= 2.5: passed")
        .says("calibrated on only 60 labels (quadratic kappa of `total` ")
        .says("total: 3.0000 by the judge, 2.8000 corrected (95 % interval ")
        .says("jury `jury` is calibrated on only 60 labels: ")
        .says_nothing_of("uncalibrated");
    let output = std::fs::read_to_string(project.last_run().join("summary.md")).unwrap();
    assert!(output.contains("- total: 3.0000 by the judge"), "{output}");
    // Labels that its judges are compared by calibrate nothing.
    project.spec(
        "{ type: command, command: [./agent.sh] }",
        &format!(
            "scorers: [{{ {scorer}, labels: labels.jsonl }}]\ngates: [mean(jury.total) >= 2]\n"
        ),
    );
    std::fs::remove_file(project.file("e.jury.calibration.json")).unwrap();
    let why =
        "uncalibrated (its `labels` only compare its judges; `cargo evaltest judge calibrate ";
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says(&format!("judge `jury` is {why}"))
        .says(&format!("to 100.0 % of answers, {why}"));
}

#[test]
fn the_win_rate_of_pairs_is_corrected_by_labels_of_its_run() {
    let scorer = "type: pairwise, criteria: Which is right?, agent: { type: command, command: [./comparer.sh] }, \
                  against: { path: others.jsonl }";
    let project = crate::requested::project(
        60,
        "",
        &format!("scorers: [{{ {scorer} }}]\ngates: [mean(pairwise.win) >= 0.3]\n"),
    );
    project.script("comparer.sh", COMPARER);
    let others = (0..60).map(|n| format!("{{\"id\":\"q{n:03}\",\"answer\":\"other\"}}\n"));
    project.write("others.jsonl", others.collect::<String>());
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("mean(pairwise.win) 0.5")
        .says("judge `pairwise` is uncalibrated (no human labels)");
    // People find every third one better, and every fifth as good.
    label(&project, 60, |n| match n {
        n if n % 3 == 0 => "win".into(),
        n if n % 5 == 0 => "tie".into(),
        _ => "loss".into(),
    });
    calibrated(&project, "pairwise");
    let dir = project.last_run().display().to_string();
    // 20 of 60 win, and 8 more are ties.
    project
        .run(&format!("gate -v {dir} --gate corrected(pairwise)>=0.3"))
        .exits(0)
        .says("corrected(pairwise) 0.3333 (by 60 labels of 60 answers");
    project
        .run(&format!(
            "gate -v {dir} --gate corrected(pairwise.value)>=0.45"
        ))
        .exits(1)
        .says("corrected(pairwise.value) 0.4 (by 60 labels of 60 answers");
    // A win is none of the others, and people have no orders to be inconsistent in.
    project
        .run(&format!(
            "gate -v {dir} --gate corrected(pairwise.win)>=0.3 --gate corrected(pairwise.tie)<=0.14 --gate \
             corrected(pairwise.loss)<=0.54 --gate corrected(pairwise.inconsistent)<=0.5"
        ))
        .exits(3)
        .says("corrected(pairwise.win) 0.3333 (by 60 labels of 60 answers")
        .says("corrected(pairwise.tie) 0.1333 (by 60 labels of 60 answers")
        .says("corrected(pairwise.loss) 0.5333 (by 60 labels of 60 answers")
        .says("fewer than two answers have a label of `inconsistent`");
    let lines = project
        .read("labels.jsonl")
        .replace("\"loss\"", "\"worse\"");
    project.write("labels.jsonl", lines);
    project
        .run(&format!("judge calibrate {dir} --labels labels.jsonl"))
        .exits(2)
        .says("`worse` is not a choice of the judge")
        .says("the judge's choices are `loss`, `tie`, `win`");
}
