//! The leaderboard's multi-turn categories, with the simulators of the official package.

use std::path::PathBuf;
use std::process::Command;

use needs::needs;
use serde_json::{Value, json};

use crate::project::{Project, json_lines, root};

/// The scores of lines by the real package.
fn judged_by_package(lines: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let project = Project::new();
    let lines = lines.into_iter().map(|line| format!("{line}\n"));
    project.write("answers.jsonl", lines.collect::<String>());
    let ran = project
        .run("score --scorer bfcl_multi_turn answers.jsonl")
        .exits(0);
    let scores = ran.out.lines();
    scores
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["score"].clone())
        .collect()
}

/// Where the package has its data.
fn package_data() -> PathBuf {
    let code = "import bfcl_eval; print(bfcl_eval.__path__[0])";
    let output = Command::new("python3").args(["-c", code]).output().unwrap();
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()).join("data")
}

/// In words, positional arguments vanish: so the expected calls of 96 entries are wrong to the official program, too.
#[needs(bfcl_eval)]
#[test]
fn the_expected_calls_are_as_right_as_officially() {
    let data = package_data();
    let mut lines = Vec::new();
    for category in ["base", "miss_func", "miss_param", "long_context"] {
        let file = data.join(format!(
            "possible_answer/BFCL_v4_multi_turn_{category}.json"
        ));
        for entry in json_lines(&file) {
            let turns: Vec<Vec<String>> =
                serde_json::from_value(entry["ground_truth"].clone()).unwrap();
            let steps: Vec<[String; 1]> = turns
                .iter()
                .map(|calls| [format!("[{}]", calls.join(", "))])
                .collect();
            lines.push(json!({"id": entry["id"], "mode": "prompt", "prediction": steps}));
        }
    }
    let scores = judged_by_package(lines);
    let of = |reason: &str| {
        scores
            .iter()
            .filter(|score| score["reason"] == reason)
            .count()
    };
    assert_eq!(
        [
            "valid",
            "execution_response_mismatch",
            "instance_state_mismatch"
        ]
        .map(of),
        [704, 72, 24]
    );
}

#[needs(bfcl_eval, data = "vectors/bfcl_multi_turn.jsonl.gz")]
#[test]
fn verdicts_are_the_official_ones() {
    let folder = std::env::var_os("EVALTEST_PARITY_DATA");
    let folder = folder.map_or_else(|| root().join("../shared"), Into::into);
    let mut unpack = Command::new("gzip");
    unpack.arg("-cd");
    unpack.arg(folder.join("vectors/bfcl_multi_turn.jsonl.gz"));
    let text = String::from_utf8(unpack.output().unwrap().stdout).unwrap();
    let vectors: Vec<Value> = text
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let lines = vectors.iter();
    let lines = lines
        .map(|it| json!({"id": it["id"], "mode": it["mode"], "prediction": it["model_result"]}));
    let scores = judged_by_package(lines);
    assert_eq!(scores.len(), vectors.len());
    for (score, vector) in scores.iter().zip(&vectors) {
        assert_eq!(score["correct"], vector["valid"], "{vector}");
        if vector["valid"] == false {
            let reason = format!("multi_turn:{}", score["reason"].as_str().unwrap());
            assert_eq!(vector["error_type"], reason, "{vector}");
            let message = &vector["error_message"];
            assert_eq!(
                *message.get(0).unwrap_or(message),
                score["details"]["error"],
                "{vector}"
            );
        }
    }
}
