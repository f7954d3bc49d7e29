//! Commands remove nothing but what they know to be their own: flows, reviews and foreign files stay, however old.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::merge_property::Dice;
use crate::project::{Project, all_files, root};

const STARTED: &str = "{\"sample_id\":\"a\",\"kind\":\"started\"}\n";
const ANSWERED: &str = "{\"sample_id\":\"a\",\"kind\":\"answered\"}\n";

/// A project in which every command that writes has written: an eval with shards, a flow, a review and a cache.
fn project() -> Project {
    let project = Project::with_eval(
        &[("a", 1, "One?", "1"), ("b", 2, "Two?", "1")],
        "{ type: command, command: [./agent.sh] }",
        "cache: true\n",
    );
    project.script("agent.sh", "#!/bin/sh\necho 1\n");
    for entry in fs::read_dir(root().join("fixtures/flow")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        project.write(&format!("flow/{name}"), fs::read(&path).unwrap());
    }
    project
        .run("flow flow/aime.yaml --output-root evaltest-runs --run-id flow")
        .exits(0);
    // As the review page leaves it.
    let flow = folder_of(&project, "_flow");
    let items = all_files(&flow);
    let is_items = |path: &&PathBuf| path.to_string_lossy().contains("_generated_");
    let items = items.iter().find(is_items).expect("the flow has items");
    let verifications = items.with_extension("").to_string_lossy().into_owned();
    let review = json!({"gen_aime_1": {
        "problem_id": "gen_aime_1", "total_score": 4.0, "status": "approved", "comments": "", "reviewer": "Anna",
        "scores": {"clarity": 4, "completeness": 4, "correctness": 4, "difficulty_match": 4},
        "verified_at": "2026-01-31T00:00:00Z", "format_version": 1,
    }});
    let path = format!("{verifications}_verifications.json");
    fs::write(path, review.to_string()).unwrap();
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    project.run("report --format html -o report.html").exits(0);
    for shard in ["1/2", "2/2"] {
        let shard = format!("run eval.yaml --shard {shard} --output-root shards");
        project.run(&shard).exits(0);
    }
    project
}

fn folder_of(project: &Project, end: &str) -> PathBuf {
    let entries = fs::read_dir(project.file("evaltest-runs")).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| path.to_string_lossy().ends_with(end);
    paths.find(is_it).expect("there is one")
}

/// The newest run that is none of the folders made below.
fn newest(project: &Project) -> PathBuf {
    let entries = fs::read_dir(project.file("evaltest-runs")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_one = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.contains("_e-") && !name.starts_with("2025")
    };
    paths.filter(is_one).max().expect("there is one")
}

/// Makes a folder with files of all kinds, and says whether it may go: a beginning run has made all that is in it.
fn make_old_folder(
    folder: &Path,
    kinds: &[(String, Vec<u8>)],
    outside: &Path,
    dice: &mut Dice,
) -> bool {
    fs::create_dir_all(folder).unwrap();
    let journals = ["", STARTED, &format!("{STARTED}{ANSWERED}"), "{\"sample"];
    let journal = dice.below(journals.len() + 2);
    if let Some(journal) = journals.get(journal) {
        fs::write(folder.join("events.jsonl"), journal).unwrap();
    }
    let has_scratch = dice.below(2) == 0;
    if has_scratch {
        fs::create_dir(folder.join("scratch")).unwrap();
    }
    let mut may_go = journal < 2 || journal >= journals.len();
    if dice.below(3) == 0 {
        return may_go;
    }
    for _ in 0..=dice.below(3) {
        may_go = false;
        match dice.below(8) {
            0 => fs::create_dir_all(folder.join("scratch/a.1/notes")).unwrap(),
            1 => {
                fs::create_dir_all(folder.join("scratch/mine")).unwrap();
                fs::write(folder.join("scratch/mine/thesis.md"), "mine").unwrap();
            }
            2 => drop(symlink(outside, folder.join("link"))),
            3 => drop(symlink(
                outside.join("thesis.md"),
                folder.join("samples.jsonl.tmp"),
            )),
            _ => {
                let (name, content) = &kinds[dice.below(kinds.len())];
                let path = folder.join(name);
                if name != "events.jsonl" && !path.is_symlink() {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, content).unwrap();
                } else {
                    fs::write(folder.join("notes.txt"), "mine").unwrap();
                }
            }
        }
    }
    may_go
}

/// Every file, link and empty folder below, with what it holds.
fn inventory(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_symlink() {
                let to = fs::read_link(&path).unwrap().into_os_string();
                found.insert(path, to.into_encoded_bytes());
            } else {
                let content = fs::read(&path).unwrap();
                found.insert(path, content);
            }
        }
    }
    found
}

