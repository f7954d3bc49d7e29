//! The same tests under nextest, where each is a process of its own.

use std::fs;
use std::path::Path;

use needs::needs;
use serde_json::Value;

use crate::project::{Project, Ran, json_lines};
use crate::requested::{self, requested};

/// A cargo project made by `init`, with samples that log what they are asked.
fn project() -> Project {
    let project = Project::new();
    let name =
        "[package]\nname = \"next\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    project.write("Cargo.toml", name);
    project.write("src/lib.rs", "//! A user's crate.\n");
    project.run("init --name e").exits(0);
    project.lock_file();
    requested::write_questions(&project, 8);
    requested::agent(
        &project,
        "test ! -f wrong -o $EVALTEST_SAMPLE_ID != q002 || { echo 99; exit; }",
    );
    project.write(
        "evals/e.yaml",
        "name: e\nbenchmark: { type: gaia, path: ../data.jsonl }\nprompt: none\n\
         agent: { type: command, command: [../agent.sh] }\nsnapshot: { answers: plain, confirm: 1 }\n\
         gates: [accuracy >= 0.1, min_samples >= 8, no_regression(max_drop=0.02)]\n",
    );
    project
}

fn nextest(project: &Project, arguments: &str) -> Ran {
    project.cargo(&format!(
        "nextest run --offline --color never --test e {arguments}"
    ))
}

/// The tests with this verdict, sorted.
fn with(ran: &Ran, verdict: &str) -> Vec<String> {
    let of = |line: &str| {
        let rest = line.trim().strip_prefix(verdict)?.trim_start();
        let name = rest
            .starts_with('[')
            .then(|| rest.split_whitespace().last())??;
        Some(name.to_owned())
    };
    let mut names: Vec<_> = ran.err.lines().filter_map(of).collect();
    names.sort();
    names.dedup();
    names
}

