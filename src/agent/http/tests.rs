//! Requests for tasks, and answers in replies; the endpoint itself is tested in `tests/it/endpoints.rs`.

use std::sync::Arc;

use serde_json::{Map, json};

use super::*;
use crate::data::task::Visible;
use crate::data::{Sample, TaskFile, Usage};

fn task() -> Task {
    let mut sample = Sample::new("q \"1\"/2", "Why {id}?");
    sample.tools = vec![json!({"name": "add"})];
    let mut task = Task::for_test("Think. Why {id}?\n");
    task.visible = Arc::new(Visible::of(&sample));
    task.options = Arc::new(Map::from_iter([("deep".to_owned(), json!({"a": [1]}))]));
    task
}

#[track_caller]
fn check(template: &Value, expect: &Value) {
    let filled = JsonTemplate::new(template).unwrap().fill(&task()).unwrap();
    assert_eq!(&filled, expect);
}

#[test]
fn placeholders_stand_anywhere_in_a_text() {
    check(
        &json!({"question": "{prompt}", "id": "{id}"}),
        &json!({"question": "Think. Why {id}?\n", "id": "q \"1\"/2"}),
    );
    check(
        &json!(["<{id}>", {"{id}": "{question}{question}"}, 4, null, true]),
        &json!(["<q \"1\"/2>", {"{id}": "Why {id}?Why {id}?"}, 4, null, true]),
    );
    check(&json!(["{epoch}", "n{attempt}"]), &json!([0, "n1"]));
}

#[test]
fn a_text_that_is_only_a_placeholder_becomes_what_it_stands_for() {
    check(
        &json!({"m": "{messages}", "t": "{tools}", "o": "{options}", "f": "{files}", "x": "{metadata}"}),
        &json!({
            "m": [{"role": "user", "content": "Think. Why {id}?\n"}], "t": [{"name": "add"}],
            "o": {"deep": {"a": [1]}}, "f": [], "x": {},
        }),
    );
    check(
        &json!("tools: {tools}"),
        &json!("tools: [{\"name\":\"add\"}]"),
    );
}

#[test]
fn other_braces_are_braces() {
    for text in [
        "{}",
        "{\"a\": {id",
        "{ id }",
        "{Id}",
        "}{",
        "{{",
        "{",
        "é{é}",
    ] {
        check(&json!(text), &json!(text));
    }
    check(&json!("{{id}} {{nonsense}}"), &json!("{id} {nonsense}"));
    let error = JsonTemplate::new(&json!({"a": ["{promt}"]})).unwrap_err();
    assert!(
        error
            .message()
            .starts_with("unknown placeholder `{promt}`, expected one of `{prompt}`, "),
        "{error}"
    );
    assert_eq!(
        error.hint_text(),
        Some("did you mean `{prompt}`? `{{promt}}` is the text itself")
    );
}

#[test]
fn files_go_by_name_and_path_or_with_their_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    std::fs::write(&path, b"\0\xff").unwrap();
    let mut task = task();
    task.files = vec![TaskFile {
        name: "a.bin".to_owned(),
        path: path.clone(),
    }];
    let fill = |text: &str| JsonTemplate::new(&json!(text)).unwrap().fill(&task);
    assert_eq!(
        fill("{files}").unwrap(),
        json!([{"name": "a.bin", "path": path}])
    );
    assert_eq!(
        fill("{file_contents}").unwrap(),
        json!([{"name": "a.bin", "content": "AP8="}])
    );
    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        fill("{file_contents}").unwrap_err().kind,
        FailureKind::Attachment
    );
}

#[test]
fn an_address_holds_encoded_texts() {
    let fill = |url: &str| {
        UrlTemplate::new(url, EXAMPLE)
            .unwrap()
            .fill(&task())
            .unwrap()
    };
    assert_eq!(fill("http://h/a"), None);
    let url = fill("http://h/{id}?q={question}&n={epoch}").unwrap();
    assert_eq!(
        url.as_str(),
        "http://h/q%20%221%22%2F2?q=Why%20%7Bid%7D%3F&n=0"
    );
    for url in ["http://{id}/", "{prompt}", "http://h/{tools}"] {
        assert!(Http::new(url).is_err(), "{url}");
    }
    assert!(Http::new("http://h/{idd}").is_err());
    assert!(
        Http::with_method("GET", "http://h/{id}")
            .unwrap()
            .body(&json!({}))
            .is_err()
    );
    assert!(Http::with_method("G T", "http://h/").is_err());
}

