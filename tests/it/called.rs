//! The command answers to `evaltest` as well as to `cargo evaltest`, and says what can be typed.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use evaltest::engine::text::Override;
use regex::Regex;

use crate::project::{Project, Ran, root, without_surroundings};

/// Runs the command in the project as it is called after `pip install`.
fn evaltest(project: &Project, arguments: &str) -> Ran {
    let program = project.file("evaltest");
    if !program.exists() {
        symlink(env!("CARGO_BIN_EXE_cargo-evaltest"), &program).unwrap();
    }
    let mut command = Command::new(program);
    command
        .args(arguments.split_whitespace())
        .current_dir(project.path());
    without_surroundings(&mut command);
    Ran::of(&command.output().unwrap())
}

#[test]
fn hints_summaries_notes_and_help_name_the_command_that_was_typed() {
    let project = Project::new();
    let check = |arguments: &str, code: i32, expect: &str| {
        evaltest(&project, arguments)
            .exits(code)
            .says(expect)
            .says_nothing_of("cargo evaltest");
    };
    check("run", 2, "hint: evaltest init");
    check("init", 0, "\n  evaltest accept");
    check("run", 0, "example: 5 of 6 correct");
    check("accept", 0, "");
    check("run --agent echo", 1, "evaltest show ");
    check("run --agent nobody", 2, "");
    check("--version", 0, "evaltest 0");
    check("--help", 0, "Usage: evaltest ");
    check("score --help", 0, "  evaltest score --scorer gaia");
    check("run --nonsense", 2, "Usage: evaltest run ");
    check("nonsense --x", 2, "Usage: evaltest ");
}

#[test]
fn by_its_long_name_it_says_the_long_name() {
    let project = Project::new();
    project
        .run("run")
        .exits(2)
        .says("hint: cargo evaltest init");
    project
        .run("--help")
        .exits(0)
        .says("Usage: cargo evaltest ");
}

#[test]
fn what_an_agent_said_keeps_its_words() {
    let agent = "{ type: command, command: [echo, \"FINAL ANSWER: cargo evaltest\"] }";
    let project = Project::with_eval(&[("a", 1, "What?", "cargo evaltest")], agent, "");
    evaltest(&project, "run eval.yaml").exits(0);
    let dir = project.last_run();
    evaltest(&project, &format!("show {} a", dir.display()))
        .exits(0)
        .says("FINAL ANSWER: cargo evaltest");
    let samples = std::fs::read_to_string(dir.join("samples.jsonl")).unwrap();
    assert!(
        samples.contains("FINAL ANSWER: cargo evaltest"),
        "{samples}"
    );
}

#[test]
fn data_keep_their_words() {
    let words = "how do I run cargo evaltest?";
    let project = Project::with_eval(&[("a", 1, words, "cargo evaltest")], "echo", "");
    evaltest(&project, "list eval.yaml --stats --rows 1")
        .exits(0)
        .says(words);
    project.write(
        "answers.jsonl",
        "{\"prediction\": \"cargo evaltest\", \"ground_truth\": \"use cargo evaltest\"}\n",
    );
    evaltest(
        &project,
        "score answers.jsonl --scorer exact --explain --line 1",
    )
    .exits(0)
    .says("  use cargo evaltest\n");
}

#[test]
fn the_pre_commit_hook_calls_no_agent() {
    let hooks = fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    let hooks = Override::value(&hooks).unwrap();
    let entry = hooks[0]["entry"].as_str().unwrap();
    let arguments = entry.strip_prefix("evaltest ").unwrap();
    let files = Regex::new(hooks[0]["files"].as_str().unwrap()).unwrap();
    for (path, is_spec) in [
        ("evals/sums.yaml", true),
        ("shop/evals/sums.yml", true),
        ("evals/snapshots/sums/a.yaml", false),
        ("retrievals/a.yaml", false),
    ] {
        assert_eq!(files.is_match(path), is_spec, "{path}");
    }
    let project = Project::with_eval(
        &[("a", 1, "What?", "1")],
        "{ type: command, command: [sh, -c, 'touch asked; echo 1'] }",
        "",
    );
    evaltest(&project, &format!("{arguments} eval.yaml")).exits(0);
    assert!(!project.file("asked").exists());
    project.write(
        "bad.yaml",
        "name: b\nbenchmark: { type: gaia, pth: a.jsonl }\nagent: echo\n",
    );
    evaltest(&project, &format!("{arguments} eval.yaml bad.yaml"))
        .exits(2)
        .says("bad.yaml");
}
