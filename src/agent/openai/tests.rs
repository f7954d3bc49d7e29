//! Requests for tasks, and decoding of replies; the endpoint itself is tested in `tests/it/endpoints.rs`.

mod apis;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use ureq::http::{HeaderMap, StatusCode};

use super::*;
use crate::data::conversation::TurnTask;
use crate::data::task::Visible;
use crate::data::{Sample, TaskFile, Usage};
use crate::system::http::HttpReply;

fn agent() -> OpenAi {
    OpenAi::new("http://127.0.0.1:1/v1", "m").unwrap()
}

fn body(agent: &OpenAi, task: &Task) -> Value {
    serde_json::to_value(agent.body(task).unwrap().0).unwrap()
}

fn reply(body: impl Into<Vec<u8>>) -> HttpReply {
    HttpReply {
        status: StatusCode::OK,
        headers: HeaderMap::new(),
        body: body.into(),
    }
}

fn read(body: &Value) -> Result<Output, AgentError> {
    agent().read(&reply(body.to_string()))
}

fn message(message: &Value) -> Output {
    read(&json!({"choices": [{"index": 0, "message": message}]})).unwrap()
}

#[test]
fn the_address_is_that_of_chat_completions() {
    for (base, expect) in [
        ("http://h/v1", "http://h/v1/chat/completions"),
        ("http://h/v1//", "http://h/v1/chat/completions"),
        (
            "http://h/v1/chat/completions",
            "http://h/v1/chat/completions",
        ),
        (
            "https://h/d?api-version=2",
            "https://h/d/chat/completions?api-version=2",
        ),
        ("http://h", "http://h/chat/completions"),
    ] {
        let agent = OpenAi::new(base, "m").unwrap();
        assert_eq!(agent.endpoint.url().as_str(), expect);
    }
    assert!(OpenAi::new("h/v1", "m").is_err());
}

#[test]
fn a_plain_task_makes_a_plain_request() {
    let task = Task::for_test("Why?");
    let expect = json!({"model": "m", "messages": [{"role": "user", "content": "Why?"}]});
    assert_eq!(body(&agent(), &task), expect);
}

#[test]
fn options_reach_the_body_and_an_epoch_has_a_seed_of_its_own() {
    let mut task = Task::for_test("Why?");
    task.epoch = 2;
    task.options = Arc::new(Map::from_iter([("temperature".to_owned(), json!(1))]));
    let extra = Map::from_iter([("top_k".to_owned(), json!(3))]);
    let agent = agent()
        .system("Be brief.")
        .temperature(0.0)
        .seed(7)
        .max_tokens(5)
        .extra_body(extra);
    let expect = json!({
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}],
        "temperature": 1, "seed": 9, "max_tokens": 5, "top_k": 3,
    });
    assert_eq!(body(&agent, &task), expect);
    assert!(
        check_extra(
            Api::Chat,
            &Map::from_iter([("stream".to_owned(), json!(true))])
        )
        .is_err()
    );
    assert!(
        check_extra(
            Api::Chat,
            &Map::from_iter([("stream".to_owned(), json!(false))])
        )
        .is_ok()
    );
}

#[test]
fn tools_go_out_natively_unless_the_prompt_describes_them() {
    let mut sample = Sample::new("a", "Add 1 and 2");
    sample.tools = vec![json!({"type": "function", "function": {"name": "add"}})];
    let mut task = Task::for_test("Write calls as text. Add 1 and 2");
    task.visible = Arc::new(Visible::of(&sample));
    let request = body(&agent(), &task);
    assert_eq!(request["tools"], json!(sample.tools));
    assert_eq!(request["messages"][0]["content"], json!(task.prompt()));
    let in_words = body(&agent().tools(Tools::Prompt), &task);
    assert_eq!(in_words.get("tools"), None);
    // Messages of the sample are for native calls.
    let own = json!([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]);
    sample.metadata.insert("messages".to_owned(), own.clone());
    sample.visible = vec!["messages".to_owned()];
    task.visible = Arc::new(Visible::of(&sample));
    assert_eq!(body(&agent(), &task)["messages"], own);
    let in_words = body(&agent().tools(Tools::Prompt), &task);
    assert_eq!(in_words["messages"][0]["content"], json!(task.prompt()));
}

