//! Labels of all kinds: words, dimensions, several people; runs with epochs, clusters and verdicts that cannot be read.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::project::Project;
use crate::requested;

/// `correct` for numbers whose last digit is at most 4, nothing that can be read for 9, else `wrong`.
const JUDGE: &str = r#"#!/bin/sh
while read -r line; do case $line in *"What is "[0-9]*) n=${line#*What is }; break;; esac; done
n=${n%%\?*}
case $((n % 10)) in
9) echo "no idea" ;;
[0-4]) echo '{"reason": "r", "verdict": "correct"}' ;;
*) echo '{"reason": "r", "verdict": "wrong"}' ;;
esac
"#;

/// Two judges beside a rule.
fn project() -> Project {
    let project = requested::project(
        60,
        "",
        "epochs: 2\nscorers:\n  - gaia\n  \
         - { type: judge, choices: { correct: 1, partial: 0.5, wrong: 0 }, agent: { type: command, command: [./judge.sh] } }\n  \
         - { type: judge, name: other, rubric: { dimensions: [{ name: merit, weight: 3 }, { name: tone }] }, \
         agent: { type: command, command: [sh, -c, 'while read -r _; do :; done; echo \"{\\\"merit\\\": 4, \\\"tone\\\": 2}\"'] } }\n",
    );
    project.script("judge.sh", JUDGE);
    project.run("run eval.yaml");
    project
}

fn label(project: &Project, of: impl Fn(u32) -> Value) {
    let mut lines = String::new();
    for n in 0..60 {
        let mut line = json!({ "id": format!("q{n:03}"), "chosen": "all" });
        line.as_object_mut()
            .unwrap()
            .extend(of(n).as_object().unwrap().clone());
        writeln!(lines, "{line}").unwrap();
    }
    project.write("labels.jsonl", lines);
}

#[test]
fn several_people_label_with_words_what_is_judged_in_epochs() {
    let project = project();
    let dir = project.last_run().display().to_string();
    // Two of three agree, and nobody more.
    label(&project, |n| {
        let word = if n % 10 < 4 { "correct" } else { "wrong" };
        json!({ "labels": [word, "partial", word] })
    });
    let calibrate = format!("judge calibrate {dir} --labels labels.jsonl");
    project
        .run(&calibrate)
        .exits(2)
        .says("has several judges: `judge`, `other`")
        .says("name one: `--scorer judge`");
    project
        .run(&format!("{calibrate} --scorer judge"))
        .exits(0)
        .says("6 labels are of answers without a verdict of the judge")
        .says("54 of 60 items have a label and a verdict");
    // 24 of 60 are correct by people, and the judge knows nothing of six.
    let gate = |bound: &str| format!("gate -v {dir} --gate corrected(judge)>={bound}");
    let ran = project.run(&gate("0.35")).exits(0);
    ran.says("corrected(judge) 0.4 (by 60 labels of 60 answers");
    project.run(&gate("0.45")).exits(1);
    label(&project, |_| json!({ "label": "corect" }));
    project
        .run(&format!("{calibrate} --scorer judge"))
        .exits(2)
        .says("labels.jsonl:1: `corect` is not a choice of the judge")
        .says("did you mean `correct`?");
}

#[test]
fn dimensions_are_labelled_and_their_total_follows() {
    let project = project();
    let dir = project.last_run().display().to_string();
    label(
        &project,
        |n| json!({ "label": { "merit": 3 + n % 2, "tone": 2 } }),
    );
    let calibrate = format!("judge calibrate {dir} --labels labels.jsonl --scorer other");
    project.run(&calibrate).exits(0).says("== merit");
    // (3 merit + tone) / 4: 3.5 by the judge, and half of the answers have one point less in merit.
    project
        .run(&format!(
            "gate -v {dir} --gate corrected(other.merit)>=3.5 --gate corrected(other.total)>=3.1"
        ))
        .exits(0)
        .says("corrected(other.merit) 3.5 (by 60 labels of 60 answers")
        .says("corrected(other.total) 3.125 (by 60 labels of 60 answers");
    label(&project, |_| json!({ "label": { "merits": 3 } }));
    project
        .run(&calibrate)
        .exits(2)
        .says("labels.jsonl:1:")
        .says("`merits`");
    label(&project, |_| json!({ "label": 6 }));
    project
        .run(&calibrate)
        .exits(2)
        .says("the label 6 is off the scale of `total`, 1 to 5");
}
