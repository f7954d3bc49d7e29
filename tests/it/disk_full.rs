//! A disk that fills up while a run is written: the run stops with exit code 3, what was written stays
//! readable, and `--resume` goes on from there.

use std::fs;
use std::process::{Command, Stdio};

use needs::needs;
use serde_json::Value;

use crate::project::{Project, Ran};

const SAMPLES: usize = 40;

/// An eval whose agent notes every sample that it is asked, outside of the full disk.
fn project() -> Project {
    let ids: Vec<String> = (0..SAMPLES).map(|n| format!("q{n:02}")).collect();
    let questions: Vec<_> = ids
        .iter()
        .map(|id| (id.as_str(), 1, "What?", "1"))
        .collect();
    let project = Project::with_eval(
        &questions,
        "{ type: command, command: [./agent.sh] }",
        "limits: { concurrency: 2 }\noutput_root: runs\n",
    );
    // A long answer, so that a small disk is full after some of them.
    project.script(
        "agent.sh",
        "#!/bin/sh\necho \"$EVALTEST_SAMPLE_ID\" >> asked\nhead -c 3000 /dev/zero | tr '\\0' x\necho\n\
         echo 'FINAL ANSWER: 1'\n",
    );
    project
}

/// Runs a shell script in the project, with `$EVALTEST` for the program.
fn sh(project: &Project, wrapper: &[&str], script: &str) -> Ran {
    let mut command = Command::new(wrapper[0]);
    command
        .args(&wrapper[1..])
        .arg(script)
        .current_dir(project.path())
        .env("EVALTEST", env!("CARGO_BIN_EXE_cargo-evaltest"))
        .env_remove("CI")
        .env_remove("CARGO_MANIFEST_DIR")
        .stdin(Stdio::null());
    Ran::of(&command.output().unwrap())
}

fn lines(project: &Project, name: &str) -> Vec<Value> {
    let text = project.read(name);
    assert!(text.ends_with('\n'), "{name} ends with a whole line");
    let parse = |line: &str| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}: {line}"))
    };
    text.lines().map(parse).collect()
}

fn answered(events: &[Value]) -> Vec<String> {
    let answered = events.iter().filter(|event| event["kind"] == "answered");
    answered
        .map(|event| event["sample_id"].as_str().unwrap().to_owned())
        .collect()
}

/// Checks what the full disk held (copied to `full`) and what the resumed run made of it (in `whole`).
fn check(project: &Project) {
    let full = lines(project, "full/events.jsonl");
    let before = answered(&full);
    assert!(
        !before.is_empty() && before.len() < SAMPLES,
        "{} answers",
        before.len()
    );
    let manifest: Value = serde_json::from_str(&project.read("full/manifest.json")).unwrap();
    assert_eq!(manifest["eval"], "e");

    let whole = lines(project, "whole/events.jsonl");
    assert_eq!(
        whole[..full.len()],
        full,
        "nothing of what was written is lost"
    );
    let mut all = answered(&whole);
    all.sort();
    let expected: Vec<String> = (0..SAMPLES).map(|n| format!("q{n:02}")).collect();
    assert_eq!(all, expected, "every sample was answered once");
    let requested = project.read("asked");
    for id in &before {
        assert_eq!(
            requested.matches(id.as_str()).count(),
            1,
            "{id} was asked again"
        );
    }
    let records = lines(project, "whole/samples.jsonl");
    assert_eq!(records.len(), SAMPLES);
    assert!(
        records
            .iter()
            .all(|record| record["result"]["score"]["correct"] == true)
    );
    let manifest: Value = serde_json::from_str(&project.read("whole/manifest.json")).unwrap();
    assert_eq!(manifest["status"], "finished");
}

#[test]
fn a_file_that_may_not_grow() {
    let project = project();
    // With SIGXFSZ ignored, writing past the limit fails as on a full disk. In blocks of 512 bytes or of
    // 1 KiB, as the shell has it: less than the answers need, more than one of them.
    let script = "trap '' XFSZ; ulimit -f 60 && exec \"$EVALTEST\" evaltest run eval.yaml";
    let ran = sh(&project, &["sh", "-c"], script);
    let ran = ran
        .exits(3)
        .says("cannot write")
        .says("--resume")
        .says_nothing_of("panicked");
    let dir = fs::read_dir(project.file("runs"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let dir = dir
        .into_iter()
        .find(|path| path.is_dir())
        .unwrap_or_else(|| panic!("{ran:?}"));
    sh(
        &project,
        &["sh", "-c"],
        &format!("cp -r {} full", dir.display()),
    )
    .exits(0);
    project
        .run(&format!("run --resume {} eval.yaml", dir.display()))
        .exits(0)
        .says("40 correct");
    sh(
        &project,
        &["sh", "-c"],
        &format!("cp -r {} whole", dir.display()),
    )
    .exits(0);
    check(&project);
}

#[needs(small_disk)]
#[test]
fn a_disk_without_space() {
    let project = project();
    // The mount lives and dies with the namespace of this one shell.
    let script = "mkdir -p runs && mount -t tmpfs -o size=64k,nr_inodes=200 none runs || exit 77
        \"$EVALTEST\" evaltest run eval.yaml; test $? = 3 || exit 1
        cp -r runs/*_e-* full
        echo '*' > runs/.gitignore
        mount -o remount,size=8m runs || exit 77
        \"$EVALTEST\" evaltest run --resume runs/*_e-* eval.yaml || exit 2
        cp -r runs/*_e-* whole";
    let ran = sh(
        &project,
        &[
            "unshare",
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
        ],
        script,
    );
    ran.exits(0)
        .says("No space left on device")
        .says("40 correct")
        .says_nothing_of("panicked");
    check(&project);
}