#[test]
fn images_and_texts_are_sent_and_other_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path: PathBuf = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        TaskFile {
            name: name.to_owned(),
            path,
        }
    };
    let mut task = Task::for_test("Look.");
    task.files = vec![
        file("a.csv", b"x,y\n```\n"),
        file("b.png", b"\x89PNG\r\n"),
        file("c.xlsx", b"PK\x03\x04\0\xff"),
        file("empty.txt", b""),
    ];
    let tested = agent();
    let (request, unsent) = tested.body(&task).unwrap();
    let request = serde_json::to_value(request).unwrap();
    let text = "Look.\n\nFile `a.csv`:\n````\nx,y\n```\n````\n\n(The file `c.xlsx` cannot be shown here.)\
                \n\nFile `empty.txt`:\n```\n\n```";
    let expect = json!([
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0K"}},
    ]);
    assert_eq!(request["messages"][0]["content"], expect);
    assert_eq!(unsent, [json!("c.xlsx")]);
    let blind = agent().files([]);
    let (_, unsent) = blind.body(&task).unwrap();
    assert_eq!(unsent.len(), 4);
    let error = agent()
        .unsendable_files(Unsendable::Fail)
        .body(&task)
        .unwrap_err();
    assert_eq!(error.kind, FailureKind::Attachment);
    assert!(
        error
            .message
            .starts_with("the file `c.xlsx` cannot be sent"),
        "{error:?}"
    );
    std::fs::remove_file(folder.path().join("b.png")).unwrap();
    assert_eq!(
        agent().body(&task).unwrap_err().kind,
        FailureKind::Attachment
    );
}

#[test]
fn answers_are_read_with_what_tells_of_them() {
    let output = read(&json!({
        "id": "c1", "model": "m-2026", "system_fingerprint": "fp", "object": "chat.completion",
        "choices": [{"finish_reason": "length", "message": {"role": "assistant", "content": "4", "refusal": null,
            "annotations": []}}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2},
    }))
    .unwrap();
    let metadata = json!({"model": "m-2026", "system_fingerprint": "fp", "id": "c1", "finish_reason": "length"});
    assert_eq!(output.answered_by().as_deref(), Some("m-2026 (fp)"));
    assert_eq!(Value::from(output.metadata), metadata);
    assert_eq!(
        (output.text.as_deref(), output.messages.len()),
        (Some("4"), 0)
    );
    let usage = Usage {
        input_tokens: Some(7),
        output_tokens: Some(2),
        cost_usd: None,
        cached_tokens: None,
    };
    assert_eq!(output.usage, Some(usage));
    // Reasoning is recorded, but is no answer.
    let thought = json!({"role": "assistant", "content": "4", "reasoning_content": "2+2"});
    let output = message(&thought);
    assert_eq!(
        (output.text.as_deref(), &output.messages[..]),
        (Some("4"), &[thought][..])
    );
    let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    assert_eq!(
        message(&json!({"content": parts})).text.as_deref(),
        Some("ab")
    );
    let parts = json!(["a", {"type": "thinking", "thinking": []}, {"type": "text", "text": "b"}]);
    assert_eq!(
        message(&json!({"content": parts})).text.as_deref(),
        Some("ab")
    );
    assert_eq!(message(&json!({"content": ""})).text.as_deref(), Some(""));
    assert_eq!(message(&json!({"content": null})).text, None);
    assert_eq!(message(&json!({})), Output::default());
    for refusal in [
        json!({"content": null, "refusal": "I cannot."}),
        json!({"content": [{"type": "refusal", "refusal": "I cannot."}]}),
    ] {
        let output = message(&refusal);
        assert_eq!(output.text.as_deref(), Some("I cannot."));
        assert_eq!(output.metadata["refused"], json!(true));
    }
}

#[test]
fn a_mark_before_the_body_is_passed_over() {
    let marked = "\u{feff}{\"choices\": [{\"message\": {\"content\": \"4\"}}]}";
    let output = agent().read(&reply(marked)).unwrap();
    assert_eq!(output.text.as_deref(), Some("4"));
}

