//! `compare`: two runs side by side, and all pairs of more.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::project::{Project, change_manifest, json_lines};
use crate::requested;

const COMMAND: &str = "{ type: command, command: [./agent.sh] }";

/// Of twelve questions the agent knows the six even ones; while `wrong` exists it gets four of them wrong, and with
/// `right` it knows q001 as well.
pub(crate) fn project(more: &str) -> Project {
    let then = "case $EVALTEST_SAMPLE_ID in q000|q002|q004|q006) test ! -f wrong || { echo 99; exit; };; \
                q001) test ! -f right || { echo something else; exit; };; esac";
    let project = requested::project(12, then, "");
    project.spec(COMMAND, more);
    project
}

/// Runs the eval while these files exist.
pub(crate) fn run_with(project: &Project, files: &[&str], flags: &str) -> PathBuf {
    for file in files {
        project.write(file, "");
    }
    project.run(&format!("run eval.yaml {flags}"));
    for file in files {
        fs::remove_file(project.file(file)).unwrap();
    }
    project.last_run()
}

pub(crate) fn compared(project: &Project, arguments: &str) -> Value {
    project
        .run(&format!("compare {arguments} --json"))
        .exits(0)
        .json()
}

pub(crate) fn regression(project: &Project) -> Value {
    let summary = project.last_run().join("summary.json");
    let summary: Value = serde_json::from_slice(&fs::read(summary).unwrap()).unwrap();
    summary["gates"][0]["regression"].clone()
}

/// The figures of a comparison are those of the gate whose baseline is the first run.
#[track_caller]
pub(crate) fn is_the_gates(found: &Value, gate: &Value) {
    for (ours, theirs) in [
        ("n", "pairs"),
        ("p", "p"),
        ("difference", "difference"),
        ("difference_ci95", "difference_ci95"),
        ("accuracy_a", "baseline_accuracy"),
        ("accuracy_b", "accuracy"),
        ("worse", "worse"),
        ("better", "better"),
        ("smallest_drop", "smallest_drop"),
        ("assumption", "assumption"),
    ] {
        assert_eq!(found[ours], gate[theirs], "{ours}");
    }
    assert_eq!(found["flips"]["worse"], gate["became_wrong"]);
    assert_eq!(found["flips"]["better"], gate["became_correct"]);
    assert!(found["p"].is_number(), "{found}");
}

#[test]
fn the_figures_are_those_of_the_gate_whose_baseline_is_the_first_run() {
    for (more, flags) in [
        ("", ""),
        ("epochs: 3\n", ""),
        // A group of questions hangs together.
        ("", "--set benchmark.cluster=Level"),
        ("epochs: 2\n", "--set benchmark.cluster=Level"),
        ("snapshot: { answers: masked }\n", ""),
    ] {
        let project = project(&format!("gates: [no_regression]\n{more}"));
        if more.starts_with("snapshot") {
            let spec = project.read("eval.yaml");
            project.write(
                "eval.yaml",
                spec.replace("snapshot: { answers: plain }\n", ""),
            );
        }
        run_with(&project, &[], &format!("{flags} --run-id before"));
        project.run("accept before").exits(0);
        run_with(
            &project,
            &["wrong", "right"],
            &format!("{flags} --run-id after"),
        );
        let gate = regression(&project);
        let found = compared(&project, "before after");
        is_the_gates(&found, &gate);
        assert_eq!(found["flips"]["worse"].as_array().unwrap().len(), 4);
        assert_eq!(found["flips"]["better"], json!(["q001"]));
        let has_groups = !flags.is_empty();
        assert_eq!(found["groups"].is_number(), has_groups, "{flags}");
    }
}

