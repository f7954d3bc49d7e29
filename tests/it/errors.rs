//! Errors are neither right nor hidden: what is shown of them, and what they do to verdicts.

mod message;

use serde_json::{Value, json};

use crate::project::Project;
use crate::wait::{given_time, late};

const AGENT: &str = "{ type: command, command: [./agent.sh] }";

/// An eval of so many questions, `q000` and so on in level 1 and 2 by turns; `script` sees the number as `$n` and the
/// epoch as `$EVALTEST_EPOCH`.
fn project(questions: usize, script: &str, more: &str) -> Project {
    let ids: Vec<String> = (0..questions).map(|n| format!("q{n:03}")).collect();
    let level = |n: usize| u32::try_from(n % 2 + 1).unwrap();
    let rows = ids.iter().enumerate();
    let rows: Vec<_> = rows
        .map(|(n, id)| (id.as_str(), level(n), "What?", "1"))
        .collect();
    let project = Project::with_eval(&rows, AGENT, more);
    let script = format!(
        "#!/bin/sh\nn=${{EVALTEST_SAMPLE_ID#q}}; n=${{n#0}}; n=${{n#0}}\n\
         right() {{ echo 'FINAL ANSWER: 1'; }}\nwrong() {{ echo 'FINAL ANSWER: 2'; }}\n{script}\n"
    );
    project.script("agent.sh", &script);
    project
}

#[test]
fn with_errors_the_headline_is_a_range() {
    let range = "66.7 % to 100.0 % (10 of 30 without an answer)";
    let project = project(
        30,
        "[ $n -ge 20 ] && { echo out >&2; exit 3; }; right",
        "gates: [error_rate <= 0.5]\n",
    );
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says(&format!(
            "30 samples, 20 correct, accuracy {range}, 10 errors"
        ))
        .says("level 1 66.7 % to 100.0 % (10 of 10, +5 errors)");
    let summary = project.last_json("summary.json");
    let bounds = json!([20.0 / 30.0, 1.0]);
    assert_eq!(summary["accuracy"], 1.0);
    assert_eq!(summary["accuracy_bounds"], bounds);
    assert_eq!(summary["slices"]["level"]["1"]["accuracy_bounds"], bounds);
    let dir = project.last_run();
    let text = std::fs::read_to_string(dir.join("summary.md")).unwrap();
    assert!(
        text.contains(
            "**66.7 % to 100.0 %** correct: 20 of 30 answers are correct, 10 are missing."
        ),
        "{text}"
    );
    assert!(
        text.contains(" level 1: 66.7 % to 100.0 % (range), 10 of 10, 5 without a verdict\n"),
        "{text}"
    );
    let dir = dir.display();
    for again in ["summarize", "gate -v", "rescore -v"] {
        let ran = project.run(&format!("{again} {dir}"));
        ran.exits(0).says(range);
    }
    let summary = project.run(&format!("summarize {dir} --json")).json();
    assert_eq!(summary["accuracy_bounds"], bounds);
}

#[test]
fn without_errors_the_bounds_are_the_accuracy() {
    let project = project(4, "[ $n = 3 ] && wrong || right", "");
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("accuracy 75.0 % (95 % interval");
    let summary = project.last_json("summary.json");
    assert_eq!(summary["accuracy_bounds"], json!([0.75, 0.75]));
}

#[test]
fn an_epoch_without_an_answer_is_wrong_and_right_within_its_sample() {
    // Of two epochs each the second of `q001` is lost.
    let project = project(
        2,
        "[ $n$EVALTEST_EPOCH = 11 ] && exit 3; right",
        "epochs: 2\ngates:\n  - error_rate <= 0.5\n  - accuracy >= 0.7\n  - accuracy[level=2] >= 0.6\n  - accuracy[level=1] >= 1\n",
    );
    project
        .run("run -v eval.yaml")
        .exits(3)
        .says("accuracy 75.0 % to 100.0 % (1 of 4 without an answer)")
        .says("pass^2 50.0 % to 100.0 %")
        .says("gate accuracy >= 0.7: passed")
        .says("gate accuracy[level=2] >= 0.6: INCONCLUSIVE")
        .says("gate accuracy[level=1] >= 1: passed");
    let summary = project.last_json("summary.json");
    assert_eq!(summary["accuracy_bounds"], json!([0.75, 1.0]));
    let slices = &summary["slices"]["level"];
    assert_eq!(slices["1"]["accuracy_bounds"], json!([1.0, 1.0]));
    assert_eq!(slices["2"]["accuracy_bounds"], json!([0.5, 1.0]));
    assert_eq!(slices["2"]["accuracy"], 1.0);
}

