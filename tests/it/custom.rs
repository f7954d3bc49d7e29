//! `fixtures/projects/custom`: a crate with a benchmark, an agent and a scorer of its own.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::OnceLock;

use crate::project::{Project, Ran, json_lines, root};
use crate::signals::send;
use crate::trials::{tests, verdict};
use crate::wait::until;

/// A copy of the fixture, so that runs leave nothing in the repository. One for all tests: cargo builds a
/// package once for each place where it lies.
fn project() -> &'static Project {
    static PROJECT: OnceLock<Project> = OnceLock::new();
    PROJECT.get_or_init(|| {
        let project = Project::new();
        copy(&root().join("fixtures/projects/custom"), project.path());
        let manifest = project.read("Cargo.toml");
        assert!(manifest.contains("[workspace]"));
        let path = format!("path = '{}'", root().display());
        project.write("Cargo.toml", manifest.replace("path = \"../../..\"", &path));
        project.lock_file();
        project
    })
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let (name, from) = {
            let entry = entry.unwrap();
            (entry.file_name(), entry.path())
        };
        let to = to.join(name);
        if from.is_dir() {
            fs::create_dir_all(&to).unwrap();
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

#[test]
fn a_crate_brings_its_own_benchmark_agent_and_scorer() {
    let project = project();
    as_tests(project);
    by_the_command(project);
    failing_and_continued(project);
    mistakes(project);
    interrupted(project);
}

fn as_tests(project: &Project) {
    // Without a baseline the gates decide: a wrong sample is red where there is none.
    let ran = project.cargo("test --offline --test riddles").exits(0);
    assert_eq!(tests(&ran).len(), 3 * 3 + 6, "{}", ran.out);
    assert_eq!(verdict(&ran, "riddles::shadow"), "ok");
    assert_eq!(verdict(&ran, "riddles::river"), "ok");
    assert_eq!(verdict(&ran, "riddles::gate::accuracy"), "ok");
    assert_eq!(verdict(&ran, "closures::gate::accuracy"), "ok");
    assert_eq!(verdict(&ran, "scored::echo"), "ok");
    assert_eq!(project.runs().len(), 3);
}

/// The command does not know the names.
fn by_the_command(project: &Project) {
    let ran = project.run("run -v").exits(0);
    for says in [
        "riddles: 3 samples, 1 correct",
        "closures: 3 samples, 3 correct",
        "scored: 3 samples, 3 correct",
        "accuracy >= 0.3: passed",
    ] {
        assert!(
            ran.out.contains(says),
            "{says} is missing in {}{}",
            ran.out,
            ran.err
        );
    }
    assert_eq!(project.runs().len(), 6);
    // Those of a test binary are rows of one table.
    let row = |name: &str| ran.out.lines().rfind(|line| line.starts_with(name));
    assert!(row("riddles ").is_some_and(|row| row.contains("33.3 %")));
    assert!(row("scored ").is_some_and(|row| row.contains("100.0 %")));
    assert!(ran.out.ends_with("3 evals, exit code 0\n"), "{}", ran.out);
    let ran = project
        .run("run evals/riddles.yaml --limit 1 --run-id short")
        .exits(0);
    let ran = ran.says("riddles: partial run, 1 of 1 correct");
    ran.says_nothing_of("closures");
    assert!(project.last_run().to_string_lossy().ends_with("_short"));
    project.run("accept").exits(2).says("asked only a part");
    // Nor can it judge by a scorer that only the test binary knows.
    let rescore = format!(
        "rescore {} --output-root again",
        project.last_run().display()
    );
    project
        .run(&rescore)
        .exits(2)
        .says("scorer `lenient` is not built in")
        .says("`evaltest::engine::run::rescore` takes any scorer");
    assert!(!project.file("again").exists());
    project
        .run(&format!("{rescore} --scorer substring"))
        .exits(0)
        .says("riddles: partial run, 0 of 1 correct");
    // Evals built in Rust heed what is not code.
    project
        .run("run --benchmark closures --limit 2")
        .exits(0)
        .says("closures: partial run, 2 of 2 correct");
    project
        .run("run --benchmark closures --agent echo")
        .exits(2)
        .says("`agent` is built in Rust");
    let json = project
        .run("run --benchmark closures --json --set gates=['accuracy>=1'] --history")
        .exits(0)
        .json();
    let history = json_lines(&project.file("tests/snapshots/closures/history.jsonl"));
    assert_eq!(history.len(), 1);
    assert_eq!(history[0]["eval"], "closures");
    assert_eq!(history[0]["answers"]["count"], 3);
    assert_eq!(json["runs"][0]["eval"], "closures");
    assert_eq!(json["runs"][0]["summary"]["correct"], 3);
    // With `CI` set a missing baseline is a failure, and both the target and the JSON say so.
    let mut command =
        project.command("run --benchmark closures --json --set gates=['no_regression']");
    let ran = Ran::of(&command.env("CI", "1").output().unwrap()).exits(1);
    let (json, summary) = (ran.json(), project.last_json("summary.json"));
    assert_eq!(json["exit_code"], 1);
    assert_eq!(json["runs"][0]["summary"], summary);
    assert_eq!(summary["exit_code"], 1);
    assert_eq!(summary["gates"][0]["verdict"], "failed");
}

/// An agent written with `?` that fails is infrastructure, and such a run is continued.
fn failing_and_continued(project: &Project) {
    let broken = project
        .command("run --benchmark closures")
        .env("CUSTOM_WORDS", "three")
        .output();
    let broken = crate::project::Ran::of(&broken.unwrap()).exits(3);
    broken.says("invalid digit found in string");
    let dir = project.last_run();
    project
        .run(&format!("run --resume {}", dir.display()))
        .exits(0)
        .says("closures: 3 of 3 correct");
    project.run("accept").exits(0).says("closures");
    assert!(
        project
            .file("tests/snapshots/closures/_baseline.json")
            .is_file()
    );
}

fn mistakes(project: &Project) {
    // A failing gate is 1, a broken spec is 2: not the same to a CI job.
    project
        .run("run evals/riddles.yaml --set gates=['accuracy>=0.9']")
        .exits(1)
        .says("✗ accuracy >= 0.9");
    let spec = project.read("evals/riddles.yaml");
    project.write("evals/riddles.yaml", spec.replace("guess: a shadow, ", ""));
    project
        .run("run evals/riddles.yaml")
        .exits(2)
        .says("`guess` is missing");
    // Neither the command nor a test binary knows this one.
    project.write("evals/riddles.yaml", &spec);
    project.write(
        "evals/typo.yaml",
        spec.replace("guesser", "gueser")
            .replace("name: riddles", "name: typo"),
    );
    project
        .run("run")
        .exits(2)
        .says("unknown benchmark")
        .says("typo.yaml:3");
    project.run("list").exits(2);
    fs::remove_file(project.file("evals/typo.yaml")).unwrap();
    project
        .run("list")
        .exits(0)
        .says("riddles::shadow")
        .says("closures::gate::accuracy");

    // Other options make another scorer.
    project.run("run evals/riddles.yaml").exits(0);
    project.run("accept").exits(0);
    project.write(
        "evals/riddles.yaml",
        spec.replace("ignore: [a, the]", "ignore: [a]"),
    );
    project
        .run("run evals/riddles.yaml")
        .exits(2)
        .says("another scorer");
    project.write("evals/riddles.yaml", &spec);
}

/// An interrupt of the command alone reaches the test binary, which ends well.
fn interrupted(project: &Project) {
    let before = project.runs().len();
    let mut command = project.command("run --benchmark closures");
    command
        .env("CUSTOM_WAIT", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    until("it was asked", || {
        project.runs().len() > before
            && json_lines(&project.last_run().join("events.jsonl")).len() == 3
    });
    send("TERM", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(project.last_json("manifest.json")["status"], "interrupted");
    assert_eq!(project.last_lines("samples.jsonl").len(), 3);
}
