//! The agent `http`.

use serde_json::json;

use super::{THREE, record, run};
use crate::project::Project;
use crate::server::{Server, fine, refusal};

#[test]
fn the_smallest_http_spec_works() {
    let server = Server::new(|requested, _| {
        let question = requested.body["question"].as_str().unwrap_or_default();
        fine(&json!({"answer": question.to_uppercase(), "usage": {"input_tokens": 3}}))
    });
    let url = server.url("/answer");
    let agent = format!(
        r#"{{ type: http, url: "{url}", body: {{ question: "{{prompt}}", id: "{{id}}" }}, answer: /answer }}"#
    );
    let project = Project::with_eval(&THREE, &agent, "");
    run(&project).exits(0).says("3 samples, 3 correct");
    let requested = server.requested();
    assert_eq!(requested[0].line, "POST /answer");
    let bodies: Vec<_> = requested
        .iter()
        .map(|requested| requested.body.clone())
        .collect();
    assert!(
        bodies.contains(&json!({"question": "three", "id": "c"})),
        "{bodies:?}"
    );
    assert_eq!(record(&project, "c")["result"]["usage"]["input_tokens"], 3);
    // Without a body it gets what a command gets; options come from the command line.
    let project = Project::with_eval(
        &THREE[..1],
        &format!("{{ type: http, url: \"{url}\" }}"),
        "",
    );
    project
        .run("run -v eval.yaml --output-root runs --agent-option deep=true")
        .exits(0)
        .says("1 sample, 1 correct");
    let body = &server.requested()[3].body;
    assert_eq!(
        (&body["options"], &body["attempt"]),
        (&json!({"deep": true}), &json!(1))
    );
}

#[test]
fn an_http_spec_says_where_things_are() {
    let server = Server::new(|requested, _| match requested.line.as_str() {
        "GET /q/a?level=hard" => fine(&json!({"data": [{"text": "ONE"}]})),
        _ => refusal("404 Not Found", "nobody"),
    });
    let url = server.url("/q/{id}?level=hard");
    let agent = format!("{{ type: http, method: GET, url: \"{url}\", answer: /data/0/text }}");
    let project = Project::with_eval(&THREE[..1], &agent, "");
    run(&project).exits(0).says("1 sample, 1 correct");
    for (agent, expect) in [
        (
            "{ type: http, url: \"http://h/\", answer: data }",
            "`answer: data` is not a JSON pointer",
        ),
        (
            "{ type: http, url: \"http://h/\", body: [\"{promt}\"] }",
            "unknown placeholder `{promt}`",
        ),
        (
            "{ type: http, url: h }",
            "`h` is not the URL of an endpoint",
        ),
        (
            "{ type: openai, base_url: h, model: m }",
            "`h` is not the URL of an endpoint",
        ),
        (
            "{ type: openai, base_url: \"http://h\" }",
            "agent: missing key `model`",
        ),
        (
            "{ type: openai, base_url: \"http://h\", model: m, modle: x }",
            "modle",
        ),
        (
            "{ type: openai, base_url: \"http://h\", model: m, price: { input: -1, output: 0 } }",
            "not a number of dollars",
        ),
        (
            "{ type: openai, base_url: \"http://h\", model: m, extra_body: { stream: true } }",
            "asks for a stream",
        ),
    ] {
        let project = Project::with_eval(&THREE, agent, "");
        run(&project).exits(2).says(expect).says("eval.yaml:4");
    }
}
