//! `export` of a whole run as data: tables, events, logs.

use std::fs;
use std::io::Read;
use std::path::Path;

use parquet::basic::Type;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Value, json};
use zip::ZipArchive;

use crate::project::{Project, json_lines};

/// Four questions, answered from a recording: one right, one wrong with texts that hurt, one without an answer, one
/// without a ground truth.
fn project(flags: &str) -> Project {
    let project = Project::new();
    project.questions(&[
        ("a", 1, "Capital of France?", "Paris"),
        ("b", 1, "=SUM(A1), \"quoted\"\nline", "-5"),
        ("c", 2, "Never answered?", "secret-truth"),
        ("d", 2, "No truth?", "?"),
    ]);
    let lines = [
        json!({
            "id": "a", "answer": "Paris",
            "messages": [
                { "role": "developer", "content": "Be brief." },
                { "role": "user", "content": [{ "type": "text", "text": "Capital of France?" }] },
                { "role": "assistant", "content": null, "tool_calls": [
                    { "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{\"x\": 1}" } },
                ] },
                { "role": "tool", "tool_call_id": "c1", "content": "secret-message" },
                { "role": "assistant", "content": "Paris" },
            ],
            "usage": { "input_tokens": 10, "output_tokens": 3, "cost_usd": 0.001 },
            "model": "m-1",
        }),
        json!({ "id": "b", "answer": "@secret-answer" }),
        json!({ "id": "d", "answer": "whatever" }),
    ];
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    project.write("answers.jsonl", lines.join("\n") + "\n");
    project.spec(
        "{ type: replay, path: answers.jsonl }",
        "scorers: [exact, includes]\n",
    );
    project.run(&format!("run eval.yaml {flags}")).exits(3);
    project
}

fn run(project: &Project) -> String {
    project.display(project.last_run())
}

/// The events of a file of lines.
fn events(project: &Project, file: &str) -> Vec<Value> {
    let lines = json_lines(&project.file(file));
    let of = |line: &Value| {
        let records = &line["resourceLogs"][0]["scopeLogs"][0]["logRecords"];
        records.as_array().unwrap().clone()
    };
    lines.iter().flat_map(of).collect()
}

fn attribute<'a>(event: &'a Value, key: &str) -> Option<&'a Value> {
    let mut attributes = event["attributes"].as_array().unwrap().iter();
    let found = attributes.find(|one| one["key"] == key)?;
    found["value"].as_object().unwrap().values().next()
}

