//! When a sample's test fails: the baseline, its confirmation, `snapshot.assert` and insta's variables.

use std::path::PathBuf;

use crate::project::Project;
use crate::requested::{self, requested, times};
use crate::trials::{self, SNAPSHOTS, SPEC, accepted, edit, forget, run, run_with, tests, verdict};

/// The agent answers q002 wrongly while `wrong` exists.
const BREAKABLE: &str =
    "test $EVALTEST_SAMPLE_ID != q002 -o ! -f wrong || { echo FINAL ANSWER: 99; exit 0; }";
const GATES: &str = "gates: [accuracy >= 0.1, 'no_regression(max_drop=0.02, min_pairs=0.3)']\n";

fn break_agent(project: &Project) {
    project.write("fixtures/gaia/wrong", "");
}

fn failed(ran: &crate::project::Ran) -> Vec<String> {
    let failed = tests(ran).into_iter().filter(|(_, how)| how == "FAILED");
    let mut names: Vec<_> = failed.map(|(name, _)| name).collect();
    names.sort();
    names
}

/// Every snapshot, by file name, and what waits for review.
fn snapshots(project: &Project) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for bucket in std::fs::read_dir(project.file(SNAPSHOTS))
        .into_iter()
        .flatten()
    {
        let bucket = bucket.unwrap().path();
        for file in std::fs::read_dir(&bucket).into_iter().flatten() {
            let file = file.unwrap().path();
            found.push((file.clone(), std::fs::read_to_string(file).unwrap()));
        }
    }
    found.sort();
    found
}

/// The snapshot of a sample.
fn snapshot(project: &Project, id: &str) -> (PathBuf, String) {
    let name = format!("{id}.snap");
    let is_it = |(path, _): &(PathBuf, String)| path.ends_with(&name);
    snapshots(project).into_iter().find(is_it).unwrap()
}

