//! `rescore`: the same answers by other scorers, in a run directory of their own.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::project::{Project, json_lines, root};
use crate::requested::{self, requested};

/// Four answers: right, right but wordy, a first answer that was wrong, and an agent that fails.
fn project(more: &str) -> Project {
    let project = requested::project(0, "", more);
    project.questions(&[
        ("q17", 1, "How many?", "17"),
        ("wordy", 1, "How many?", "17"),
        ("twice", 2, "How many?", "17"),
        ("fails", 2, "How many?", "17"),
    ]);
    requested::agent(
        &project,
        "case $EVALTEST_SAMPLE_ID in wordy) echo FINAL ANSWER: 17 apples; exit;; \
         twice) echo FINAL ANSWER: 16; echo FINAL ANSWER: 17; exit;; fails) exit 4;; esac",
    );
    project
}

fn ran(more: &str) -> (Project, PathBuf) {
    let project = project(more);
    project.run("run eval.yaml --run-id parent");
    let dir = project.last_run();
    assert_eq!(requested(&project).len(), 4);
    (project, dir)
}

fn rescore(project: &Project, dir: &Path, arguments: &[&str]) -> crate::project::Ran {
    let dir = dir.display().to_string();
    let arguments = [&["rescore", &dir][..], arguments].concat();
    crate::project::Ran::of(&project.command_of(&arguments).output().unwrap())
}

/// By sample: whether a scorer accepts it.
fn verdicts(dir: &Path, scorer: &str) -> Vec<Value> {
    json_lines(&dir.join("samples.jsonl"))
        .iter()
        .map(|record| record["result"]["scores"][scorer]["correct"].clone())
        .collect()
}

fn manifest(dir: &Path) -> Value {
    serde_json::from_slice(&fs::read(dir.join("manifest.json")).unwrap()).unwrap()
}

#[test]
fn outputs_are_shared_and_nobody_is_asked() {
    let gates = "gates: [accuracy >= 0.5, accuracy(gaia) >= 0.5, 'accuracy[level=1] >= 0.9']\n";
    let (project, dir) = ran(gates);
    let ran = rescore(
        &project,
        &dir,
        &["--scorer", "substring", "--scorer", "quasi_exact"],
    )
    .exits(0);
    ran.says("e: 3 of 4 correct")
        .says("substring (decides)   3 of 3")
        .says("quasi_exact           1 of 3")
        .says("✓ accuracy[level=1] >= 0.9")
        .says("the run has no scorer `gaia`: gate `accuracy(gaia) >= 0.5` is skipped")
        .says("fails: ");
    assert_eq!(requested(&project).len(), 4);
    let new = project.last_run();
    assert_ne!(new, dir);
    let rescored = manifest(&new);
    assert_eq!(rescored["parent"], json!(dir));
    assert_eq!(rescored["parent_run_id"], "parent");
    assert_eq!(rescored["scorers"], json!(["substring", "quasi_exact"]));
    assert_eq!(
        rescored["config"]["scorers"],
        json!(["substring", "quasi_exact"])
    );
    let yes = json!(true);
    assert_eq!(
        verdicts(&new, "substring"),
        [yes.clone(), yes.clone(), yes, Value::Null]
    );
    // What was said, and all around it, is as it was.
    let (before, after) = (
        json_lines(&dir.join("samples.jsonl")),
        json_lines(&new.join("samples.jsonl")),
    );
    for (mut old, mut new) in before.into_iter().zip(after) {
        let (was, is) = (old["result"].take(), new["result"].take());
        assert_eq!(old, new);
        for key in [
            "output",
            "usage",
            "attempts",
            "latency_s",
            "cached",
            "redacted",
        ] {
            assert_eq!(was.get(key), is.get(key), "{key}");
        }
    }
    let errors = json_lines(&new.join("errors.jsonl"));
    assert_eq!(errors, json_lines(&dir.join("errors.jsonl")));
    let summary = project.last_json("summary.json");
    assert_eq!(summary["scorer"], "substring");
    assert_eq!(summary["scorers"]["quasi_exact"]["correct"], 1);
    let level = &summary["slices"]["level"]["2"]["scorers"];
    assert_eq!(
        (
            &level["substring"]["correct"],
            &level["quasi_exact"]["correct"]
        ),
        (&json!(1), &json!(0))
    );
    // The gates that hold here are those that are checked again.
    project
        .run(&format!("gate -v {}", new.display()))
        .exits(3)
        .says("gate accuracy >= 0.5: passed");
    let gate = [
        "gate",
        new.to_str().unwrap(),
        "--gate",
        "accuracy(quasi_exact) >= 0.9",
    ];
    let ran = crate::project::Ran::of(&project.command_of(&gate).output().unwrap());
    ran.exits(1).says("✗ accuracy(quasi_exact) >= 0.9  33.3 %");
}

