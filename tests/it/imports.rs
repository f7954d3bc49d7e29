//! `import --format inspect`: logs of Inspect as runs, and what was exported back again.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::project::{Project, root};

/// A log that Inspect wrote: see `fixtures/inspect/make.py`.
pub(crate) fn theirs(project: &Project) {
    let log = fs::read(root().join("fixtures/inspect/capitals.eval")).unwrap();
    project.write("capitals.eval", log);
}

/// The figures of the last run that are to stand anywhere.
pub(crate) fn figures(project: &Project) -> Value {
    let summary = project.last_json("summary.json");
    let keys = [
        "samples",
        "scored",
        "correct",
        "errors",
        "unscored",
        "accuracy",
        "error_rate",
        "means",
    ];
    let output = keys.map(|key| (key.to_owned(), summary[key].clone()));
    Value::Object(output.into_iter().collect())
}

/// A log with these samples, behind a header with these members.
fn log(samples: &[Value], eval: &Value) -> Value {
    let mut spec = json!({
        "eval_id": "e1", "run_id": "r1", "created": "2026-05-04T00:00:00+00:00", "task": "pack/riddles",
        "dataset": {}, "model": "mockllm/model", "config": { "epochs": 1 },
        "scorers": [{ "name": "match" }],
    });
    for (key, value) in eval.as_object().unwrap() {
        spec[key] = value.clone();
    }
    json!({ "version": 2, "status": "success", "eval": spec, "samples": samples })
}

fn sample(id: impl Into<Value>, epoch: u32, value: impl Into<Value>) -> Value {
    json!({
        "id": id.into(), "epoch": epoch, "input": "?", "target": "1",
        "messages": [], "output": { "model": "m", "completion": "1", "choices": [] },
        "scores": { "match": { "value": value.into() } },
    })
}

/// The same as a zip.
fn zip_of(log: &Value, path: &Path) {
    let mut zip = ZipWriter::new(fs::File::create(path).unwrap());
    let mut header = log.clone();
    let samples = header["samples"].take();
    let mut add = |name: &str, text: String| {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    };
    for (number, sample) in samples.as_array().unwrap().iter().enumerate() {
        // The name is not what says whose answer it is.
        add(
            &format!("samples/../../{number}_epoch_1.json"),
            sample.to_string(),
        );
    }
    add("header.json", header.to_string());
    zip.finish().unwrap();
}

#[test]
fn a_log_has_the_figures_that_it_has_in_inspect() {
    let project = Project::new();
    theirs(&project);
    let ran = project.run("import -v --format inspect capitals.eval --slice continent");
    ran.exits(3).says("2 of 10 answers");
    let summary = project.last_json("summary.json");
    assert_eq!(summary["eval"], "capitals");
    assert_eq!(figures(&project)["accuracy"], 0.25);
    for (key, expect) in [
        ("samples", 10),
        ("scored", 8),
        ("errors", 2),
        ("unscored", 0),
    ] {
        assert_eq!(summary[key], expect, "{key}");
    }
    assert_eq!(summary["usage"]["input_tokens"], 96);
    assert_eq!(summary["slices"]["continent"]["America"]["samples"], 2);
    // As Inspect has them: partial answers count half in its accuracy, which is the mean here.
    let scorers = &summary["scorers"];
    assert_eq!(scorers["grades"]["means"]["value"], 0.375);
    assert_eq!(scorers["grades"]["accuracy"], 0.25);
    assert_eq!(scorers["length"]["means"]["recorded"], 11.0);
    assert_eq!(scorers["length"]["scored"], 6);
    assert_eq!(scorers["manners.brief"]["means"]["value"], 0.5);
    let manifest = project.last_json("manifest.json");
    let agent = &manifest["config"]["agent"];
    assert_eq!(agent["log"], "capitals.eval");
    assert_eq!(agent["inspect_ai"], "0.3.285");
    assert_eq!(manifest["epochs"], 2);
    let recording = manifest["answers_of"][0].as_str().unwrap();
    assert!(recording.starts_with("inspect:"), "{recording}");
    let records = project.last_lines("samples.jsonl");
    assert_eq!(records[5]["ground_truth"], json!(["Rome", "Roma"]));
    assert_eq!(
        records[0]["result"]["output"]["messages"][1]["content"],
        "It is Paris"
    );
    assert_eq!(
        records[7]["result"]["error"]["message"],
        "ValueError('boom')"
    );
    // An answer without a verdict of the scorer that decides is unscored.
    let ran = project.run("import -v --format inspect capitals.eval --scorer length --name long");
    ran.exits(3).says("`length` gives numbers from 9 to 13");
    let summary = project.last_json("summary.json");
    assert_eq!(
        (&summary["unscored"], &summary["scored"]),
        (&json!(2), &json!(6))
    );
    project
        .run("import -v --format inspect capitals.eval --scorer length --correct-at 12 --name at")
        .exits(3)
        .says_nothing_of("gives numbers");
    assert_eq!(project.last_json("summary.json")["correct"], 2);
    project
        .run("import -v --format inspect capitals.eval --scorer legnth")
        .exits(2)
        .says("did you mean `--scorer length`?");
}

