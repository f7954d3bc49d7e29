//! Shards become the run that one machine would have left.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::parts::{shard, split, timeless};
use crate::project::{Project, Ran, change_manifest, json_lines, sha256};

/// Wrong about some, without an answer to others, of which some have one when asked again.
const AGENT: &str = "#!/bin/sh\nid=$EVALTEST_SAMPLE_ID\ncase $id in\n\
    *7) echo none >&2; exit 1;;\n\
    *3) echo wrong;;\n\
    *5) if [ \"$EVALTEST_ATTEMPT\" = 1 ]; then exit 2; fi; echo 1;;\n\
    *) echo 1;;\nesac\n";

/// A project of so many questions.
fn project(samples: usize, more: &str) -> Project {
    let ids: Vec<_> = (0..samples).map(|number| format!("q{number}")).collect();
    let questions: Vec<_> = ids
        .iter()
        .enumerate()
        .map(|(number, id)| (&**id, 1 + u32::try_from(number % 3).unwrap(), "?", "1"))
        .collect();
    let project = Project::with_eval(&questions, "{ type: command, command: [./agent.sh] }", more);
    project.script("agent.sh", AGENT);
    project
}

fn manifest(dir: &Path) -> Value {
    serde_json::from_slice(&fs::read(dir.join("manifest.json")).unwrap()).unwrap()
}

/// Everything of two runs is the same but times and names.
fn assert_same(merged: &Path, whole: &Path) {
    for name in ["samples.jsonl", "errors.jsonl", "summary.json"] {
        assert_eq!(
            timeless(&merged.join(name)),
            timeless(&whole.join(name)),
            "{name}"
        );
    }
    let [one, other] = [merged, whole].map(manifest);
    for name in [
        "status",
        "samples",
        "selected",
        "whole",
        "epochs",
        "models",
        "config",
        "baseline",
        "failed_assertions",
        "dataset_hash",
        "request_hash",
        "scorer_hash",
        "spec",
    ] {
        assert_eq!(one[name], other[name], "{name}");
    }
    for (name, hash) in one["artifacts"].as_object().unwrap() {
        assert_eq!(*hash, sha256(&merged.join(name)), "{name}");
    }
    // The same happened, whoever wrote it down when.
    let events = |dir: &Path| {
        let mut events = json_lines(&dir.join("events.jsonl"));
        for event in &mut events {
            for name in ["event_index", "time", "journal", "sum", "latency_s"] {
                event.as_object_mut().unwrap().remove(name);
            }
            event["result"]["latency_s"] = Value::Null;
        }
        let mut events: Vec<_> = events.iter().map(Value::to_string).collect();
        events.sort();
        events
    };
    assert_eq!(events(merged), events(whole));
}

fn words(dirs: &[PathBuf]) -> Vec<&str> {
    dirs.iter().map(|dir| dir.to_str().unwrap()).collect()
}

/// Merges these into `merged`.
fn merge(project: &Project, dirs: &[PathBuf]) -> Ran {
    project.run_of(&[&["merge", "-o", "merged"], &words(dirs)[..]].concat())
}

#[test]
fn shards_become_the_run_that_one_machine_would_have_left() {
    let gates = "limits: { retries: 1 }\nepochs: 2\ngates:\n  - accuracy >= 0.5\n  - accuracy[level=1] >= 0.2\n  \
                 - error_rate <= 0.5\n";
    let project = project(23, gates);
    project.run("run eval.yaml").exits(0);
    let whole = project.last_run();
    let shards = split(&whole, 4, &project.file("shards"));
    let output = project
        .run_of(&["merge", "shards", "--junit", "results.xml", "--json"])
        .exits(0);
    let dir = PathBuf::from(output.json()["runs"][0]["run_dir"].as_str().unwrap());
    assert_same(&dir, &whole);
    assert_eq!(dir.parent().unwrap(), project.file("shards"));
    assert_eq!(manifest(&dir)["merged"][1]["shard"], "2/4");
    assert_eq!(manifest(&dir)["part"], Value::Null);
    assert!(project.read("results.xml").contains("tests=\"23\""));

    // In whichever order, and however often.
    let mut mixed = shards.clone();
    mixed.rotate_left(3);
    mixed.push(shards[2].clone());
    let again = merge(&project, &mixed).exits(0);
    again.says("is named twice").says("accuracy >= 0.5");
    for name in ["samples.jsonl", "events.jsonl", "summary.json"] {
        let [one, other] = [&dir, &project.file("merged")].map(|dir| fs::read(dir.join(name)));
        assert_eq!(one.unwrap(), other.unwrap(), "{name}");
    }
    let bytes = fs::read(project.file("merged/manifest.json")).unwrap();
    merge(&project, &shards)
        .exits(0)
        .says("these parts are merged already: merged")
        .says("accuracy >= 0.5");
    assert_eq!(
        fs::read(project.file("merged/manifest.json")).unwrap(),
        bytes
    );
    project.run("merge shards").exits(0).says("merged already");
    assert!(!project.file("merged.part~").exists());

    // It is a run as any other.
    project.run("show merged q7").exits(0);
    project.run("gate merged").exits(0);
    project.run("report merged").exits(0);
    project.run("compare merged shards").exits(2);
    project
        .run("rescore merged --scorer exact --output-root again")
        .exits(0);
    project.run("repair merged").exits(0);
    assert_same(&project.file("merged"), &whole);
    project.run("run --resume merged").exits(0);
    assert_eq!(
        fs::read_to_string(whole.join("samples.jsonl"))
            .unwrap()
            .lines()
            .count(),
        fs::read_to_string(project.file("merged/samples.jsonl"))
            .unwrap()
            .lines()
            .count(),
    );
}

