//! Where a merge writes, and what is there already.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use crate::merge_faults;
use crate::parts::{split, timeless};
use crate::project::{Project, Ran};

/// A project with a whole run, and that run in five shards in the folder `parts`.
fn project() -> (Project, PathBuf) {
    let (project, whole) = merge_faults::project();
    split(&whole, 5, &project.file("parts"));
    (project, whole)
}

#[test]
fn of_merges_at_once_into_one_place_one_makes_the_run() {
    let (project, whole) = project();
    for round in 0..12 {
        let output = format!("merged{round}");
        let merges: Vec<_> = (0..3)
            .map(|_| {
                let mut merge = project.command(&format!("merge parts -o {output}"));
                merge.stdout(Stdio::piped()).stderr(Stdio::piped());
                merge.spawn().unwrap()
            })
            .collect();
        let mut made = 0;
        for merge in merges {
            let ran = Ran::of(&merge.wait_with_output().unwrap());
            if ran.code == Some(0) {
                made += 1;
            } else {
                ran.exits(2)
                    .says(&format!("another process merges into `{output}`"));
            }
        }
        assert!(made > 0, "{round}");
        project.run(&format!("gate {output}")).exits(0);
        for name in ["samples.jsonl", "summary.json"] {
            let path = project.file(&output).join(name);
            assert_eq!(timeless(&path), timeless(&whole.join(name)));
        }
        assert!(!project.file(&format!("{output}.part~")).exists());
    }
}

#[test]
fn a_merged_run_that_is_whole_no_more_is_not_taken_for_the_merge() {
    let (project, whole) = project();
    project.run("merge parts -o m").exits(0);
    let message = "`m` was merged from these shards and is damaged: ";
    let next = "nothing is lost: move it away and merge again: mv m m-damaged";
    for name in ["samples.jsonl", "events.jsonl", "errors.jsonl"] {
        fs::remove_file(project.file("m").join(name)).unwrap();
    }
    let merge = || project.run("merge parts -o m");
    merge().exits(2).says(message).says(next);
    // Made again out of nothing, it has no answers, and nobody is told to pay for them anew.
    project.run("repair m").exits(0);
    merge().exits(2).says(message).says(next);
    fs::rename(project.file("m"), project.file("m-damaged")).unwrap();
    merge().exits(0);
    let path = project.file("m/samples.jsonl");
    assert_eq!(timeless(&path), timeless(&whole.join("samples.jsonl")));
}

#[test]
fn what_is_somebody_elses_stays() {
    let (project, _) = project();
    // Nobody is told to remove the parts, or what never was a run.
    for output in ["parts", "parts/1of5", "."] {
        project
            .run(&format!("merge parts -o {output}"))
            .exits(2)
            .says("write to another directory: `-o DIR`")
            .says_nothing_of("rm -r");
    }
    fs::create_dir(project.file("o.part~")).unwrap();
    project.write("o.part~/notes.txt", "precious");
    project
        .run("merge parts -o o")
        .exits(2)
        .says("`o.part~/notes.txt` exists already and is not from a merge");
    assert_eq!(project.read("o.part~/notes.txt"), "precious");
    project.write("file.part~", "");
    project
        .run("merge parts -o file")
        .exits(2)
        .says("write to a directory that can be created: `-o DIR`");
    // Other programs have a `manifest.json`, too.
    fs::create_dir(project.file("parts/app")).unwrap();
    project.write("parts/app/manifest.json", "{}");
    project.write("parts/manifest.json", "{}");
    project.run("merge parts -o merged").exits(0);
}

#[test]
fn an_attempt_that_asked_nothing_is_in_nobodys_way() {
    let (project, _) = project();
    let unborn = project.file("parts/20260101T000000Z_e-000000-1of5");
    fs::create_dir(&unborn).unwrap();
    fs::write(unborn.join("events.jsonl"), "").unwrap();
    fs::write(unborn.join("places.json.12.0.tmp"), "{").unwrap();
    let message = "was killed before it asked a sample, and is ignored";
    project.run("merge parts -o merged").exits(0).says(message);
    let journal = fs::File::open(unborn.join("events.jsonl")).unwrap();
    journal.lock().unwrap();
    project
        .run("merge parts -o begun")
        .exits(0)
        .says("has just begun, and is ignored");
    drop(journal);
    // With an answer it is worth something.
    let journal = fs::read(project.file("parts/1of5/events.jsonl")).unwrap();
    fs::write(unborn.join("events.jsonl"), journal).unwrap();
    project
        .run("merge parts -o other")
        .exits(2)
        .says("lacks its `manifest.json`");
}

#[test]
fn a_missing_shard_is_asked_with_the_options_of_the_others() {
    let (project, _) = project();
    let options = "--set limits.concurrency=2 --output-root there";
    project
        .run(&format!("run eval.yaml --shard 1/2 {options}"))
        .exits(0);
    let next = format!("run eval.yaml --shard 2/2 {options}");
    project
        .run("merge there -o merged")
        .exits(2)
        .says("missing shard 2/2")
        .says(&format!("hint: cargo evaltest {next}"));
    project.run(&next).exits(0);
    project.run("merge there -o merged").exits(0);
}

#[test]
fn records_that_are_gone_are_made_again_from_the_journal() {
    let (project, _) = project();
    for shard in 1..=2 {
        project
            .run(&format!(
                "run eval.yaml --shard {shard}/2 --output-root there"
            ))
            .exits(0);
    }
    let dirs = fs::read_dir(project.file("there")).unwrap();
    let dirs = dirs.map(|dir| dir.unwrap().path());
    let dir = dirs.filter(|path| path.is_dir()).min().unwrap();
    fs::remove_file(dir.join("samples.jsonl")).unwrap();
    let repair = format!("repair {}", project.display(&dir));
    project
        .run("merge there -o merged")
        .exits(2)
        .says(&format!("cargo evaltest {repair}"));
    project.run(&repair).exits(0);
    project.run("merge there -o merged").exits(0);
}
