//! `import` of traces: as questions that a person completes, and as a run. The files of `fixtures/traces/` were written by
//! the libraries that write such traces in production.

mod runs;

use std::fs;

use serde_json::{Value, json};

use crate::project::{Project, json_lines, root};

/// The id of the trace with an agent and a tool, in all files that a seed made.
const AGENT: &str = "6513270e269e0d37f2a74de452e6b438";

/// A project with a file of the fixtures.
pub(crate) fn with(name: &str) -> Project {
    let project = Project::new();
    let file = root().join("fixtures/traces").join(name);
    project.write(name, fs::read(file).unwrap());
    project
}

/// The lines of the questions of a file.
fn questions(project: &Project, format: &str, file: &str) -> Vec<Value> {
    let import = format!("import --as questions --format {format} {file} --output q.jsonl");
    let ran = project.run(&import).exits(0);
    let last = ran.out.trim_end().lines().last().unwrap();
    assert!(last.contains("`q.jsonl` contains texts of users"), "{last}");
    json_lines(&project.file("q.jsonl"))
}

fn attribute(key: &str, value: &Value) -> Value {
    let kind = match value {
        Value::Number(number) if number.is_f64() => "doubleValue",
        Value::Number(_) => {
            return json!({ "key": key, "value": { "intValue": value.to_string() } });
        }
        _ => "stringValue",
    };
    json!({ "key": key, "value": { kind: value } })
}

/// A span of a chat with these attributes.
fn span(trace: &str, id: &str, start: u64, attributes: &Value) -> Value {
    let attributes = attributes.as_object().unwrap().iter();
    let attributes: Vec<Value> = attributes
        .map(|(key, value)| attribute(key, value))
        .collect();
    json!({
        "traceId": trace, "spanId": id, "name": "chat", "startTimeUnixNano": (START + start).to_string(),
        "endTimeUnixNano": (START + start + 1_000_000_000).to_string(), "attributes": attributes,
    })
}

/// 2026-11-01, 9 o'clock.
const START: u64 = 1_793_523_600_000_000_000;

fn request(spans: &[Value]) -> Value {
    json!({ "resourceSpans": [{ "resource": { "attributes": [] }, "scopeSpans": [{ "spans": spans }] }] })
}

/// What a user says, as an attribute.
fn user_message(text: &str) -> Value {
    json!([{ "role": "user", "parts": [{ "type": "text", "content": text }] }])
        .to_string()
        .into()
}

/// A chat without anything around it.
fn chat(trace: &str, start: u64, text: &str) -> Value {
    let reply = json!([{ "role": "assistant", "parts": [{ "type": "text", "content": "Yes." }] }]);
    let attributes = json!({
        "gen_ai.operation.name": "chat", "gen_ai.input.messages": user_message(text),
        "gen_ai.output.messages": reply.to_string(),
    });
    span(trace, &trace[..16], start, &attributes)
}

#[test]
fn every_format_has_the_question_the_reference_and_what_is_known_of_it() {
    for (format, file, id) in [
        ("otel", "otel.jsonl", AGENT),
        ("otel", "otel-events.jsonl", AGENT),
        ("openinference", "openinference.jsonl", AGENT),
        (
            "langfuse",
            "langfuse.json",
            "0f8fad5b-d9cb-469f-a165-70867728950e",
        ),
        ("atif", "atif.json", "shop-2"),
    ] {
        let project = with(file);
        let lines = questions(&project, format, file);
        let line = lines.iter().find(|line| line["id"] == id).unwrap();
        assert_eq!(line["question"], "Where is my order 17?", "{file}");
        assert_eq!(
            (&line["answer"], &line["review"]),
            (&Value::Null, &json!("needed")),
            "{file}"
        );
        let reference = &line["reference"];
        assert_eq!(
            reference["output"], "Order 17 was shipped on Monday.",
            "{file}"
        );
        let calls =
            json!([{ "id": "call_1", "name": "find_order", "arguments": { "number": 17 } }]);
        assert_eq!(reference["tool_calls"], calls, "{file}");
        let metadata = &line["metadata"];
        assert_eq!(metadata["source"], file);
        assert!(
            metadata["time"]
                .as_str()
                .unwrap()
                .starts_with("2026-11-01T09:00:00"),
            "{metadata}"
        );
        assert!(
            metadata["model"]
                .as_str()
                .unwrap()
                .starts_with("shop-model"),
            "{metadata}"
        );
        assert_eq!(
            metadata["system"], "You work for a shop. Be brief.",
            "{file}"
        );
        if file != "otel-events.jsonl" {
            assert_eq!(metadata["session"], "session-1", "{file}");
        }
        if !matches!(file, "otel-events.jsonl" | "atif.json") {
            assert_eq!(reference["scores"]["helpful"]["value"], 0.2, "{file}");
            assert_eq!(
                reference["scores"]["helpful"]["explanation"],
                "It does not say when it arrives."
            );
        }
        if matches!(format, "openinference" | "langfuse") {
            assert_eq!(metadata["tags"], json!(["shop", "pro"]));
        }
    }
}