#[test]
fn an_extraction_that_is_part_of_a_rule_holds_unless_one_is_named() {
    let (project, dir) = ran("");
    // `quasi_exact` takes the first answer, the benchmark the last one.
    rescore(
        &project,
        &dir,
        &["--scorer", "gaia", "--scorer", "quasi_exact"],
    )
    .exits(0);
    let last = |scorer: &str| verdicts(&project.last_run(), scorer)[2].clone();
    assert_eq!(
        (last("gaia"), last("quasi_exact")),
        (json!(true), json!(false))
    );
    let named = [
        "--scorer",
        "gaia",
        "--scorer",
        "quasi_exact",
        "--extract",
        "last_line",
    ];
    rescore(&project, &dir, &named).exits(0);
    assert_eq!(
        (last("gaia"), last("quasi_exact")),
        (json!(false), json!(false))
    );
    let marker = [
        "--scorer",
        "gaia",
        "--scorer",
        "quasi_exact",
        "--extract",
        "{ after: 'ANSWER:' }",
    ];
    rescore(&project, &dir, &marker).exits(0);
    assert_eq!(
        (last("gaia"), last("quasi_exact")),
        (json!(true), json!(true))
    );
    let rescored = manifest(&project.last_run());
    assert_eq!(
        (&rescored["extract"]["after"], &rescored["extract_is_given"]),
        (&json!("ANSWER:"), &json!(true))
    );
}

#[test]
fn without_a_name_the_scorers_of_the_run_judge_again() {
    let (project, dir) = ran("scorers: [{ type: substring, compat: true, name: loose }, gaia]\n");
    let correct = |dir: &Path| {
        let summary: Value =
            serde_json::from_slice(&fs::read(dir.join("summary.json")).unwrap()).unwrap();
        summary["scorers"]["loose"]["correct"].clone()
    };
    rescore(&project, &dir, &[])
        .exits(0)
        .says("loose (decides)");
    let again = project.last_run();
    assert_eq!(correct(&again), correct(&dir));
    assert_eq!(
        manifest(&again)["scorer_hash"],
        manifest(&dir)["scorer_hash"]
    );
    // Of a run that was scored again, its own scorers, not those of its spec.
    let option = ["--scorer", "substring", "--scorer-option", "compat=true"];
    rescore(&project, &again, &option).exits(0);
    let third = project.last_run();
    rescore(&project, &third, &[]).exits(0);
    let rescored = manifest(&project.last_run());
    assert_eq!(rescored["scorers"], json!(["substring"]));
    assert_eq!(rescored["config"]["scorers"][0]["compat"], true);
    assert_eq!(rescored["scorer_hash"], manifest(&third)["scorer_hash"]);

    // With other options than the manifest tells they would be other scorers.
    crate::project::replace_in_manifest(&third, "\"compat\":true", "\"compat\":false");
    rescore(&project, &third, &[])
        .exits(2)
        .says("was judged by `substring` with options")
        .says("--scorer gaia");
    rescore(&project, &third, &["--scorer-option", "compat=true"])
        .exits(2)
        .says("without `--scorer`");
    rescore(&project, &third, &["--scorer", "gaia", "--scorer", "gaia"])
        .exits(2)
        .says("given twice");
    rescore(&project, &third, &["--scorer", "quasi"])
        .exits(2)
        .says("unknown scorer `quasi`");
}

#[test]
fn attempts_are_found_with_the_run_that_asked() {
    let (project, dir) = ran("");
    rescore(&project, &dir, &["--scorer", "gaia"]).exits(0);
    let child = project.last_run();
    rescore(&project, &child, &["--scorer", "substring"]).exits(0);
    let grandchild = project.last_run();
    let show = |dir: &Path| {
        project
            .run(&format!("show {} fails", dir.display()))
            .exits(0)
    };
    show(&grandchild)
        .says("attempt 1 failed")
        .says("exit code: 4");
    // Moved elsewhere together.
    fs::rename(project.file("evaltest-runs"), project.file("kept")).unwrap();
    let moved = project.file("kept").join(grandchild.file_name().unwrap());
    show(&moved).says("attempt 1 failed");
    let ran = rescore(&project, &moved, &["--scorer", "gaia"]).exits(0);
    ran.says("kept/");
    // A run that asked nothing cannot be continued; its parent can.
    let resume = format!("run eval.yaml --resume {}", moved.display());
    project
        .run(&resume)
        .exits(2)
        .says("asked nothing")
        .says(&format!("--resume {}", project.display(&child)));
    // Without its parents it is whole all the same.
    fs::remove_dir_all(project.file("kept").join(dir.file_name().unwrap())).unwrap();
    fs::remove_dir_all(project.file("kept").join(child.file_name().unwrap())).unwrap();
    show(&moved).says_nothing_of("attempt 1 failed");
    rescore(&project, &moved, &["--scorer", "gaia"])
        .exits(0)
        .says("2 of 4 correct");
}