#[test]
fn a_table_has_a_row_for_each_answer_and_no_formula() {
    let project = project("");
    // Of the last run, where none is named.
    let ran = project.run("export --format csv --output -");
    let text = ran.exits(0).out;
    let (head, rows) = text.split_once("\r\n").unwrap();
    let columns: Vec<_> = head.split(',').collect();
    let own = [
        "correct.exact",
        "score.exact",
        "correct.includes",
        "score.includes",
        "slice.level",
    ];
    for name in own {
        assert!(columns.contains(&name), "{head}");
    }
    let rows: Vec<_> = rows.split_terminator("\r\n").collect();
    assert_eq!(rows.len(), 4, "{text}");
    let id = project.last_json("manifest.json")["run_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let begin = format!("e,{id},a,0,scored,true,1,exact_match,true,1,true,1,1,,,1,");
    assert!(rows[0].starts_with(&begin), "{}", rows[0]);
    assert!(
        rows[0].ends_with(",10,3,0.001,0,Paris,Paris,Capital of France?,Paris"),
        "{}",
        rows[0]
    );
    let end = ",'@secret-answer,'-5,\"'=SUM(A1), \"\"quoted\"\"\nline\",'@secret-answer";
    assert!(rows[1].ends_with(end), "{}", rows[1]);
    assert!(
        rows[2].contains(",c,0,agent_failed,,,,,,,,2,not_found,"),
        "{}",
        rows[2]
    );
    assert!(
        rows[3].contains(",d,0,unscored,,,,,,,,2,,,1,"),
        "{}",
        rows[3]
    );
}

#[test]
fn a_verdict_is_an_event_with_hex_ids() {
    let project = project("");
    let file = project.run(&format!("export --format otel {}", run(&project)));
    let file = file.exits(0).out.trim().to_owned();
    assert!(file.ends_with(".otel.jsonl"), "{file}");
    let events = events(&project, &file);
    // Two scorers on two answers, and the sample that has none.
    assert_eq!(events.len(), 5, "{events:?}");
    for event in &events {
        assert_eq!(event["eventName"], "gen_ai.evaluation.result");
        for (key, length) in [("traceId", 32), ("spanId", 16)] {
            let id = event[key].as_str().unwrap();
            let is_hex = id.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
            assert!(is_hex && id.len() == length, "{id}");
        }
        let time = event["timeUnixNano"].as_str().unwrap();
        assert!(time.parse::<u64>().unwrap() > 1_700_000_000_000_000_000);
    }
    assert_eq!(events[0]["traceId"], events[1]["traceId"]);
    assert_ne!(events[0]["traceId"], events[2]["traceId"]);
    let right = |key: &str| attribute(&events[0], key).cloned();
    assert_eq!(right("gen_ai.evaluation.name"), Some(json!("exact")));
    assert_eq!(right("gen_ai.evaluation.score.value"), Some(json!(1.0)));
    assert_eq!(
        right("gen_ai.evaluation.score.label"),
        Some(json!("correct"))
    );
    assert_eq!(
        right("gen_ai.evaluation.explanation"),
        Some(json!("exact_match"))
    );
    assert_eq!(right("gen_ai.response.model"), Some(json!("m-1")));
    let failed = |key: &str| attribute(&events[4], key).cloned();
    assert_eq!(failed("evaltest.sample.id"), Some(json!("c")));
    assert_eq!(failed("error.type"), Some(json!("not_found")));
    assert_eq!(failed("gen_ai.evaluation.score.value"), None);
    // The same ids when it is exported again.
    project
        .run(&format!(
            "export --format otel {} --output again.jsonl",
            run(&project)
        ))
        .exits(0);
    assert_eq!(project.read(&file), project.read("again.jsonl"));
}

/// A file as text; of a zip its files behind one another.
fn texts_of(path: &Path) -> String {
    let bytes = fs::read(path).unwrap();
    if !bytes.starts_with(b"PK") {
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    unzipped(path)
        .into_iter()
        .map(|(name, text)| name + &text)
        .collect()
}

/// The files of a zip.
fn unzipped(path: &Path) -> Vec<(String, String)> {
    let mut zip = ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    let zip_len = zip.len();
    let file = |place: usize| {
        let mut file = zip.by_index(place).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        (file.name().unwrap().into_owned(), text)
    };
    let places = 0..zip_len;
    places.map(file).collect()
}

/// What is in no export of a masked benchmark.
const TEXTS: [&str; 7] = [
    "Capital",
    "Paris",
    "SUM(A1)",
    "Never answered",
    "secret-",
    "No truth",
    "whatever",
];

#[test]
fn texts_of_a_masked_benchmark_are_exported_when_asked_for() {
    let project = project("--set snapshot.answers=masked");
    let run = run(&project);
    for format in ["csv", "otel", "inspect", "parquet"] {
        let output = format!("export --format {format} {run} --output out.{format}");
        project.run(&output).exits(0).says("`--show-texts`");
        let text = texts_of(&project.file(&format!("out.{format}")));
        for hidden in TEXTS {
            assert!(!text.contains(hidden), "{format}: {hidden}");
        }
        assert!(text.contains("exact_match"));
    }
    let display = format!("export --format csv {run} --output - --show-texts");
    let display = project.run(&display).exits(0);
    assert!(display.out.contains("Paris") && display.out.contains("secret-answer"));
}

#[test]
fn the_columns_of_parquet_have_types() {
    let project = project("");
    project
        .run(&format!(
            "export --format parquet {} --output out.parquet",
            run(&project)
        ))
        .exits(0);
    let file = fs::File::open(project.file("out.parquet")).unwrap();
    let file = SerializedFileReader::new(file).unwrap();
    let schema = file.metadata().file_metadata().schema();
    let types: Vec<_> = schema
        .get_fields()
        .iter()
        .map(|field| (field.name(), field.get_physical_type()))
        .collect();
    for expect in [
        ("sample_id", Type::BYTE_ARRAY),
        ("epoch", Type::INT64),
        ("correct", Type::BOOLEAN),
        ("score.includes", Type::DOUBLE),
        ("slice.level", Type::BYTE_ARRAY),
    ] {
        assert!(types.contains(&expect), "{types:?}");
    }
    let records = file.get_row_iter(None).unwrap().map(Result::unwrap);
    let texts = |name: &str, row: &Row| {
        let mut columns = row.get_column_iter();
        let (_, field) = columns.find(|(other, _)| *other == name).unwrap();
        field.clone()
    };
    let records: Vec<Row> = records.collect();
    assert_eq!(records.len(), 4);
    // As it was said, other than in a spreadsheet.
    let expected = Field::Str("@secret-answer".to_owned());
    assert_eq!(texts("prediction", &records[1]), expected);
    assert_eq!(texts("correct", &records[2]), Field::Null);
    assert_eq!(texts("cost_usd", &records[0]), Field::Double(0.001));
}

#[test]
fn a_log_of_inspect_has_scores_errors_and_messages() {
    let project = project("--epochs 2");
    project
        .run(&format!(
            "export --format inspect {} --output out.eval",
            run(&project)
        ))
        .exits(0);
    let files = unzipped(&project.file("out.eval"));
    let file = |name: &str| -> Value {
        let found = files.iter().find(|(other, _)| other == name);
        let (_, text) = found.unwrap_or_else(|| panic!("{name}: {files:?}"));
        serde_json::from_str(text).unwrap()
    };
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), 10, "{names:?}");
    let right = file("samples/a_epoch_2.json");
    assert_eq!(right["epoch"], 2);
    assert_eq!(right["input"], "Capital of France?");
    assert_eq!(right["target"], "Paris");
    assert_eq!(right["scores"]["exact"]["value"], "C");
    assert_eq!(right["model_usage"]["evaltest/replay"]["total_tokens"], 13);
    let roles = right["messages"].as_array().unwrap().iter();
    let roles: Vec<_> = roles.map(|message| &message["role"]).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant"]);
    let call = &right["messages"][2]["tool_calls"][0];
    assert_eq!(call["arguments"], json!({ "x": 1 }));
    assert_eq!(right["output"]["completion"], "Paris");
    let wrong = file("samples/b_epoch_1.json");
    assert_eq!(wrong["scores"]["exact"]["value"], "I");
    assert_eq!(wrong["messages"][1]["content"], "@secret-answer");
    let failed = file("samples/c_epoch_1.json");
    assert_eq!(failed["scores"], json!({}));
    assert!(failed["error"]["message"].is_string(), "{failed}");
    let unscored = file("samples/d_epoch_1.json");
    assert_eq!(unscored["scores"], json!({}));
    assert_eq!(unscored["error"], Value::Null);
    let header = file("header.json");
    assert_eq!(
        header["eval"]["dataset"]["sample_ids"],
        json!(["a", "b", "c", "d"])
    );
    assert_eq!(header["eval"]["config"]["epochs"], 2);
    assert_eq!(header["results"]["total_samples"], 8);
    assert_eq!(header["results"]["completed_samples"], 6);
    let exact = &header["results"]["scores"][0];
    assert_eq!(exact["metrics"]["accuracy"]["value"], 0.5);
    assert_eq!(exact["scored_samples"], 2);
    assert_eq!(exact["unscored_samples"], 1);
    let summaries = file("summaries.json");
    let errors = summaries.as_array().unwrap().iter();
    assert_eq!(errors.filter(|one| one["error"].is_string()).count(), 2);
}

#[test]
fn options_of_other_formats_are_refused() {
    let project = project("");
    let run = run(&project);
    for (arguments, says) in [
        (
            "--format csv --epoch 1",
            "`--epoch` does not apply to this format",
        ),
        (
            "--format otel --no-trace",
            "`--no-trace` does not apply to this format",
        ),
        (
            "--format gaia --show-texts",
            "`--show-texts` does not apply to this format",
        ),
        ("--format xml", "invalid value 'xml'"),
    ] {
        project
            .run(&format!("export {run} {arguments}"))
            .exits(2)
            .says(says);
    }
    project.write("file", "");
    project
        .run(&format!("export {run} --format csv --output file/out.csv"))
        .exits(2)
        .says("`file`");
}