#[test]
fn where_no_sample_has_an_answer_everything_is_open() {
    let project = project(3, "exit 3", "");
    project
        .run("run -v eval.yaml")
        .exits(3)
        .says("accuracy 0.0 % to 100.0 % (3 of 3 without an answer)");
    let summary = project.last_json("summary.json");
    assert_eq!(summary["accuracy"], Value::Null);
    assert_eq!(summary["accuracy_bounds"], json!([0.0, 1.0]));
}

const DEFAULT: &str = "e::gate::error_rate";

#[test]
fn an_eval_without_an_error_rate_has_one() {
    let fails = |more: &str| project(20, "[ $n -lt $(cat down) ] && exit 3; right", more);
    let check = |project: &Project, down: &str, code: i32, says: &str| {
        project.write("down", down);
        project.run("run -v eval.yaml").exits(code).says(says);
        project.last_json("summary.json")["gates"].clone()
    };
    let own = fails("gates: [accuracy >= 0.5]\n");
    let gates = check(
        &own,
        "1",
        0,
        "gate error_rate <= 0.05: passed: error rate 5.0 %",
    );
    assert_eq!(gates[0]["default"], Value::Null, "{gates}");
    assert_eq!(gates[1]["gate"], "error_rate <= 0.05");
    assert_eq!(gates[1]["default"], true);
    let gates = check(&own, "2", 3, "gate error_rate <= 0.05: FAILED");
    assert_eq!(gates[0]["verdict"], "passed", "{gates}");
    assert_eq!(gates[1]["verdict"], "failed");
    // It is no other gate than any, wherever gates are asked.
    let dir = own.last_run();
    let dir = dir.display();
    own.run(&format!("gate -v {dir}"))
        .exits(3)
        .says("gate error_rate <= 0.05: FAILED");
    own.run(&format!("summarize {dir}"))
        .says("this gate is the default");
    own.run(&format!("rescore -v {dir}"))
        .says("gate error_rate <= 0.05: FAILED");
    own.run(&format!("gate -v {}", own.last_run().display()))
        .exits(3);
    let manifest = own.last_json("manifest.json");
    assert_eq!(manifest["config"]["gates"], json!(["accuracy >= 0.5"]));
    // Whoever names gates asks for these alone.
    own.run_of(&["gate", "-v", &dir.to_string(), "--gate", "accuracy >= 0.5"])
        .exits(0)
        .says_nothing_of("gate error_rate");
    // One of its own takes its place, and that of a slice does not.
    let other = fails("gates: [error_rate <= 0.1]\n");
    let gates = check(&other, "2", 0, "gate error_rate <= 0.1: passed");
    assert_eq!(gates.as_array().unwrap().len(), 1);
    let slice = fails("gates:\n  - error_rate[level=1] <= 0.5\n");
    check(&slice, "2", 3, "gate error_rate <= 0.05: FAILED");
    for (project, names) in [
        (&own, ["e::gate::accuracy", DEFAULT].as_slice()),
        (&other, &[DEFAULT]),
        (&slice, &["e::gate::error_rate[level=1]", DEFAULT]),
    ] {
        let listing = project.run("list eval.yaml --json").json();
        assert_eq!(listing[0]["gates"], json!(names));
    }
}

#[test]
fn a_part_of_an_eval_has_the_default_error_rate_too() {
    let project = project(
        20,
        "[ $n -lt 2 ] && exit 3; right",
        "gates: [accuracy >= 0.5]\n",
    );
    project
        .run("run -v eval.yaml --filter q00")
        .exits(3)
        .says("gate accuracy >= 0.5: ignored: not checked: 10 of 20 samples selected")
        .says("gate error_rate <= 0.05: FAILED: error rate 20.0 % (2 of 10 samples), limit 5 %");
    project
        .run("run -v eval.yaml --filter q01")
        .says("gate error_rate <= 0.05: passed: error rate 0.0 % (0 of 10 samples), limit 5 %");
}

