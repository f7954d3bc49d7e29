//! Responses and Messages.

use super::*;

fn asked(api: Api) -> OpenAi {
    OpenAi::with_api("http://127.0.0.1:1/v1", "m", api).unwrap()
}

/// A task in a conversation with a reply that has items and one that has none.
fn in_conversation(items: &Value) -> Task {
    let call = json!([{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}}]);
    let other =
        json!({"id": "c2", "type": "function", "function": {"name": "f", "arguments": "no"}});
    let mut task = Task::for_test("And?");
    let mut first = TurnTask::first("Go");
    first.messages = Arc::new([
        json!({"role": "system", "content": "s"}),
        json!({"role": "user", "content": "Go"}),
        json!({"role": "assistant", "content": null, "tool_calls": call, "items": items}),
        json!({"role": "tool", "tool_call_id": "c1", "content": "42"}),
        json!({"role": "assistant", "content": "a", "tool_calls": [call[0], other]}),
        json!({"role": "tool", "tool_call_id": "c1", "content": "42"}),
        json!({"role": "tool", "tool_call_id": "c2", "content": "error"}),
        json!({"role": "user", "content": "And?"}),
    ]);
    first.failed = Arc::new(["c2".to_owned()]);
    task.turn = Some(first);
    let mut sample = Sample::new("a", "");
    sample.tools = vec![
        json!({"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}),
    ];
    task.visible = Arc::new(Visible::of(&sample));
    task
}

#[test]
fn responses_have_items_and_get_them_back() {
    let items = json!([{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{\"x\":1}"}]);
    let agent = asked(Api::Responses).system("Be brief.").max_tokens(9);
    assert_eq!(
        agent.endpoint.url().as_str(),
        "http://127.0.0.1:1/v1/responses"
    );
    let expect = json!({"model": "m", "instructions": "Be brief.\n\ns", "input": [
            {"role": "user", "content": "Go"}, items[0], items[1],
            {"type": "function_call_output", "call_id": "c1", "output": "42"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{\"x\":1}"},
            {"type": "function_call", "call_id": "c2", "name": "f", "arguments": "no"},
            {"type": "function_call_output", "call_id": "c1", "output": "42"},
            {"type": "function_call_output", "call_id": "c2", "output": "error"},
            {"role": "user", "content": "And?"}],
        "max_output_tokens": 9,
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}], "store": false});
    assert_eq!(body(&agent, &in_conversation(&items)), expect);
    let response = json!({"id": "r", "object": "response", "model": "m-1", "status": "completed", "error": null, "output": items,
        "usage": {"input_tokens": 33, "output_tokens": 8, "input_tokens_details": {"cached_tokens": 19}}});
    let output = agent.read(&reply(response.to_string())).unwrap();
    assert_eq!(output.text, None);
    assert_eq!(
        output.tool_calls,
        [
            json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}})
        ]
    );
    assert_eq!(output.messages[0]["items"], items);
    let usage = output.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.cached_tokens),
        (Some(33), Some(19))
    );
    assert_eq!(output.metadata.get("finish_reason"), None);
}

#[test]
fn messages_have_blocks_and_results_of_a_step_in_one_message() {
    let blocks = json!([{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "text", "text": "A"},
        {"type": "tool_use", "id": "c1", "name": "f", "input": {"x": 1}}]);
    let agent = asked(Api::Messages).api_key("sk-1234567890");
    let use_of =
        |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "f", "input": input});
    let expect = json!({"model": "m", "system": "s", "messages": [
            {"role": "user", "content": "Go"}, {"role": "assistant", "content": blocks},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "42"}]},
            {"role": "assistant", "content":
                [{"type": "text", "text": "a"}, use_of("c1", json!({"x": 1})), use_of("c2", json!({}))]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "42"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "error", "is_error": true}]},
            {"role": "user", "content": "And?"}],
        "max_tokens": 4096, "tools": [{"name": "f", "input_schema": {"type": "object"}}]});
    assert_eq!(body(&agent, &in_conversation(&blocks)), expect);
    let reply_of = |content: &Value, stop: &str| {
        let body = json!({"id": "m", "type": "message", "model": "m-1", "content": content, "stop_reason": stop,
            "usage": {"input_tokens": 1, "cache_read_input_tokens": 18, "cache_creation_input_tokens": 2, "output_tokens": 8}});
        agent.read(&reply(body.to_string()))
    };
    let output = reply_of(&blocks, "tool_use").unwrap();
    assert_eq!(output.text.as_deref(), Some("A"));
    assert_eq!(
        output.tool_calls[0]["function"],
        json!({"name": "f", "arguments": "{\"x\":1}"})
    );
    assert_eq!(output.messages[0]["items"], blocks);
    assert_eq!(output.usage.unwrap().input_tokens, Some(21));
    assert_eq!(reply_of(&json!([]), "end_turn").unwrap().text, None);
    assert_eq!(
        reply_of(&json!([{"type": "text", "text": "4"}]), "max_tokens")
            .unwrap()
            .finish(),
        crate::data::Finish::Truncated
    );
    assert_eq!(
        reply_of(&json!([]), "refusal").unwrap_err().kind,
        FailureKind::Refused
    );
}

