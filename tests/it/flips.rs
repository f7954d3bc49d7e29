//! Samples that were correct in the baseline and are wrong now, under `cargo test`: the gates decide, and what the
//! tests say is what `cargo evaltest` says.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::project::{Project, Ran};
use crate::requested::{self, requested, times};
use crate::signals::send;
use crate::trials::{self, SNAPSHOTS, SPEC, accepted, edit, forget, run, tests, verdict};
use crate::wait::{LONG, until};

/// The agent is wrong about the samples that `wrong` names.
const BREAKABLE: &str =
    "! grep -qs $EVALTEST_SAMPLE_ID wrong || { echo FINAL ANSWER: 99; exit 0; }";
const GATE: &str = "gates: [no_regression]\n";

fn wrong(project: &Project, ids: &str) {
    project.write("fixtures/gaia/wrong", ids);
    forget(project);
}

fn failed(ran: &Ran) -> Vec<String> {
    let failed = tests(ran).into_iter().filter(|(_, how)| how == "FAILED");
    let mut names: Vec<_> = failed.map(|(name, _)| name).collect();
    names.sort();
    names
}

/// What the failing test of this sample says.
fn message<'a>(ran: &'a Ran, name: &str) -> &'a str {
    let rest = ran.out.split(&format!("{name} ----\n")).nth(1);
    let rest = rest.unwrap_or_else(|| panic!("{name}\n{}", ran.out));
    rest.split("\n\n").next().unwrap()
}

/// The same verdict at both front doors.
fn both(project: &Project, red: bool) -> Ran {
    project.run(&format!("run {SPEC}")).exits(i32::from(red));
    forget(project);
    run(project, "").exits(if red { 101 } else { 0 })
}

#[test]
fn a_flip_waits_for_the_gate_and_ends_as_it_does() {
    let project = accepted(12, BREAKABLE, GATE);
    // One of six may be chance.
    wrong(&project, "q002");
    let ran = both(&project, false);
    assert_eq!(requested(&project).len(), 12, "nothing is asked again");
    ran.says(
        "e: correct in the baseline and wrong now, passed: no_regression: 1 of 12 compared samples \
         became wrong, 0 became correct, p = 0.27 >= alpha 0.05: q002",
    );
    // Five are not.
    wrong(&project, "q002 q004 q006 q008 q010");
    let ran = both(&project, true);
    let ids = [
        "level1::q006",
        "level2::q004",
        "level2::q010",
        "level3::q002",
        "level3::q008",
    ];
    let mut red = vec!["e::gate::no_regression".to_owned()];
    red.extend(ids.map(|id| format!("e::{id}")));
    assert_eq!(failed(&ran), red);
    assert_eq!(requested(&project).len(), 12);
    let says = message(&ran, "e::level3::q002");
    for part in [
        "q002 was correct in the baseline and is wrong now",
        "answered: 99",
        "gate: no_regression: 5 of 12 compared samples became wrong, 0 became correct, p = 0.019 < alpha 0.05",
    ] {
        assert!(says.contains(part), "{says}");
    }
    // The gates need not be among the tests that run.
    let ran = run(&project, "--skip gate").exits(101);
    assert_eq!(failed(&ran), red[1..]);
    // Neither does the order or the number of threads matter.
    for threads in ["1", "2", "64"] {
        let ran = run(&project, &format!("--test-threads {threads}")).exits(101);
        assert_eq!(failed(&ran), red);
    }
    edit(
        &project,
        "prompt: none",
        "prompt: none\nshuffle: { seed: 3 }",
    );
    assert_eq!(failed(&run(&project, "--test-threads 1").exits(101)), red);
}

#[test]
fn the_gates_decide_whose_slice_holds_the_sample() {
    let gates = "gates: ['no_regression(max_drop=0.3)[level=1]']\n";
    let project = accepted(12, BREAKABLE, gates);
    // q000 and q006 are correct in level 1, q003 and q009 are not.
    wrong(&project, "q000");
    let ran = both(&project, false);
    assert_eq!(requested(&project).len(), 12);
    ran.says("no_regression[level=1]: 1 of 4 compared samples became wrong");
    wrong(&project, "q000 q006");
    let ran = both(&project, true);
    let red = [
        "e::gate::no_regression[level=1]",
        "e::level1::q000",
        "e::level1::q006",
    ];
    assert_eq!(failed(&ran), red);
    // No gate is about level 2: it is confirmed.
    wrong(&project, "q004");
    let ran = run(&project, "").exits(101);
    assert_eq!(failed(&ran), ["e::level2::q004"]);
    assert_eq!(times(&requested(&project), "q004"), 3);
    assert!(message(&ran, "q004").contains("asked 3 times, wrong each time"));
}