/// Ten samples: eight are right, and two have an agent that fails in `way`.
fn failing(way: &str, more: &str) -> Project {
    let script = format!("[ $n -ge 8 ] && {{ {way}; }}; right");
    project(10, &script, &format!("errors: wrong\n{more}"))
}

#[test]
fn failures_of_the_agent_itself_may_count_as_wrong() {
    let own = [
        ("echo why >&2; exit 3", "exited", "agent_failed"),
        ("kill -SEGV $$", "exited", "agent_failed"),
        ("exit 0", "no_output", "agent_failed"),
        ("sleep 600", "timed_out", "timed_out"),
        (
            "head -c 99999 /dev/zero; exit",
            "output_too_large",
            "agent_failed",
        ),
    ];
    for (way, kind, reason) in own {
        // All but what hangs have time to answer.
        let (project, ran) = given_time(0.4, |timeout| {
            let limits = format!(
                "limits: {{ timeout_s: {timeout}, max_output_bytes: 1000, concurrency: 10 }}\n\
                 gates: [accuracy >= 0.8]\n"
            );
            let project = failing(way, &limits);
            let ran = project.run("run -v eval.yaml");
            let hang = if kind == "timed_out" { 2 } else { 0 };
            (late(&project).len() == hang).then_some((project, ran))
        });
        ran.exits(0)
            .says("10 samples, 8 correct, accuracy 80.0 % (95 % interval")
            .says("0 errors")
            .says("failed, which counts as wrong (2):")
            .says("gate accuracy >= 0.8: passed: accuracy 80.0 % (8 of 10 correct")
            .says("gate error_rate <= 0.05: passed");
        let summary = project.last_json("summary.json");
        assert_eq!(summary["errors"], 0, "{way}");
        assert_eq!(summary["failed_as_wrong"], 2, "{way}");
        assert_eq!(summary["accuracy_bounds"], json!([0.8, 0.8]), "{way}");
        let record = &project.last_lines("samples.jsonl")[9]["result"];
        assert_eq!(record["status"], "scored", "{way}");
        assert_eq!(record["output"], Value::Null, "{way}");
        assert_eq!(record["score"]["value"], 0.0, "{way}");
        assert_eq!(record["score"]["correct"], false, "{way}");
        assert_eq!(record["score"]["reason"], reason, "{way}");
        assert_eq!(record["error"]["kind"], kind, "{way}");
        assert_eq!(project.last_lines("errors.jsonl").len(), 0, "{way}");
    }
    // What cannot be read is a reply that is none.
    let project = failing("echo no json; exit", "");
    project.spec(
        "{ type: command, command: [./agent.sh], output: json }",
        "errors: wrong\ngates: [accuracy >= 0]\n",
    );
    project.run("run -v eval.yaml");
    let summary = project.last_json("summary.json");
    assert_eq!(
        (&summary["errors"], &summary["accuracy"]),
        (&json!(0), &json!(0.0))
    );
}

#[test]
fn what_the_agent_cannot_help_is_never_wrong() {
    let check = |project: &Project, kind: &str| {
        project.run("run eval.yaml").exits(3);
        let summary = project.last_json("summary.json");
        assert_eq!(summary["failures"], json!({ kind: summary["errors"] }));
        assert_eq!(summary["failed_as_wrong"], Value::Null);
        let errors = project.last_lines("errors.jsonl");
        assert_eq!(json!(errors.len()), summary["errors"]);
    };
    // As the system does that runs out of memory.
    check(&failing("kill -KILL $$", ""), "exited");
    let absent = failing("right", "");
    absent.script("none.sh", "#!/no/such/interpreter\n");
    absent.spec("{ type: command, command: [./none.sh] }", "errors: wrong\n");
    check(&absent, "not_found");
    // Without a ground truth nothing is wrong.
    let hidden = failing("exit 3", "");
    let data = hidden
        .read("data.jsonl")
        .replace("\"Final answer\":\"1\"", "\"Final answer\":\"?\"");
    hidden.write("data.jsonl", data);
    hidden.run("run eval.yaml").exits(3);
    let summary = hidden.last_json("summary.json");
    assert_eq!(
        (&summary["unscored"], &summary["errors"]),
        (&json!(8), &json!(2))
    );
}