#[test]
fn a_run_that_cannot_be_read_leaves_nothing_new() {
    let (project, dir) = ran("");
    let samples = dir.join("samples.jsonl");
    let text = fs::read_to_string(&samples).unwrap();
    let check = |says: &[&str]| {
        let mut ran = rescore(&project, &dir, &["--scorer", "gaia"]).exits(2);
        for text in says {
            ran = ran.says(text);
        }
        assert_eq!(
            fs::read_dir(project.file("evaltest-runs")).unwrap().count(),
            2,
            "and .gitignore"
        );
    };
    // Torn in the middle of its third line.
    let third: usize = text.lines().take(2).map(|line| line.len() + 1).sum();
    fs::write(&samples, &text[..third + 100]).unwrap();
    let repair = format!("cargo evaltest repair {}", project.display(&dir));
    check(&["samples.jsonl changed after the run", &repair]);
    fs::remove_file(&samples).unwrap();
    check(&[
        "samples.jsonl changed after the run: it is missing",
        &repair,
    ]);
    project.run(&format!("repair {}", dir.display())).exits(0);
    rescore(&project, &dir, &["--scorer", "gaia"]).exits(0);
}

#[test]
fn samples_that_were_not_asked_stay_so() {
    let project =
        project("limits: { concurrency: 1, fail_fast: true }\ngates: [accuracy >= 0.5]\n");
    requested::agent(&project, "test $EVALTEST_SAMPLE_ID != wordy || exit 4");
    project.run("run eval.yaml").exits(3);
    let dir = project.last_run();
    let ran = rescore(&project, &dir, &["--scorer", "substring"]).exits(0);
    ran.says("never asked: 2 samples")
        .says(&format!("--resume {}", project.display(&dir)));
    let statuses: Vec<Value> = project
        .last_lines("samples.jsonl")
        .iter()
        .map(|record| record["result"]["status"].clone())
        .collect();
    assert_eq!(statuses, ["scored", "agent_failed", "skipped", "skipped"]);
    let summary = project.last_json("summary.json");
    assert_eq!(summary["gates"][0]["verdict"], "inconclusive");
}

#[test]
fn a_baseline_holds_only_for_who_judged_it() {
    let (project, dir) = ran("gates: [no_regression(max_drop=0.5)]\n");
    let accept = format!("accept --partial {}", dir.display());
    project.run(&accept).exits(0);
    rescore(&project, &dir, &["--scorer", "gaia"])
        .exits(0)
        .says("✓ no_regression(max_drop=0.5)");
    rescore(&project, &dir, &["--scorer", "substring"])
        .exits(0)
        .says("the baseline was scored differently: `no_regression` is skipped")
        .says_nothing_of("gate no_regression");
}

/// Default scorers of benchmarks, with options, extractions and criteria of the samples' own.
#[test]
fn every_fixture_is_judged_again_as_it_was() {
    let project = Project::new();
    let mut specs = 0;
    for folder in fs::read_dir(root().join("fixtures")).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).into_iter().flatten() {
            let spec = file.unwrap().path();
            if spec.extension().is_none_or(|extension| extension != "yaml") {
                continue;
            }
            // A flow has runs of its own.
            if fs::read_to_string(&spec).unwrap().contains("\ngenerate:\n") {
                continue;
            }
            specs += 1;
            let runs = project.file(&format!("evaltest-runs/{specs}"));
            let arguments = [
                "run",
                spec.to_str().unwrap(),
                "--ignore-baseline",
                "--output-root",
            ];
            let arguments = [&arguments[..], &[runs.to_str().unwrap()]].concat();
            project.command_of(&arguments).output().unwrap();
            let dir = fs::read_dir(&runs)
                .unwrap()
                .map(|entry| entry.unwrap().path());
            let dir = dir.into_iter().find(|path| path.is_dir()).unwrap();
            let json = rescore(&project, &dir, &["--json"]).exits(0).json();
            let new = Path::new(json["run_dir"].as_str().unwrap());
            let mut again = json_lines(&new.join("samples.jsonl"));
            // That nobody was asked for it is all that is new of what a judge said.
            for record in &mut again {
                let calls = record.pointer_mut("/result/judged");
                let calls = calls.and_then(Value::as_array_mut);
                for call in calls.into_iter().flatten() {
                    let call = call.as_object_mut().unwrap();
                    assert_eq!(call.remove("stored"), Some(json!(true)));
                }
            }
            let mut before = json_lines(&dir.join("samples.jsonl"));
            // Each answer is scored by itself: what only its run knew is not known again.
            for (before, again) in before.iter_mut().zip(&mut again) {
                let name = "no_copy_of_item";
                let was_refused = before["result"]["score"]["reason"] == name;
                for record in [before, again] {
                    let details = record.pointer_mut("/result/score/details");
                    details.and_then(|it| it.as_object_mut()?.remove(name));
                    if was_refused {
                        record["result"]["score"] = Value::Null;
                    }
                }
            }
            assert_eq!(again, before, "{}", spec.display());
            assert_eq!(manifest(new)["scorer_hash"], manifest(&dir)["scorer_hash"]);
        }
    }
    assert!(specs > 4);
}