#[test]
fn interleaved_traces_are_grouped_and_sorted_and_a_conversation_keeps_its_messages() {
    for file in ["otel.jsonl", "otel-events.jsonl", "openinference.jsonl"] {
        let project = with(file);
        let format = if file.starts_with("otel") {
            "otel"
        } else {
            "openinference"
        };
        let lines = questions(&project, format, file);
        assert_eq!(lines.len(), 4, "{file}");
        let times: Vec<&str> = lines
            .iter()
            .map(|line| line["metadata"]["time"].as_str().unwrap())
            .collect();
        assert!(times.is_sorted(), "{times:?}");
        // A stream, whose pieces are one answer.
        assert_eq!(lines[1]["question"], "Do you ship to Oslo?");
        assert_eq!(lines[1]["reference"]["output"], "Yes, within five days.");
        let messages = lines[2]["messages"].as_array().unwrap();
        let roles: Vec<&str> = messages
            .iter()
            .map(|message| message["role"].as_str().unwrap())
            .collect();
        assert_eq!(roles, ["system", "user", "assistant", "user"], "{file}");
        assert_eq!(
            (&lines[2]["reference"]["output"], lines[2].get("question")),
            (&json!("Nothing."), None)
        );
        let secret = lines[3]["question"].as_str().unwrap();
        assert!(
            secret.contains("my key [REDACTED]: why")
                && !project.read("q.jsonl").contains("sk-proj"),
            "{secret}"
        );
    }
}