#[test]
fn an_endpoint_that_is_out_is_never_wrong() {
    let project = failing("right", "");
    let agent = "{ type: http, url: 'http://127.0.0.1:1/', body: { q: '{prompt}' }, answer: /a }";
    project.spec(
        agent,
        "errors: wrong\nlimits: { retries: 0, backoff_s: 0 }\n",
    );
    let ran = project.run("run eval.yaml");
    ran.exits(3);
    let summary = project.last_json("summary.json");
    assert_eq!(summary["scored"], 0, "{summary}");
}

#[test]
fn a_failure_that_is_wrong_is_so_wherever_the_run_is_looked_at() {
    let wrong = failing(
        "exit 3",
        "gates: [accuracy >= 0.9]\nscorers: [gaia, substring]\n",
    );
    wrong.run("run -v eval.yaml").exits(1);
    let lines = wrong.last_lines("samples.jsonl");
    assert_eq!(lines[9]["result"]["scores"]["substring"]["correct"], false);
    let dir = wrong.last_run();
    let dir = dir.display();
    let says = "10 samples, 8 correct, accuracy 80.0 %";
    wrong.run(&format!("gate -v {dir}")).exits(1).says(says);
    wrong.run(&format!("summarize {dir}")).exits(0).says(says);
    wrong
        .run(&format!("show {dir} q009"))
        .exits(0)
        .says("exited with code 3");
    // It is no answer that another scorer could judge.
    wrong
        .run(&format!(
            "rescore -v {dir} --scorer exact --scorer includes"
        ))
        .exits(0)
        .says("8 correct, accuracy 80.0 %");
    let again = wrong.last_lines("samples.jsonl");
    let (old, new) = (&lines[9]["result"], &again[9]["result"]);
    assert_eq!(new["score"], old["score"]);
    assert_eq!(new["error"], old["error"]);
    assert_eq!(new["scores"]["includes"], old["score"]);
    assert_eq!(new["scores"]["gaia"], Value::Null);
    wrong.run(&format!("rescore -v {dir}")).exits(0).says(says);
    // A second try does not make it right.
    wrong.script("agent.sh", "#!/bin/sh\necho 'FINAL ANSWER: 1'\n");
    wrong
        .run(&format!("run -v --resume {dir} --no-cache"))
        .says_nothing_of("accuracy 100");
    // Nor are failures of one kind compared with those of the other.
    wrong.run(&format!("accept --failed-gates {dir}")).exits(0);
    let other = wrong
        .read("eval.yaml")
        .replace("errors: wrong", "errors: infrastructure");
    wrong.write("eval.yaml", other);
    wrong
        .run("run -v eval.yaml")
        .exits(2)
        .says("another scorer");
}

#[test]
fn a_mean_over_answers_is_open_where_a_failure_has_none() {
    let project = failing(
        "exit 3",
        "scorer: token_f1\nextract: final_answer\ngates:\n  - mean(value) >= 0.8\n  - mean(f1) >= 0.9\n",
    );
    project
        .run("run -v eval.yaml")
        .exits(3)
        .says("gate mean(value) >= 0.8: passed")
        .says("gate mean(f1) >= 0.9: INCONCLUSIVE");
}

