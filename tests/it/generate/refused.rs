//! What cannot be made: one line, and nothing is lost.

use std::fs;

use super::{recorded, words, writer};
use crate::project::Project;

#[test]
fn a_mistake_is_one_line_before_anything_is_asked() {
    let project = recorded();
    project.write("words.yaml", words("echo", ""));
    project.write(
        "echo.yaml",
        "benchmark: { type: qa, path: q.jsonl }\nagent: echo\n",
    );
    project.write("q.jsonl", "{\"question\": \"a\", \"answer\": \"b\"}\n");
    project.write("other.jsonl", "{\"text\": \"no problem\"}\n");
    project.write("taken", "a file");
    project.run("run echo.yaml --output-root other").exits(0);
    let other = fs::read_dir(project.file("other")).unwrap().flatten();
    let other = other
        .map(|entry| entry.path())
        .find(|path| path.is_dir())
        .unwrap();
    let other = other.to_str().unwrap();
    let check = |arguments: &[&str], expected: &str| {
        let mut words = vec!["generate"];
        words.extend(arguments);
        project.run_of(&words).exits(2).says(expected);
    };
    check(&["aime.yaml", "--count", "0"], "--count");
    check(&["aime.yaml", "--delay-s=-1"], "--delay-s");
    check(&["aime.yaml", "--delay-s", "NaN"], "--delay-s");
    check(&["aime.yaml", "--topics", "a,,b"], "a topic without a name");
    check(
        &["aime.yaml", "--reference", "other.jsonl"],
        "has no column `problem`",
    );
    let nowhere = ["aime.yaml", "--reference", "nowhere.jsonl"];
    check(&nowhere, "nowhere.jsonl");
    check(&nowhere, "hint: correct `reference`, which counts from");
    let flow = "flow aime --agent echo --judge echo --reference nowhere.jsonl";
    project
        .run(flow)
        .exits(2)
        .says("hint: correct `reference`, which counts from");
    #[cfg(unix)]
    {
        let mut make = std::process::Command::new("mkfifo");
        let made = make.arg(project.file("pipe.jsonl")).status();
        assert!(made.unwrap().success());
        check(&["aime.yaml", "--reference", "pipe.jsonl"], "is not a file");
    }
    check(&["aime.yaml", "--output", "taken/below"], "taken/below");
    check(&["aime.yaml", "--votes", "3"], "--solver");
    check(&["aime"], "no agent to write the items");
    check(&["echo.yaml"], "has benchmark `qa`");
    check(&["--resume", other], "has benchmark `qa`");
    check(&["--resume", "nowhere"], "nowhere");
    assert!(!project.file("evaltest-runs").exists());
}

#[test]
fn what_is_ready_needs_an_agent_and_no_spec() {
    let project = Project::new();
    // Nothing of what it says is an item: that is said, and is no success.
    project
        .run_of(&[
            "generate", "aime", "--count", "2", "--agent", "echo", "--output", "out",
        ])
        .exits(1)
        .says("gen-aime: none of 2 items was accepted")
        .says("refused: 8 of 8 replies");
    let items = super::only(&project.file("out"), "aime_generated_", ".json");
    assert_eq!(fs::read_to_string(items).unwrap(), "[]\n");
    let report = super::only(&project.file("out"), "generation_report_", ".md");
    assert!(
        fs::read_to_string(report)
            .unwrap()
            .contains("> No item was accepted")
    );
    project
        .run_of(&["generate", "--count", "2", "--agent", "echo", "--dry-run"])
        .exits(0)
        .says("2 samples")
        .says("no agent or model was called");
}

#[test]
fn a_run_goes_on_as_it_began() {
    let server = writer();
    let project = Project::new();
    project.write(
        "words.yaml",
        words(&server.openai(""), "limits: { budget: { requests: 3 } }\n"),
    );
    project
        .run("generate words.yaml --output out")
        .exits(3)
        .says("to continue: cargo evaltest generate --resume out/")
        .says_nothing_of("evaltest run --resume");
    let run = super::only(&project.file("out"), "2", "");
    let run = run.to_str().unwrap();
    let before = server.requested().len();
    let check = |more: &[&str], expected: &str| {
        let mut arguments = vec!["generate", "--resume", run];
        arguments.extend(more);
        project.run_of(&arguments).exits(2).says(expected);
    };
    check(&["--output", "elsewhere"], "leave `--output` out");
    check(
        &["--count", "5"],
        "the dataset or the prompt has changed since",
    );
    check(
        &["--topics", "up,down"],
        "the dataset or the prompt has changed since",
    );
    check(&["--agent", "echo"], "the agent");
    check(&["words.yaml", "--run-id", "other"], "--run-id");
    assert_eq!(server.requested().len(), before);
    project
        .run_of(&[
            "generate",
            "--resume",
            run,
            "--set",
            "limits.budget.requests=100",
        ])
        .exits(0)
        .says("11 of 12 items accepted");
    assert_eq!(
        super::files(&project.file("out"), "words_generated_", ".json").len(),
        1
    );
}
