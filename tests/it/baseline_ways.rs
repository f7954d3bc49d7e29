//! How the answers of a baseline were found, and by which version of the reader.

use std::path::Path;

use serde_json::{Map, Value};

use crate::baselines::{baseline, committed, line};
use crate::project::Project;

/// Twenty questions of `qa`; the agent writes the answer as the file `form` says, where `@` stands for it.
fn twenty() -> Project {
    let project = Project::new();
    let rows = (10..30).map(|n| {
        format!("{{\"id\": \"q{n}\", \"question\": \"What is {n}?\", \"answer\": \"{n}\"}}\n")
    });
    project.write("rows.jsonl", rows.collect::<String>());
    project.script(
        "agent.sh",
        "#!/bin/sh\nwhile read -r _; do :; done\nsed \"s/@/${EVALTEST_SAMPLE_ID#q}/\" form\n",
    );
    project.write(
        "eval.yaml",
        "name: e\nbenchmark: { type: qa, path: rows.jsonl }\n\
         agent: { type: command, command: [./agent.sh] }\ncache: false\ngates: [no_regression]\n",
    );
    project
}

#[test]
fn a_red_gate_says_that_the_form_changed() {
    const SAYS: &str = "20 of 20 answers that became wrong had a label before and have none now: perhaps only the format changed, \
                        not the answers (`label` → `whole_answer`); see one with `cargo evaltest show e q10`";
    let project = twenty();
    project.write("form", "I added.\n\n**FINAL ANSWER:** @");
    project.run("run -v eval.yaml").exits(0);
    project.run("accept").exits(0);
    assert_eq!(
        line(&project, "q10", "found_by: ").as_deref(),
        Some("label")
    );
    assert_eq!(baseline(&project)["reader"], 2);
    assert!(baseline(&project).get("judge_reader").is_none());
    // The colon behind the asterisks is the same label.
    project.write("form", "I added.\n\n**FINAL ANSWER**: @");
    let ran = project.run("run -v eval.yaml").exits(0);
    ran.says("0 of 20 compared samples became wrong, 0 became correct")
        .says_nothing_of("only the format changed");
    project.write("form", "I think it is @, thanks");
    project.run("run -v eval.yaml").exits(1).says(SAYS);
    project.run("gate -v").exits(1).says(SAYS);
    // Wrong answers in the old form are no question of form.
    project.write("form", "FINAL ANSWER: 1@");
    let ran = project.run("run -v eval.yaml").exits(1);
    ran.says("20 of 20 compared samples became wrong")
        .says_nothing_of("only the format changed");
    project.run("show e q10").exits(0);
}

/// Edits `_baseline.json` as a version wrote it that had no checksums.
fn without_checksum(project: &Project, edit: impl FnOnce(&mut Map<String, Value>)) {
    let file = project.file("snapshots/e/_baseline.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut older: Map<String, Value> = serde_json::from_str(&text).unwrap();
    older.insert("format_version".to_owned(), 2.into());
    older.shift_remove("checksum").unwrap();
    edit(&mut older);
    std::fs::write(&file, serde_json::to_string(&older).unwrap()).unwrap();
}

#[test]
fn a_baseline_of_an_older_reader_is_compared_with_a_notice() {
    const SAYS: &str = "an older evaltest extracted the answers of the baseline: `cargo evaltest rescore RUN_DIR` for its run, \
                        then `cargo evaltest accept`";
    let project = twenty();
    project.write("form", "FINAL ANSWER: @");
    project.run("run -v eval.yaml").exits(0);
    project.run("accept").exits(0).says_nothing_of("reader");
    let first = project.last_run();
    // As an older version left it.
    let edit = |path: &Path, from: &str| {
        let text = std::fs::read_to_string(path).unwrap();
        let lines = text
            .lines()
            .filter(|line| !line.trim_start().starts_with(from));
        std::fs::write(
            path,
            lines
                .flat_map(|line| [line.to_string(), "\n".to_owned()])
                .collect::<String>(),
        )
        .unwrap();
    };
    for (path, _) in committed(&project) {
        edit(&path, "found_by:");
    }
    without_checksum(&project, |members| {
        drop(members.shift_remove("reader").unwrap());
    });
    project.write("form", "I think it is @, thanks");
    let ran = project.run("run -v eval.yaml").exits(1).says(SAYS);
    ran.says("20 of 20 compared samples became wrong")
        .says_nothing_of("only the format changed");
    project.run("gate -v").exits(1).says(SAYS);
    // What the notice says to do.
    let display = first.display();
    project
        .run(&format!("rescore -v {display}"))
        .exits(0)
        .says(SAYS);
    project.run("accept").exits(0);
    assert_eq!(
        line(&project, "q10", "found_by: ").as_deref(),
        Some("label")
    );
    let ran = project.run("run -v eval.yaml").exits(1);
    ran.says("only the format changed")
        .says_nothing_of("older evaltest");
    // One of a later version is compared, too.
    without_checksum(&project, |members| {
        drop(members.insert("reader".to_owned(), 99.into()));
    });
    let ran = project.run("run -v eval.yaml").exits(1);
    ran.says("a newer evaltest extracted the answers of the baseline")
        .says("cargo install cargo-evaltest");
}

#[test]
fn numbers_in_an_older_form_are_the_same_samples() {
    let check = |more: &str, ids: [&str; 2]| {
        let project = Project::new();
        let rows = |id: &str, [answer, large]: [&str; 2]| {
            let row = |id: &str, answer: &str| {
                format!("{{\"id\": {id}, \"question\": \"What?\", \"answer\": {answer}}}\n")
            };
            let plain = (10..20).map(|n| row(&format!("\"q{n}\""), answer));
            let special = row(id, "\"x\"");
            plain.collect::<String>() + &row("\"large\"", large) + &special
        };
        project.write(
            "eval.yaml",
            format!(
                "name: e\nbenchmark: {{ type: qa, path: rows.jsonl }}\nagent: {{ type: command, command: [echo, \
                 \"1.5\"] }}\ngates: [no_regression]\n{more}"
            ),
        );
        // As a version read them that rounded numbers.
        project.write("rows.jsonl", rows(ids[0], ["\"1.5\"", "\"1e+30\""]));
        project.run("run -v eval.yaml");
        project.run("accept").exits(0);
        project.write(
            "rows.jsonl",
            rows(ids[1], ["1.50", "1000000000000000000000000000000"]),
        );
        let ran = project.run("run -v eval.yaml").exits(0);
        ran.says("0 of 12 compared samples became wrong")
            .says_nothing_of("not in the baseline");
        project
            .run("gate -v")
            .exits(0)
            .says("0 of 12 compared samples became wrong");
        project.run("accept").exits(0);
        let ran = project.run("run -v eval.yaml").exits(0);
        ran.says("0 of 12 compared samples became wrong");
    };
    let [large, rounded] = [
        "123456789012345678901234567890",
        "\"1.2345678901234568e+29\"",
    ];
    check("", ["7.0", "7"]);
    check("", ["7", "7.0"]);
    check("", [rounded, large]);
    let masked = "snapshot: { answers: masked }\n";
    check(masked, [rounded, large]);
    check("snapshot: { assert: exact }\n", ["\"a\"", "\"a\""]);
}