#[test]
fn an_imported_run_is_a_run() {
    let project = Project::new();
    let eval = json!({ "config": { "epochs": 2 } });
    let answers = |right: &[&str]| {
        let of = |id: &str| {
            let value = if right.contains(&id) { "C" } else { "I" };
            [sample(id, 1, value), sample(id, 2, value)]
        };
        log(&["a", "b", "c"].map(of).concat(), &eval)
    };
    project.write("one.json", answers(&["a", "b"]).to_string());
    zip_of(&answers(&["b", "c"]), &project.file("two.eval"));
    project.write(
        "gated.yaml",
        "name: riddles\nbenchmark: { type: qa, path: q.jsonl }\nagent: { type: echo }\nscorer: exact\n\
         gates: [accuracy >= 0.5, no_regression]\n",
    );
    project.write(
        "q.jsonl",
        "{\"id\": \"a\", \"prompt\": \"?\", \"target\": \"1\"}\n",
    );
    project
        .run("import --format inspect one.json --spec gated.yaml")
        .exits(0);
    let one = project.display(project.last_run());
    project
        .run(&format!("show {one} a"))
        .exits(0)
        .says("correct");
    project.run(&format!("accept {one}")).exits(0);
    let ran = project.run("import --format inspect two.eval --spec gated.yaml --json");
    let json = ran.json();
    assert_eq!(json["model"], "mockllm/model");
    assert_eq!(json["summary"]["gates"][0]["verdict"], "passed");
    assert_eq!(json["summary"]["gates"][1]["regression"]["pairs"], 3);
    let two = project.display(project.last_run());
    let compared = project
        .run(&format!("compare {one} {two} --json"))
        .exits(0)
        .json();
    assert_eq!(
        compared["flips"],
        json!({ "worse": ["a"], "better": ["c"] })
    );
    project
        .run(&format!("gate {two} --gate accuracy>=0.9"))
        .exits(1);
    project.run(&format!("summarize {two}")).exits(0);
    // By the verdicts of the log, and by a scorer of ours.
    project.run(&format!("rescore {one}")).exits(0);
    assert_eq!(project.last_json("summary.json")["correct"], 4);
    project
        .run(&format!("rescore {one} --scorer exact"))
        .exits(0);
    assert_eq!(project.last_json("summary.json")["correct"], 6);
}

#[test]
fn what_was_exported_comes_back_with_its_figures() {
    let project = Project::new();
    project.questions(&[
        ("a", 1, "Capital of France?", "Paris"),
        ("b", 2, "Capital of Spain?", "Madrid"),
        ("c", 2, "Never answered?", "x"),
        ("d", 3, "Unknown?", "?"),
    ]);
    let answers = ["a", "b", "d"].map(|id| json!({ "id": id, "answer": "Paris" }).to_string());
    project.write("answers.jsonl", answers.join("\n"));
    project.spec(
        "{ type: replay, path: answers.jsonl }",
        "scorers: [token_f1, includes]\nepochs: 2\n",
    );
    project.run("run eval.yaml").exits(3);
    let before = figures(&project);
    let slices = project.last_json("summary.json")["slices"].clone();
    let run = project.display(project.last_run());
    project
        .run(&format!("export --format inspect {run} --output log.eval"))
        .exits(0);
    project.run("import --format inspect log.eval").exits(3);
    assert_eq!(figures(&project), before);
    let again = project.last_json("summary.json")["slices"].clone();
    assert_eq!(
        again["level"]["2"]["errors"],
        slices["level"]["2"]["errors"]
    );
    let record = &project.last_lines("samples.jsonl")[4];
    assert_eq!(record["result"]["error"]["kind"], "not_found");
    // And once more, with the provider that it had.
    let run = project.display(project.last_run());
    project
        .run(&format!(
            "export --format inspect {run} --output again.eval"
        ))
        .exits(0);
    project
        .run("import --format inspect again.eval --json")
        .exits(3);
    assert_eq!(figures(&project), before);
}

#[test]
fn grades_and_points_of_inspect_come_back_as_they_were() {
    let project = Project::new();
    theirs(&project);
    let output = |command: &str| {
        project.run(command).exits(3);
        let scorers = project.last_json("summary.json")["scorers"].clone();
        (figures(&project), scorers)
    };
    let before = output("import --format inspect capitals.eval");
    project
        .run("export --format inspect --output log.eval")
        .exits(0);
    assert_eq!(output("import --format inspect log.eval"), before);
}

