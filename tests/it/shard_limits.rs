//! What a shard may take, how shards are balanced, and where a shard is not enough.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::project::{Project, json_lines};
use crate::requested::{self, requested};
use crate::trials;

fn read(dir: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(dir.join(name)).unwrap()).unwrap()
}

fn recorded(dir: &Path) -> BTreeSet<String> {
    let records = json_lines(&dir.join("samples.jsonl"));
    let ids = records
        .iter()
        .map(|record| record["sample_id"].as_str().unwrap());
    ids.map(str::to_owned).collect()
}

/// The newest run whose name ends so.
fn last(project: &Project, end: &str) -> PathBuf {
    let runs = project.runs().into_iter();
    let mut runs = runs.filter(|dir| dir.to_str().unwrap().ends_with(end));
    runs.next_back().unwrap()
}

#[test]
fn a_shard_whose_share_of_a_budget_is_nothing_is_refused_before_it_is_there() {
    let project = requested::project(40, "", "limits: { budget: { requests: 3 } }\n");
    project
        .run("run eval.yaml --shard 1/7")
        .exits(2)
        .says("so its share of `limits.budget.requests` (3 requests) is 0")
        .says("use fewer shards, or raise the budget: --set limits.budget.requests=N");
    assert!(project.runs().is_empty());
    let more = "run eval.yaml --shard 1/7 --set limits.budget.requests=80";
    project.run(more).exits(0);
}

#[test]
fn budgets_are_split_by_samples_and_rates_by_shards() {
    let limits =
        "limits: { budget: { requests: 20 }, requests_per_minute: 6000, tokens_per_minute: 900 }\n";
    let project = requested::project(40, "", limits);
    let mut may = 0;
    for shard in 1..=4 {
        let output = project.run(&format!("run eval.yaml --shard {shard}/4"));
        let dir = last(&project, &format!("-{shard}of4"));
        let own = recorded(&dir).len();
        // Half of the samples may be asked, rounded down.
        output.exits(3)
            .says(&format!(
                "note: shard {shard}/4: {own} of 40 samples, {} requests at most, 1500 requests a minute, 225 tokens a minute",
                own / 2
            ))
            .says(&format!("the budget is used up: {} requests", own / 2))
            .says("next: cargo evaltest run --resume");
        may += own / 2;
        assert_eq!(requested(&project).len(), may);
        // Shards are of one eval: what it says is what the manifest of each says.
        let config = read(&dir, "manifest.json")["config"]["limits"].clone();
        assert_eq!(config["budget"]["requests"], 20);
        assert_eq!(config["requests_per_minute"], 6000.0);
        // The budget is that of the shard, however often it goes on.
        let display = project.display(&dir);
        project.run(&format!("run --resume {display}")).exits(3);
        assert_eq!(requested(&project).len(), may);
    }
    assert!((17..=20).contains(&may), "{may}");
    // What the command line gives is split, too.
    project
        .run("run eval.yaml --shard 1/4 --set limits.budget.requests=4000 --set limits.requests_per_minute=600000")
        .exits(0)
        .says("150000 requests a minute");
}

