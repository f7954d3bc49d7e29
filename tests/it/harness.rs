//! What `cargo test` sees: names, filters, threads, formats, signals.

use std::process::Stdio;

use serde_json::Value;

use crate::project::Project;
use crate::requested::requested;
use crate::signals::{is_alive, send};
use crate::trials::{self, run, run_with, tests};
use crate::wait::until;

const GATES: &str =
    "limits: { concurrency: 4 }\ngates: [accuracy >= 0.1, 'accuracy[level=1] >= 0.1']\n";

fn project(then: &str) -> Project {
    let project = trials::project(6, then, GATES);
    trials::edit(
        &project,
        "snapshot: { answers: plain }",
        "snapshot: { assert: off }",
    );
    project
}

fn names(arguments: &str) -> Vec<String> {
    let ran = run(&project(":"), arguments);
    let listed = ran
        .out
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    listed.map(str::to_owned).collect()
}

#[test]
fn listing_and_empty_selections_start_nothing() {
    let project = project(":");
    let all = [
        "e::level1::q000",
        "e::level2::q001",
        "e::level3::q002",
        "e::level1::q003",
        "e::level2::q004",
        "e::level3::q005",
        "e::gate::accuracy",
        "e::gate::accuracy[level=1]",
        "e::gate::error_rate",
    ];
    assert_eq!(names("--list"), all);
    assert_eq!(names("--list --format terse"), all);
    assert_eq!(names("--list q001 gate"), [all[1], all[6], all[7], all[8]]);
    for arguments in [
        "--list",
        "nothing-like-this",
        "--ignored",
        "--list nope --exact",
        "x y",
    ] {
        run(&project, arguments).exits(0);
    }
    run(&project, "gate::accuracy")
        .exits(0)
        .says("0 of 6 samples selected");
    assert_eq!(requested(&project), [""; 0]);
    assert_eq!(project.runs(), [""; 0].map(std::path::PathBuf::from));
    assert!(!project.file("evaltest-runs").exists());
}

#[test]
fn filters_select_and_gates_are_ignored_with_the_reason() {
    let check = |arguments: &str, expect: &[&str], gates: &str| {
        let project = project(":");
        let ran = run(&project, arguments).exits(0);
        let mut ids = requested(&project);
        ids.sort();
        assert_eq!(ids, expect, "{arguments}");
        let ignored = ran.out.matches("6 samples selected").count();
        let reason = format!("ignored ({gates} of 6 samples selected)");
        assert_eq!(
            ran.out.matches(&reason).count(),
            ignored,
            "{arguments}: {}",
            ran.out
        );
        assert_eq!(ignored > 0, !gates.is_empty(), "{arguments}: {}", ran.out);
        let run = project.last_json("summary.json");
        assert_eq!(
            run["gates"][0]["verdict"],
            if expect.len() < 6 {
                "ignored"
            } else {
                "passed"
            }
        );
    };
    check("q001", &["q001"], "");
    check("q001 q005 gate", &["q001", "q005"], "2");
    check("e::level1::q003 e::level1::q00 --exact", &["q003"], "");
    check("--skip level1 --skip q005", &["q001", "q002", "q004"], "3");
    check(
        "level1 level2 --skip q003 --skip gate",
        &["q000", "q001", "q004"],
        "",
    );
    check(
        "e:: --skip gate",
        &["q000", "q001", "q002", "q003", "q004", "q005"],
        "",
    );
    check("", &["q000", "q001", "q002", "q003", "q004", "q005"], "");
}

#[test]
fn threads_are_as_many_as_were_asked_for() {
    // Every agent says how many run at once, the first ones when they are as many as are expected.
    let most = |expect: usize, arguments: &str, variable: &str| {
        let now = "ls | grep -c running";
        let project = project(&format!(
            "touch running.$$; until [ -e enough ] || [ $({now}) -ge {expect} ]; do sleep 0.02; done; \
             touch enough; sleep 0.25; {now} >> counts; rm running.$$"
        ));
        let variables = [("RUST_TEST_THREADS", variable)];
        let ran = run_with(
            &project,
            arguments,
            &variables[..usize::from(!variable.is_empty())],
        );
        let ran = ran.exits(0);
        let order: Vec<bool> = tests(&ran)
            .iter()
            .map(|(name, _)| name.contains("gate"))
            .collect();
        // Where several tests end at once, any of them may be told of first.
        assert!(
            expect > 1 || order.is_sorted(),
            "gates are last: {}",
            ran.out
        );
        let counts = project.read("fixtures/gaia/counts");
        counts
            .lines()
            .map(|line| line.parse::<usize>().unwrap())
            .max()
            .unwrap()
    };
    assert_eq!(most(1, "--test-threads=1", ""), 1);
    assert_eq!(most(1, "", "1"), 1);
    assert_eq!(most(2, "--test-threads 2", "1"), 2);
    assert!((2..=4).contains(&most(2, "", "")), "`limits.concurrency`");
    assert!(most(5, "--test-threads=64", "") > 4);
    for (arguments, variable) in [
        ("--test-threads=0", "3"),
        ("--test-threads 0", "3"),
        ("", "0"),
        ("", "many"),
    ] {
        let project = project(":");
        run_with(&project, arguments, &[("RUST_TEST_THREADS", variable)]).exits(2);
        assert_eq!(requested(&project), [""; 0]);
    }
}