#[test]
fn content_that_was_not_recorded_is_counted_and_named_and_never_an_empty_question() {
    let project = with("otel.jsonl");
    let import = "import --as questions --format otel otel.jsonl --output q.jsonl";
    project
        .run(import)
        .exits(0)
        .says("5 traces read, 4 written, 0 already there, 0 filtered out, 1 without content")
        .says("the content of 1 trace was not recorded: `953f48f1a09f76b5a170b33839263059`")
        .says("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
    let found = project.run(&format!("{import} --json")).exits(0).json();
    assert_eq!(
        found["without_content_ids"],
        json!(["953f48f1a09f76b5a170b33839263059"])
    );
}

#[test]
fn a_second_import_appends_only_what_is_new() {
    let project = Project::new();
    let [one, two] = ["a", "b"].map(|letter| letter.repeat(32));
    project.write("one.jsonl", request(&[chat(&one, 0, "One?")]).to_string());
    let both = [
        request(&[chat(&two, 5, "Two?")]),
        request(&[chat(&one, 0, "One?"), chat(&one, 0, "One?")]),
    ];
    project.write("two.jsonl", both.map(|line| line.to_string()).join("\n"));
    let import =
        |file: &str| format!("import --as questions --format otel {file} --output evals/q.jsonl");
    project.run(&import("one.jsonl")).exits(0).says("1 written");
    // What a person filled in, in an editor that ends no line.
    let edited = project
        .read("evals/q.jsonl")
        .replace("\"answer\":null", "\"answer\":\"1\"");
    project.write("evals/q.jsonl", edited.trim_end());
    project
        .run(&import("two.jsonl"))
        .exits(0)
        .says("2 traces read, 1 written, 1 already there");
    let lines = json_lines(&project.file("evals/q.jsonl"));
    let ids: Vec<&Value> = lines.iter().map(|line| &line["id"]).collect();
    assert_eq!(ids, [&json!(one), &json!(two)]);
    assert_eq!(lines[0]["answer"], "1");
    let before = project.read("evals/q.jsonl");
    project
        .run(&import("two.jsonl"))
        .exits(0)
        .says("0 written, 2 already there");
    assert_eq!(project.read("evals/q.jsonl"), before);
    project.write("evals/q.jsonl", format!("{before}{{\"question\":\"?\"}}\n"));
    project
        .run(&import("two.jsonl"))
        .exits(2)
        .says("q.jsonl:3: this is not a question: it has no `id`");
}

#[test]
fn conditions_choose_traces_and_a_wrong_one_is_named_with_its_place() {
    let project = with("otel.jsonl");
    let count = |condition: &str| {
        let arguments = [
            "import",
            "--as",
            "questions",
            "--format",
            "otel",
            "otel.jsonl",
            "--output",
            "w.jsonl",
            "--json",
            "--where",
            condition,
        ];
        let ran = project.run_of(&arguments).exits(0);
        let _ = fs::remove_file(project.file("w.jsonl"));
        ran.json()["written"].as_u64().unwrap()
    };
    for (condition, expect) in [
        ("score(helpful) < 0.5", 1),
        ("score(helpful) <= 0.2 and score(helpful) >= 0.2", 1),
        ("score(helpful) > 0.2", 0),
        ("score(helpful) != 0.2", 0),
        ("score(helpful) == unhelpful", 1),
        ("score(helpful) != \"unhelpful\"", 0),
        ("score(other) < 1", 0),
        ("tag(customer.plan)", 1),
        ("tag(customer.plan) == pro and time >= 2026-11-01", 1),
        ("tag(customer.plan) == free", 0),
        ("tag != pro", 4),
        ("time >= 2026-11-01", 4),
        ("time < 2026-11-01T09:00:00.1Z", 1),
        ("time>=2026-11-02", 0),
    ] {
        assert_eq!(count(condition), expect, "{condition}");
    }
    for (condition, place) in [
        (
            "score(helpful) < much",
            "character 18: expected a number, found `much`",
        ),
        (
            "score(helpful)",
            "character 15: expected an operator, found the end",
        ),
        (
            "scores(helpful) < 1",
            "character 1: expected `score(NAME)`, `tag` or `time`",
        ),
        (
            "time >= yesterday",
            "character 9: expected a date or a time as in RFC 3339",
        ),
        (
            "tag(a) or tag(b)",
            "character 8: expected `and` or the end, found `or tag(b)`",
        ),
        ("tag(a", "character 5: expected `NAME)`"),
        ("", "character 1: expected `score(NAME)`, `tag` or `time`"),
    ] {
        let arguments = [
            "import",
            "--as",
            "questions",
            "--format",
            "otel",
            "otel.jsonl",
            "--output",
            "w.jsonl",
            "--where",
            condition,
        ];
        let ran = project.run_of(&arguments).exits(2).says(place);
        ran.says("hint: write `score(NAME) < 0.5`");
    }
}

#[test]
fn what_a_spec_redacts_is_blanked_before_a_line_is_written() {
    let project = with("otel.jsonl");
    // Its dataset is the file that is about to be written.
    let spec = "name: shop\nbenchmark: { type: qa, path: q.jsonl }\nagent: { type: echo, text: x }\nredact: ['[a-z]+@example\\.com']\n";
    project.write("evals/shop.yaml", spec);
    project
        .run("import --as questions --format otel otel.jsonl --output evals/q.jsonl --spec evals/shop.yaml --redact-pattern Oslo")
        .exits(0);
    let text = project.read("evals/q.jsonl");
    assert!(
        !text.contains("anna@example.com") && !text.contains("Oslo"),
        "{text}"
    );
    let project = with("otel.jsonl");
    project
        .run("import --format otel otel.jsonl --redact-pattern Oslo")
        .exits(0);
    let records = fs::read_to_string(project.last_run().join("samples.jsonl")).unwrap();
    assert!(
        records.contains("[REDACTED]") && !records.contains("Oslo") && !records.contains("sk-proj")
    );
}

#[test]
fn an_object_an_array_a_folder_and_rows_are_read() {
    let [one, two] = ["a", "b"].map(|letter| letter.repeat(32));
    let (first, second) = (
        request(&[chat(&one, 0, "One?")]),
        request(&[chat(&two, 5, "Two?")]),
    );
    let check = |name: &str, bytes: &[u8], path: &str| {
        let project = Project::new();
        project.write(name, bytes);
        let lines = questions(&project, "otel", path);
        let asked: Vec<&Value> = lines.iter().map(|line| &line["question"]).collect();
        assert_eq!(asked, ["One?", "Two?"], "{name}");
    };
    let whole = request(&[chat(&two, 5, "Two?"), chat(&one, 0, "One?")]);
    check(
        "a.json",
        serde_json::to_string_pretty(&whole).unwrap().as_bytes(),
        "a.json",
    );
    check("a.json", format!("\u{feff}{whole}").as_bytes(), "a.json");
    check(
        "a.json",
        json!([first, second]).to_string().as_bytes(),
        "a.json",
    );
    check(
        "t/b/a.jsonl",
        format!("{first}\r\n\n{second}").as_bytes(),
        "t",
    );
    // As the console exporter of an SDK and a table of Phoenix have them.
    let row = |id: &str, start: &str, text: &str| {
        json!({
            "name": "chat", "context": { "trace_id": format!("0x{id}"), "span_id": format!("0x{}", &id[..16]) }, "parent_id": null,
            "start_time": start, "end_time": start,
            "attributes": { "openinference": { "span": { "kind": "LLM" } }, "llm": { "input_messages": [{ "message": { "role": "user", "content": text } }] } },
        })
    };
    let rows = [
        row(&one, "2026-11-01T09:00:00.000000Z", "One?"),
        row(&two, "2026-11-01 09:00:05", "Two?"),
    ];
    check(
        "a.jsonl",
        rows.map(|row| row.to_string()).join("\n").as_bytes(),
        "a.jsonl",
    );
}

#[test]
fn a_broken_line_is_named_and_the_others_are_read() {
    let project = Project::new();
    let line = request(&[chat(&"a".repeat(32), 0, "One?")]);
    project.write("t.jsonl", format!("{line}\n{{\"resourceSpans\": [\n7\n{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{{\"name\":\"x\"}}]}}]}}]}}\n"));
    project
        .run("import --as questions --format otel t.jsonl --output q.jsonl")
        .exits(0)
        .says("1 traces read".replace("traces", "trace").as_str())
        .says("3 bad")
        .says("t.jsonl:2: broken JSON")
        .says("t.jsonl:4: a span has no `traceId`");
    for (text, why) in [
        ("", "no traces in `t.jsonl`"),
        (
            "{\"schema_version\":\"ATIF-v1.4\",\"steps\":[]}\n",
            "t.jsonl:1: this is not a span: it has no `traceId`",
        ),
        ("[1, 2", "t.jsonl:1: broken JSON"),
    ] {
        project.write("t.jsonl", text);
        let ran = project.run("import --as questions --format otel t.jsonl --output r.jsonl");
        ran.exits(2)
            .says(why)
            .says("--format otel|openinference|langfuse|atif");
        assert!(!project.file("r.jsonl").exists());
    }
    project
        .run("import --as questions --format otel none.jsonl --output r.jsonl")
        .exits(2)
        .says("none.jsonl");
    project
        .run("import --as questions --format otel t.jsonl")
        .exits(2)
        .says("--output");
    project
        .run("import --as questions --format inspect t.jsonl --output r.jsonl")
        .exits(2)
        .says("`--as` does not apply to this format");
}
