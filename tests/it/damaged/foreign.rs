//! Run directories from elsewhere: where `accept` writes is no matter of theirs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::project::{Project, Ran, all_files, change_manifest, replace_in_manifest};

const QUESTIONS: [(&str, u32, &str, &str); 2] = [
    ("q1", 1, "What is 1?", "What is 1?"),
    ("q2", 2, "What is 2?", "2"),
];

/// A project with a run, whose manifest says this.
fn with_manifest(change: &[(&str, Value)]) -> (Project, PathBuf) {
    let project = Project::with_eval(&QUESTIONS, "echo", "");
    project.run("run eval.yaml").exits(0);
    let dir = project.last_run();
    change_manifest(&dir, |manifest| {
        for (key, value) in change {
            manifest[*key] = value.clone();
        }
    });
    (project, dir)
}

fn accept(project: &Project, dir: &Path, more: &[&str]) -> Ran {
    let dir = dir.display().to_string();
    project.run_of(&[&["accept", &dir], more].concat())
}

fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = all_files(folder).into_iter();
    files
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

#[test]
fn accept_writes_and_removes_nothing_where_a_manifest_points() {
    let victim = Project::new();
    // What `accept` would write over and remove, if it believed the manifest.
    victim.write(
        "ab/old.snap",
        "---\nsource: evaltest\nexpression: \"x\"\n---\n",
    );
    victim.write("ab/old.snap.new", "---\nsource: evaltest\n---\n");
    victim.write("_baseline.json", "{}\n");
    let spec =
        "name: e\nbenchmark: { type: custom, samples: [] }\nagent: echo\nsnapshot: { path: . }\n";
    victim.write("eval.yaml", spec);
    let folder = victim.path().display().to_string();
    let there = content(victim.path());
    let out = format!("../{}", victim.path().file_name().unwrap().display());
    let foreign = victim.file("eval.yaml").display().to_string();
    for (how, change) in [
        (
            "no spec",
            vec![("spec", json!(null)), ("spec_in_project", json!(null))],
        ),
        (
            "its spec",
            vec![("spec", json!(foreign)), ("spec_in_project", json!(null))],
        ),
        (
            "out of the project",
            vec![
                ("spec", json!(null)),
                ("spec_in_project", json!(format!("{out}/eval.yaml"))),
            ],
        ),
    ] {
        for eval in ["e", "another"] {
            let mut change = change.clone();
            change.push(("snapshots", json!(folder)));
            change.push(("snapshots_in_project", json!(out)));
            change.push(("eval", json!(eval)));
            let (project, dir) = with_manifest(&change);
            let before = content(project.path());
            // No spec of the project, which only `evals/` has, is of the run.
            accept(&project, &dir, &[])
                .exits(2)
                .says(&format!("this project has no snapshots of eval `{eval}`"))
                .says("--snapshots DIR");
            assert_eq!(content(victim.path()), there, "{how}");
            assert_eq!(content(project.path()), before, "{how}");
            // Nor through a link in the project.
            std::os::unix::fs::symlink(victim.path(), project.file("link")).unwrap();
            let link = project.file("link").display().to_string();
            replace_in_manifest(&dir, &folder, &link);
            accept(&project, &dir, &[]).exits(2);
            assert_eq!(content(victim.path()), there, "{how}");
        }
    }
}

#[test]
fn the_folder_is_that_of_the_projects_eval_or_the_one_that_is_named() {
    let elsewhere = [
        ("spec", json!("/nowhere/eval.yaml")),
        ("spec_in_project", json!("gone.yaml")),
        ("snapshots", json!("/nowhere/snapshots")),
    ];
    let (project, dir) = with_manifest(&elsewhere);
    accept(&project, &dir, &[]).exits(2);
    accept(&project, &dir, &["--snapshots", "mine"])
        .exits(0)
        .says("snapshots: 2 written, 0 removed in mine");
    // By its name.
    let spec = project.read("eval.yaml");
    project.write("evals/other_name.yaml", &spec);
    accept(&project, &dir, &[])
        .exits(0)
        .says("snapshots: 2 written, 0 removed in evals/snapshots/e");
    // Of two of this name neither is meant.
    project.write("evals/again.yaml", &spec);
    accept(&project, &dir, &[])
        .exits(2)
        .says("2 specs of this project define eval `e`, but the run belongs to none of them");
    // A folder of another eval is not this one's.
    let (project, dir) = with_manifest(&[
        ("spec", json!(null)),
        ("spec_in_project", json!(null)),
        ("eval", json!("mine")),
    ]);
    let spec = project.read("eval.yaml");
    let path = "snapshot: { path: ../snapshots/mine, ";
    project.write("evals/e.yaml", spec.replace("snapshot: {", path));
    replace_in_manifest(&dir, "snapshots/e\"", "snapshots/mine\"");
    accept(&project, &dir, &[]).exits(2);
    fs::remove_file(project.file("evals/e.yaml")).unwrap();
    accept(&project, &dir, &[])
        .exits(0)
        .says("removed in snapshots/mine");
}

#[test]
fn only_what_evaltest_wrote_is_removed() {
    let project = Project::with_eval(&QUESTIONS, "echo", "");
    project.run("run eval.yaml").exits(0);
    accept(&project, &project.last_run(), &[]).exits(0);
    let own = "---\nsource: evaltest\nexpression: \"gone\"\n---\nverdict: correct\n";
    let others = "---\nsource: tests/mine.rs\nexpression: source\n---\nsource: evaltest\n";
    for (name, text) in [
        ("ab/own.snap", own),
        ("ab/own.snap.new", own),
        ("ab/others.snap", others),
        ("ab/others.snap.new", others),
        ("ab/notes.txt", "notes"),
    ] {
        project.write(&format!("snapshots/e/{name}"), text);
    }
    accept(&project, &project.last_run(), &[])
        .exits(0)
        .says("snapshots: 0 written, 1 removed in snapshots/e");
    let is_there = |name: &str| project.file(&format!("snapshots/e/ab/{name}")).exists();
    assert!(!is_there("own.snap") && !is_there("own.snap.new"));
    assert!(is_there("others.snap") && is_there("others.snap.new") && is_there("notes.txt"));
}
