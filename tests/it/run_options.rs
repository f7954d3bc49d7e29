//! The options of `run`, and exit codes.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::project::{Project, Ran, json_lines};
use crate::requested::{self, requested};

/// Eight samples, of which the agent knows four; q000 to qNNN error when `out` says so.
fn project(gates: &str) -> Project {
    requested::project(
        8,
        "grep -q $EVALTEST_SAMPLE_ID out 2> /dev/null && exit 1",
        &format!("gates: [{gates}]\n"),
    )
}

/// The exit code of a run with these gates where these samples error, and of `gate` on it.
#[track_caller]
fn check(gates: &str, out: &str, code: i32) -> Project {
    let project = project(gates);
    project.write("out", out);
    project.run("run eval.yaml").exits(code);
    assert_eq!(project.last_json("summary.json")["exit_code"], code);
    let gate = project
        .run(&format!("gate {} --json", project.last_run().display()))
        .exits(code);
    assert_eq!(gate.json()["exit_code"], code);
    project
}

#[test]
fn exit_codes_tell_worse_from_broken() {
    check("accuracy >= 0.5", "", 0);
    check("accuracy >= 0.51", "", 1);
    check("accuracy(gaia) >= 0.5", "", 0);
    // 4 of 8 correct; two errors: from 3/8 to 5/8.
    let two = "q000 q001";
    check("accuracy >= 0.3", two, 3);
    check("", two, 3);
    check("accuracy >= 0.3, error_rate <= 1", two, 0);
    check("accuracy >= 0.7, error_rate <= 1", two, 1);
    check("accuracy >= 0.5", two, 3);
    check("error_rate <= 0.25", two, 0);
    check("error_rate <= 0.2", two, 3);
    // What did not work says more than what was wrong.
    check("error_rate <= 0.2, accuracy >= 0.9", two, 3);
    check("accuracy >= 0.5, failure_rate <= 0.1", two, 3);
    check("min_samples >= 7", two, 3);
    let all = "q000 q001 q002 q003 q004 q005 q006 q007";
    check("", all, 3);
    check("error_rate <= 1", all, 3);
    let project = check("accuracy >= 0.5", two, 3);
    let gate = &project.last_json("summary.json")["gates"][0];
    assert_eq!(gate["verdict"], "inconclusive");
    assert!(
        gate["message"].as_str().unwrap().contains("2 errored"),
        "{gate}"
    );
    let dir = project.last_run();
    project
        .run(&format!("gate {} --gate accuracy>=0.3", dir.display()))
        .exits(0);
    project
        .run(&format!("gate {} --gate accuracy>=0.9", dir.display()))
        .exits(1);
    project
        .run(&format!("gate {} --gate accurcy>=0.9", dir.display()))
        .exits(2);
    project.run("gate nowhere").exits(2);
}

#[test]
fn several_scorers_on_the_command_line_replace_those_of_the_spec() {
    let project = project("accuracy(lax) >= 0.4");
    let mut run = vec!["run", "eval.yaml", "--scorer", "substring"];
    run.extend(["--scorer", "{ type: substring, name: lax }"]);
    run.extend(["--scorer-option", "lax.compat=true"]);
    Ran::of(&project.command_of(&run).output().unwrap()).exits(0);
    let scorers = &project.last_json("manifest.json")["config"]["scorers"];
    assert_eq!(
        *scorers,
        json!(["substring", {"type": "substring", "name": "lax", "compat": true}])
    );
    let requested = requested(&project).len();
    let refused = |arguments: &str, says: &str| {
        let run = format!("run eval.yaml {arguments}");
        project.run(&run).exits(2).says(says);
    };
    refused("--scorer gaia --scorer gaia", "`gaia` is given twice");
    refused("--scorer-option compat=true", "without `--scorer`");
    refused(
        "--scorer gaia --scorer-option compat=true",
        "`gaia` has no options",
    );
    assert_eq!(self::requested(&project).len(), requested);
}

#[test]
fn the_worst_of_several_evals_is_the_exit_code() {
    let project = project("accuracy >= 0.9");
    project.write(
        "other.yaml",
        project
            .read("eval.yaml")
            .replace("name: e", "name: other")
            .replace("0.9", "0.1"),
    );
    project
        .run("run eval.yaml other.yaml")
        .exits(1)
        .says("2 evals, exit code 1");
    // Of nothing else is asked when one spec is wrong.
    project.write("wrong.yaml", "name: wrong\n");
    let before = requested(&project).len();
    project
        .run("run eval.yaml wrong.yaml")
        .exits(2)
        .says("wrong.yaml");
    assert_eq!(requested(&project).len(), before);
    project.write("twice.yaml", project.read("eval.yaml"));
    project
        .run("run eval.yaml twice.yaml")
        .exits(2)
        .says("two evals are called `e`");
    project
        .run("list eval.yaml twice.yaml")
        .exits(2)
        .says("two evals are called `e`: `eval.yaml` and `twice.yaml`")
        .says("hint: give one of them another `name:`");
    project
        .run("run eval.yaml other.yaml --run-id x")
        .exits(2)
        .says("exactly one eval");
}