#[test]
fn json_is_nothing_but_json() {
    let project =
        project("case $EVALTEST_SAMPLE_ID in q003) echo noise; echo noise >&2; exit 1;; esac");
    let ran = run(&project, "--format json -Z unstable-options").exits(101);
    let events: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect();
    let failed: Vec<_> = events
        .iter()
        .filter(|event| event["event"] == "failed")
        .collect();
    assert_eq!(failed[0]["name"], "e::level1::q003");
    assert!(
        failed[0]["stdout"]
            .as_str()
            .unwrap()
            .contains("infrastructure: agent_failed")
    );
    assert!(ran.err.contains("run directory: "), "{}", ran.err);
    let ran = run(&project, "--format=json -Z unstable-options q001 gate").exits(0);
    assert!(
        ran.out
            .lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok()),
        "{}",
        ran.out
    );
}

#[test]
fn flags_of_libtest_are_taken() {
    let project = project(":");
    for flags in [
        "--report-time",
        "--report-time=plain",
        "--ensure-time",
        "--nocapture",
        "--no-capture",
        "--show-output",
        "--shuffle",
        "--shuffle-seed 7",
        "--shuffle-seed=7",
        "--exclude-should-panic",
        "--force-run-in-process",
        "--include-ignored",
        "--test",
        "--quiet",
        "-q",
        "--color=never",
        "--color always",
        "--format pretty",
        "--logfile tests.log",
        "-Z unstable-options",
    ] {
        trials::forget(&project);
        let ran = run(&project, &format!("{flags} q001"));
        assert_eq!(ran.code, Some(0), "{flags}: {}{}", ran.out, ran.err);
        assert_eq!(requested(&project), ["q001"], "{flags}");
    }
    run(&project, "--no-such-flag").exits(2);
}

#[test]
fn a_sample_has_one_test_though_it_is_perturbed() {
    let perturb = "perturb: { seed: 7, kinds: [irrelevant_context] }\ngates: ['drop(irrelevant_context) <= 0.1']\n";
    let lost = "test \"$EVALTEST_EPOCH\" = 0 || { echo lost; exit; }";
    let project = trials::project(4, lost, perturb);
    let ran = run(&project, "").exits(101);
    let failed = tests(&ran).into_iter().filter(|(_, how)| how == "FAILED");
    let failed: Vec<_> = failed.map(|(name, _)| name).collect();
    assert_eq!(failed, ["e::gate::drop(irrelevant_context)"], "{}", ran.out);
    ran.says("test result: FAILED. 5 passed; 1 failed");
    assert_eq!(requested(&project).len(), 8);
    // One test asks its sample in both forms.
    trials::forget(&project);
    run(&project, "q002").exits(0);
    assert_eq!(requested(&project), ["q002", "q002"]);
}

#[test]
fn an_agent_that_fails_is_infrastructure() {
    let project = project("test $EVALTEST_SAMPLE_ID != q004 || { echo 'no network' >&2; exit 7; }");
    let ran = run(&project, "").exits(101);
    let failed = tests(&ran).into_iter().filter(|(_, how)| how == "FAILED");
    let mut failed: Vec<_> = failed.map(|(name, _)| name).collect();
    failed.sort();
    assert_eq!(
        failed,
        ["e::gate::error_rate", "e::level2::q004"],
        "{}",
        ran.out
    );
    let message = ran.out.split("---- e::level2::q004 ----").nth(1).unwrap();
    assert!(
        message
            .trim_start()
            .starts_with("infrastructure: agent_failed"),
        "{message}"
    );
    assert!(message.contains("stderr: no network"), "{message}");
}

#[test]
fn a_signal_stops_the_tests_and_kills_the_agents() {
    let project =
        project("test $EVALTEST_SAMPLE_ID = q000 || { sleep 600 & echo $! >> children; wait; }");
    let mut command = trials::command(&project, "--test-threads=2");
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let children = project.file("fixtures/gaia/children");
    let read = || std::fs::read_to_string(&children).unwrap_or_default();
    until("two hang", || read().lines().count() == 2);
    send("INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    for id in read().lines() {
        until("its processes are gone", || !is_alive(id));
    }
    assert_eq!(requested(&project).len(), 3);
    assert_eq!(project.last_json("manifest.json")["status"], "interrupted");
    assert_eq!(project.last_lines("samples.jsonl").len(), 6);
}

#[test]
fn the_default_error_rate_is_a_test_and_is_asked_in_a_part_too() {
    let check = |arguments: &str, rate: &str, accuracy: &str| {
        let project = project("test $EVALTEST_SAMPLE_ID != q004 || exit 7");
        let ran = run(&project, arguments);
        assert_eq!(
            trials::verdict(&ran, "gate::error_rate"),
            rate,
            "{arguments}"
        );
        let ignored = trials::verdict(&ran, "gate::accuracy");
        assert!(ignored.starts_with(accuracy), "{arguments}: {ignored}");
    };
    check("", "FAILED", "ok");
    check("q004 gate", "FAILED", "ignored");
    check("q001 gate", "ok", "ignored");
    // Nothing is asked for the sake of a gate.
    check("gate", "ignored (0 of 6 samples selected)", "ignored");
}
