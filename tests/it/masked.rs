//! What scorers and agents say of a masked eval is in no report, page, comparison or list of failures.

use crate::project::Project;
use crate::requested;

/// Reports of the run `one`, and what lists its failures.
const COMMANDS: [&str; 6] = [
    "report one",
    "report one --audience developer",
    "report one --audience product",
    "report one --format html -o -",
    "show one --failures",
    "show one --failures --json",
];

/// A masked eval of six questions whose agent does `then` and whose scorers are these; it ran as `one`.
fn ran(then: &str, more: &str) -> Project {
    let project = requested::project(6, then, more);
    let spec = project.read("eval.yaml");
    project.write(
        "eval.yaml",
        spec.replace("answers: plain", "answers: masked"),
    );
    project
}

#[track_caller]
fn check(project: &Project, commands: &[&str], canaries: &[&str]) {
    for command in commands {
        let output = project.run(command).exits(0);
        for canary in canaries {
            assert!(!output.out.contains(canary), "`{command}`: {}", output.out);
        }
    }
}

#[test]
fn labels_of_a_masked_eval_are_truths() {
    let project = ran(
        "echo wombat; exit",
        "scorers: [{ type: exact, labels: true }]\ngates: [error_rate <= 0.5]\n",
    );
    project.run("run eval.yaml --run-id one").exits(0);
    // The label of what is true is in the summary, and figures stay in reports.
    assert!(project.last_json("summary.json")["labels"].is_object());
    check(
        &project,
        &COMMANDS,
        &["wombat", "something else", "Macro-F1"],
    );
    let output = project.run("report one --audience developer --show-texts");
    output.exits(0).says("Macro-F1").says("something else");
    project
        .run("show one --show-texts")
        .exits(2)
        .says("--failures");
}

#[test]
fn a_scorer_of_a_masked_eval_says_the_truth_in_a_word_and_a_number() {
    let project = ran(
        "",
        "scorers: [{ type: command, command: [./judge.sh] }]\ngates: [error_rate <= 0.5]\n",
    );
    let verdict =
        r#"{"correct":false,"reason":"wombat","details":{"quokka":4242.25,"f1":4242.25}}"#;
    project.script(
        "judge.sh",
        &format!("#!/bin/sh\nwhile read -r line; do echo '{verdict}'; done\n"),
    );
    for id in ["one", "two"] {
        project
            .run(&format!("run eval.yaml --run-id {id}"))
            .exits(0);
    }
    check(&project, &COMMANDS, &["wombat", "quokka"]);
    project
        .run("show one --failures --show-texts")
        .exits(0)
        .says("wombat");
    let compare = ["compare one two", "compare one two --json"];
    check(&project, &compare, &["wombat", "quokka"]);
    project
        .run("compare one two --show-texts")
        .exits(0)
        .says("quokka");
    project.run("compare one two --html page.html").exits(0);
    assert!(!project.read("page.html").contains("quokka"));
}

#[test]
fn why_a_masked_run_stopped_may_be_what_its_worker_printed() {
    let project = ran("", "limits: { retries: 0 }\n");
    let spec = project.read("eval.yaml");
    let worker = spec.replace("type: command", "type: worker");
    project.write("eval.yaml", worker.replace("agent.sh", "worker.sh"));
    project.script("worker.sh", "#!/bin/sh\nread -r line\necho wombat\n");
    for id in ["one", "two"] {
        project
            .run(&format!("run eval.yaml --run-id {id} --concurrency 1"))
            .exits(3);
    }
    let manifest = project.last_json("manifest.json");
    let reason = manifest["stop_reason"].as_str().unwrap();
    assert!(reason.contains("wombat"), "{reason}");
    check(&project, &COMMANDS, &["wombat"]);
    check(&project, &["compare one two"], &["wombat"]);
    project
        .run("report one")
        .exits(0)
        .says("see the output of the command");
}
