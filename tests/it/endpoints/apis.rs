//! The agent `openai` behind Responses and Messages.

use serde_json::{Value, json};

use super::{THREE, record, run, run_dir};
use crate::project::Project;
use crate::server::{Answer, Request, Server, fine};

/// A response with these items.
fn response(items: &Value) -> Value {
    json!({"id": "r", "object": "response", "model": "tiny-2026", "status": "completed", "output": items,
        "usage": {"input_tokens": 10, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}})
}

/// A message with these blocks.
fn message(blocks: &Value, stop: &str) -> Value {
    json!({"id": "m", "type": "message", "role": "assistant", "model": "tiny-2026", "content": blocks, "stop_reason": stop,
        "usage": {"input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 2}})
}

fn text_item(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

/// What the user said last, in capitals.
fn shouted(requested: &Request) -> String {
    let conversation = ["input", "messages"].map(|key| requested.body[key].as_array());
    let last = conversation.into_iter().flatten().next().unwrap().last();
    last.unwrap()["content"].as_str().unwrap().to_uppercase()
}

#[test]
fn questions_are_asked_and_paid_for() {
    let server = Server::new(|requested, number| match &*requested.line {
        // It is overloaded at first.
        _ if number == 0 => Answer::Status("529 Overloaded", String::new(), String::new()),
        _ if number == 1 => fine(&json!({"type": "error", "error": {"type": "overloaded_error"}})),
        "POST /v1/responses" => fine(&response(&json!([text_item(&shouted(requested))]))),
        _ => fine(&message(
            &json!([{"type": "text", "text": shouted(requested)}]),
            "end_turn",
        )),
    });
    for api in ["responses", "messages"] {
        let more =
            format!(", api: {api}, api_key_env: KEY_OF_TEST, price: {{ input: 1, output: 10 }}");
        let project =
            Project::with_eval(&THREE, &server.openai(&more), "limits: { backoff_s: 0 }\n");
        project.write(".env", "KEY_OF_TEST=sk-of-this-test-4711\n");
        run(&project).exits(0).says("3 samples, 3 correct");
        let result = &record(&project, "b")["result"];
        assert_eq!(
            result["usage"],
            json!({"input_tokens": 10, "output_tokens": 2, "cost_usd": 0.000_03, "cached_tokens": 4})
        );
        assert_eq!(result["output"]["messages"], json!([]));
        let last = server.requested().pop().unwrap();
        let key = match api {
            "messages" => "x-api-key: sk-of-this-test-4711",
            _ => "authorization: bearer sk-of-this-test-4711",
        };
        assert!(last.headers.contains(key), "{}", last.headers);
        assert_eq!(
            last.headers.contains("anthropic-version"),
            api == "messages"
        );
    }
}

#[test]
fn a_paused_turn_goes_on() {
    let search = json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "A"}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []});
    let blocks = [json!([search]), json!([found])];
    let server = Server::new(move |requested, number| match number {
        0 | 1 => fine(&message(&blocks[number], "pause_turn")),
        _ => {
            let messages = &requested.body["messages"];
            let expect = json!({"role": "assistant", "content": [search, found]});
            assert_eq!(
                (messages.as_array().unwrap().len(), &messages[1]),
                (2, &expect)
            );
            fine(&message(
                &json!([{"type": "text", "text": "ONE"}]),
                "end_turn",
            ))
        }
    });
    let agent = server.openai(", api: messages");
    let project = Project::with_eval(&THREE[..1], &agent, "");
    run(&project).exits(0).says("1 correct");
    let result = &record(&project, "a")["result"];
    assert_eq!(result["usage"]["input_tokens"], 30);
    let endless = Server::new(|_, _| fine(&message(&json!([]), "pause_turn")));
    let limits = "limits: { retries: 0 }\n";
    let project = Project::with_eval(&THREE[..1], &endless.openai(", api: messages"), limits);
    run(&project).exits(3);
    assert_eq!(endless.requested().len(), 11);
}

#[test]
fn what_an_api_has_not_is_refused_before_anything_is_asked() {
    let server = Server::shouting();
    for (more, place, expect) in [
        (
            ", api: responses, seed: 7",
            "seed",
            "`api: responses` has no `seed`",
        ),
        (
            ", api: messages, seed: 7",
            "seed",
            "extra_body: { seed: 7 }",
        ),
        (
            ", api: messages, options: { logprobs: true }",
            "logprobs",
            "`api: messages` has no `logprobs`",
        ),
        (
            ", api: responses, extra_body: { stop: x }",
            "stop",
            "remove it, or ask with `api: chat`",
        ),
        (", api: completions", "api", "completions"),
    ] {
        let project = Project::with_eval(&THREE, &server.openai(more), "");
        run(&project)
            .exits(2)
            .says("eval.yaml:4:")
            .says(place)
            .says(expect);
    }
    assert_eq!(server.requested().len(), 0);
}

/// A conversation that breaks in its second step and goes on in another run.
#[track_caller]
fn check_resumed(api: &'static str, call: &Value, key: &str, expect: &Value) {
    let items = call.clone();
    let server = Server::new(move |_, number| {
        let of = |items: &Value| match api {
            "messages" => message(items, "end_turn"),
            _ => response(items),
        };
        match number {
            0 => fine(&of(&items)),
            1 => Answer::Status("500 Internal Server Error", String::new(), String::new()),
            _ if api == "messages" => fine(&of(&json!([{"type": "text", "text": "rain"}]))),
            _ => fine(&of(&json!([text_item("rain")]))),
        }
    });
    let project = Project::new();
    project.write(
        "c.jsonl",
        "{\"id\": \"a\", \"turns\": [{\"user\": \"Oslo?\", \"ground_truth\": \"rain\"}]}\n",
    );
    project.write(
        "tools.yaml",
        "- { name: weather, returns: [{ when: { city: Oslo }, result: rain }] }\n",
    );
    project.write(
        "eval.yaml",
        format!(
            "benchmark: {{ type: conversations, path: c.jsonl }}\nagent: {}\ntools: {{ mock: tools.yaml }}\n\
             limits: {{ retries: 0 }}\n",
            server.openai(&format!(", api: {api}"))
        ),
    );
    run(&project).exits(3);
    let dir = run_dir(&project);
    project
        .run(&format!("run eval.yaml --resume {}", dir.display()))
        .exits(0)
        .says("1 correct");
    // The first step was not asked again, and its items went back as they came.
    let requested = server.requested();
    assert_eq!(requested.len(), 3);
    assert_eq!(requested[2].body[key], *expect);
    assert_eq!(requested[1].body, requested[2].body);
    let messages = &record(&project, "a")["result"]["output"]["messages"];
    assert_eq!(messages[1]["items"], *call);
    assert_eq!(messages[1]["tool_calls"][0]["function"]["name"], "weather");
    assert_eq!(messages[2]["content"], "rain");
}

#[test]
fn a_conversation_over_responses_goes_on_with_the_items_that_it_had() {
    let call = json!([{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather", "arguments": "{\"city\": \"Oslo\"}"}]);
    let expect = json!([{"role": "user", "content": "Oslo?"}, call[0], call[1],
        {"type": "function_call_output", "call_id": "c1", "output": "rain"}]);
    check_resumed("responses", &call, "input", &expect);
}

#[test]
fn a_conversation_over_messages_goes_on_with_the_blocks_that_it_had() {
    let call = json!([{"type": "thinking", "thinking": "Rain?", "signature": "abc"},
        {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}}]);
    let expect = json!([{"role": "user", "content": "Oslo?"}, {"role": "assistant", "content": call},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "rain"}]}]);
    check_resumed("messages", &call, "messages", &expect);
}

#[test]
fn a_judge_asks_for_its_form_in_the_words_of_the_api() {
    let verdict = r#"{"reason": "It is the same.", "match": 5, "comments": ""}"#;
    let server = Server::new(move |requested, _| match &*requested.line {
        "POST /v1/responses" => fine(&response(&json!([text_item(verdict)]))),
        _ => fine(&message(
            &json!([{"type": "text", "text": verdict}]),
            "end_turn",
        )),
    });
    for (api, form) in [
        ("responses", "/text/format/type"),
        ("messages", "/output_config/format/type"),
    ] {
        let agent = server.openai(&format!(", api: {api}"));
        let project = Project::with_eval(
            &THREE[..1],
            "{ type: echo }",
            &format!("scorers: [ {{ type: judge, rubric: qa, agent: {agent} }} ]\ngates: []\n"),
        );
        let ran = run(&project);
        let last = server.requested().pop().unwrap().body;
        assert_eq!(
            last.pointer(form),
            Some(&json!("json_schema")),
            "{last} {}",
            ran.err
        );
    }
}
