//! The GAIA-shaped fixtures are what they claim to be.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use evaltest::Gaia;
use evaltest::{Benchmark, Sample};

use crate::project::Project;

mod bfcl;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .join("fixtures/gaia")
}

fn samples(gaia: &Gaia) -> Vec<Sample> {
    gaia.samples().unwrap()
}

#[test]
fn enough_questions_of_every_level_with_many_kinds_of_files() {
    let samples = samples(&Gaia::open(folder()).unwrap());
    assert!(samples.len() >= 36);
    for level in ["1", "2", "3"] {
        let of_level = samples
            .iter()
            .filter(|sample| sample.slices[0].1 == level)
            .count();
        assert!(of_level >= 10, "level {level}: {of_level}");
    }
    let kinds: BTreeSet<_> = samples
        .iter()
        .flat_map(|sample| &sample.files)
        .map(|file| file.resolve().unwrap().extension().unwrap().to_owned())
        .collect();
    for kind in ["txt", "csv", "json", "xlsx", "png", "pdf"] {
        assert!(
            kinds.contains(std::ffi::OsStr::new(kind)),
            "{kind} is missing in {kinds:?}"
        );
    }
    let answers: Vec<_> = samples
        .iter()
        .map(|sample| sample.target.as_ref().unwrap().as_text().unwrap())
        .collect();
    assert!(answers.iter().any(|answer| answer.contains(',')), "a list");
    assert!(
        answers.iter().any(|answer| answer.parse::<f64>().is_ok()),
        "a number"
    );
    assert!(
        answers.iter().any(|answer| !answer.is_ascii()),
        "beyond ASCII"
    );
}

#[test]
fn jsonl_and_parquet_hold_the_same() {
    for split in ["validation", "test"] {
        let metadata = folder().join("2023").join(split);
        let json = samples(&Gaia::open(metadata.join("metadata.jsonl")).unwrap());
        let parquet = samples(&Gaia::open(metadata.join("metadata.parquet")).unwrap());
        assert_eq!(json.len(), parquet.len());
        for (json, parquet) in json.iter().zip(&parquet) {
            assert_eq!(
                (&json.id, &json.prompt, &json.target, &json.slices),
                (
                    &parquet.id,
                    &parquet.prompt,
                    &parquet.target,
                    &parquet.slices
                )
            );
            let annotator = |sample: &Sample| sample.metadata["Annotator Metadata"].clone();
            assert_eq!(annotator(json), annotator(parquet), "{}", json.id);
        }
    }
}

#[test]
fn a_split_without_answers_runs_unscored_and_is_exported() {
    let project = Project::new();
    let spec = folder().join("hidden.yaml");
    let root = project.file("runs");
    let arguments = [
        "run",
        spec.to_str().unwrap(),
        "--output-root",
        root.to_str().unwrap(),
        "--run-id",
        "hidden",
    ];
    let ran = project.command_of(&arguments).output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stdout).contains("4 unscored"));
    let dir = std::fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let dir = dir.into_iter().find(|path| path.is_dir()).unwrap();
    let export = project
        .command_of(&[
            "export",
            "--format",
            "gaia",
            dir.to_str().unwrap(),
            "--output",
            "-",
        ])
        .output()
        .unwrap();
    let lines = String::from_utf8(export.stdout).unwrap();
    assert_eq!(lines.lines().count(), 4);
    for line in lines.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let keys: Vec<_> = line.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["task_id", "model_answer", "reasoning_trace"]);
    }
}

#[test]
fn every_sample_is_compared_with_its_committed_snapshot() {
    for (name, samples) in [("gaia", 45), ("bfcl", 113)] {
        let project = Project::new();
        let spec = folder().with_file_name(name).join(format!("{name}.yaml"));
        let root = project.file("evaltest-runs");
        let arguments = [
            "run",
            spec.to_str().unwrap(),
            "--output-root",
            root.to_str().unwrap(),
        ];
        let ran = project.command_of(&arguments).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{ran:?}");
        let summary = project.last_json("summary.json");
        let gates = summary["gates"].as_array().unwrap().iter();
        let found: Vec<_> = gates
            .filter_map(|gate| gate["regression"].as_object())
            .collect();
        assert!(!found.is_empty());
        for found in found {
            let pairs = (&found["pairs"], &found["changed"]);
            assert_eq!(pairs, (&samples.into(), &serde_json::json!([])));
        }
    }
}
