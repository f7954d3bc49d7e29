//! A whole run whose judge is `PandaLM`, as it was recorded: some answers are drawn by lot, labelled as people did, and the
//! corrected mean is where people's is.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use needs::needs;
use serde_json::{Value, json};

use crate::project::{Project, root};

const DATA: &str = "judging/pandalm_labels.jsonl.gz";
/// The word for the better answer of a pair: 1, 2, or neither.
const WORDS: [(&str, f64); 3] = [("tie", 0.5), ("first", 1.0), ("second", 0.0)];

fn rows() -> Vec<Value> {
    let folder = std::env::var_os("EVALTEST_PARITY_DATA")
        .map_or_else(|| root().join("../shared"), PathBuf::from);
    let file = folder.join(DATA);
    let lines = Command::new("gzip").arg("-cd").arg(file).output().unwrap();
    let lines = String::from_utf8(lines.stdout).unwrap();
    let rows = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    rows.collect()
}

fn word(label: &Value) -> (&'static str, f64) {
    WORDS[usize::try_from(label.as_u64().unwrap()).unwrap()]
}

/// What most of three people say.
fn majority(row: &Value) -> (&'static str, f64) {
    let human = row["human"].as_array().unwrap();
    let is_most = |label: &&Value| human.iter().filter(|other| other == label).count() > 1;
    word(human.iter().find(is_most).unwrap())
}

#[needs(data = "judging/pandalm_labels.jsonl.gz")]
#[test]
fn the_corrected_mean_of_a_run_is_that_of_people() {
    let rows = rows();
    let (mut questions, mut replies) = (String::new(), String::new());
    for (number, row) in rows.iter().enumerate() {
        let (verdict, _) = word(&row["pandalm7b"]);
        let id = format!("p{number:03}");
        writeln!(
            questions,
            "{}",
            json!({ "id": id, "question": "Which is better?" })
        )
        .unwrap();
        let reply = json!({ "reason": "recorded", "verdict": verdict }).to_string();
        writeln!(replies, "{}", json!({ "id": id, "answer": reply })).unwrap();
    }
    let project = Project::new();
    project.write("questions.jsonl", questions);
    project.write("replies.jsonl", replies);
    project.write(
        "eval.yaml",
        "name: e\nbenchmark: { type: qa, path: questions.jsonl }\nagent: { type: echo, text: an answer }\n\
         scorers:\n  - type: judge\n    choices: { first: 1, tie: 0.5, second: 0 }\n    sees: [prompt, prediction]\n    \
         agent: { type: replay, path: replies.jsonl }\n",
    );
    project.run("run eval.yaml").exits(0);
    let dir = project.last_run().display().to_string();
    let sum: f64 = rows.iter().map(|row| majority(row).1).sum();
    let truth = sum / 999.0;
    let (mut covered, draws) = (0, 20);
    for seed in 0..draws {
        let drawn = project.run(&format!("judge calibrate {dir} --draw 100 --seed {seed}"));
        let mut labels = String::new();
        for line in drawn.exits(0).out.lines() {
            let mut line: Value = serde_json::from_str(line).unwrap();
            let number: usize = line["id"].as_str().unwrap()[1..].parse().unwrap();
            line["label"] = majority(&rows[number]).0.into();
            writeln!(labels, "{line}").unwrap();
        }
        project.write("labels.jsonl", labels);
        let output = project.run(&format!("judge calibrate {dir} --labels labels.jsonl"));
        let output = output.exits(0).says("calibrated on 100 labels").out;
        let line = output
            .lines()
            .find(|line| line.starts_with("  value: "))
            .unwrap();
        let numbers = line.split([' ', ',']).filter_map(|word| word.parse().ok());
        let numbers: Vec<f64> = numbers.collect();
        // By the judge, corrected, the 95 of the interval, and its ends.
        let [judge, corrected, _, low, high] = numbers[..5] else {
            panic!("{line}");
        };
        assert!(low < corrected && corrected < high, "{line}");
        // The judge alone is off by so much: its value, whatever was drawn, is nobody's.
        assert!((judge - truth).abs() > 0.005, "{judge} {truth}");
        covered += u32::from((low..=high).contains(&truth));
    }
    // 94 of 100, as 1,000 draws in the library's tests have it: fewer than 16 of 20 are hardly ever.
    assert!(covered >= 16, "{covered} of {draws}");
}
