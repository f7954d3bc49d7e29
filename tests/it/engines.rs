//! What the page on shards gives to engines, with the variables of each: the same run as without them.
//!
//! `tests/engines/` has the engines themselves, where they are installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_yaml::Value;

use crate::book::page::{Step, steps};
use crate::project::{Project, Ran, root, without_surroundings};
use crate::requested;

const SAMPLES: u32 = 24;
const SHARDS: usize = 3;

/// The file that the page shows under this name.
fn page_file(name: &str) -> String {
    let page = fs::read_to_string(root().join("docs/src/guides/shards.md")).unwrap();
    let blocks = steps(&page).into_iter().filter_map(|step| match step {
        Step::Block(block) => Some(block),
        _ => None,
    });
    let mut found = blocks.filter(|block| block.file.as_deref() == Some(name));
    let block = found.next().unwrap_or_else(|| panic!("{name}"));
    assert!(found.next().is_none(), "{name} stands there twice");
    block.text
}

/// An eval as on the page, whose agent logs what it is asked and knows half of the answers.
fn project() -> Project {
    let project = requested::project(SAMPLES, "", "");
    fs::remove_file(project.file("eval.yaml")).unwrap();
    project.write(
        "evals/example.yaml",
        "name: example\nbenchmark: { type: gaia, path: ../data.jsonl }\nprompt: none\n\
         agent: { type: command, command: [../agent.sh] }\nlimits: { concurrency: 1 }\n\
         snapshot: { answers: plain }\ngates: [accuracy >= 0.4, min_samples >= 24]\n",
    );
    for name in ["shard.sh", "shards.sbatch", "shard_test.sh"] {
        project.script(name, &page_file(name));
    }
    project
}

/// Runs a script as an engine does: its variables, and the command in `PATH`.
fn task(project: &Project, script: &str, variables: &[(&str, &str)]) -> Ran {
    let program = Path::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
    let path = std::env::var("PATH").unwrap();
    let bin = project.file("bin");
    let path = format!(
        "{}:{}:{path}",
        bin.display(),
        program.parent().unwrap().display()
    );
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(project.path());
    without_surroundings(&mut command);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let engines = ["SLURM_", "TEST_", "JOB_COMPLETION", "CI_NODE_"];
        if engines.iter().any(|start| text.starts_with(start)) {
            command.env_remove(&name);
        }
    }
    command.env("PATH", path).envs(variables.iter().copied());
    Ran::of(&command.output().unwrap())
}

/// The merged run is the one that a single machine makes, but for times.
fn check_merged(project: &Project, parts: &str) {
    project
        .run(&format!("merge {parts} -o merged"))
        .exits(0)
        .says("example: 12 of 24 correct");
    project.run("run --output-root whole").exits(0);
    let entries = fs::read_dir(project.file("whole")).unwrap().flatten();
    let mut runs = entries.map(|entry| entry.path());
    let whole = runs.find(|run| run.is_dir()).unwrap();
    // What was begun again has an attempt more.
    let times = r#"("(latency_s|attempts|recovered_by_retry)":\s*)(\{[^}]*\}|[0-9.e-]+)"#;
    let times = Regex::new(times).unwrap();
    for name in ["samples.jsonl", "errors.jsonl", "summary.json"] {
        let text = |dir: PathBuf| {
            let text = fs::read_to_string(dir.join(name)).unwrap();
            times.replace_all(&text, "${1}0").into_owned()
        };
        let (merged, whole) = (text(project.file("merged")), text(whole.clone()));
        assert_eq!(merged, whole, "{name}");
    }
}

/// A key of a mapping, and those below it.
fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(value, |value, key| &value[key])
}

/// What becomes of a pod with this exit code: the first rule that has it decides.
fn action(job: &Value, code: u64) -> String {
    let rules = at(job, "spec.podFailurePolicy.rules")
        .as_sequence()
        .unwrap();
    let rule = rules.iter().find(|rule| {
        let codes = &rule["onExitCodes"];
        let Some(values) = codes["values"].as_sequence() else {
            return false;
        };
        assert_eq!(codes["containerName"], "shard");
        let has = values.iter().any(|value| value.as_u64() == Some(code));
        match codes["operator"].as_str() {
            Some("In") => has,
            Some("NotIn") => !has,
            other => panic!("{other:?}"),
        }
    });
    rule.map_or("none", |rule| rule["action"].as_str().unwrap())
        .to_owned()
}