#[test]
fn no_regression_without_a_baseline() {
    let project = project("no_regression(max_drop=0.4)");
    project
        .run("run eval.yaml")
        .exits(0)
        .says("no baseline yet");
    // It was not checked.
    project.run("runs").exits(0).says("1 ✓ 1 -");
    let ci = |value: &str| {
        Ran::of(
            &project
                .command("run eval.yaml")
                .env("CI", value)
                .output()
                .unwrap(),
        )
    };
    ci("true")
        .exits(1)
        .says("no baseline")
        .says("next, on your machine: cargo evaltest run e")
        .says(" && cargo evaltest accept e\n");
    ci("false").exits(0);
    let dir = project.last_run();
    let mut gate = project.command(&format!("gate {}", dir.display()));
    Ran::of(&gate.env("CI", "1").output().unwrap()).exits(1);
    project.run("accept").exits(0);
    ci("true").exits(0);

    // A worse agent fails, unless the baseline is left alone.
    requested::agent(&project, "echo nothing; exit");
    project
        .run("run eval.yaml --set gates=['no_regression(max_drop=0.1)']")
        .exits(1)
        .says("became wrong");
    project
        .run("run eval.yaml --ignore-baseline")
        .exits(0)
        .says_nothing_of("wrong now");
}

#[test]
fn failed_asks_what_failed_or_flipped() {
    let project = project("accuracy >= 0.1");
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    project.write("out", "q005 q006");
    requested::agent(
        &project,
        "grep -q $EVALTEST_SAMPLE_ID out && exit 1; test $EVALTEST_SAMPLE_ID != q002 || { echo 5; exit; }",
    );
    project.run("run eval.yaml");
    let dir = project.last_run();
    std::fs::remove_file(project.file("asked.log")).unwrap();
    // Also without the spec, which the run knows.
    for spec in ["eval.yaml", ""] {
        project.run(&format!("run {spec} --failed {}", dir.display()));
        let mut ids = requested(&project);
        ids.sort();
        assert_eq!(ids, ["q002", "q005", "q006"]);
        std::fs::remove_file(project.file("asked.log")).unwrap();
        assert_eq!(
            project.last_json("summary.json")["gates"][0]["verdict"],
            "ignored"
        );
        assert_eq!(project.last_json("manifest.json")["whole"], false);
    }
    project.write("out", "");
    requested::agent(&project, ":");
    project.run("run eval.yaml").exits(0);
    let clean = project.last_run();
    project
        .run(&format!("run eval.yaml --failed {}", clean.display()))
        .exits(2)
        .says("nothing failed");
    project.write(
        "other.yaml",
        project.read("eval.yaml").replace("name: e", "name: other"),
    );
    project
        .run(&format!("run other.yaml --failed {}", dir.display()))
        .exits(2)
        .says("is of eval `e`, not of `other`");
}

#[test]
fn filter_selects_by_test_name() {
    let project = project("accuracy >= 0.9");
    let ran = project.run("run eval.yaml --filter level1::q003").exits(0);
    ran.says("1 of 8 samples selected");
    assert_eq!(requested(&project), ["q003"]);
    project
        .run("run eval.yaml --filter level1::q003 --limit 1")
        .exits(2)
        .says("no sample is selected among the first 1 (`limits.limit`)");
    project
        .run("run eval.yaml --filter nothing-like-this")
        .exits(2)
        .says("no sample");
    // With several evals, those without a hit are left out.
    let other = project.read("eval.yaml").replace("name: e", "name: other");
    project.write("other.yaml", other);
    project
        .run("run eval.yaml other.yaml --filter other::level1")
        .exits(0)
        .says_nothing_of("e: ");
    assert_eq!(project.runs().len(), 2);
    project
        .run("run eval.yaml other.yaml --filter nowhere")
        .exits(2)
        .says("--filter nowhere");
}

#[test]
fn a_dry_run_asks_nothing() {
    let project = project("accuracy >= 0.9");
    let ran = project
        .run("run eval.yaml --dry-run --retries 2 --limit 5")
        .exits(0);
    ran.says("e: 5 samples, 5 to 15 requests");
    let json = project
        .run("run eval.yaml --dry-run --json")
        .exits(0)
        .json();
    assert_eq!(
        (&json[0]["samples"], &json[0]["most_requests"]),
        (&8.into(), &8.into())
    );
    assert_eq!(requested(&project), [""; 0]);
    assert!(!project.file("evaltest-runs").exists());
}

#[test]
fn json_is_all_of_standard_output() {
    let project = project("accuracy >= 0.9");
    project.run("run eval.yaml").exits(1);
    project.run("accept --failed-gates").exits(0);
    requested::agent(
        &project,
        "test $EVALTEST_SAMPLE_ID != q002 || { echo 5; exit; }",
    );
    let json = project.run("run eval.yaml --json").exits(1).json();
    assert_eq!(json["exit_code"], 1);
    let run = &json["runs"][0];
    assert_eq!(run["eval"], "e");
    assert_eq!(run["flipped_to_wrong"], serde_json::json!(["q002"]));
    assert_eq!(run["summary"], project.last_json("summary.json"));
    assert_eq!(
        PathBuf::from(run["run_dir"].as_str().unwrap()),
        project.last_run()
    );
}