#[test]
fn an_agent_that_says_it_is_deterministic_needs_no_gate() {
    let project = accepted(12, BREAKABLE, GATE);
    let answers = (0..12).map(|n| {
        let seen = if n == 2 { 99 } else { n };
        format!("{{\"id\": \"q{n:03}\", \"answer\": \"{seen:03}\"}}\n")
    });
    project.write("fixtures/gaia/answers.jsonl", answers.collect::<String>());
    edit(
        &project,
        "{ type: command, command: [../../agent.sh] }",
        "{ type: replay, path: answers.jsonl }",
    );
    let ran = run(&project, "").exits(101);
    assert_eq!(failed(&ran), ["e::level3::q002"]);
    assert!(message(&ran, "q002").contains("the agent is declared deterministic"));
    // The gates alone decide under `cargo evaltest`.
    project.run(&format!("run {SPEC}")).exits(0);
}

#[test]
fn with_samples_filtered_out_flips_are_confirmed() {
    let project = accepted(12, BREAKABLE, GATE);
    wrong(&project, "q002");
    for selection in [
        "q002",
        "e::level3::q002 --exact",
        "level3 gate",
        "--skip q000",
    ] {
        forget(&project);
        let ran = run(&project, selection).exits(101);
        assert_eq!(failed(&ran), ["e::level3::q002"], "{selection}");
        assert_eq!(times(&requested(&project), "q002"), 3, "{selection}");
        let says = message(&ran, "q002");
        assert!(says.contains("asked 3 times, wrong each time"), "{says}");
        assert!(says.contains("no gate was evaluated: "), "{says}");
        assert!(says.contains(" of 12 samples selected"), "{says}");
    }
    // A second answer that is right lets it pass, and the test says what it did not ask.
    let flaky = "n=$(grep -c q002 ../../asked.log); \
        test $EVALTEST_SAMPLE_ID != q002 -o $n -gt 1 || { echo FINAL ANSWER: 99; exit 0; }";
    requested::agent(&project, flaky);
    forget(&project);
    run(&project, "q002")
        .exits(0)
        .says("correct when asked again; no gate was evaluated: 1 of 12 samples selected: q002");
}

#[test]
fn flips_are_what_the_spec_or_the_command_line_says() {
    let check = |flips: &str, expect: &[&str], asks: usize| {
        let project = accepted(12, BREAKABLE, GATE);
        edit(
            &project,
            "answers: plain",
            &format!("answers: plain, {flips}"),
        );
        wrong(&project, "q002");
        let ran = run(&project, "");
        assert_eq!(failed(&ran), expect, "{flips}");
        assert_eq!(times(&requested(&project), "q002"), asks, "{flips}");
    };
    let q2 = ["e::level3::q002"];
    check("flips: gate", &[], 1);
    check("flips: gate, confirm: 5", &[], 1);
    check("flips: confirm", &q2, 3);
    check("flips: confirm, confirm: 1", &q2, 2);
    check("flips: fail", &q2, 1);
    let project = trials::project(4, ":", GATE);
    let unknown = |ran: Ran| {
        ran.says("unknown value `maybe`")
            .says("legal values: `gate`, `confirm`, `fail`");
    };
    let set = |value: &str| project.run(&format!("run {SPEC} --set snapshot.flips={value}"));
    unknown(set("maybe").exits(2));
    set("confirm").exits(0);
    edit(&project, "answers: plain", "answers: plain, flips: maybe");
    unknown(project.run(&format!("run {SPEC}")).exits(2));
}

#[test]
fn without_a_baseline_the_gates_of_the_eval_decide() {
    // Half of the answers are wrong.
    let project = trials::project(6, ":", "gates: [accuracy >= 0.5]\n");
    both(&project, false);
    edit(&project, "accuracy >= 0.5", "accuracy >= 0.6");
    assert_eq!(failed(&both(&project, true)), ["e::gate::accuracy"]);
    // An eval that cannot fail is none.
    edit(&project, "gates: [accuracy >= 0.6]", "");
    let ran = run(&project, "").exits(101);
    assert_eq!(
        failed(&ran),
        ["e::level1::q003", "e::level2::q001", "e::level3::q005"]
    );
    ran.says("is wrong and has no snapshot to compare with");
}