#[test]
fn a_part_of_a_log_is_no_baseline() {
    let project = Project::new();
    let eval = json!({ "dataset": { "sample_ids": ["a", "b", 3] }, "config": { "epochs": 2 } });
    let samples = [sample("b", 1, "C"), sample("a", 1, 1), sample("a", 2, true)];
    project.write("log.json", log(&samples, &eval).to_string());
    let ran = project.run("import --format inspect log.json");
    let ran = ran
        .exits(3)
        .says("1 sample of the dataset missing in the log: `3`");
    ran.says("1 answer missing in some epochs")
        .says("`--partial-eval`");
    let records = project.last_lines("samples.jsonl");
    let ids: Vec<_> = records.iter().map(|record| &record["sample_id"]).collect();
    assert_eq!(ids, ["a", "a", "b", "b"]);
    assert_eq!(records[3]["result"]["error"]["kind"], "not_found");
    project
        .run(&format!("accept {}", project.display(project.last_run())))
        .exits(2);
    project
        .run("import --format inspect log.json --partial-eval")
        .says_nothing_of("`--partial-eval`");
}

#[test]
fn a_log_without_verdicts_is_unscored() {
    let project = Project::new();
    let text = log(
        &[sample("a", 1, "C"), sample("b", 1, "NOT A NUMBER")],
        &json!({}),
    )
    .to_string();
    // As Python writes it.
    project.write("log.json", text.replace("\"NOT A NUMBER\"", "NaN"));
    project
        .run("import --format inspect log.json")
        .exits(0)
        .says("1 unscored");
    let mut bare = sample("a", 1, 1);
    bare["scores"] = Value::Null;
    project.write("bare.json", log(&[bare], &json!({})).to_string());
    project
        .run("import --format inspect bare.json")
        .says("1 unscored");
    // What is no verdict is no wrong answer either.
    project.write(
        "odd.json",
        log(&[sample("a", 1, "A+")], &json!({})).to_string(),
    );
    project
        .run("import --format inspect odd.json")
        .exits(3)
        .says("`\"A+\"` is not a verdict");
}

#[test]
fn what_is_no_log_is_refused() {
    let project = Project::new();
    let refused = |content: &[u8], says: &str| {
        project.write("log.eval", content);
        let ran = project.run("import --format inspect log.eval");
        ran.exits(2).says("log.eval").says(says);
    };
    refused(b"", "this is not an Inspect log");
    refused(b"PK\x03\x04 and nothing", "this is not an Inspect log");
    refused(b"{\"id\": 1}\n{\"id\": 2}\n", "this is not an Inspect log");
    refused(b"[1, 2", "this is not an Inspect log");
    refused(b"{\"eval\": {}, \"samples\": []}", "the log has no samples");
    refused(
        b"{\"eval\": {}, \"samples\": [{\"id\": 1}, {\"id\": \"1\"}]}",
        "has two answers in epoch 1",
    );
    refused(
        b"{\"eval\": {}, \"samples\": [{\"epoch\": 1}]}",
        "a sample has no `id`",
    );
    refused(
        b"{\"eval\": {}, \"samples\": [{\"id\": 1, \"epoch\": 0}]}",
        "the first is 1",
    );
    refused(
        b"{\"eval\": {}, \"samples\": [{\"id\": 1, \"epoch\": 4000000000}]}",
        "at most 1000 can be read",
    );
    refused(
        b"{\"version\": 3, \"eval\": {}, \"samples\": []}",
        "version 3",
    );
    refused(
        b"{\"eval\": {}, \"samples\": [{\"id\": 1}",
        "this is not an Inspect log",
    );
    let whole = fs::read(root().join("fixtures/inspect/capitals.eval")).unwrap();
    refused(&whole[..whole.len() / 2], "this is not an Inspect log");
    let mut spoiled = whole.clone();
    spoiled[1200..1300].fill(0xff);
    refused(&spoiled, "cannot be unpacked");
    let mut zip = ZipWriter::new(fs::File::create(project.file("chunks.eval")).unwrap());
    zip.start_file(
        "samples/a_epoch_1/skeleton.json",
        SimpleFileOptions::default(),
    )
    .unwrap();
    zip.finish().unwrap();
    project
        .run("import --format inspect chunks.eval")
        .exits(2)
        .says("inspect log convert");
    project
        .run("import --format inspect .")
        .exits(2)
        .says("it is not a file");
    project
        .run("import --format inspect missing.eval")
        .exits(2)
        .says("missing.eval");
    project
        .run("import --format inspect log.eval --mode fc --data x")
        .exits(2)
        .says("`--data`, `--mode` does not apply to this format");
    project
        .run("import --format bfcl . --scorer x")
        .exits(2)
        .says("`--scorer` does not apply to this format");
}
