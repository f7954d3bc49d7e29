//! Labels of people that need a second look: whose lot they are of, who said them, and where their calibration goes.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::project::{Project, Ran};

/// Gives question n the points 1 + 7 n mod 5.
const JUDGE: &str = r#"#!/bin/sh
while read -r line; do case $line in *"What is "[0-9]*) n=${line#*What is }; break;; esac; done
n=${n%%\?*}
echo "{\"reason\": \"r\", \"merit\": $((1 + n * 7 % 5)), \"comments\": \"c\"}"
"#;

const FILE: &str = "e.judge.calibration.json";

/// 60 answers that a judge gave points.
fn project() -> Project {
    let judge = "type: judge, agent: { type: command, command: [./judge.sh] }, rubric: { dimensions: [{ name: merit }] }";
    let project = crate::requested::project(60, "", &format!("scorers: [{{ {judge} }}]\n"));
    project.script("judge.sh", JUDGE);
    project.run("run eval.yaml").exits(0);
    project
}

fn run(project: &Project, args: &str) -> Ran {
    let dir = project.last_run();
    project.run(&format!("judge calibrate {} {args}", dir.display()))
}

/// The lines of a draw, changed and labelled.
fn label(project: &Project, draw: &str, change: impl Fn(usize, &mut Value)) {
    let drawn = run(project, draw).exits(0).out;
    let mut lines = String::new();
    for (place, line) in drawn.lines().enumerate() {
        let drawn: Value = serde_json::from_str(line).unwrap();
        let mut line = drawn.clone();
        let number: u32 = line["id"].as_str().unwrap()[1..].parse().unwrap();
        line["label"] = (1 + number * 7 % 5).into();
        change(place, &mut line);
        let mut given = ["id", "chosen", "seed", "run"].into_iter();
        if given.any(|name| line.get(name) != drawn.get(name)) {
            // A line of one's own has no checksum.
            line.as_object_mut().unwrap().remove("sum");
        }
        writeln!(lines, "{line}").unwrap();
    }
    project.write("labels.jsonl", lines);
}

fn calibrate(project: &Project) -> String {
    let ran = run(project, "--labels labels.jsonl").exits(0);
    ran.out + &ran.err
}

#[test]
fn labels_that_a_seed_does_not_draw_are_doubted() {
    let project = project();
    let check = |draw: &str, change: &dyn Fn(usize, &mut Value), says: Option<&str>| {
        label(&project, draw, change);
        let output = calibrate(&project);
        let doubted = output.contains("the labels: ") || output.contains("without a `run`");
        assert_eq!(doubted, says.is_some(), "{output}");
        assert!(says.is_none_or(|says| output.contains(says)), "{output}");
    };
    check("--draw 20 --seed 7", &|_, _| {}, None);
    // The first of a draw are a draw.
    check(
        "--draw 20 --seed 7",
        &|place, line| {
            if place > 9 {
                line["label"] = Value::Null;
            }
        },
        None,
    );
    check(
        "--draw 20 --seed 7",
        &|place, line| {
            if place == 3 {
                line["label"] = Value::Null;
            }
        },
        Some("19 of the first 20 answers that `--draw` gives with seed 7 have a label"),
    );
    check(
        "--draw 20 --seed 7",
        &|_, line| line["seed"] = json!(8),
        Some("`judge calibrate --draw 20 --seed 8` of this run does not give "),
    );
    check(
        "--draw 20 --seed 7",
        &|_, line| line["seed"] = Value::Null,
        Some("20 labels of randomly sampled answers have no `seed`"),
    );
    check(
        "--draw 60 --seed 7",
        &|place, line| line["seed"] = json!(place % 2),
        Some("they were sampled with several seeds (0, 1)"),
    );
    check(
        "--draw 20 --seed 7",
        &|_, line| line["run"] = Value::Null,
        Some("without a `run`: assumed to be for this run"),
    );
    // What is doubted is so in each run that has the calibration.
    label(&project, "--draw 20 --seed 7", |_, line| {
        line["seed"] = json!(8);
    });
    calibrate(&project);
    let gate = format!("gate {}", project.last_run().display());
    project
        .run(&gate)
        .exits(0)
        .says("its labels: `judge calibrate --draw 20 --seed 8` of this run does not give ");
}

#[test]
fn picked_labels_beside_drawn_ones_are_no_part_of_their_kappa() {
    let project = project();
    label(&project, "--draw 60 --seed 7", |place, line| {
        if place >= 50 {
            line["chosen"] = "picked".into();
            let points = line["label"].as_u64().unwrap();
            line["label"] = (6 - points).into();
        }
    });
    let output = calibrate(&project);
    assert!(
        output.contains(
            "calibrated on only 50 labels (quadratic kappa of `total` 1.00, without an interval)"
        ),
        "{output}"
    );
    let file: Value = serde_json::from_str(&project.read(FILE)).unwrap();
    assert_eq!((&file["n"], &file["picked"]), (&json!(50), &json!(10)));
}

#[test]
fn several_people_are_compared_by_their_mean() {
    let project = project();
    // One gives a point more than the judge, the other a point less, where the scale has them: no two agree.
    label(&project, "--draw 60 --seed 7", |_, line| {
        let points = line["label"].as_i64().unwrap();
        let line = line.as_object_mut().unwrap();
        line.remove("label");
        line.insert(
            "labels".into(),
            json!([(points - 1).max(1), (points + 1).min(5)]),
        );
    });
    let output = calibrate(&project);
    assert!(
        output.contains("calibrated on only 60 labels (quadratic kappa of `total` 0.9"),
        "{output}"
    );
    assert!(
        output.contains("mean distance in points: 0.200, 95 % interval"),
        "{output}"
    );
    let file: Value = serde_json::from_str(&project.read(FILE)).unwrap();
    let of = &file["figures"]["total"];
    assert_eq!((&of["n"], &of["points"]["n"]), (&json!(0), &json!(60)));
}

#[test]
fn a_calibration_elsewhere_is_named_as_the_spec_finds_it() {
    let project = project();
    label(&project, "--draw 60 --seed 7", |_, _| {});
    project.write("deep/other/.keep", "");
    run(&project, "--labels labels.jsonl --output deep/other/c.json")
        .exits(0)
        .says("`calibration: deep/other/c.json` of the judge")
        .says(&format!(
            "the gates of this run read `{FILE}`, not this file"
        ));
    let spec = project.read("eval.yaml");
    project.write(
        "eval.yaml",
        spec.replace(
            "type: judge,",
            "type: judge, calibration: deep/other/c.json,",
        ),
    );
    project
        .run(&format!(
            "rescore {} --spec eval.yaml",
            project.last_run().display()
        ))
        .exits(0)
        .says("calibrated on only 60");
    run(&project, "--labels labels.jsonl")
        .exits(0)
        .says("written to deep/other/c.json")
        .says("next: cargo evaltest gate");
}
