//! A judge of a run beside human labels: `judge calibrate`, what the run says with it, and `corrected` gates.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::project::Project;

/// Gives question n the points 1 + 7 n mod 5.
const JUDGE: &str = r#"#!/bin/sh
while read -r line; do case $line in *"What is "[0-9]*) n=${line#*What is }; break;; esac; done
n=${n%%\?*}
echo "{\"reason\": \"r\", \"merit\": $((1 + n * 7 % 5)), \"comments\": \"c\"}"
"#;

const SPEC: &str = "type: judge, agent: { type: command, command: [./judge.sh] }, rubric: { dimensions: [{ name: merit }] }";
pub(crate) const FILE: &str = "e.judge.calibration.json";

/// So many questions; the judge has these further options, and the spec these further lines.
pub(crate) fn project(questions: u32, options: &str, more: &str) -> Project {
    let project = crate::requested::project(questions, "", &spec(options, more));
    project.script("judge.sh", JUDGE);
    project
}

fn spec(options: &str, more: &str) -> String {
    format!("scorers: [{{ {SPEC}{options} }}]\n{more}")
}

/// Labels of the first questions: the judge's points, one less where the number is a multiple of four.
pub(crate) fn labels(project: &Project, number: u32, chosen: &str) {
    let mut lines = String::new();
    for n in 0..number {
        let points = 1 + n * 7 % 5;
        let label = points - u32::from(n % 4 == 0 && points > 1);
        let line = json!({ "id": format!("q{n:03}"), "label": label, "chosen": chosen, "seed": 7 });
        writeln!(lines, "{line}").unwrap();
    }
    project.write("labels.jsonl", lines);
}

pub(crate) fn calibrate(project: &Project) -> crate::project::Ran {
    let dir = project.last_run();
    project.run(&format!(
        "judge calibrate {} --labels labels.jsonl",
        dir.display()
    ))
}

fn calibration(project: &Project) -> Value {
    let summary = project.last_json("summary.json");
    summary["judge"]["scorers"]["judge"]["calibration"].clone()
}

#[test]
fn a_run_is_labelled_calibrated_and_then_its_gate_decides() {
    let project = project(60, "", "gates: [mean(judge.total) >= 2]\n");
    let ran = project.run("run -v eval.yaml").exits(0);
    ran.says("uncalibrated (no human labels)")
        .says("limit 2; judge `judge` is uncalibrated (no human labels)");
    assert_eq!(calibration(&project)["status"], "uncalibrated");
    let dir = project.last_run();
    let markdown = std::fs::read_to_string(dir.join("summary.md")).unwrap();
    assert!(markdown.contains("uncalibrated"), "{markdown}");
    let dir = dir.display().to_string();
    let gate = format!("gate -v {dir} --gate corrected(judge.total)>=2.5");
    project
        .run(&gate)
        .exits(3)
        .says("INCONCLUSIVE: no labels of this run: `cargo evaltest judge calibrate");
    labels(&project, 60, "all");
    calibrate(&project).exits(0).says(FILE).says("== merit");
    let first = project.read(FILE);
    calibrate(&project).exits(0);
    assert_eq!(first, project.read(FILE), "it is the same file");
    // All are labelled: it is the mean of the labels, 3 less 12 of 60.
    project
        .run(&gate)
        .exits(0)
        .says("corrected(judge.total) 2.8 (by 60 labels of 60 answers");
    project
        .run(&format!("gate -v {dir} --gate corrected(judge.total)>=2.9"))
        .exits(1);
    project
        .run(&format!(
            "gate -v {dir} --gate corrected(judge)>=0.2 --gate corrected(merit)[level=1]>=2"
        ))
        .exits(0);
    // Calibrated now, on few labels.
    project
        .run(&format!("gate -v {dir}"))
        .exits(0)
        .says("calibrated on only 60 labels (quadratic kappa of `total` 0.9");

    // The next run has the file in its spec, and other answers have no gate.
    let more = "gates: ['corrected(judge.total) >= 2.5']\n";
    let options = format!(", calibration: {FILE}");
    project.spec(
        "{ type: command, command: [./agent.sh, again] }",
        &spec(&options, more),
    );
    // The same answers are this run, whoever gave them.
    let ran = project.run("run -v eval.yaml").exits(0);
    ran.says("corrected(judge.total) >= 2.5: passed")
        .says("judge `judge` is calibrated on only 60 labels");
    project.script(
        "agent.sh",
        "#!/bin/sh\nwhile read -r _; do :; done\necho other\n",
    );
    let ran = project.run("run -v eval.yaml").exits(3);
    ran.says("corrected, if the judge errs on this agent as on the labelled one")
        .says("INCONCLUSIVE: no labels of this run, the calibration has those of run");
    let calibration = calibration(&project);
    assert_eq!(calibration["corrected"], Value::Null);
    assert!(
        calibration["corrected_if_alike"]["total"]["value"].is_number(),
        "{calibration}"
    );
}

#[test]
fn few_labels_leave_it_uncalibrated_and_100_do_not_warn() {
    let project = project(120, "", "");
    project.run("run eval.yaml").exits(0);
    let gate = format!("gate {}", project.last_run().display());
    for (number, says) in [
        (30, "uncalibrated (30 human labels; at least 50 are needed)"),
        (
            60,
            "few labels: calibrated on only 60 labels: quadratic kappa of `total` 0.9",
        ),
        (
            120,
            "calibrated on 120 labels (quadratic kappa of `total` 0.9",
        ),
    ] {
        labels(&project, number, "random");
        let ran = calibrate(&project).exits(0).says(says);
        assert_eq!(ran.out.contains("few labels"), number == 60, "{number}");
        let calibration = project.run(&gate).exits(0);
        assert_eq!(
            calibration.out.contains("uncalibrated"),
            number == 30,
            "{number}"
        );
        assert!(calibration.out.contains("total: 3.0000 by the judge, 2."));
    }
}

#[test]
fn a_few_labels_are_never_certain_and_decide_no_gate() {
    let project = project(60, "", "");
    project.run("run -v eval.yaml").exits(0);
    let dir = project.last_run().display().to_string();
    let draw = format!("judge calibrate {dir} --draw 12 --seed 7");
    let lines = project.run(&draw).exits(0).out;
    // All of them are excellent, whatever the judge says.
    project.write("labels.jsonl", lines.replace("null", "5"));
    let ran = calibrate(&project).exits(0).out;
    let line = ran.lines().find(|line| line.starts_with("  total: "));
    let line = line.unwrap();
    assert!(
        line.ends_with("5.000 corrected, 95 % interval 4.030 to 5.000 (12 labels, 60 answers)"),
        "{line}"
    );
    project
        .run(&format!("gate -v {dir} --gate corrected(judge.total)>=2"))
        .exits(3)
        .says("INCONCLUSIVE: 12 labels of 60 answers, at least 50 or one per answer are needed")
        .says("judge `judge` is uncalibrated (12 human labels");
}

#[test]
fn picked_labels_tell_of_agreement_alone() {
    let project = project(60, "", "");
    project.run("run eval.yaml").exits(0);
    labels(&project, 60, "picked");
    calibrate(&project)
        .exits(0)
        .says("uncalibrated (60 human labels, all of picked answers; at least 50 of randomly sampled ones are needed)")
        .says("quadratic kappa 0.9")
        .says("no corrected means: the labels were picked");
    let dir = project.last_run();
    project
        .run(&format!(
            "gate {} --gate corrected(judge.total)>=1",
            dir.display()
        ))
        .exits(3)
        .says("the labels were picked");
}

#[test]
fn another_judge_is_uncalibrated() {
    let project = project(60, "", "");
    project.run("run eval.yaml").exits(0);
    labels(&project, 60, "random");
    calibrate(&project).exits(0);
    project
        .run("run eval.yaml")
        .exits(0)
        .says("calibrated on only 60");
    project.script("judge.sh", &format!("{JUDGE}# another\n"));
    let ran = project.run("run eval.yaml").exits(0);
    ran.says("uncalibrated (its calibration is for another judge");
    // What another version served is no other spec.
    project.script("judge.sh", JUDGE);
    let mut file: Value = serde_json::from_str(&project.read(FILE)).unwrap();
    file["models"] = json!(["m-1"]);
    // As a version wrote it that knew no checksum.
    file["format_version"] = 1.into();
    file.as_object_mut().unwrap().remove("checksum");
    project.write(FILE, file.to_string());
    project
        .run("run eval.yaml")
        .exits(0)
        .says("calibrated on only 60");
    // A calibration is no part of who the judge is: a run that names it goes on, and is scored again.
    let dir = project.last_run();
    project.spec(
        "{ type: command, command: [./agent.sh] }",
        &spec(&format!(", calibration: {FILE}"), ""),
    );
    project
        .run(&format!("run --resume {}", dir.display()))
        .exits(0);
    project
        .run(&format!("rescore {} --spec eval.yaml", dir.display()))
        .exits(0)
        .says("calibrated on only 60")
        .says("total: 3.0000 by the judge, 2.");
}

#[test]
fn labels_that_are_of_nothing_are_refused_with_their_place() {
    let project = project(4, "", "");
    project.run("run eval.yaml").exits(0);
    for (lines, says) in [
        (
            "{\"id\": \"q000\", \"label\": 4}\n{\"id\": \"zz\", \"label\": 4}\n",
            "labels.jsonl:2: run ",
        ),
        (
            "{\"id\": \"q000\", \"label\": 9}\n",
            "labels.jsonl:1: the label 9 is off the scale of `total`, 1 to 5",
        ),
        (
            "{\"id\": \"q000\", \"label\": \"good\"}\n",
            "labels.jsonl:1: the judge gives points",
        ),
        (
            "{\"id\": \"q000\", \"label\": {\"merits\": 4}}\n",
            "did you mean `merit`?",
        ),
        (
            "{\"id\": \"q000\", \"label\": 4, \"chosen\": \"all\"}\n",
            "labels.jsonl:1: `chosen: all`, and 3 of 4 have no such label",
        ),
        (
            "{\"id\": \"q000\", \"label\": 4, \"run\": \"other\"}\n",
            "labels.jsonl:1: the label is for run `other`, not for",
        ),
    ] {
        project.write("labels.jsonl", lines);
        calibrate(&project).exits(2).says(says);
    }
    assert!(!project.file(FILE).exists());
}

#[test]
fn bad_files_and_gates_without_one_are_refused_before_anything_is_asked() {
    let gate = "gates: ['corrected(judge.total) >= 3']\n";
    let project = project(2, "", gate);
    let refused = |says: &str| {
        project.run("run eval.yaml").exits(2).says(says);
        assert!(crate::requested::requested(&project).is_empty());
    };
    refused("judge `judge` has no `calibration`");
    project.spec(
        "{ type: command, command: [./agent.sh] }",
        &spec(", calibration: c.json", gate),
    );
    refused("c.json");
    project.write("c.json", "{\"format_version\": 1,\n \"eval\": 3}");
    refused("c.json:2:");
    project.write("c.json", "{\"format_version\": 99}");
    refused("format 99");
    project.spec(
        "{ type: command, command: [./agent.sh] }",
        "scorer: exact\ngates: ['corrected(exact) >= 0.3']\n",
    );
    refused("scorer `exact` asks no judge");
}

#[test]
fn answers_to_label_are_drawn_by_lot_and_their_number_is_planned() {
    let project = project(40, "", "");
    project.run("run eval.yaml").exits(0);
    let dir = project.last_run();
    let draw = |more: &str| {
        let ran = project.run(&format!("judge calibrate {} --draw {more}", dir.display()));
        ran.exits(0).out
    };
    let twenty = draw("20 --seed 7");
    assert_eq!(twenty.lines().count(), 20);
    assert!(
        twenty.starts_with(&draw("10 --seed 7")),
        "a larger draw begins with the smaller"
    );
    assert_ne!(twenty, draw("20 --seed 8"));
    let line: Value = serde_json::from_str(twenty.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&line["label"], &line["chosen"], &line["seed"]),
        (&Value::Null, &json!("random"), &json!(7))
    );
    project
        .run(&format!("judge calibrate {} --draw 41", dir.display()))
        .exits(2)
        .says("`--draw 41`, and the run has 40 answers")
        .says("`--draw 40` takes all of them");
    project
        .run(&format!("judge calibrate {} --draw 0", dir.display()))
        .exits(2)
        .says("`--draw 0` samples nothing");
    let plan = |more: &str| {
        let ran = project.run(&format!(
            "judge calibrate {} --plan 1 --json{more}",
            dir.display()
        ));
        let plans: Value = serde_json::from_str(&ran.exits(0).out).unwrap();
        let plans = plans.as_array().unwrap().clone();
        // What follows from the points by itself, such as whether they are excellent, nobody labels.
        let figures = plans.iter().map(|plan| plan["figure"].as_str().unwrap());
        let is_of_people = |name: &str| !["excellent", "value", "spread"].contains(&name);
        assert!(figures.clone().all(is_of_people), "{plans:?}");
        plans
            .into_iter()
            .find(|plan| plan["figure"] == "total")
            .unwrap()
    };
    let without = plan("");
    labels(&project, 20, "random");
    let with = plan(" --labels labels.jsonl");
    assert_eq!((&without["known"], &with["known"]), (&json!(0), &json!(20)));
    assert!(
        with["labels"].as_u64() < without["labels"].as_u64(),
        "{with} {without}"
    );
}
