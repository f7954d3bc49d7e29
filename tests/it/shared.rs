//! Runs that share a cache share the questions that are in flight.

use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use crate::project::Project;
use crate::wait::until;

/// A project of 50 questions whose answers are kept, and whose agent notes each, then does what `then` says.
fn project(then: &str) -> Project {
    let ids: Vec<_> = (0..50).map(|number| format!("q{number}")).collect();
    let prompts: Vec<_> = ids.iter().map(|id| format!("{id}?")).collect();
    let questions = ids.iter().zip(&prompts);
    let questions: Vec<_> = questions
        .map(|(id, prompt)| (&**id, 1, &**prompt, "1"))
        .collect();
    let agent = "{ type: command, command: [./agent.sh] }";
    let project = Project::with_eval(
        &questions,
        agent,
        "cache: true\nlimits: { concurrency: 8 }\n",
    );
    project.script(
        "agent.sh",
        &format!("#!/bin/sh\necho $EVALTEST_SAMPLE_ID >> asked\n{then}\necho 1\n"),
    );
    project
}

fn requested(project: &Project) -> usize {
    let log = std::fs::read_to_string(project.file("asked"));
    log.unwrap_or_default().lines().count()
}

fn start(project: &Project) -> Child {
    project.command("run eval.yaml").spawn().unwrap()
}

#[test]
fn six_runs_with_one_cold_cache_ask_each_question_once() {
    let project = project("sleep 0.1");
    let runs: Vec<_> = (0..6).map(|_| start(&project)).collect();
    for mut run in runs {
        assert!(run.wait().unwrap().success());
    }
    assert_eq!(requested(&project), 50);
}

#[test]
fn what_a_killed_run_was_asking_another_asks() {
    let project = project("sleep 0.2");
    let mut runs: Vec<_> = (0..6).map(|_| start(&project)).collect();
    until("some are answered", || requested(&project) > 12);
    let mut killed = runs.remove(2);
    killed.kill().unwrap();
    killed.wait().unwrap();
    for mut run in runs {
        assert!(run.wait().unwrap().success());
    }
    // Besides what the killed run had in flight.
    let requested = requested(&project);
    assert!((50..=50 + 8).contains(&requested), "{requested}");
    assert_eq!(project.runs().len(), 6);
}

#[test]
fn a_run_that_waits_for_one_that_is_killed_asks_itself() {
    // The first to be asked hangs; whoever is asked again does not.
    let project = project("test -e hung || { touch hung; exec sleep 1000; }");
    project.questions(&[("q0", 1, "?", "1")]);
    let mut first = start(&project);
    until("the first asks", || requested(&project) == 1);
    let mut second = start(&project);
    until("the second has begun", || project.runs().len() == 2);
    sleep(Duration::from_secs(1));
    assert_eq!(requested(&project), 1, "the second waits");
    assert!(second.try_wait().unwrap().is_none());
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(second.wait().unwrap().success());
    assert_eq!(requested(&project), 2);
    let remaining = crate::project::all_files(&project.file("evaltest-runs/.cache"));
    let is_claim = |path: &&std::path::PathBuf| path.extension().is_some_and(|end| end == "asking");
    assert_eq!(remaining.iter().find(is_claim), None);
}