#[needs(nextest)]
#[test]
fn nextest_gives_the_verdicts_of_cargo_test() {
    let project = project();
    project.run("run").exits(0).says("no baseline yet");
    project.run("accept").exits(0).says("4 of 8 correct");

    let ran = nextest(&project, "").exits(0);
    assert_eq!(with(&ran, "PASS").len(), 8 + 4, "{}", ran.err);
    // One run directory holds all of it, and can be the baseline.
    assert_eq!(project.runs().len(), 2);
    assert_eq!(project.last_lines("samples.jsonl").len(), 8);
    let manifest = project.last_json("manifest.json");
    assert_eq!(
        (&manifest["status"], &manifest["whole"]),
        (&"finished".into(), &true.into())
    );
    let ids = |lines: Vec<serde_json::Value>| -> Vec<String> {
        lines
            .iter()
            .map(|line| line["sample_id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert!(
        ids(project.last_lines("samples.jsonl")).is_sorted(),
        "in dataset order"
    );
    project.run("accept").exits(0).says("4 of 8 correct");
    assert_eq!(requested(&project).len(), 16, "merging asks nobody");

    // A flip fails its gate, and under cargo test its sample, which can wait for the gate there.
    project.write("evals/wrong", "");
    let red = ["e::gate::no_regression", "e::level3::q002"];
    let ran = nextest(&project, "--success-output final").exits(100);
    assert_eq!(with(&ran, "FAIL"), red[..1], "{}", ran.err);
    ran.says("e: correct in the baseline and wrong now, passed: the gate decides, and it is not among the selected tests: q002")
        .says("correct in the baseline and wrong now: q002");
    assert_eq!(project.last_json("summary.json")["correct"], 3);
    let ran = project.cargo("test --offline --test e").exits(101);
    let mut failed: Vec<_> = crate::trials::tests(&ran)
        .into_iter()
        .filter(|(_, how)| how == "FAILED")
        .collect();
    failed.sort();
    assert_eq!(
        failed.into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
        red
    );
    fs::remove_file(project.file("evals/wrong")).unwrap();

    // A part of the samples says nothing about the whole; what was answered is in a run directory of its own.
    for (arguments, extra_runs) in [
        ("level1 gate", 1),
        ("gate", 0),
        ("--partition count:1/2", 1),
    ] {
        let runs = project.runs().len();
        let ran = nextest(&project, arguments).exits(100);
        let failed = with(&ran, "FAIL");
        assert!(
            !failed.is_empty() && failed.iter().all(|name| name.contains("::gate::")),
            "{}",
            ran.err
        );
        ran.says("incomplete: ").says("EVALTEST_GATE=defer");
        assert_eq!(project.runs().len(), runs + extra_runs, "{arguments}");
    }
    nextest(&project, "q001").exits(0);

    // An outage is one sample's, and the gates weigh it.
    requested::agent(&project, "test $EVALTEST_SAMPLE_ID != q004 || exit 1");
    let ran = nextest(&project, "").exits(100);
    let failed = with(&ran, "FAIL");
    assert!(
        failed.contains(&"e::level2::q004".to_owned()),
        "{}",
        ran.err
    );
    assert!(
        !failed.contains(&"e::gate::accuracy".to_owned()),
        "{}",
        ran.err
    );
    ran.says("infrastructure: agent_failed");
    assert_eq!(project.last_lines("errors.jsonl").len(), 1);

    // Judged by another scorer: nobody is asked.
    let spec = project.read("evals/e.yaml");
    project.write("evals/e.yaml", spec + "extract: none\n");
    let before = requested(&project).len();
    nextest(&project, "")
        .exits(100)
        .says("another scorer, scorer option or extraction");
    assert_eq!(requested(&project).len(), before);
}

#[needs(nextest)]
#[test]
fn epochs_of_a_sample_run_in_one_process_and_meet_in_the_gates() {
    let project = project();
    let spec = project.read("evals/e.yaml");
    let gates = spec.replace("accuracy >= 0.1", "'pass^2 >= 0.5', majority >= 0.5");
    project.write("evals/e.yaml", gates + "epochs: 2\n");
    project
        .run("run")
        .exits(0)
        .says("8 of 16 answers correct (8 samples, 2 epochs each)");
    project.run("accept").exits(0);
    let ran = nextest(&project, "").exits(0);
    assert_eq!(with(&ran, "PASS").len(), 8 + 5, "{}", ran.err);
    assert_eq!(project.last_lines("samples.jsonl").len(), 16);
    assert_eq!(project.last_json("summary.json")["epochs"]["samples"], 8);
    assert_eq!(requested(&project).len(), 32);
}

#[needs(nextest)]
#[test]
fn processes_share_cache_and_budget() {
    let project = project();
    let spec = project.read("evals/e.yaml");
    let spec = spec.replace(", no_regression(max_drop=0.02)", "");
    let spec = spec.replace("answers: plain, confirm: 1", "assert: off");
    project.write("evals/e.yaml", format!("{spec}cache: true\n"));
    nextest(&project, "").exits(0);
    assert!(project.last_json("summary.json").get("cached").is_none());
    // The answers of the first run serve the second, which is marked.
    nextest(&project, "").exits(0);
    assert_eq!(requested(&project).len(), 8);
    assert_eq!(project.last_json("summary.json")["cached"], 8);

    let limits = "limits: { budget: { requests: 5 } }\n";
    project.write("evals/e.yaml", spec + limits);
    let ran = nextest(&project, "-j 1").exits(100);
    ran.says("incomplete: 5 of 8 samples ran");
    assert_eq!(requested(&project).len(), 8 + 5);
}

#[needs(nextest)]
#[test]
fn answers_that_parts_put_into_the_cache_count_once() {
    let project = project();
    let spec = project.read("evals/e.yaml");
    project.write("evals/e.yaml", spec + "cache: true\n");
    nextest(&project, "");
    let merged = project.last_run();
    project.run("run").exits(0);
    let cached = project.last_run();
    assert_eq!(project.last_json("summary.json")["cached"], 8);
    assert_eq!(requested(&project).len(), 8);
    let both = format!("accept {} {}", merged.display(), cached.display());
    project
        .run(&both)
        .exits(2)
        .says("share cached answers of run");
    project
        .run(&format!("run --resume {}", merged.display()))
        .exits(0);
    project.run("run --refresh").exits(0);
    let anew = project.last_run();
    let both = format!("accept {} {}", merged.display(), anew.display());
    project.run(&both).exits(0).says("2 runs together");
}

/// The run of nextest with its gates deferred.
fn deferred(project: &Project, arguments: &str) -> Ran {
    let mut command = project.cargo_command(&format!(
        "nextest run --offline --color never --test e {arguments}"
    ));
    Ran::of(&command.env("EVALTEST_GATE", "defer").output().unwrap())
}

/// The records of a run, without what chance and the clock decide.
fn records(run: &Path) -> Vec<Value> {
    let mut records = json_lines(&run.join("samples.jsonl"));
    for record in &mut records {
        record["result"]["latency_s"] = Value::Null;
    }
    records
}

#[needs(nextest)]
#[test]
fn partitions_are_shards_that_are_merged() {
    let project = project();
    let spec = project.read("evals/e.yaml");
    let spec = spec.replace(", no_regression(max_drop=0.02)", "");
    project.write("evals/e.yaml", &spec);
    nextest(&project, "").exits(0);
    let whole = project.last_run();

    for part in ["slice:1/2", "slice:2/2"] {
        deferred(&project, &format!("--partition {part}")).exits(0);
    }
    assert_eq!(requested(&project).len(), 16);
    // A partition may have no gate; then who comes next finds its parts.
    let ran = project.run("merge evaltest-runs").exits(0);
    ran.says("✓ accuracy");
    assert!(!project.file("evaltest-runs/.parts").exists());
    assert_eq!(requested(&project).len(), 16, "merging asks nobody");
    let manifest = |run: &Path| -> Value {
        serde_json::from_slice(&fs::read(run.join("manifest.json")).unwrap()).unwrap()
    };
    let runs = project.runs();
    let merged = runs
        .iter()
        .find(|run| manifest(run).get("merged").is_some());
    let merged = merged.expect("there is a merged run");
    assert_eq!(
        (&manifest(merged)["status"], &manifest(merged)["whole"]),
        (&"finished".into(), &true.into())
    );
    assert_eq!(records(merged), records(&whole));

    // All of it judges itself, deferred or not.
    let ran = deferred(&project, "").exits(0);
    ran.says_nothing_of("merge");
    assert_eq!(project.last_lines("samples.jsonl").len(), 8);
    // Another word is a mistake.
    let mut command = project.cargo_command("nextest run --offline --test e level1 gate");
    let ran = Ran::of(&command.env("EVALTEST_GATE", "later").output().unwrap());
    ran.exits(100).says("EVALTEST_GATE=later");
}

#[needs(nextest)]
#[test]
fn an_incomplete_run_goes_on_from_its_directory() {
    let project = project();
    let spec = project.read("evals/e.yaml");
    project.write(
        "evals/e.yaml",
        spec.replace(", no_regression(max_drop=0.02)", ""),
    );
    let ran = nextest(&project, "level1 gate").exits(100);
    let there = requested(&project).len();
    assert!((1..8).contains(&there));
    let part = project.last_run();
    ran.says(&format!("incomplete: {there} of 8 samples ran"))
        .says(&project.display(&part));
    project
        .run("show")
        .exits(0)
        .says("part of a run of nextest");
    project.run("accept").exits(2);
    let resume = format!("run evals/e.yaml --resume {}", part.display());
    project.run(&resume).exits(0);
    assert_eq!(requested(&project).len(), 8, "only what was missing");
    let manifest = project.last_json("manifest.json");
    assert_eq!(
        (
            &manifest["status"],
            &manifest["whole"],
            manifest.get("part")
        ),
        (&"finished".into(), &true.into(), None)
    );
    project.run("accept").exits(0);

    // No gate saw this one: whoever looks for runs finds it, and says so.
    nextest(&project, "q001").exits(0);
    let runs = project.runs().len();
    assert!(project.file("evaltest-runs/.parts").exists());
    project
        .run("runs")
        .exits(0)
        .says("an unfinished nextest run");
    assert_eq!(project.runs().len(), runs + 1);
    assert!(!project.file("evaltest-runs/.parts").exists());
    project
        .run("runs")
        .exits(0)
        .says_nothing_of("an unfinished nextest run");
}