#[test]
fn pods_of_an_indexed_job_make_one_run() {
    let manifest = page_file("shards.yaml");
    let job: Value = serde_yaml::from_str(&manifest).unwrap();
    assert_eq!(at(&job, "spec.completionMode"), "Indexed");
    assert_eq!(at(&job, "spec.backoffLimitPerIndex"), 3);
    let pod = at(&job, "spec.template.spec");
    assert_eq!(
        pod["restartPolicy"], "Never",
        "else exit codes are not looked at"
    );
    for (codes, expect) in [
        (&[2][..], "FailJob"),
        (&[3, 130, 137, 143], "Count"),
        (&[1, 101, 126, 127], "FailIndex"),
    ] {
        for code in codes {
            assert_eq!(action(&job, *code), expect, "{code}");
        }
    }
    let container = &pod["containers"][0];
    assert_eq!(container["name"], "shard");
    let variables = container["env"].as_sequence().unwrap();
    let variable = |name: &str| variables.iter().find(|one| one["name"] == name).unwrap();
    let completions = at(&job, "spec.completions").as_u64().unwrap();
    assert_eq!(
        variable("JOB_COMPLETIONS")["value"].as_str(),
        Some(&*completions.to_string())
    );
    variable("JOB");
    let mounts = [
        &container["volumeMounts"][0]["name"],
        &pod["volumes"][0]["name"],
    ];
    assert_eq!(mounts[0], mounts[1]);
    let command = container["command"].as_sequence().unwrap();
    let [shell, flag, script] = &command[..] else {
        panic!("{command:?}");
    };
    assert_eq!((shell, flag), (&"sh".into(), &"-c".into()));

    let project = project();
    let script = script.as_str().unwrap().replace("/runs/", "runs/");
    let pod = |index: usize| {
        let index = index.to_string();
        let count = SHARDS.to_string();
        let variables = [
            ("JOB", "uid"),
            ("JOB_COMPLETION_INDEX", &*index),
            ("JOB_COMPLETIONS", &count),
        ];
        task(&project, &script, &variables)
    };
    // One is ended at once and comes again, and another one comes again although it was done.
    requested::agent(&project, "[ -e ${0%/*}/up ] || kill -9 $PPID");
    assert_ne!(pod(1).code, Some(0));
    project.write("up", "");
    for index in [2, 0, 1, 0] {
        pod(index).exits(0);
    }
    let again = requested::requested(&project).len();
    assert!((24..=26).contains(&again), "{again}");
    check_merged(&project, "runs/uid");
    // Without the count nobody knows the part.
    let lost = task(
        &project,
        &script,
        &[("JOB", "other"), ("JOB_COMPLETION_INDEX", "0")],
    );
    lost.exits(2).says("JOB_COMPLETIONS");
}

#[test]
fn bazel_is_told_that_its_shards_are_known() {
    let project = project();
    let build = page_file("BUILD.bazel");
    assert!(build.contains("srcs = [\"shard_test.sh\"]"), "{build}");
    assert!(
        build.contains(&format!("shard_count = {SHARDS},")),
        "{build}"
    );
    for index in 0..SHARDS {
        let (status, outputs) = (format!("status-{index}"), format!("outputs/{index}"));
        let (index, count) = (index.to_string(), SHARDS.to_string());
        let variables = [
            ("TEST_SHARD_INDEX", &*index),
            ("TEST_TOTAL_SHARDS", &count),
            ("TEST_SHARD_STATUS_FILE", &status),
            ("TEST_UNDECLARED_OUTPUTS_DIR", &outputs),
        ];
        task(&project, "./shard_test.sh", &variables).exits(0);
        assert!(
            project.file(&status).exists(),
            "else Bazel takes it for one that does not shard"
        );
    }
    check_merged(&project, "outputs");
}

#[test]
fn a_task_of_slurm_is_begun_again_after_an_outage_and_not_after_a_mistake() {
    let project = project();
    project.script("bin/scontrol", "#!/bin/sh\necho \"$*\" >> requeued\n");
    let task = |id: usize, restarts: &str| {
        let (id, count) = (id.to_string(), SHARDS.to_string());
        let mut variables = vec![
            ("SLURM_ARRAY_JOB_ID", "7"),
            ("SLURM_JOB_ID", "8"),
            ("SLURM_ARRAY_TASK_ID", &*id),
            ("SLURM_ARRAY_TASK_MIN", "1"),
            ("SLURM_ARRAY_TASK_MAX", &count),
            ("SLURM_ARRAY_TASK_STEP", "1"),
            ("SLURM_ARRAY_TASK_COUNT", &count),
        ];
        variables.extend((!restarts.is_empty()).then_some(("SLURM_RESTART_COUNT", restarts)));
        task(&project, "sh shards.sbatch", &variables)
    };
    let requeued = || fs::read_to_string(project.file("requeued")).unwrap_or_default();
    requested::agent(&project, "[ -e ${0%/*}/up ] || exit 1");
    task(1, "").exits(3);
    assert_eq!(requeued(), "requeue 8\n");
    task(1, "3").exits(3);
    assert_eq!(requeued(), "requeue 8\n", "three times is enough");
    project.write("up", "");
    for id in 1..=SHARDS {
        task(id, "1").exits(0);
    }
    assert_eq!(requeued(), "requeue 8\n");
    check_merged(&project, "evaltest-runs/7");
    let spec = project.read("evals/example.yaml");
    project.write("evals/example.yaml", spec.replace("prompt:", "promt:"));
    fs::remove_dir_all(project.file("evaltest-runs/7")).unwrap();
    task(2, "").exits(2);
    assert_eq!(requeued(), "requeue 8\n", "a mistake stays one");
}