#[test]
fn a_response_that_was_cut_off_refused_or_failed_says_so() {
    use crate::data::Finish::{Answer, Refused, Truncated};

    let agent = asked(Api::Responses).max_tokens(8);
    let read = |body: Value| agent.read(&reply(body.to_string()));
    let reply_of =
        |part: Value| json!([{"type": "message", "role": "assistant", "content": [part]}]);
    let text = reply_of(json!({"type": "output_text", "text": "4"}));
    let finish = |body: Value| read(body).unwrap().finish();
    assert_eq!(
        finish(json!({"status": "completed", "output": text})),
        Answer
    );
    // llama.cpp says `completed` at the limit.
    assert_eq!(
        finish(
            json!({"status": "completed", "output": text, "usage": {"input_tokens": 1, "output_tokens": 8}})
        ),
        Truncated
    );
    let cut = json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []});
    assert_eq!(finish(cut), Truncated);
    let refusal = reply_of(json!({"type": "refusal", "refusal": "I cannot."}));
    let output = read(json!({"status": "completed", "output": refusal})).unwrap();
    assert_eq!(
        (output.text.as_deref(), output.finish()),
        (Some("I cannot."), Refused)
    );
    let filtered = json!({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "output": []});
    assert_eq!(read(filtered).unwrap_err().kind, FailureKind::Refused);
    let failed = json!({"object": "response", "status": "failed", "output": [], "error": {"code": "server_error", "message": "no"}});
    assert_eq!(read(failed).unwrap_err().http_status, Some(500));
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert_eq!(read(overloaded).unwrap_err().http_status, Some(529));
    for body in [
        json!({"choices": []}),
        json!({"output": [{"type": "message"}]}),
        json!({"output": 4}),
    ] {
        let error = read(body).unwrap_err();
        assert_eq!(error.kind, FailureKind::BadOutput);
        assert!(error.message.contains("a valid response"), "{error:?}");
    }
}

#[test]
fn keys_of_chat_completions_have_other_names_or_are_refused() {
    let schema = json!({"type": "object"});
    let form = json!({"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": schema}});
    let tool = json!([{"type": "function", "function": {"name": "f", "parameters": schema}}]);
    let options = |more: Value| {
        let mut options = json!({"response_format": form, "tools": tool, "reasoning_effort": "low",
            "tool_choice": {"type": "function", "function": {"name": "f"}}, "max_completion_tokens": 5, "top_p": 0.5, "n": 1});
        let more = more.as_object().unwrap().clone();
        options.as_object_mut().unwrap().extend(more);
        let mut task = Task::for_test("Why?");
        task.options = Arc::new(options.as_object().unwrap().clone());
        task
    };
    let more = json!({"include": ["x"], "logprobs": true, "text": {"verbosity": "low"}});
    let mut responses = options(more);
    // An object of one's own keeps its members.
    let mut keys = Map::clone(&responses.options);
    let form = keys.shift_remove("response_format").unwrap();
    keys.insert("response_format".to_owned(), form.clone());
    responses.options = Arc::new(keys);
    assert_eq!(
        body(&asked(Api::Responses), &responses),
        json!({"model": "m", "input": [{"role": "user", "content": "Why?"}], "store": false,
            "tools": [{"type": "function", "name": "f", "parameters": schema}], "reasoning": {"effort": "low"},
            "tool_choice": {"type": "function", "name": "f"}, "max_output_tokens": 5, "top_p": 0.5,
            "include": ["x", "message.output_text.logprobs"],
            "text": {"verbosity": "low", "format": {"type": "json_schema", "name": "n", "strict": true, "schema": schema}}})
    );
    assert_eq!(
        body(&asked(Api::Messages), &options(json!({"stop": "x"}))),
        json!({"model": "m", "messages": [{"role": "user", "content": "Why?"}], "max_tokens": 5,
            "output_config": {"format": {"type": "json_schema", "schema": schema}, "effort": "low"},
            "tools": [{"name": "f", "input_schema": schema}], "tool_choice": {"type": "tool", "name": "f"}, "top_p": 0.5,
            "stop_sequences": ["x"]})
    );
    for (api, key, value) in [
        (Api::Responses, "stop", json!("x")),
        (Api::Responses, "messages", json!([])),
        (Api::Responses, "n", json!(2)),
        (Api::Messages, "logprobs", json!(true)),
        (Api::Messages, "top_logprobs", json!(2)),
        (
            Api::Messages,
            "response_format",
            json!({"type": "json_object"}),
        ),
    ] {
        let extra = Map::from_iter([(key.to_owned(), value)]);
        let error = check_extra(api, &extra).unwrap_err();
        assert!(
            error.message().ends_with(&format!("has no `{key}`")),
            "{error}"
        );
        assert!(check_extra(Api::Chat, &extra).is_ok());
        let error = asked(api)
            .extra_body(extra)
            .body(&Task::for_test("a"))
            .unwrap_err();
        assert_eq!(error.kind, FailureKind::Misconfigured);
    }
    let error = asked(Api::Messages)
        .seed(1)
        .body(&Task::for_test("a"))
        .unwrap_err();
    assert!(error.message.contains("extra_body"), "{error:?}");
}

#[test]
fn images_are_parts_of_each_api() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.png");
    std::fs::write(&path, b"\x89PNG\r\n").unwrap();
    let mut task = Task::for_test("Look.");
    task.files = vec![TaskFile {
        name: "b.png".to_owned(),
        path,
    }];
    let expect = json!([{"type": "input_text", "text": "Look."},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0K"}]);
    assert_eq!(
        body(&asked(Api::Responses), &task)["input"][0]["content"],
        expect
    );
    let expect = json!([{"type": "text", "text": "Look."},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"}}]);
    assert_eq!(
        body(&asked(Api::Messages), &task)["messages"][0]["content"],
        expect
    );
}