#[test]
fn the_summary_has_the_change_since_the_baseline_whatever_gates_ask() {
    let project = project("gates: [accuracy >= 0.1]\n");
    run_with(&project, &[], "--run-id before");
    let summary = || project.last_json("summary.json");
    assert!(summary().get("change").is_none());
    project.run("accept before").exits(0);
    run_with(&project, &["wrong", "right"], "--run-id after");
    let change = summary()["change"].clone();
    let found = compared(&project, "before after");
    for (ours, theirs) in [
        ("n", "n"),
        ("p", "p"),
        ("difference", "difference"),
        ("difference_ci95", "difference_ci95"),
        ("accuracy_before", "accuracy_a"),
        ("accuracy_now", "accuracy_b"),
        ("worse", "worse"),
        ("better", "better"),
    ] {
        assert_eq!(change[ours], found[theirs], "{ours}");
    }
    assert_eq!(change["n"], 12);
    assert_eq!(change["became_wrong"], found["flips"]["worse"]);
    assert_eq!(change["became_correct"], found["flips"]["better"]);
    assert_eq!(change["runs"], json!(["before"]));
    let again = project.run("summarize after --json").exits(0).json();
    assert_eq!(again["change"], change);
    // What another scorer says of the answers is no change of the agent.
    project
        .run("run eval.yaml --scorer exact --set snapshot.assert=off")
        .exits(0);
    assert!(summary().get("change").is_none(), "{}", summary());
}

#[test]
fn people_are_told_what_the_interval_says_and_who_flipped() {
    let project = project("scorers: [gaia, exact]\n");
    run_with(&project, &[], "--run-id before");
    run_with(&project, &["wrong"], "--run-id after");
    let text = project.run("compare before after").exits(0).out;
    for expected in [
        "A: before of e, ",
        "e: B looks worse than A (two-sided p = 0.051)\n",
        "B − A: −33.3 points (95 % interval −60.9 to −1.0) over 12 samples\n",
        "a gate `no_regression` tests only for a loss, and would fail; the exact test for any difference (two-sided) is \
         not significant at 0.05",
        "correct: 50.0 % in A, 16.7 % in B; 4 became wrong, 0 became correct",
        "p = 0.026 (one-sided, as in `no_regression`): the chance of a drop this large if nothing had changed; two-sided: p = 0.051",
        "\n  level = 1 ",
        "\n  scorer: exact ",
        "latency p95",
        "\nBecame wrong: 4\n",
        "  `q000`\n    question  What is 0?\n    expected  000\n    A         000  (correct)\n    B         99  (wrong, mismatch)\n",
    ] {
        assert!(text.contains(expected), "`{expected}` is not in:\n{text}");
    }
    let found = compared(&project, "before after --flips 1");
    assert_eq!(found["verdict"], "worse");
    assert_eq!(found["texts"].as_array().unwrap().len(), 1);
    assert_eq!(found["texts"][0]["b"]["answer"], "99");
    assert_eq!(found["slices"]["level"]["1"]["n"], 4);
    assert_eq!(found["scorers"]["exact"]["worse"], 4);
    assert_eq!(found["runs"][1]["run_id"], "after");
    run_with(&project, &["right"], "--run-id third");
    project
        .run("compare before third")
        .exits(0)
        .says("no significant difference between A and B\n")
        .says("B − A: +8.3 points (95 % interval ")
        .says("12 samples can detect a drop of ");
    // The other way round it is a gain.
    let back = compared(&project, "after before");
    assert_eq!(back["p_two_sided"], found["p_two_sided"]);
    assert_eq!(back["flips"]["better"], found["flips"]["worse"]);
}

#[test]
fn a_loss_that_the_interval_sees_is_one() {
    let then = "test ! -f wrong || { echo 99; exit; }";
    let project = requested::project(24, then, "");
    run_with(&project, &[], "--run-id before");
    run_with(&project, &["wrong"], "--run-id after");
    project
        .run("compare before after")
        .exits(0)
        .says("B is worse than A\n")
        .says("B − A: −50.0 points")
        .says("; 12 became wrong, 0 became correct")
        .says_nothing_of("seen with 80 % power");
    project
        .run("compare after before")
        .exits(0)
        .says("B is better than A\n")
        .says("B − A: +50.0 points");
}

#[test]
fn without_a_name_the_last_run_is_compared_with_the_one_before() {
    let project = project("");
    project.run("compare").exits(2).says("no run found");
    run_with(&project, &[], "--run-id first");
    project
        .run("compare")
        .exits(2)
        .says("eval `e` has no run before `first`");
    project
        .run("compare first")
        .exits(2)
        .says("run `first` is the last one of eval `e`");
    run_with(&project, &["wrong"], "--run-id second");
    // Of another eval.
    run_with(&project, &[], "--run-id other --set name=other");
    run_with(&project, &["right"], "--run-id third");
    let ids = |arguments: &str| {
        let found = compared(&project, arguments);
        [0, 1].map(|run| found["runs"][run]["run_id"].as_str().unwrap().to_owned())
    };
    assert_eq!(ids(""), ["second", "third"]);
    assert_eq!(ids("e"), ["second", "third"]);
    assert_eq!(ids("first"), ["first", "third"]);
    assert_eq!(ids("third second"), ["third", "second"]);
    project
        .run("compare other")
        .exits(2)
        .says("eval `other` has no run before `other`");
    project
        .run("compare first first")
        .exits(2)
        .says("A and B are the same run, `first`");
}