#[test]
fn the_usual_body_is_that_of_a_command() {
    let agent = Http::new("http://h/").unwrap();
    let body = agent.body.unwrap().fill(&task()).unwrap();
    let expect = json!({
        "id": "q \"1\"/2", "prompt": "Think. Why {id}?\n", "question": "Why {id}?", "files": [], "metadata": {},
        "tools": [{"name": "add"}], "options": {"deep": {"a": [1]}}, "epoch": 0, "attempt": 1,
    });
    assert_eq!(body, expect);
}

fn error_of(read: Result<Output, Fault>) -> Result<Output, AgentError> {
    read.map_err(|fault| match fault {
        Fault::Error(error) => error,
        Fault::Api(error) => panic!("{error}"),
    })
}

fn read(body: &Value) -> Result<Output, AgentError> {
    error_of(Places::default().read(body.to_string().as_bytes()))
}

#[test]
fn an_answer_is_found_where_the_pointer_says() {
    let output = read(
        &json!({"answer": "4", "messages": [1], "tool_calls": [{"name": "f"}],
        "usage": {"prompt_tokens": 3}, "cost_usd": 0.5, "steps": 3}),
    )
    .unwrap();
    let usage = Usage {
        cached_tokens: None,
        input_tokens: Some(3),
        output_tokens: None,
        cost_usd: Some(0.5),
    };
    let expect = Output {
        text: Some("4".to_owned()),
        messages: vec![json!(1)],
        tool_calls: vec![json!({"name": "f"})],
        usage: Some(usage),
        steps: Some(3),
        metadata: Map::new(),
        conversation: None,
    };
    assert_eq!(output, expect);
    let places = Places {
        answer: Some("/data/0/text".to_owned()),
        ..Places::default()
    };
    let text = |body: &Value| places.read(body.to_string().as_bytes()).unwrap().text;
    assert_eq!(
        text(&json!({"data": [{"text": 4.5}]})).as_deref(),
        Some("4.5")
    );
    assert_eq!(
        text(&json!({"data": [{"text": ["a"]}]})).as_deref(),
        Some("[\"a\"]")
    );
    assert_eq!(text(&json!({"data": [{"text": null}]})), None);
    let whole = Places {
        answer: None,
        ..Places::default()
    };
    assert_eq!(
        whole.read(b"as it is\n").unwrap().text.as_deref(),
        Some("as it is\n")
    );
    let error = error_of(whole.read(b" \n")).unwrap_err();
    assert_eq!(error.kind, FailureKind::NoOutput);
}

#[test]
fn replies_without_an_answer() {
    let check = |body: &Value, kind: FailureKind, expect: &str| {
        let error = read(body).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, expect));
    };
    let bad = FailureKind::BadOutput;
    check(
        &json!({"text": "4"}),
        bad,
        "answered without a value at `/answer`: `{\"text\":\"4\"}`",
    );
    check(
        &json!({"answer": "", "messages": {}}),
        bad,
        "answered without a list at `/messages`: `{\"answer\":\"\",\"messages\":{}}`",
    );
    check(
        &json!({"error": "no\u{1b} model"}),
        FailureKind::Failed,
        "no\\u{1b} model",
    );
    check(
        &json!({"answer": null, "error": {"message": " "}}),
        FailureKind::Failed,
        "the agent replied with an empty error",
    );
    assert_eq!(read(&json!({"answer": null})).unwrap(), Output::default());
    assert_eq!(
        read(&json!({"answer": "x", "error": "y"})).unwrap(),
        "x".into()
    );
    assert_eq!(read(&json!({"tool_calls": [1]})).unwrap().text, None);
    let error = error_of(Places::default().read(b"<html>")).unwrap_err();
    assert_eq!(
        error.message,
        "answered with invalid JSON (expected value at line 1 column 1): `<html>`"
    );
    let output = read(&json!({"answer": "4", "usage": 3})).unwrap();
    assert_eq!(output.text.as_deref(), Some("4"));
    assert_eq!(output.metadata["figures_dropped"], json!(["`usage` is 3"]));
}