fn pending(project: &Project) -> Vec<String> {
    let paths = snapshots(project).into_iter().map(|(path, _)| path);
    let pending = paths.filter(|path| path.extension().is_some_and(|end| end == "new"));
    pending
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn a_flip_is_confirmed_and_the_first_answer_counts() {
    // Wrong at the first asking, right at the second.
    let flaky = "n=$(grep -c q002 ../../asked.log); \
        test $EVALTEST_SAMPLE_ID != q002 -o ! -f wrong -o $n -gt 1 || { echo FINAL ANSWER: 99; exit 0; }";
    let project = accepted(6, flaky, GATES);
    edit(&project, "answers: plain", "answers: plain, flips: confirm");
    break_agent(&project);
    let ran = run(&project, "").exits(101);
    assert_eq!(verdict(&ran, "q002"), "ok");
    assert_eq!(
        failed(&ran),
        ["e::gate::no_regression"],
        "metrics see the first answer"
    );
    assert_eq!(
        (
            times(&requested(&project), "q002"),
            requested(&project).len()
        ),
        (2, 7)
    );
    let record = &project.last_lines("samples.jsonl")[2];
    assert_eq!(record["result"]["prediction"], "99");
    assert_eq!(record["result"]["attempts"], 1);
    let events = project.last_lines("events.jsonl");
    let confirmed: Vec<_> = events
        .iter()
        .filter(|event| event["kind"] == "confirmed")
        .collect();
    assert_eq!(confirmed.len(), 2, "the answer, then the verdict");
    assert_eq!(confirmed[0]["output"]["text"], "002");
    assert_eq!(confirmed[1]["result"]["prediction"], "002");

    // `confirm` says how often.
    edit(&project, "flips: confirm", "flips: confirm, confirm: 0");
    forget(&project);
    let ran = run(&project, "q002").exits(101);
    assert_eq!(requested(&project).len(), 1);
    ran.says("was correct in the baseline and is wrong now")
        .says_nothing_of("times");
}

#[test]
fn deterministic_agents_are_not_asked_again() {
    let project = accepted(4, ":", "");
    edit(
        &project,
        "agent: { type: command, command: [../../agent.sh] }",
        "agent: { type: echo }",
    );
    let ran = run(&project, "q000").exits(101);
    ran.says("was correct in the baseline")
        .says_nothing_of("asked 3 times");
    let events = project.last_lines("events.jsonl");
    assert!(events.iter().all(|event| event["kind"] != "confirmed"));
}

#[test]
fn baseline_exact_correct_and_off_differ() {
    let fails = |assert: &str, spoil: &str, expect: &[&str]| {
        let project = accepted(4, BREAKABLE, "");
        edit(
            &project,
            "answers: plain",
            &format!("answers: plain, confirm: 1, assert: {assert}"),
        );
        match spoil {
            "flip" => break_agent(&project),
            // q001 is wrong in another way than it was.
            "other" => requested::agent(
                &project,
                "test $EVALTEST_SAMPLE_ID != q001 || { echo 7; exit; }",
            ),
            _ => {}
        }
        let ran = run(&project, "");
        assert_eq!(failed(&ran), expect, "{assert} {spoil}: {}", ran.out);
        forget(&project);
        // Under `cargo evaltest` failed assertions decide only under `exact` and `correct`.
        let code = u8::from(matches!(assert, "exact" | "correct") && !expect.is_empty());
        project.run(&format!("run {SPEC}")).exits(i32::from(code));
        let gate = format!("gate {}", project.last_run().display());
        project.run(&gate).exits(i32::from(code));
    };
    let (q1, q2, q3) = ("e::level2::q001", "e::level3::q002", "e::level1::q003");
    fails("baseline", "", &[]);
    fails("baseline", "flip", &[q2]);
    fails("baseline", "other", &[]);
    fails("exact", "", &[]);
    fails("exact", "flip", &[q2]);
    fails("exact", "other", &[q1]);
    fails("correct", "", &[q3, q1]);
    fails("correct", "flip", &[q3, q1, q2]);
    fails("off", "flip", &[]);
}

#[test]
fn insta_variables_mean_what_they_mean_to_insta() {
    let check = |variables: &[(&str, &str)], code: i32, waiting: &[&str], rewritten: bool| {
        let project = accepted(4, BREAKABLE, "");
        let before = snapshot(&project, "q002").1;
        assert!(before.contains("verdict: correct"), "{before}");
        break_agent(&project);
        let ran = run_with(&project, "", variables);
        assert_eq!(ran.code, Some(code), "{variables:?}: {}", ran.out);
        assert_eq!(pending(&project), waiting, "{variables:?}");
        let after = snapshot(&project, "q002").1;
        assert_eq!(after != before, rewritten, "{variables:?}: {after}");
        assert_eq!(after.contains("verdict: incorrect"), rewritten);
    };
    let new = ["q002.snap.new"];
    check(&[], 101, &new, false);
    check(&[("INSTA_UPDATE", "new")], 101, &new, false);
    check(&[("INSTA_UPDATE", "no")], 101, &[], false);
    check(&[("CI", "1")], 101, &[], false);
    check(&[("INSTA_UPDATE", "unseen")], 101, &new, false);
    check(&[("INSTA_UPDATE", "always")], 0, &[], true);
    check(&[("INSTA_FORCE_PASS", "1")], 0, &new, false);
    check(&[("INSTA_FORCE_PASS", "1"), ("CI", "1")], 0, &[], false);
}

#[test]
fn under_exact_insta_asserts_and_its_difference_stands_in_the_report() {
    let project = accepted(4, BREAKABLE, "");
    edit(&project, "answers: plain", "answers: plain, assert: exact");
    break_agent(&project);
    let check = |arguments: &str, variables: &[(&str, &str)], code: i32, waiting: &[&str]| {
        let before = snapshot(&project, "q002").1;
        let ran = run_with(&project, arguments, variables).exits(code);
        assert_eq!(pending(&project), waiting, "{variables:?}");
        for (path, text) in snapshots(&project) {
            // Not where this crate lies on this machine.
            assert!(
                text.starts_with("---\nsource: evaltest\n"),
                "{path:?} {text}"
            );
            let _ = path
                .ends_with("q002.snap.new")
                .then(|| std::fs::remove_file(path));
        }
        (ran, snapshot(&project, "q002").1 != before)
    };
    let new = ["q002.snap.new"];
    let (ran, _) = check("--format json -Z unstable-options", &[], 101, &new);
    let events: Vec<serde_json::Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect();
    let message = events.iter().find_map(|event| event["stdout"].as_str());
    let message = message.unwrap();
    assert!(message.contains("differs from its snapshot"), "{message}");
    for line in [
        "Snapshot Summary",
        "-old snapshot",
        "│-prediction: \\\"002\\\"",
        "│+prediction: \\\"99\\\"",
    ] {
        assert!(
            message.contains(&line.replace('\\', "")),
            "{line}: {message}"
        );
    }
    assert!(!message.contains("Source: "), "{message}");
    let (ran, _) = check("", &[("INSTA_OUTPUT", "none")], 101, &new);
    ran.says_nothing_of("Snapshot Summary");
    check("", &[("CI", "1")], 101, &[]);
    check("", &[("INSTA_UPDATE", "no")], 101, &[]);
    check("", &[("INSTA_FORCE_PASS", "1")], 0, &new);
    let (_, rewritten) = check("", &[("INSTA_UPDATE", "always")], 0, &[]);
    assert!(rewritten && snapshot(&project, "q002").1.contains("prediction: \"99\""));
    run(&project, "").exits(0);
    std::fs::remove_file(snapshot(&project, "q002").0).unwrap();
    let ran = run_with(&project, "", &[("CI", "1")]).exits(101);
    ran.says("has no snapshot").says("+new results");
    run_with(&project, "", &[("INSTA_UPDATE", "unseen")]).exits(0);
    assert!(
        snapshot(&project, "q002")
            .1
            .contains("description: \"What is 2?\"")
    );
}

#[test]
fn gates_do_not_heed_insta() {
    let project = accepted(4, BREAKABLE, GATES);
    break_agent(&project);
    let ran = run_with(&project, "", &[("INSTA_FORCE_PASS", "1")]).exits(101);
    assert_eq!(failed(&ran), ["e::gate::no_regression"]);
}

#[test]
fn a_pending_snapshot_becomes_the_snapshot_when_it_is_renamed() {
    // What `cargo insta accept` does.
    let project = accepted(4, BREAKABLE, GATES);
    break_agent(&project);
    run(&project, "").exits(101);
    let (path, _) = snapshots(&project)
        .into_iter()
        .find(|(path, _)| path.ends_with("q002.snap.new"))
        .unwrap();
    std::fs::rename(&path, path.with_extension("")).unwrap();
    let ran = run(&project, "").exits(0);
    ran.says("the snapshots changed since run")
        .says("cargo evaltest accept");
    project
        .run(&format!("run -v {SPEC}"))
        .exits(0)
        .says("the snapshots changed since run");
    project.run("accept").exits(0);
    run(&project, "")
        .exits(0)
        .says_nothing_of("the snapshots changed");
}

#[test]
fn masked_snapshots_hide_what_is_correct() {
    let project = trials::project(4, ":", "");
    edit(&project, "snapshot: { answers: plain }\n", "");
    project.run(&format!("run {SPEC}")).exits(0);
    project.run("accept").exits(0);
    let correct = snapshot(&project, "q002").1;
    assert!(
        correct.contains("verdict: correct\nanswers: \"1\"\nprediction: (masked) "),
        "{correct}"
    );
    for id in ["q000", "q001", "q002", "q003"] {
        // A wrong answer often repeats the question or holds the truth.
        let text = snapshot(&project, id).1;
        let shows = |what: &str| text.replace(id, "").contains(what);
        assert!(
            !shows(&id[1..]) && !shows("What is") && !shows(".0"),
            "{text}"
        );
    }
    let other = snapshot(&project, "q000").1;
    let mask = |text: &str| {
        let masked = text.split("prediction: (masked) ").nth(1).unwrap();
        masked.lines().next().unwrap().to_owned()
    };
    assert_ne!(mask(&correct), mask(&other));
    run(&project, "").exits(0);
    edit(
        &project,
        "prompt: none",
        "prompt: none\nsnapshot: { assert: exact }",
    );
    run(&project, "").exits(0);
    // Neither does the message of a failing test.
    requested::agent(&project, "echo 12345; exit");
    let ran = run(&project, "q002").exits(101);
    ran.says("12345").says_nothing_of("\"002\"");
}

#[test]
fn a_changed_question_leaves_the_pairs() {
    let project = accepted(6, BREAKABLE, GATES);
    let data = project.read("data.jsonl");
    project.write("data.jsonl", data.replace("What is 2?", "And what is 2?"));
    break_agent(&project);
    let ran = run(&project, "").exits(0);
    ran.says(
        "e: wrong and not compared, because question or ground truth changed since the baseline: q002",
    );
    let gate = &project.last_json("summary.json")["gates"][1];
    assert_eq!(gate["verdict"], "passed");
    assert_eq!(gate["regression"]["pairs"], 5);
    assert_eq!(gate["regression"]["changed"], serde_json::json!(["q002"]));
    assert_eq!(
        times(&requested(&project), "q002"),
        1,
        "there is nothing to confirm"
    );
}

#[test]
fn what_was_judged_otherwise_is_refused_before_anything_starts() {
    let refused = |from: &str, to: &str, says: &str| {
        let project = accepted(4, ":", GATES);
        edit(&project, from, to);
        let ran = run(&project, "");
        assert!(ran.code.is_some_and(|code| code != 0), "{}", ran.out);
        ran.says(says);
        project.run(&format!("run {SPEC}")).exits(2).says(says);
        assert_eq!(requested(&project), [""; 0]);
        run(&project, "--list").exits(0);
        project
            .run(&format!("run {SPEC} --ignore-baseline"))
            .exits(0);
    };
    refused(
        "prompt: none",
        "prompt: none\nextract: none",
        "another scorer, scorer option or extraction",
    );
    let project = accepted(4, ":", GATES);
    project.write(
        "other.jsonl",
        project.read("data.jsonl").replace("\"q00", "\"r00"),
    );
    edit(&project, "../../data.jsonl", "../../other.jsonl");
    project
        .run(&format!("run {SPEC}"))
        .exits(2)
        .says("none of these samples");
    assert_eq!(requested(&project), [""; 0]);
}

#[test]
fn a_snapshot_edited_by_hand_is_noticed() {
    let project = accepted(6, ":", GATES);
    run(&project, "")
        .exits(0)
        .says_nothing_of("the snapshots changed");
    let (path, text) = snapshot(&project, "q001");
    assert!(text.contains("verdict: incorrect"), "{text}");
    std::fs::write(&path, text.replace("incorrect", "correct")).unwrap();
    let ran = run(&project, "").exits(101);
    ran.says("the snapshots changed since run")
        .says("cargo evaltest accept");
    std::fs::write(&path, "nonsense").unwrap();
    let ran = run(&project, "");
    assert_ne!(ran.code, Some(0));
    ran.says("not a snapshot of evaltest").says("q001.snap");
}

#[test]
fn only_whole_finished_runs_are_accepted() {
    let project = accepted(
        6,
        "test $EVALTEST_SAMPLE_ID != q004 -o ! -f out || exit 1",
        GATES,
    );
    let before = snapshots(&project);
    for arguments in [
        "--limit 3",
        "--filter q001",
        "--benchmark-option levels=[1]",
        "--set limits.limit=2",
    ] {
        let run = format!("run {SPEC} {arguments}");
        project.run(&run).exits(0);
        project
            .run("accept")
            .exits(2)
            .says("asked only a part")
            .says("--partial");
        assert_eq!(snapshots(&project), before, "{arguments}");
    }
    // An errored sample keeps its snapshot.
    project.write("fixtures/gaia/out", "");
    project.run(&format!("run {SPEC}")).exits(3);
    project
        .run("accept")
        .exits(2)
        .says("has too many errors to be a baseline: 1 of 6 samples, and `error_rate <= 0.05` allows fewer")
        .says("--resume");
    project
        .run("accept --partial")
        .exits(0)
        .says("q004 ended in an error; its snapshot stays as it was");
    assert_eq!(snapshots(&project), before);
    project
        .run(&format!("run {SPEC} --fail-fast --concurrency 1"))
        .exits(3);
    project
        .run("accept")
        .exits(2)
        .says("did not finish")
        .says("--resume");
    // Nothing but errors is nothing to accept.
    requested::agent(&project, "exit 1");
    std::fs::remove_dir_all(project.file(SNAPSHOTS)).unwrap();
    project.run(&format!("run {SPEC}")).exits(3);
    project
        .run("accept --partial")
        .exits(2)
        .says("no answer to accept");
    // A part, if that is wanted.
    requested::agent(&project, ":");
    project.run(&format!("run {SPEC} --limit 3")).exits(0);
    project
        .run("accept --partial")
        .exits(0)
        .says(" of 3 correct");
    assert_eq!(snapshots(&project).len(), 3);
}