#[test]
fn runs_that_were_judged_otherwise_are_refused_until_both_are_judged_alike() {
    let project = project("scorer: gaia\n");
    run_with(&project, &[], "--run-id before");
    project.spec(COMMAND, "scorer: exact\n");
    run_with(&project, &["wrong"], "--run-id after");
    project
        .run("compare before after")
        .exits(2)
        .says("B (run `after`) has a different scorer")
        .says("cargo evaltest rescore evaltest-runs/")
        .says("--spec eval.yaml");
    let before = project.runs()[0].clone();
    let rescore = format!("rescore {} --spec eval.yaml", before.display());
    project.run(&rescore).exits(0);
    let rescored = project.last_run();
    let found = compared(&project, &format!("{} after", rescored.display()));
    assert_eq!(found["flips"]["worse"].as_array().unwrap().len(), 4);
}

#[test]
fn what_cannot_be_paired_is_named() {
    let project = project("");
    run_with(&project, &[], "--run-id before");
    // q000 has another question, q001 is gone, q900 is new, q002 is not answered.
    let data = project.read("data.jsonl").replace("What is 0?", "Is it?");
    let data = data.replace("q001", "q900");
    project.write("data.jsonl", data);
    requested::agent(&project, "test $EVALTEST_SAMPLE_ID != q002 || exit 3");
    run_with(&project, &[], "--run-id after");
    let found = compared(&project, "before after");
    let expect = json!({
        "only_in_a": ["q001"], "only_in_b": ["q900"], "changed": ["q000"], "without_verdict": ["q002"],
    });
    assert_eq!(found["unpaired"], expect);
    assert_eq!(found["n"], 9);
    project
        .run("compare before after")
        .exits(0)
        .says("only in A: 1\n    `q001`\n")
        .says("only in B: 1\n    `q900`\n")
        .says("with a different question, file or ground truth: 1\n    `q000`\n")
        .says("no verdict in one of the runs: 1\n    `q002`\n");
    // Of more runs the table says how many.
    run_with(&project, &[], "--run-id third");
    project
        .run("compare before after third")
        .exits(0)
        .says(
            "B − A leaves out 1 sample (only in A), 1 sample (only in B), 1 sample (with a different question, file \
             or ground truth), 1 sample (no verdict",
        )
        .says("C − B leaves out 1 sample (no verdict in one of the runs)");
    let found = compared(&project, "before after third");
    assert_eq!(found["pairs"][0]["unpaired"], expect);
    // Nothing in common at all.
    let data = project.read("data.jsonl").replace("\"q", "\"z");
    project.write("data.jsonl", data);
    run_with(&project, &[], "--run-id foreign --set name=f");
    project
        .run("compare before foreign")
        .exits(2)
        .says("A and B have no sample in common: A is of eval `e`, B of `f`");
}

#[test]
fn two_evals_with_the_same_questions_are_told_to_be_two() {
    let project = project("");
    run_with(&project, &[], "--run-id before");
    run_with(&project, &["wrong"], "--run-id after --set name=f");
    project
        .run("compare before after")
        .exits(0)
        .says("A is a run of eval `e`, B of eval `f`: only samples")
        .says("4 became wrong");
}

#[test]
fn nothing_of_a_masked_eval_is_shown_unless_asked_for() {
    let project = project("");
    let spec = project.read("eval.yaml");
    project.write(
        "eval.yaml",
        spec.replace("answers: plain", "answers: masked"),
    );
    requested::agent(&project, "test ! -f wrong || { echo secret-guess; exit; }");
    run_with(&project, &[], "--run-id before");
    run_with(&project, &["wrong"], "--run-id after");
    for command in ["compare before after", "compare before after --json"] {
        project
            .run(command)
            .exits(0)
            .says("q000")
            .says_nothing_of("What is")
            .says_nothing_of("secret-guess")
            .says_nothing_of("\"000\"");
        project
            .run(&format!("{command} --show-texts"))
            .exits(0)
            .says("What is 0?")
            .says("secret-guess");
    }
    project.run("compare before after").says("`--show-texts`");
    // One side that hides is enough.
    project.write("eval.yaml", spec);
    run_with(&project, &[], "--run-id open");
    project
        .run("compare after open")
        .exits(0)
        .says_nothing_of("What is");
}

