//! Replies of success that are no answer, or less than one.

use serde_json::{Value, json};

use super::{THREE, record, run, run_dir};
use crate::project::Project;
use crate::server::{Request, Server, chat, fine};

const LIMITS: &str = "limits: { retries: 2, backoff_s: 0.01 }\n";

fn shout(requested: &Request) -> Value {
    chat(&requested.prompt().to_uppercase())
}

#[test]
fn an_error_within_a_choice_is_an_outage_and_not_cached() {
    let broken = |requested: &Request| {
        let mut reply = shout(requested);
        reply["choices"][0]["error"] = json!({"code": 502, "message": "upstream broke"});
        reply["choices"][0]["finish_reason"] = "error".into();
        fine(&reply)
    };
    let server = Server::new(move |requested, _| match requested.prompt() {
        "two" => broken(requested),
        _ => fine(&shout(requested)),
    });
    let lines = format!("{LIMITS}cache: true\n");
    let project = Project::with_eval(&THREE, &server.openai(""), &lines);
    run(&project)
        .exits(3)
        .says("answered 200 OK with an error (502): upstream broke");
    assert_eq!(server.requested().len(), 5);
    let result = &record(&project, "b")["result"];
    assert_eq!(result["status"], "agent_failed");
    assert_eq!(result["error"]["kind"], "busy");
    assert_eq!(result["error"]["http_status"], 502);
    // The second run asks that sample alone.
    project
        .run("run eval.yaml --output-root runs --run-id s")
        .exits(3)
        .says("2 of 3 answers from the cache");
    assert_eq!(server.requested().len(), 8);
}

#[test]
fn answers_that_were_cut_off_or_refused_are_counted() {
    let server = Server::new(|requested, _| {
        let mut reply = shout(requested);
        let choice = &mut reply["choices"][0];
        match requested.prompt() {
            "one" => {
                choice["message"]["content"] = Value::Null;
                choice["finish_reason"] = "length".into();
            }
            "two" => choice["message"] = json!({"content": null, "refusal": "I cannot."}),
            _ => {}
        }
        fine(&reply)
    });
    let project = Project::with_eval(&THREE, &server.openai(""), LIMITS);
    run(&project)
        .says("1 answer was cut off at the token limit, before any text of the answer: raise `max_tokens`")
        .says("1 answer was refused by the model");
    let summary = std::fs::read_to_string(run_dir(&project).join("summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let shortfall = json!({"truncated": 1, "truncated_empty": 1, "first_truncated": "a", "refused": 1, "first_refused": "b"});
    assert_eq!(summary["shortfall"], shortfall);
    assert_eq!(
        record(&project, "a")["result"]["shortfall"],
        "truncated_empty"
    );
    let report = std::fs::read_to_string(run_dir(&project).join("summary.md")).unwrap();
    assert!(report.contains("1 answer was cut off"), "{report}");
}
