//! What was changed between two shards is named, and what a shard lost is not paid for again.

use std::fs;
use std::process::Command;

use crate::merge_faults;
use crate::parts::split;
use crate::project::{Project, Ran};

/// A project of twelve questions, the first shard of two of which was asked.
fn half() -> Project {
    let ids: Vec<_> = (0..12).map(|number| format!("q{number}")).collect();
    let questions: Vec<_> = ids.iter().map(|id| (&**id, 1, "1", "1")).collect();
    let project = Project::with_eval(&questions, "echo", "gates: [accuracy >= 0.5]\n");
    project.run("run eval.yaml --shard 1/2").exits(0);
    project
}

fn edit(project: &Project, name: &str, change: &dyn Fn(String) -> String) {
    let text = change(project.read(name));
    project.write(name, text);
}

#[test]
fn what_was_changed_between_two_shards_is_named() {
    let check = |file: &str, change: &dyn Fn(String) -> String, says: &str| {
        let project = half();
        edit(&project, file, change);
        project.run("run eval.yaml --shard 2/2").exits(0);
        project
            .run("merge evaltest-runs")
            .exits(2)
            .says(&format!("shard 2/2 has another {says} than shard 1/2"));
    };
    // Gates are about slices, though nobody is asked another question.
    check(
        "data.jsonl",
        &|text| text.replacen("\"Level\":1", "\"Level\":2", 1),
        "dataset",
    );
    let more = |line: &'static str| move |text: String| text + line;
    check("eval.yaml", &more("redact: ['secret']\n"), "`redact`");
    check("eval.yaml", &more("errors: wrong\n"), "`errors`");
    check(
        "eval.yaml",
        &|text| text.replace("answers: plain", "answers: masked"),
        "`snapshot.answers`",
    );
    check(
        "eval.yaml",
        &|text| text.replace("prompt: none", "prompt: concise"),
        "prompt",
    );
}

#[test]
fn a_shard_with_other_slices_does_not_go_on() {
    let project = half();
    let dir = project.last_run();
    edit(&project, "data.jsonl", &|text| {
        text.replacen("\"Level\":1", "\"Level\":2", 1)
    });
    project
        .run_of(&["run", "--resume", dir.to_str().unwrap()])
        .exits(2)
        .says("the dataset has changed since");
}

#[test]
fn shards_draw_no_samples_of_their_own() {
    let project = half();
    project
        .run("run eval.yaml --shard 2/2 --shuffle --limit 5")
        .exits(2)
        .says("each shard would draw other samples")
        .says("--seed 7");
    let seeded = "--shuffle --seed 7 --limit 5 --output-root five";
    for shard in ["1/2", "2/2"] {
        project
            .run(&format!("run eval.yaml --shard {shard} {seeded}"))
            .exits(0);
    }
    project.run("merge five -o merged").exits(0);
}

#[test]
fn a_merged_run_without_a_journal_of_a_part_asks_nobody_again() {
    let (project, whole) = merge_faults::project();
    let shards = split(&whole, 5, &project.file("parts"));
    fs::remove_file(shards[2].join("events.jsonl")).unwrap();
    project
        .run("merge parts -o merged")
        .exits(0)
        .says("events.jsonl is missing; the records of the run are complete");
    let before = project.read("merged/samples.jsonl");
    project
        .run("run --resume merged")
        .exits(2)
        .says("a journal of its parts was lost or damaged")
        .says("run --failed merged");
    assert_eq!(project.read("merged/samples.jsonl"), before);
    // With all of them it goes on, and there is nothing to do.
    let shards = split(&whole, 5, &project.file("others"));
    project.run("merge others -o other").exits(0);
    project.run("run --resume other").exits(0);

    // A journal that is no file is as good as none.
    fs::remove_file(shards[1].join("events.jsonl")).unwrap();
    fs::create_dir(shards[1].join("events.jsonl")).unwrap();
    project
        .run("merge others -o third")
        .exits(0)
        .says("events.jsonl changed after the run; the records of the run are complete");
}

#[test]
fn linked_shards_are_found() {
    let (project, whole) = merge_faults::project();
    let shards = split(&whole, 3, &project.file("parts"));
    fs::create_dir(project.file("links")).unwrap();
    for (number, shard) in shards.iter().enumerate() {
        let link = project.file(&format!("links/{number}"));
        std::os::unix::fs::symlink(shard, link).unwrap();
    }
    // Not round in a circle.
    std::os::unix::fs::symlink(project.file("links"), project.file("links/all")).unwrap();
    project.run("merge links -o merged").exits(0);
    project
        .run("merge nowhere")
        .exits(2)
        .says("`nowhere`")
        .says("hint: pass run directories of shards");
}

#[test]
fn a_status_file_that_is_a_pipe_is_refused() {
    let project = half();
    let pipe = project.file("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let mut run = project.command("run eval.yaml --shard auto --dry-run");
    run.env("TEST_SHARD_INDEX", "0")
        .env("TEST_TOTAL_SHARDS", "2")
        .env("TEST_SHARD_STATUS_FILE", &pipe);
    Ran::of(&run.output().unwrap())
        .exits(2)
        .says("`TEST_SHARD_STATUS_FILE`")
        .says("is not a file");
}