#[test]
fn an_agent_that_fails_alike_from_the_start_stops_the_run() {
    let script = "echo \"pid $$: no module named x\" >&2; exit 7";
    for (more, errors) in [("", true), ("errors: wrong\n", false)] {
        let repeating = project(40, script, &format!("limits: {{ concurrency: 2 }}\n{more}"));
        repeating
            .run("run eval.yaml")
            .exits(3)
            .says("stopped early: the first 10 attempts failed in the same way: exited with code 7; stderr ends with")
            .says("no module named x")
            .says(" samples not asked); hint: fix the agent, or start again with `cargo evaltest run --keep-going`\n")
            .says("next: cargo evaltest show e q")
            // A mended agent is another one: such a run cannot go on.
            .says_nothing_of("--resume");
        let summary = repeating.last_json("summary.json");
        assert!(summary["attempts"].as_u64().unwrap() < 13, "{summary}");
        assert!(summary["skipped"].as_u64().unwrap() > 25, "{summary}");
        assert_eq!(repeating.last_json("manifest.json")["status"], "stopped");
        let refused = repeating.run("accept").exits(2);
        let refused = refused.says_nothing_of("--resume");
        let (_, next) = refused
            .err
            .split_once("run the eval again: cargo evaltest ")
            .unwrap();
        let next = next.trim();
        let ran = repeating.run("run eval.yaml --keep-going");
        ran.exits(if errors { 3 } else { 0 })
            .says_nothing_of("stopped early");
        let summary = repeating.last_json("summary.json");
        assert_eq!(summary["skipped"], 0);
        assert_eq!(summary["attempts"], 40);
        repeating.script("agent.sh", "#!/bin/sh\necho 'FINAL ANSWER: 1'\n");
        repeating.run(next).exits(0);
        repeating.run("accept").exits(0);
    }
}

#[test]
fn attempts_that_fail_in_several_ways_stop_nothing() {
    for script in [
        "[ $n = 3 ] && right || exit 7",
        "[ $n = 3 ] && exit 8; exit 7",
        "echo $n | tr 0-9 a-j >&2; exit 7",
    ] {
        let project = project(25, script, "limits: { concurrency: 1 }\n");
        project
            .run("run eval.yaml")
            .exits(3)
            .says_nothing_of("stopped early");
        assert_eq!(
            project.last_json("summary.json")["attempts"],
            25,
            "{script}"
        );
    }
}

#[test]
fn attempts_count_with_those_that_are_repeated_and_workers_as_well() {
    let agent = "{ type: worker, command: [./worker.sh] }";
    let project = project(
        30,
        "",
        "limits: { concurrency: 1, retries: 4, backoff_s: 0 }\n",
    );
    project
        .run("run eval.yaml")
        .exits(3)
        .says("the first 10 attempts failed in the same way");
    let summary = project.last_json("summary.json");
    assert_eq!(summary["attempts"], 10, "two samples in five attempts each");
    project.script(
        "worker.sh",
        "#!/bin/sh\nwhile read -r line; do\n\
         id=$(echo \"$line\" | sed 's/.*\"id\":\"\\([^\"]*\\)\".*/\\1/')\n\
         echo \"{\\\"id\\\":\\\"$id\\\",\\\"error\\\":\\\"no key\\\"}\"\ndone\n",
    );
    project.spec(agent, "limits: { concurrency: 1, retries: 0 }\n");
    project
        .run("run eval.yaml")
        .exits(3)
        .says("the first 10 attempts failed in the same way");
}

#[test]
fn what_counts_as_wrong_is_said_in_one_of_two_words() {
    let project = project(2, "exit 3", "errors: wong\n");
    project
        .run("run -v eval.yaml")
        .exits(2)
        .says("eval.yaml:6:")
        .says("`infrastructure`")
        .says("`wrong`");
    project.spec(AGENT, "");
    project.run("run -v eval.yaml").exits(3);
    let flags = "run -v eval.yaml --set errors=wrong";
    project
        .run(flags)
        .exits(0)
        .says("2 samples, 0 correct, accuracy 0.0 %");
    // `fail_fast` stops at the first that failed, however it counts.
    project
        .run(&format!("{flags} --fail-fast --concurrency 1"))
        .exits(3)
        .says("sample `q000` failed and `fail_fast` is set");
    // A run that began with one of them does not go on with the other.
    project
        .run("run -v eval.yaml --fail-fast --concurrency 1")
        .exits(3);
    let dir = project.last_run();
    let resume = format!("run --resume {} --set errors=wrong", dir.display());
    project.run(&resume).exits(2);
}