#[test]
fn balanced_shards_take_equally_long_and_are_told_from_others() {
    // Four take long, and two of them are in each of two shards.
    let slow = "case $EVALTEST_SAMPLE_ID in q00[0-3]) sleep 0.4;; esac";
    let project = requested::project(14, slow, "epochs: 2\nlimits: { concurrency: 28 }\n");
    project.run("run eval.yaml --run-id first").exits(0);
    let first = last(&project, "first");
    let by = project.display(&first);
    let mut all = BTreeSet::new();
    let mut names = BTreeSet::new();
    for shard in ["1/2", "2/2"] {
        project
            .run(&format!("run eval.yaml --shard {shard} --balance {by}"))
            .exits(0);
        let dir = last(&project, &format!("-{}", shard.replace('/', "of")));
        let ids = recorded(&dir);
        let slow = ids.iter().filter(|id| &***id < "q004");
        assert_eq!(slow.count(), 2, "{ids:?}");
        assert_eq!(json_lines(&dir.join("samples.jsonl")).len(), 2 * ids.len());
        let name = read(&dir, "manifest.json")["part"]["balance"].clone();
        assert!(name.as_str().unwrap().starts_with("first "), "{name}");
        names.insert(name.to_string());
        all.extend(ids);
    }
    assert_eq!((all.len(), names.len()), (14, 1));
    // It goes on without the run that it was cut by, as long as it is known what it has.
    let shard = last(&project, "-2of2");
    let display = project.display(&shard);
    project
        .run(&format!("run --resume {display} --balance {by}"))
        .exits(2);
    let stored = project.file("kept");
    std::fs::rename(&first, &stored).unwrap();
    project.run(&format!("run --resume {display}")).exits(0);
    std::fs::rename(&stored, &first).unwrap();
    std::fs::write(shard.join("places.json"), "{}").unwrap();
    project
        .run(&format!("run --resume {display}"))
        .exits(2)
        .says("places.json: it changed after the run")
        .says("hint: copy it again from the original directory, or run the shard again");
    let before = requested(&project).len();
    let refused = |arguments: &str, says: &str| {
        let output = project.run(&format!("run eval.yaml {arguments}"));
        output.exits(2).says(says);
    };
    refused(&format!("--balance {by}"), "--shard");
    refused("--shard 1/2 --balance nowhere/run", "nowhere/run");
    refused(
        &format!("--shard 1/2 --set name=other --balance {by}"),
        "is of eval `e`, not of `other`",
    );
    std::fs::write(first.join("samples.jsonl"), "").unwrap();
    refused(
        &format!("--shard 1/2 --balance {by}"),
        "samples.jsonl changed after the run",
    );
    assert_eq!(requested(&project).len(), before);
}

#[test]
fn a_shard_is_no_baseline_no_verdict_and_no_point_of_a_history() {
    let project = requested::project(10, "", "");
    let mut command = project.command("run eval.yaml --shard 1/2");
    let summary = project.file("step");
    command.env("GITHUB_ACTIONS", "true");
    command.env("GITHUB_STEP_SUMMARY", &summary);
    let output = command.output().unwrap();
    assert!(output.status.success());
    // What CI is to see comes of the merge.
    assert!(!summary.exists());
    assert!(!String::from_utf8_lossy(&output.stderr).contains("::"));
    let dir = project.display(project.last_run());
    for command in [
        "accept DIR",
        "accept DIR --partial",
        "gate DIR",
        "rescore DIR",
    ] {
        project
            .run(&command.replace("DIR", &dir))
            .exits(2)
            .says("is shard 1/2 of eval `e`: ")
            .says("hint: merge the shards: cargo evaltest merge evaltest-runs");
    }
    for flag in ["--history", "--junit x.xml"] {
        project
            .run(&format!("run --resume {dir} {flag}"))
            .exits(2)
            .says("needs the whole run, but a shard is only a part of it")
            .says("hint: after all shards: cargo evaltest merge");
    }
    assert!(!project.file("snapshots").exists());
    project.run(&format!("report {dir} --format md")).exits(0);
}

#[test]
fn an_eval_in_rust_is_cut_as_well() {
    let project = trials::project(12, "", "");
    let mut all = BTreeSet::new();
    for shard in ["1/2", "2/2"] {
        let drive = json!({ "samples": { "shard": shard } }).to_string();
        trials::run_with(&project, "", &[("EVALTEST_DRIVE", &*drive)]);
        let dir = last(&project, &format!("-{}", shard.replace('/', "of")));
        assert_eq!(read(&dir, "manifest.json")["part"]["shard"], shard);
        for id in recorded(&dir) {
            assert!(all.insert(id));
        }
        assert_eq!(
            read(&dir, "manifest.json")["samples"],
            read(&dir, "places.json")["samples"]
        );
    }
    let samples = read(&last(&project, "-1of2"), "manifest.json")["samples"].clone();
    assert_eq!(json!(all.len()), samples);
}
