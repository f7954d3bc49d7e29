//! `run --watch`: what changes runs again, and only what flipped is shown.

use std::fs::File;
use std::process::Child;
use std::time::Instant;

use crate::project::Project;
use crate::requested::requested;
use crate::signals::{is_alive, send};
use crate::wait::{LONG, until};

/// The agent, which has a module beside it.
const AGENT: &str = "#!/bin/sh\nwhile read -r _; do :; done\nfolder=${0%/*}\n. \"$folder/answers.sh\"\n\
     echo \"$EVALTEST_SAMPLE_ID\" >> \"$folder/asked.log\"\nanswer \"$EVALTEST_SAMPLE_ID\"\n";
const HANGS: &str =
    "#!/bin/sh\nfolder=${0%/*}\nsleep 600 & echo $! >> \"$folder/children\"\nwait\n";

struct Watched {
    project: Project,
    child: Child,
}

impl Watched {
    fn start(project: Project) -> Self {
        let mut command = project.command("run --watch");
        let file = |name: &str| File::create(project.file(name)).unwrap();
        let child = command.stdout(file("out")).stderr(file("err"));
        let child = child.spawn().unwrap();
        Self { project, child }
    }

    fn out(&self) -> String {
        self.project.read("out")
    }

    /// Waits until so many runs have been told; what is told of the last.
    fn report(&mut self, runs: usize) -> String {
        until("a run is told", || {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("{status}: {}{}", self.out(), self.project.read("err"));
            }
            // The files are looked at again only when all of it is written.
            let rests = self.project.read("err").matches("note: watching").count() >= runs;
            self.out().matches("e: ").count() >= runs && rests
        });
        let out = self.out();
        out[out.rfind("e: ").unwrap()..].to_owned()
    }

    fn children(&self) -> Vec<String> {
        let file = self.project.file("children");
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn project() -> Project {
    let project = Project::new();
    project.write("answers.sh", "answer() { echo 1; }\n");
    project.script("agent.sh", AGENT);
    project.questions(&[
        ("q1", 1, "One?", "1"),
        ("q2", 1, "Two?", "1"),
        ("q3", 2, "Three?", "1"),
    ]);
    project.spec("{ type: command, command: [./agent.sh] }", "");
    let spec = project.read("eval.yaml");
    project.write("evals/e.yaml", spec.replace("data.jsonl", "../data.jsonl"));
    let spec = project.read("evals/e.yaml");
    project.write("evals/e.yaml", spec.replace("./agent.sh", "../agent.sh"));
    project
}

#[test]
fn what_changes_runs_again_and_shows_what_flipped() {
    let mut watched = Watched::start(project());
    let report = watched.report(1);
    assert!(
        report.starts_with("e: 3 of 3 correct, 0 errors, "),
        "{report}"
    );
    assert!(report.ends_with("s; nothing flipped\n"), "{report}");
    assert_eq!(requested(&watched.project).len(), 3);

    // A module, which is part of the cache key.
    let worse = "answer() { test \"$1\" = q2 && echo 2 || echo 1; }\n";
    watched.project.write("answers.sh", worse);
    let report = watched.report(2);
    assert!(
        report.starts_with("e: 2 of 3 correct, 0 errors, "),
        "{report}"
    );
    let flips = "s\n  became wrong since the previous run (1):\n    q2\n";
    assert!(report.ends_with(flips), "{report}");
    assert_eq!(requested(&watched.project).len(), 6);

    // The dataset: nobody is asked again.
    watched.project.questions(&[
        ("q1", 1, "One?", "1"),
        ("q2", 1, "Two?", "2"),
        ("q3", 2, "Three?", "1"),
    ]);
    let report = watched.report(3);
    let flips = "s\n  became correct since the previous run (1):\n    q2\n";
    assert!(report.ends_with(flips), "{report}");
    assert_eq!(requested(&watched.project).len(), 6);

    // A spec that is being written.
    let spec = watched.project.read("evals/e.yaml");
    watched.project.write("evals/e.yaml", "benchmark: {\n");
    until("the error is told", || {
        watched.project.read("err").contains("error: ")
    });
    watched
        .project
        .write("evals/e.yaml", spec + "gates: [accuracy >= 0.5]\n");
    until("it ran", || watched.out().matches("e: ").count() == 4);
    let report = watched.report(4);
    assert!(report.contains("3 of 3 correct"), "{report}");
    assert!(report.ends_with("nothing flipped\n"), "{report}");

    // One that hangs, until it is mended.
    watched.project.script("agent.sh", HANGS);
    until("it hangs", || watched.children().len() == 3);
    watched.project.script("agent.sh", AGENT);
    let report = watched.report(5);
    assert!(report.ends_with("nothing flipped\n"), "{report}");
    for id in watched.children() {
        until("its processes are gone", || !is_alive(&id));
    }

    watched.project.script("agent.sh", HANGS);
    until("it hangs again", || watched.children().len() == 6);
    send("INT", &watched.child);
    let sent = Instant::now();
    assert_eq!(watched.child.wait().unwrap().code(), Some(130));
    assert!(sent.elapsed() < LONG);
    for id in watched.children() {
        until("its processes are gone", || !is_alive(&id));
    }
    assert_eq!(watched.out().matches("e: ").count(), 5, "{}", watched.out());
}

#[test]
fn only_what_changed_runs_and_an_interrupt_ends_the_wait() {
    let project = project();
    let spec = project
        .read("evals/e.yaml")
        .replace("name: e", "name: other");
    let spec = spec.replace(
        "{ type: command, command: [../agent.sh] }",
        "{ type: echo, text: '1' }",
    );
    project.write("evals/other.yaml", &spec);
    let mut watched = Watched::start(project);
    watched.report(1);
    watched
        .project
        .write("evals/other.yaml", spec.replace("'1'", "'2'"));
    until("the other ran", || {
        watched.out().matches("other: ").count() == 2
    });
    let out = watched.out();
    assert_eq!(out.matches("e: ").count(), 1, "{out}");
    assert!(out.contains("other: 0 of 3 correct"), "{out}");
    until("it waits", || {
        watched
            .project
            .read("err")
            .matches("note: watching")
            .count()
            == 2
    });
    send("INT", &watched.child);
    assert_eq!(watched.child.wait().unwrap().code(), Some(130));
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let project = project();
    for flags in ["--json", "--dry-run", "--no-cache", "--run-id a"] {
        let ran = project.run(&format!("run --watch {flags}")).exits(2);
        ran.says("--watch");
    }
    // What is wrong from the beginning ends it.
    project.write("evals/e.yaml", "benchmark: {\n");
    project.run("run --watch").exits(2).says("error: ");
}