#[test]
fn stream_shows_what_agents_print_redacted() {
    let project = project("");
    requested::agent(
        &project,
        "echo \"thinking about $EVALTEST_SAMPLE_ID with corp-1234\" >&2",
    );
    let arguments = "run eval.yaml --limit 2 --redact-pattern corp-[0-9]+";
    project.run(arguments).exits(0).says_nothing_of("thinking");
    let ran = project.run(&format!("{arguments} --stream")).exits(0);
    let ran = ran.says("q000| thinking about q000 with ").says("q001| ");
    ran.says_nothing_of("corp-1234");
}

#[test]
fn shuffles_are_seeded_and_limits_come_after() {
    let project = project("");
    let order = |options: &str| -> Vec<String> {
        project
            .run(&format!("run eval.yaml --concurrency 1 {options}"))
            .exits(0);
        let id = |line: serde_json::Value| line["sample_id"].as_str().unwrap().to_owned();
        let records = project.last_lines("samples.jsonl").into_iter().map(id);
        assert!(records.is_sorted(), "records stand in dataset order");
        let mut events = project.last_lines("events.jsonl");
        events.retain(|event| event["kind"] == "started");
        events.into_iter().map(id).collect()
    };
    let plain = order("");
    assert!(plain.is_sorted() && plain.len() == 8);
    let seven = order("--shuffle --seed 7");
    assert_ne!(seven, plain);
    assert_eq!(order("--seed 7"), seven);
    assert_ne!(order("--seed 8"), seven);
    assert_eq!(order("--seed 7 --limit 3"), seven[..3]);
    assert_eq!(order("--limit 3"), plain[..3]);
    project
        .run("run eval.yaml --limit 0")
        .exits(2)
        .says("at least 1");
    let mut sorted = seven;
    sorted.sort();
    assert_eq!(sorted, plain);
}

#[test]
fn evals_are_chosen_by_name_or_benchmark_and_agents_replaced() {
    let project = project("accuracy >= 0.1");
    let spec = project
        .read("eval.yaml")
        .replace("data.jsonl", "../data.jsonl");
    let spec = spec.replace("./agent.sh", "../agent.sh");
    project.write("evals/one.yaml", spec.replace("name: e", "name: one"));
    project.write("evals/two.yaml", spec.replace("name: e", "name: two"));
    project
        .run("-v")
        .exits(0)
        .says("one: 8 samples")
        .says("two: 8 samples");
    project
        .run("run -v --benchmark two")
        .exits(0)
        .says("two: 8")
        .says_nothing_of("one:");
    project
        .run("run --benchmark gaia --verbose")
        .exits(0)
        .says("two: 8")
        .says("one: 8");
    project
        .run("run -v --benchmark none")
        .exits(2)
        .says("`none`");
    let before = requested(&project).len();
    project
        .run("run -v --benchmark one --agent echo")
        .exits(1)
        .says("one: 8 samples, 0 correct");
    assert_eq!(requested(&project).len(), before);
    project
        .run("run -v --benchmark one --agent ecko")
        .exits(2)
        .says("ecko");
    // Without any spec.
    project
        .run("run -v --benchmark gaia --benchmark-option path=data.jsonl --agent echo --limit 2")
        .exits(0)
        .says("gaia: partial run, 2 samples");
}

#[test]
fn run_id_and_output_root_say_where() {
    let project = project("");
    project
        .run("run eval.yaml --limit 1 --run-id mine --output-root elsewhere/runs")
        .exits(0);
    let root = project.file("elsewhere/runs");
    assert_eq!(
        std::fs::read_to_string(root.join(".gitignore")).unwrap(),
        "*\n"
    );
    let runs: Vec<_> = std::fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let run = runs.into_iter().find(|path| path.is_dir()).unwrap();
    let name = run.file_name().unwrap().to_string_lossy().into_owned();
    assert!(
        name.len() == 16 + 1 + 4 && name.ends_with("Z_mine"),
        "{name}"
    );
    assert_eq!(json_lines(&run.join("samples.jsonl")).len(), 1);
    assert!(!project.file("evaltest-runs").exists());
    for id in ["a/b", "..", ""] {
        project
            .command_of(&["run", "eval.yaml", "--run-id", id])
            .output()
            .map(|out| Ran::of(&out).exits(2))
            .unwrap();
    }
    assert_eq!(requested(&project).len(), 1);
}

#[test]
fn fail_fast_stops_at_the_first_failure() {
    let project = project("accuracy >= 0.1");
    project.write("out", "q002");
    project
        .run("run eval.yaml --concurrency 1 --fail-fast")
        .exits(3)
        .says("5 samples not asked");
    assert_eq!(requested(&project), ["q000", "q001", "q002"]);
    let manifest = project.last_json("manifest.json");
    assert_eq!(manifest["status"], "stopped");
    let skipped = |line: &&Value| line["result"]["status"] == "skipped";
    assert_eq!(
        project
            .last_lines("samples.jsonl")
            .iter()
            .filter(skipped)
            .count(),
        5
    );
}
