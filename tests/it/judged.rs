//! Runs of which a judge beside the first scorer could not judge some answers.

use serde_json::{Value, json};

use crate::project::{Project, Ran, all_files, json_lines};
use crate::requested;
use crate::server::{Server, chat, fine};

mod accounting;
mod again;
mod court;
mod doors;
mod files;
mod form;
mod identity;
mod killed;
mod message;
mod odd;
mod outage;
mod reasons;
mod repeats;
mod replayed;

/// Finds every answer right; it breaks at 003, and at 002 unless there is a file `mended`.
const JUDGE: &str = r#"#!/bin/sh
while read -r line; do
    case $line in
        *'"prediction":"003"'*) exit 7;;
        *'"prediction":"002"'*) test -e mended || exit 7; echo '{"correct": true}';;
        *) echo '{"correct": true, "value": 0.5}';;
    esac
done
"#;

const SCORERS: &str = "scorers: [gaia, { type: command, command: [./judge.sh], name: judge }]\n";

fn project(gates: &str) -> Project {
    let project = requested::project(6, "", &format!("{SCORERS}gates: [{gates}]\n"));
    project.script("judge.sh", JUDGE);
    project
}

#[test]
fn a_gate_on_it_counts_them_as_wrong_and_as_right() {
    let says = "`judge` could not judge 2 answers, so it is between 66.7 % and 100.0 %";
    for (gate, code) in [
        ("accuracy(judge) >= 0.6", 0),
        ("accuracy(judge) >= 0.9", 3),
        ("accuracy(judge) <= 0.5", 1),
        ("mean(judge.value) >= 0.6", 3),
        // The outcome is that of the first.
        ("accuracy >= 0.5", 0),
        ("error_rate <= 0", 0),
    ] {
        let project = project(&format!("\"{gate}\""));
        let ran = project.run("run -v eval.yaml").exits(code);
        if gate == "accuracy(judge) >= 0.9" {
            ran.says(says);
            let dir = project.last_run();
            // The same without a scorer to ask.
            let dir = dir.display();
            project.run(&format!("gate -v {dir}")).exits(3).says(says);
            project
                .run(&format!("gate -v {dir} --gate accuracy(judge)>=0.6"))
                .exits(0)
                .says(&format!("limit 60 %; {says}"));
        }
        let summary = project.last_json("summary.json");
        assert_eq!(summary["scorers"]["judge"]["unjudged"], 2, "{gate}");
        assert_eq!(
            (&summary["scored"], &summary["errors"]),
            (&json!(6), &json!(0))
        );
    }
}

#[test]
fn failed_takes_what_it_could_not_judge() {
    let project = project("");
    project.write(
        "eval.yaml",
        project.read("eval.yaml").replace("gates: []", ""),
    );
    project.run("run eval.yaml --run-id first").exits(0);
    let dir = project.last_run();
    let before = requested::requested(&project).len();
    project.write("mended", "");
    project.run(&format!("run eval.yaml --failed {}", dir.display()));
    let again = &requested::requested(&project)[before..];
    // Wrong answers without a baseline, and the even one that the judge could not judge.
    let mut again = again.to_vec();
    again.sort();
    assert_eq!(again, ["q001", "q002", "q003", "q005"]);
    let records = project.last_lines("samples.jsonl");
    let judge = |record: &Value| record["result"]["scores"]["judge"].clone();
    assert_eq!(judge(&records[1])["correct"], true);
    assert!(judge(&records[2])["error"].is_string());
}

#[test]
fn show_tells_what_judges_were_asked() {
    let project = project("");
    project.run("run eval.yaml");
    let dir = project.last_run();
    let path = dir.join("samples.jsonl");
    let mut records = json_lines(&path);
    records[0]["result"]["judged"] = json!([{
        "scorer": "judge", "key": "k", "form": "schema", "attempts": 1, "latency_s": 0.5, "unread": "refusal",
        "output": {"text": "I would rather not.", "metadata": {"model": "m-1"}},
    }]);
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    std::fs::write(
        &path,
        lines.join(
            "
",
        ) + "
",
    )
    .unwrap();
    let output = project
        .run(&format!("show {} q000", dir.display()))
        .exits(0);
    assert!(
        output.out.contains(
            "judge `judge`: by schema, model m-1, attempts 1, 0.5 s\n  no verdict: refusal\n  I would rather not.\n"
        ),
        "{}",
        output.out
    );
}

/// A reply that holds the key of its endpoint is used, and the key is in no file, that of the cache included.
#[test]
fn no_file_holds_the_key_of_a_judge() {
    const KEY: &str = "hostile-0123456789abcdef";
    for reply in ["{\"clarity\": 4, \"comments\": \"@\"}", "I saw @ there."] {
        let reply = reply.replace('@', KEY);
        let server = Server::new(move |_, _| fine(&chat(&reply)));
        let agent = server.openai(", api_key_env: HOSTILE_KEY");
        let rubric = "{ dimensions: [{ name: clarity }] }";
        let more = format!(
            "cache: true\nscorers: [gaia, {{ type: judge, agent: {agent}, rubric: {rubric} }}]\n"
        );
        let project = requested::project(1, "", &more);
        let mut command = project.command("run eval.yaml");
        let ran = Ran::of(&command.env("HOSTILE_KEY", KEY).output().unwrap()).exits(0);
        assert!(!(ran.out + &ran.err).contains(KEY));
        assert!(!server.requested().is_empty());
        for file in all_files(project.path()) {
            let content = std::fs::read(&file).unwrap();
            let content = String::from_utf8_lossy(&content);
            assert!(!content.contains(KEY), "{}", file.display());
        }
    }
}
