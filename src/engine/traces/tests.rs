//! Files of traces that are large, packed or odd; what stands in messages.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};

use super::message::{calls, messages};
use super::trace::{nanoseconds, timestamp};
use super::{TraceFiles, TraceFormat, atif};

fn span(trace: u32, text: &str) -> Value {
    json!({
        "traceId": format!("{trace:032x}"), "spanId": format!("{trace:016x}"), "name": "chat",
        "startTimeUnixNano": (1_793_523_600_000_000_000 + u64::from(trace)).to_string(),
        "attributes": [
            { "key": "gen_ai.operation.name", "value": { "stringValue": "chat" } },
            { "key": "gen_ai.prompt.0.role", "value": { "stringValue": "user" } },
            { "key": "gen_ai.prompt.0.content", "value": { "stringValue": text } },
            { "key": "gen_ai.completion.0.content", "value": { "stringValue": "Yes." } },
        ],
    })
}

fn request(spans: &[Value]) -> Value {
    json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] })
}

/// The questions in a file with this content, and how many parts were bad.
fn read(content: &[u8]) -> (Vec<String>, u64, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("a.jsonl");
    fs::write(&path, content).unwrap();
    let files = TraceFiles {
        paths: vec![path],
        format: TraceFormat::Otel,
        filter: None,
    };
    let output = folder.path().join("q.jsonl");
    let written = files.write_questions(&output, &[]).unwrap();
    let lines = fs::read_to_string(output).unwrap();
    let questions = lines.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["question"].as_str().unwrap().to_owned()
    });
    let bad = written.counts.bad;
    (questions.collect(), bad.count, bad.first)
}

#[test]
fn packed_files_and_long_lines_are_read() {
    let text = format!(
        "{}\n{}\n",
        request(&[span(2, "Two?")]),
        request(&[span(1, "One?")])
    );
    let expect = (vec!["One?".to_owned(), "Two?".to_owned()], 0, vec![]);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    assert_eq!(read(&packed.finish().unwrap()), expect);
    // Longer than what is read as a line, as an object alone and among lines.
    let long = request(&[
        span(3, &"x".repeat(5 << 20)),
        span(4, &"y".repeat(5 << 20)),
        span(5, "z"),
    ]);
    let (questions, bad, _) = read(long.to_string().as_bytes());
    assert_eq!((questions.len(), bad), (3, 0));
    let (questions, bad, _) =
        read(format!("{text}{long}\n{}", request(&[span(6, "End?")])).as_bytes());
    assert_eq!((questions.len(), bad), (6, 0));
    // What is broken off in a stream is named, and the rest is there.
    let whole = long.to_string();
    let (questions, bad, first) = read(&whole.as_bytes()[..whole.len() - 20]);
    assert_eq!((questions.len(), bad), (2, 1));
    assert!(
        first[0].contains("a.jsonl:1: broken JSON: EOF"),
        "{first:?}"
    );
}

#[test]
fn a_broken_first_line_is_no_object_over_many_lines() {
    let good = request(&[span(1, "One?")]);
    let (questions, bad, first) = read(format!("{{\"resourceSpans\":[{{\"a\n{good}\n").as_bytes());
    assert_eq!((questions, bad), (vec!["One?".to_owned()], 1));
    assert!(first[0].contains("a.jsonl:1: "), "{first:?}");
}

#[test]
fn messages_have_many_forms() {
    let check = |value: &Value, expect: &Value| {
        assert_eq!(Value::from(messages(value, "user")), *expect, "{value}");
    };
    let hello = json!([{ "role": "user", "content": "Hello" }]);
    check(&json!("Hello"), &hello);
    check(&json!({ "question": "Hello", "k": 3 }), &hello);
    check(
        &json!("{\"messages\": [{\"role\": \"human\", \"content\": \"Hello\"}]}"),
        &hello,
    );
    check(
        &json!({ "choices": [{ "message": { "role": "user", "content": "Hello" } }] }),
        &hello,
    );
    check(
        &json!([{ "role": "user", "content": [{ "type": "text", "text": "Hello" }] }]),
        &hello,
    );
    check(
        &json!([{ "role": "user", "parts": [{ "type": "text", "content": "Hello" }] }]),
        &hello,
    );
    // A text that is JSON is a text.
    check(
        &json!("[1, 2]"),
        &json!([{ "role": "user", "content": "[1, 2]" }]),
    );
    check(&json!(" "), &json!([]));
    check(&Value::Null, &json!([]));
    let image = json!({ "type": "uri", "modality": "image", "uri": "https://example.com/a.png" });
    let parts =
        json!([{ "role": "user", "parts": [{ "type": "text", "content": "Look" }, image] }]);
    check(
        &parts,
        &json!([{ "role": "user", "content": [{ "type": "text", "text": "Look" }, image] }]),
    );
}

#[test]
fn arguments_are_an_object_or_a_text() {
    let check = |arguments: Value, expect: Value| {
        let part = json!({ "type": "tool_call", "id": "c", "name": "f", "arguments": arguments });
        let transcript = messages(
            &json!([{ "role": "assistant", "parts": [part] }]),
            "assistant",
        );
        assert_eq!(
            calls(&transcript),
            [json!({ "id": "c", "name": "f", "arguments": expect })]
        );
    };
    check(json!({ "n": 1 }), json!({ "n": 1 }));
    check(json!("{\"n\": 1}"), json!({ "n": 1 }));
    check(json!(""), json!({}));
    check(Value::Null, json!({}));
    check(json!("n = 1"), json!("n = 1"));
}

#[test]
fn times_have_many_forms() {
    let check = |value: Value| {
        let time = timestamp(nanoseconds(Some(&value)));
        assert_eq!(time, "2026-11-01T09:00:00.000Z", "{value}");
    };
    check(json!("1793523600000000000"));
    check(json!(1_793_523_600_000_000_000_u64));
    check(json!(1_793_523_600_000_u64));
    check(json!(1_793_523_600));
    check(json!("2026-11-01T09:00:00Z"));
    check(json!("2026-11-01T10:00:00+01:00"));
    check(json!("2026-11-01T09:00:00.000000"));
    assert_eq!(nanoseconds(Some(&json!("soon"))), 0);
}

#[test]
fn a_trajectory_that_goes_on_in_another_file_is_one() {
    let step = |source: &str, message: &str, more: Value| {
        let mut step = json!({ "source": source, "message": message });
        step.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        step
    };
    let metrics =
        |tokens: u32| json!({ "metrics": { "prompt_tokens": tokens, "completion_tokens": 1 } });
    let copied = |tokens: u32| {
        let mut copied = metrics(tokens);
        copied["is_copied_context"] = true.into();
        copied
    };
    let file = |steps: &[Value]| -> Map<String, Value> {
        let file = json!({ "schema_version": "ATIF-v1.5", "session_id": "s", "agent": {}, "steps": steps, "final_metrics": { "total_prompt_tokens": 9000 } });
        file.as_object().unwrap().clone()
    };
    let first = file(&[
        step("user", "Go", json!({})),
        step("agent", "One", metrics(10)),
    ]);
    let second = file(&[
        step("user", "Go", copied(0)),
        step("agent", "One", copied(10)),
        step("agent", "Two", metrics(20)),
    ]);
    let whole = atif::joined([first.clone(), second, first].into_iter()).unwrap();
    let trace = atif::trace("s".to_owned(), &whole);
    let usage = trace.answer.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (Some(30), Some(2))
    );
    assert_eq!(trace.output().as_deref(), Some("Two"));
    assert_eq!(trace.messages.len(), 3);
}