fn age(root: &Path, by: Duration) {
    let time = SystemTime::now() - by;
    let set = |path: &Path| fs::File::open(path).unwrap().set_modified(time).unwrap();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                set(&entry.path());
            }
        }
        set(&folder);
    }
}

/// Files of every kind that a command writes, under their names in a run directory or a flow, and foreign ones.
fn kinds(project: &Project) -> Vec<(String, Vec<u8>)> {
    let mut kinds = Vec::new();
    for folder in [folder_of(project, "_flow"), newest(project)] {
        for path in all_files(&folder) {
            let name = path.strip_prefix(&folder).unwrap().to_str().unwrap();
            // Of runs within the flow, the same.
            if name != "manifest.json" && !name.contains("Z_") {
                kinds.push((name.to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    for name in [
        "manifest.json",
        "verifications.json",
        "labels.jsonl",
        "calibration.json",
        "history.jsonl",
        "summary.json.new",
        "samples.jsonl.tmp",
        "samples.jsonl.part",
        "manifest.json.12.0.tmp",
        "notes.tmp",
        "notes.txt",
        "thesis/chapter1.md",
        "report.html",
        "official/submission.md",
        ".gitignore",
    ] {
        kinds.push((name.to_owned(), format!("content of {name}").into_bytes()));
    }
    kinds.sort();
    kinds
}

#[test]
fn commands_remove_only_what_a_beginning_run_makes() {
    let project = project();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("thesis.md"), "mine").unwrap();
    let kinds = kinds(&project);
    let mut dice = Dice(7);
    let (mut may_go, mut must_stay) = (Vec::new(), Vec::new());
    for number in 0..120 {
        let place = ["evaltest-runs", "shards"][dice.below(2)];
        let name = ["20250131T235959Z_e", "20250131T235959Z_flow", "mine"][dice.below(3)];
        let folder = project.file(&format!("{place}/{name}-{number:03}"));
        let is_empty = make_old_folder(&folder, &kinds, outside.path(), &mut dice);
        if is_empty && name != "mine" && place == "evaltest-runs" {
            may_go.push(folder);
        } else {
            must_stay.push(folder);
        }
    }
    // What lies where commands tidy, under other names than theirs.
    for name in [
        "evaltest-runs/.parts/a run/e/notes.txt",
        "evaltest-runs/.parts/a run/e/a/notes.txt",
        "evaltest-runs/notes.txt",
        "shards/notes.txt",
        "snapshots/e/00/notes.md",
        "snapshots/e/00/mine.snap.new",
        "snapshots/e/notes.txt",
        "evaltest-runs/.cache/ab/notes.answer",
        "evaltest-runs/.cache/notes/chapter.answer",
    ] {
        project.write(name, "mine");
    }
    let (flow, run) = (
        folder_of(&project, "_flow"),
        project.display(newest(&project)),
    );
    let flow = project.display(flow);
    for name in ["notes.txt", "scratch/a.1/notes.txt", "scratch/notes.txt"] {
        project.write(&format!("{run}/{name}"), "mine");
    }
    for (number, days) in [0, 1, 400].into_iter().enumerate() {
        for place in ["evaltest-runs", "shards", "snapshots"] {
            age(&project.file(place), Duration::from_hours(24 * days));
        }
        let before = inventory(project.path());
        for command in [
            "run eval.yaml",
            "run eval.yaml --refresh --resume",
            "merge shards -o evaltest-runs/20260101T000000Z_merged",
            "accept",
            "gate",
            "rescore --scorer exact",
            "repair",
            "cache clear",
        ] {
            let command = match command {
                "run eval.yaml" | "cache clear" => command.to_owned(),
                _ if command.starts_with("merge") => format!("{command}{number}"),
                _ => format!("{command} {run}"),
            };
            project.run(&command).exits(0);
        }
        let after = inventory(project.path());
        for (path, content) in &before {
            let name = project.display(path);
            let is_answer = name.starts_with("evaltest-runs/.cache/") && name.ends_with(".answer");
            let is_ours = name.starts_with("snapshots/") || name.starts_with(&run) || is_answer;
            let may_change =
                is_ours && content != b"mine" || may_go.iter().any(|it| path.starts_with(it));
            let is_same = after.get(path) == Some(content);
            assert!(
                is_same || may_change,
                "`{name}` is gone or another after {days} days"
            );
        }
        assert!(
            must_stay.iter().all(|folder| folder.is_dir()),
            "after {days} days"
        );
    }
    project.run(&format!("flow --resume {flow}")).exits(0);
    let stayed: Vec<_> = may_go.iter().filter(|folder| folder.exists()).collect();
    assert!(may_go.len() > 5 && stayed.is_empty(), "{stayed:?}");
    assert_eq!(
        fs::read_to_string(outside.path().join("thesis.md")).unwrap(),
        "mine"
    );
}