#[test]
fn of_three_runs_all_pairs_are_told_with_p_adjusted_by_holm() {
    let project = project("");
    run_with(&project, &[], "--run-id one");
    run_with(&project, &["wrong"], "--run-id two");
    run_with(&project, &["right"], "--run-id three");
    let found = compared(&project, "one two three");
    let pairs = found["pairs"].as_array().unwrap();
    let names: Vec<_> = pairs.iter().map(|pair| [&pair["a"], &pair["b"]]).collect();
    assert_eq!(json!(names), json!([["A", "B"], ["A", "C"], ["B", "C"]]));
    let p: Vec<_> = pairs
        .iter()
        .map(|it| it["p_two_sided"].as_f64().unwrap())
        .collect();
    // 4 of 4, 1 of 1, and 5 of 5 went one way.
    let near = |one: f64, other: f64| (one - other).abs() < 1e-7;
    assert!(
        near(p[0], 0.051_493_491) && near(p[2], 0.038_574_219),
        "{p:?}"
    );
    let holm: Vec<_> = pairs
        .iter()
        .map(|it| it["p_holm"].as_f64().unwrap())
        .collect();
    assert!(
        near(holm[2], 3.0 * p[2]) && near(holm[0], 3.0 * p[2]),
        "{holm:?}"
    );
    let alone = compared(&project, "one two");
    for figure in ["p", "difference", "difference_ci95", "flips"] {
        assert_eq!(pairs[0][figure], alone[figure], "{figure}");
    }
    project
        .run("compare one two three")
        .exits(0)
        .says("C − B")
        .says("p is two-sided, and adjusted for all pairs (Holm)");
}

#[test]
fn a_damaged_run_is_refused_and_one_that_ended_early_is_told() {
    let project = project("");
    run_with(&project, &[], "--run-id before");
    let after = run_with(&project, &["wrong"], "--run-id after");
    change_manifest(&after, |manifest| manifest["status"] = "stopped".into());
    project
        .run("compare before after")
        .exits(0)
        .says("B ended early");
    let samples = after.join("samples.jsonl");
    assert_eq!(json_lines(&samples).len(), 12);
    let text = fs::read_to_string(&samples).unwrap();
    fs::write(&samples, text.replace("99", "98")).unwrap();
    project
        .run("compare before after")
        .exits(2)
        .says("samples.jsonl")
        .says("repair");
}

#[test]
fn a_killed_run_is_read_from_its_journal() {
    let project = project("");
    run_with(&project, &[], "--run-id before");
    let after = run_with(&project, &["wrong"], "--run-id after");
    change_manifest(&after, |manifest| manifest["status"] = "running".into());
    for file in ["samples.jsonl", "summary.json"] {
        fs::remove_file(after.join(file)).unwrap();
    }
    let ran = project.run("compare --json").exits(0).says("was killed");
    let found = ran.json();
    assert_eq!(found["flips"]["worse"].as_array().unwrap().len(), 4);
    assert_eq!(found["texts"][0]["b"]["answer"], "99");
}

#[test]
fn what_is_shown_commands_nothing() {
    let text = "::warning::a\u{1b}[31m\u{202e}b";
    let project = Project::with_eval(&[("::error::q", 1, text, text)], "echo", "scorer: exact\n");
    run_with(&project, &[], "--run-id before");
    let other = "agent={ type: command, command: [echo, '::error::no'] }";
    project.run_of(&["run", "eval.yaml", "--run-id", "after", "--set", other]);
    let out = project.run("compare before after").exits(0).out;
    assert!(out.contains("Became wrong: 1\n"), "{out}");
    assert!(out.contains("\\u{1b}[31m\\u{202e}b"), "{out}");
    assert!(!out.contains(['\u{1b}', '\u{202e}']), "{out}");
    assert!(
        !out.contains("::error::") && !out.contains("::warning::"),
        "{out}"
    );
}