#[test]
fn calls_come_without_a_text() {
    let calls = json!([{"id": "1", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1}"}}]);
    let output = message(&json!({"content": null, "tool_calls": calls}));
    assert_eq!(
        (output.text, json!(output.tool_calls)),
        (None, calls.clone())
    );
    let output = message(&json!({"content": "", "function_call": calls[0]["function"]}));
    assert_eq!(output.tool_calls[0]["function"], calls[0]["function"]);
    assert_eq!(
        message(&json!({"content": "a", "tool_calls": []}))
            .tool_calls
            .len(),
        0
    );
}

#[test]
fn tokens_have_a_price() {
    let usage = |agent: OpenAi, usage: &Value| {
        let body = json!({"choices": [{"message": {}}], "usage": usage}).to_string();
        let output = agent.read(&reply(body)).unwrap();
        output.usage.and_then(|usage| usage.cost_usd)
    };
    let price = Price {
        input: 2.0,
        output: 10.0,
        cached_input: Some(1.0),
    };
    let tokens = json!({"prompt_tokens": 1000, "completion_tokens": 100, "cost": 9,
        "prompt_tokens_details": {"cached_tokens": 400}});
    let near = |cost: Option<f64>, expect: f64| {
        assert!((cost.unwrap() - expect).abs() < 1e-12, "{cost:?}");
    };
    near(usage(agent().price(price), &tokens), 0.0026);
    let price = Price {
        cached_input: None,
        ..price
    };
    near(usage(agent().price(price), &tokens), 0.003);
    near(usage(agent(), &tokens), 9.0);
    assert_eq!(usage(agent().price(price), &json!(null)), None);
    assert_eq!(usage(agent(), &json!({"cost": -1})), None);
    near(
        usage(
            agent().price(price),
            &json!({"prompt_tokens": "1000", "completion_tokens": 100.0}),
        ),
        0.003,
    );
    // Cached tokens outside of the input, and reasoning outside of the output.
    let outside = json!({"input_tokens": 600, "cache_read_input_tokens": 400, "output_tokens": 40, "total_tokens": 1100,
        "output_tokens_details": {"reasoning_tokens": 60}});
    near(usage(agent().price(price), &outside), 0.003);
    // Missing figures do not mean free.
    for unpriced in [
        json!({"prompt_tokens": -1, "completion_tokens": 2.5}),
        json!({"prompt_tokens": 1000}),
        json!({}),
    ] {
        assert_eq!(usage(agent().price(price), &unpriced), None, "{unpriced}");
    }
}

#[test]
fn invalid_chat_completion_is_quoted() {
    let error = agent().read(&reply("<html>\x1b")).unwrap_err();
    assert_eq!(error.kind, FailureKind::BadOutput);
    assert_eq!(
        error.message,
        "`http://127.0.0.1:1/v1/chat/completions` did not answer with a valid chat completion \
         (expected value at line 1 column 1): `<html>\\u{1b}`"
    );
}

#[test]
fn an_error_in_a_reply_of_success_is_one() {
    let error = read(&json!({"error": {"code": 429, "message": "slow down"}})).unwrap_err();
    assert_eq!(
        (error.kind, error.http_status),
        (FailureKind::RateLimited, Some(429))
    );
    let error = read(&json!({"error": {"message": "upstream"}})).unwrap_err();
    assert_eq!(
        (error.kind, error.http_status),
        (FailureKind::Busy, Some(502))
    );
    let filtered =
        json!({"choices": [{"finish_reason": "content_filter", "message": {"content": ""}}]});
    assert_eq!(read(&filtered).unwrap_err().kind, FailureKind::Refused);
    for body in [
        json!([]),
        json!({}),
        json!({"choices": []}),
        json!({"choices": [{}]}),
        json!({"choices": [{"message": {"content": 4}}]}),
        json!({"choices": [{"message": {"content": [4]}}]}),
        json!({"choices": [{"message": {"content": [{"type": "text", "text": 4}]}}]}),
        json!({"choices": [{"message": {"tool_calls": "x"}}]}),
        json!({"choices": [{"message": {"function_call": "x"}}]}),
    ] {
        assert_eq!(
            read(&body).unwrap_err().kind,
            FailureKind::BadOutput,
            "{body}"
        );
    }
    let deep = "[".repeat(100_000);
    assert_eq!(
        agent().read(&reply(deep)).unwrap_err().kind,
        FailureKind::BadOutput
    );
}