#[test]
fn gates_flips_and_assertions_are_those_of_the_whole() {
    let project = project(
        17,
        "limits: { retries: 1 }\ngates:\n  - accuracy >= 0.99\n  - no_regression\n  - error_rate <= 0.9\n",
    );
    project.script("agent.sh", "#!/bin/sh\necho 1\n");
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    project.script("agent.sh", AGENT);
    project.run("run eval.yaml").exits(1);
    let whole = project.last_run();
    let shards = split(&whole, 3, &project.file("shards"));
    merge(&project, &shards).exits(1).says("no_regression");
    assert_same(&project.file("merged"), &whole);
}

#[test]
fn a_shard_that_is_missing_is_asked_by_the_spec_of_the_checkout_that_merges() {
    let [elsewhere, here] = [(); 2].map(|()| project(6, ""));
    let ran = elsewhere.run("run eval.yaml --shard 1/2").exits(0);
    ran.says("next: cargo evaltest merge evaltest-runs");
    fs::rename(elsewhere.file("evaltest-runs"), here.file("evaltest-runs")).unwrap();
    drop(elsewhere);
    here.run("merge evaltest-runs")
        .exits(2)
        .says("missing shard 2/2")
        .says("hint: cargo evaltest run eval.yaml --shard 2/2");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let project = project(23, "gates: [accuracy >= 0.1, error_rate <= 0.5]\n");
    project.run("run eval.yaml").exits(0);
    let whole = project.last_run();
    let shards = split(&whole, 4, &project.file("shards"));
    let refused = |dirs: &[PathBuf], says: &[&str]| {
        let ran = merge(&project, dirs).exits(2);
        says.iter().fold(ran, |ran, text| ran.says(text));
        assert!(!project.file("merged").exists());
        assert!(!project.file("merged.part~").exists());
    };
    refused(
        &[shards[0].clone(), shards[2].clone()],
        &["missing shards 2/4, 4/4", "--shard 2/4"],
    );
    refused(
        std::slice::from_ref(&whole),
        &["is not a shard: it is a separate run"],
    );
    fs::create_dir(project.file("empty")).unwrap();
    refused(&[project.file("empty")], &["`empty` has no shard of a run"]);
    let with = |other: PathBuf| [&shards[..1], &[other], &shards[2..]].concat();

    // Of another run.
    let changed = |name: &str, edit: &dyn Fn(&mut Value)| {
        let dir = shard(&whole, (1, 4), &project.file(name));
        change_manifest(&dir, edit);
        dir
    };
    for (key, value, says) in [
        ("/dataset_hash", "x", "another dataset"),
        ("/request_hash", "x", "another spec"),
        ("/scorers_hash", "x", "another scorer"),
        ("/agent_hash", "x", "another agent"),
        ("/evaltest_version", "9.0.0", "another version"),
        ("/config/gates/0", "accuracy >= 0.2", "another gates"),
    ] {
        let dir = changed("other", &|manifest| {
            *manifest.pointer_mut(key).unwrap() = value.into();
        });
        refused(&with(dir), &[says, "shard 2/4"]);
    }
    let other = changed("other", &|manifest| {
        manifest["part"]["shard"] = "2/5".into();
    });
    refused(&with(other), &["they have another number of shards"]);
    let other = changed("other", &|manifest| {
        manifest["part"]["balance"] = "e-1".into();
    });
    refused(&with(other), &["they are balanced differently"]);

    // Not at its end.
    let other = changed("other", &|manifest| manifest["status"] = "running".into());
    refused(
        &with(other),
        &["shard 2/4 was killed before its end", "run --resume other"],
    );
    let other = changed("other", &|manifest| manifest["status"] = "stopped".into());
    refused(
        &with(other),
        &["shard 2/4 stopped early", "run --resume other"],
    );

    // Damaged.
    let damaged = |name: &str, edit: &dyn Fn(String) -> String| {
        let dir = shard(&whole, (1, 4), &project.file("other"));
        let text = fs::read_to_string(dir.join(name)).unwrap();
        fs::write(dir.join(name), edit(text)).unwrap();
        with(dir)
    };
    let first_line = |text: String| text.split_inclusive('\n').skip(1).collect::<String>();
    let dirs = damaged("samples.jsonl", &first_line);
    refused(
        &dirs,
        &["samples.jsonl changed after the run", "fewer records"],
    );
    let dirs = damaged("samples.jsonl", &|text| {
        text.replacen("scored", "Scored", 1)
    });
    refused(&dirs, &["samples.jsonl changed after the run"]);
    let dirs = damaged("samples.jsonl", &|text| {
        text.replacen("\"attempts\":1", "\"attempts\":2", 1)
    });
    refused(&dirs, &["samples.jsonl changed after the run"]);
    let dirs = damaged("places.json", &|text| text.replacen(':', ": ", 1));
    refused(&dirs, &["places.json changed after the run"]);
    let dir = shard(&whole, (1, 4), &project.file("other"));
    fs::remove_file(dir.join("samples.jsonl")).unwrap();
    refused(&with(dir), &["samples.jsonl"]);
    // The records are whole.
    let dirs = damaged("events.jsonl", &|text| {
        text.replacen("started", "Started", 1)
    });
    merge(&project, &dirs)
        .exits(0)
        .says("events.jsonl changed after the run; the records of the run are complete");
    assert_eq!(
        timeless(&project.file("merged/samples.jsonl")),
        timeless(&whole.join("samples.jsonl"))
    );
    // Another run stands there.
    let others = split(&whole, 3, &project.file("others"));
    merge(&project, &others)
        .exits(2)
        .says("`merged` is another run");
}