#[test]
fn a_new_sample_beside_a_baseline_is_told_and_does_not_fail() {
    for gates in [GATE, ""] {
        let project = accepted(12, ":", gates);
        requested::write_questions(&project, 14);
        assert!(!project.file(SNAPSHOTS).join("q013").exists());
        let ran = both(&project, false);
        ran.says("e: wrong and not compared, because the baseline lacks it: q013");
    }
}

#[test]
fn while_trials_wait_the_pool_says_how_far_it_is() {
    let then = "case $EVALTEST_SAMPLE_ID in q003) until [ -e go ]; do sleep 0.02; done;; esac";
    let project = trials::project(4, then, "limits: { concurrency: 2 }\n");
    edit(&project, "answers: plain", "assert: off");
    let mut child = trials::command(&project, "")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first line comes after two seconds, the next ones later and later.
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut seen = Vec::new();
    while !seen.contains(&"e: 3 of 4 samples are done".to_owned()) {
        seen.push(lines.next().expect("a line of three samples").unwrap());
        assert!(seen.len() < 4, "{seen:?}");
    }
    let is_progress = |line: &String| line.ends_with(" of 4 samples are done");
    assert!(seen.iter().all(is_progress), "{seen:?}");
    project.write("fixtures/gaia/go", "");
    assert!(child.wait().unwrap().success());
    forget(&project);
    let started = Instant::now();
    let ran = run(&project, "q001").exits(0);
    if started.elapsed() < Duration::from_secs(2) {
        ran.says_nothing_of("samples are done");
    }
}

/// Starts the tests of a project where q002 flips and most others hang.
fn hanging(more: &str, arguments: &str) -> (Project, std::process::Child) {
    let project = accepted(12, ":", GATE);
    requested::agent(
        &project,
        &format!(
            "case $EVALTEST_SAMPLE_ID in q000|q001) ;; q002) echo 99; exit;; {more} *) sleep 600;; esac"
        ),
    );
    let mut command = trials::command(&project, arguments);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    (project, child)
}

#[test]
fn ctrl_c_releases_a_flip_that_waits() {
    let (project, child) = hanging("", "--test-threads 1");
    until("q003 hangs", || {
        requested(&project).contains(&"q003".to_owned())
    });
    let started = Instant::now();
    send("INT", &child);
    let ran = Ran::of(&child.wait_with_output().unwrap()).exits(130);
    assert!(started.elapsed() < LONG);
    let says = message(&ran, "q002");
    assert!(
        says.starts_with("infrastructure: the run stopped before a gate"),
        "{says}"
    );
    assert_eq!(verdict(&ran, "q000"), "ok");
    for id in ["q003", "q011"] {
        let says = message(&ran, id);
        assert!(
            says.starts_with("infrastructure: not asked: interrupted"),
            "{says}"
        );
    }
    let says = message(&ran, "e::gate::no_regression");
    assert!(
        says.starts_with("infrastructure: the run stopped: interrupted"),
        "{says}"
    );
}

#[test]
fn fail_fast_releases_a_flip_that_waits() {
    // It fails when q002 has its verdict.
    let script = "until grep -qs '\"q002\".*\"scored\"' ../../evaltest-runs/*/events.jsonl; do sleep 0.05; done";
    let (project, child) = hanging(&format!("q003) {script}; exit 1;;"), "--list");
    child.wait_with_output().unwrap();
    // In the run that was accepted it has its verdict already.
    std::fs::remove_dir_all(project.file("evaltest-runs")).unwrap();
    edit(
        &project,
        "prompt: none",
        "prompt: none\nlimits: { fail_fast: true, concurrency: 3 }",
    );
    let ran = run(&project, "").exits(101);
    let says = message(&ran, "q002");
    let expect = "infrastructure: the run stopped before a gate could decide whether this is chance: sample `q003` failed";
    assert!(says.starts_with(expect), "{says}");
    let says = message(&ran, "q011");
    let expect = "infrastructure: not asked: sample `q003` failed and `fail_fast` is set";
    assert!(says.starts_with(expect), "{says}");
    assert!(message(&ran, "q003").starts_with("infrastructure: agent_failed"));
}
