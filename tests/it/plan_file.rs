//! What a run finds in a large dataset is written once, for the shards after it; nothing depends on it.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::parts::timeless;
use crate::project::Project;

/// The lines of a dataset of more than a mebibyte.
fn rows() -> Vec<String> {
    let row = |number: u32| {
        let question = format!("{number}: {}", "how many? ".repeat(5_000));
        serde_json::json!({
            "task_id": format!("q{number}"), "Question": question, "Level": number % 3,
            "Final answer": number.to_string(), "file_name": "",
        })
        .to_string()
    };
    (0..24).map(row).collect()
}

fn project() -> Project {
    let project = Project::new();
    project.write("data.jsonl", rows().join("\n"));
    project.spec("echo", "gates: [min_samples >= 1]\n");
    project
}

impl Project {
    /// The plans in a folder of runs.
    fn plans(&self, runs: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.file(runs)).into_iter().flatten();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|end| end == "plan"))
            .collect()
    }

    /// The manifest of a shard of three that is run now.
    fn shard(&self, index: u32) -> Value {
        self.run(&format!("run eval.yaml --shard {index}/3"))
            .exits(0);
        self.last_json("manifest.json")
    }
}

#[test]
fn shards_read_what_the_first_of_them_has_found() {
    let project = project();
    project.run("run eval.yaml --output-root whole").exits(0);
    let whole = fs::read_dir(project.file("whole")).unwrap();
    let mut whole = whole.map(|entry| entry.unwrap().path());
    let whole = whole.find(|path| path.join("manifest.json").exists());
    let first = project.shard(1);
    let [plan] = &*project.plans("evaltest-runs") else {
        panic!("there is one plan");
    };
    let written = fs::read(plan).unwrap();
    for index in [2, 3] {
        let manifest = project.shard(index);
        assert_eq!(manifest["part"]["slices"], first["part"]["slices"]);
        assert_eq!(manifest["dataset_hash"], first["dataset_hash"]);
    }
    assert_eq!(fs::read(plan).unwrap(), written);
    project.run("merge evaltest-runs -o merged").exits(0);
    let whole = whole.unwrap();
    for name in ["samples.jsonl", "summary.json"] {
        let merged = project.file("merged").join(name);
        assert_eq!(timeless(&merged), timeless(&whole.join(name)));
    }
    // A part of the samples, and a question of one.
    project.run("run eval.yaml --limit 3").exits(0);
    assert_eq!(project.last_lines("samples.jsonl").len(), 3);
    project.run("run eval.yaml --filter q17").exits(0);
    let asked = project.last_lines("samples.jsonl");
    assert_eq!(asked[0]["ground_truth"], "17");
}

#[test]
fn a_plan_of_something_else_or_a_damaged_one_is_ignored() {
    let project = project();
    let first = project.shard(1);
    let plan = project.plans("evaltest-runs").remove(0);
    let written = fs::read(&plan).unwrap();
    let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = written.clone();
        change(&mut bytes);
        fs::write(&plan, bytes).unwrap();
        assert_eq!(project.shard(2)["part"]["slices"], first["part"]["slices"]);
        // It is written again.
        assert_eq!(fs::read(&plan).unwrap(), written);
    };
    damaged(&|bytes| bytes.clear());
    damaged(&|bytes| bytes.truncate(bytes.len() / 2));
    damaged(&|bytes| bytes[40] ^= 1);
    damaged(&|bytes| *bytes.last_mut().unwrap() ^= 1);
    damaged(&|bytes| bytes.push(0));
    // Of another dataset, or of another eval.
    let mut rows = rows();
    rows[20] = rows[20].replace("how many", "how much");
    project.write("data.jsonl", rows.join("\n"));
    assert_ne!(project.shard(2)["dataset_hash"], first["dataset_hash"]);
    assert_ne!(fs::read(&plan).unwrap(), written);
    let changed = project.shard(2);
    project.spec("echo", "gates: [min_samples >= 1]\n# prompt\n");
    let spec = project
        .read("eval.yaml")
        .replace("prompt: none", "prompt: concise");
    project.write("eval.yaml", spec);
    assert_ne!(project.shard(2)["dataset_hash"], changed["dataset_hash"]);
    // A row of another shard is read, too.
    rows[20].truncate(100);
    project.write("data.jsonl", rows.join("\n"));
    for index in 1..=3 {
        project
            .run(&format!("run eval.yaml --shard {index}/3"))
            .exits(2)
            .says("data.jsonl:21:");
    }
}

#[test]
fn there_is_none_of_answers_that_are_masked_nor_without_a_run() {
    let project = project();
    project.run("list eval.yaml").exits(0);
    project.run("run eval.yaml --dry-run").exits(0);
    project.run("run eval.yaml --limit 3").exits(0);
    assert!(project.plans("evaltest-runs").is_empty());
    let spec = project
        .read("eval.yaml")
        .replace("answers: plain", "answers: masked");
    project.write("eval.yaml", spec);
    project.shard(1);
    assert!(project.plans("evaltest-runs").is_empty());
}
