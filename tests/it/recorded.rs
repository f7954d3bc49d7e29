//! Calls of models that are recorded, and replayed without a model. The agent is a program of Rust's standard library.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::project::{Project, Ran, all_files, json_lines};
use crate::server::{Answer, Server, chat, fine, refusal};

mod settings;

/// A key that must be in no file.
const KEY: &str = "sk-proj-4f9a8b7c6d5e4f3a2b1c0d";
/// Two calls at once, one of them a stream, and a round with a tool.
const WORK: &str = "ask one & stream two; ask which tool; tool is done";

/// The agent, built once.
fn agent() -> &'static PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap().keep();
        let program = folder.join("agent");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/it/recorded/agent.rs");
        let built = Command::new("rustc")
            .args(["--edition", "2024", "-o"])
            .arg(&program)
            .arg(source)
            .output()
            .unwrap();
        assert!(built.status.success(), "{built:?}");
        program
    })
}

/// A model that never says the same twice, and repeats keys.
fn model() -> Server {
    Server::new(|request, number| {
        let prompt = request.prompt();
        if request.body["stream"] == true {
            let event = |text: &str| format!("data: {{\"delta\":\"{text}\"}}\n\n");
            let events = ["é", &number.to_string(), KEY].map(event);
            let chunk = |text: &String| format!("{:x}\r\n{text}\r\n", text.len());
            let mut body: String = events.iter().map(chunk).collect();
            if !prompt.contains("break off") {
                body += "0\r\n\r\n";
            }
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
            return Answer::Raw(format!("{head}{body}").into_bytes());
        }
        match prompt {
            "limited" => refusal("429 Too Many Requests", "slow down"),
            "down" => refusal("500 Internal Server Error", "broken"),
            "wrong" => refusal("400 Bad Request", "no"),
            _ => fine(&chat(&format!("{number} to {prompt} with {KEY}"))),
        }
    })
}

/// A project whose agent does what its questions say.
fn project(work: &[&str], keys: &str, record: &str, more: &str) -> Project {
    let ids: Vec<_> = (0..work.len()).map(|number| format!("q{number}")).collect();
    let questions = ids.iter().zip(work);
    let questions: Vec<_> = questions
        .map(|(id, work)| (&**id, 1, *work, "never said"))
        .collect();
    let agent = agent().display();
    let project = Project::new();
    project.questions(&questions);
    project.spec(
        &format!("{{ type: command, command: [{agent}], env: [OPENAI_API_KEY, DAY]{keys} }}"),
        &format!("record: {{ {record} }}\nscorer: includes\n{more}"),
    );
    project
}

fn upstream(server: &Server) -> String {
    format!("upstream: {{ openai: \"{}\" }}", server.url("/v1"))
}

/// Runs with a key.
fn run(project: &Project, arguments: &str) -> Ran {
    let mut command = project.command(arguments);
    command.env("OPENAI_API_KEY", KEY).env("DAY", "2026-11-28");
    Ran::of(&command.output().unwrap())
}

fn answers(project: &Project) -> Vec<Value> {
    let records = project.last_lines("samples.jsonl");
    let text = |record: &Value| record["result"]["output"]["text"].clone();
    records.iter().map(text).collect()
}

/// The recorded calls of a sample.
fn calls(project: &Project, id: &str) -> Vec<Value> {
    let files = all_files(&project.file("cassettes"));
    let name = format!("{id}.jsonl");
    let file = files.iter().find(|file| file.ends_with(&name));
    json_lines(file.expect("a recording"))
}

#[test]
fn a_recorded_agent_answers_the_same_without_its_model() {
    let server = model();
    let project = project(
        &[WORK; 8],
        "",
        &upstream(&server),
        "gates: [accuracy >= 0]\n",
    );
    run(&project, "run eval.yaml --record").exits(0);
    let asked = server.requested().len();
    assert_eq!(asked, 8 * 6);
    let header = format!("authorization: bearer {KEY}");
    assert!(
        server
            .requested()
            .iter()
            .all(|it| it.headers.contains(&header))
    );
    assert_eq!(project.last_json("summary.json")["recorded"], Value::Null);
    let recorded = answers(&project);
    let text = recorded[0].as_str().unwrap();
    assert!(text.contains("one") && text.contains("is done"), "{text}");
    // Both answers to the same request, which are not the same.
    let text = text.rsplit(" | ").collect::<Vec<_>>();
    assert_ne!(text[0], text[1]);
    run(&project, "accept").exits(0);
    for _ in 0..3 {
        let ran = Ran::of(&project.command("run eval.yaml --replay").output().unwrap());
        ran.exits(0).says_nothing_of("OPENAI_API_KEY");
        assert_eq!(answers(&project), recorded);
    }
    assert_eq!(server.requested().len(), asked);
    for file in all_files(project.path()) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(!text.contains(KEY), "{}", file.display());
    }
    let summary = project.last_json("summary.json");
    assert_eq!(
        (&summary["recorded"], &summary["latency_s"]),
        (&json!(8), &Value::Null)
    );
    let records = project.last_lines("samples.jsonl");
    assert!(records.iter().all(|it| it["result"]["recorded"] == true));
    let ran = project.run("accept").exits(2);
    ran.says("8 of its 8 answers used recorded model calls")
        .says("cargo evaltest run eval.yaml --record");
}

#[test]
fn a_file_has_a_line_a_call_without_headers_of_the_request() {
    let server = model();
    let project = project(&[WORK], "", &upstream(&server), "epochs: 2\ngates: []\n");
    run(&project, "run eval.yaml --record").exits(0);
    let calls = calls(&project, "q0");
    assert_eq!(calls.len(), 12);
    for (place, call) in calls.iter().enumerate() {
        assert_eq!(call["format_version"], 1);
        assert_eq!(call["epoch"], place / 6);
        assert_eq!(call["n"], place % 6);
        assert_eq!(call["key"].as_str().unwrap().len(), 64);
        assert_eq!(call["request"]["method"], "POST");
        assert_eq!(call["request"]["path"], "/openai/chat/completions");
        assert_eq!(call["request"]["body"]["model"], "m");
        assert!(call["request"].get("headers").is_none());
        assert!(call["at"].is_string());
    }
    let streamed = calls
        .iter()
        .find(|call| call["request"]["body"]["stream"] == true);
    let response = &streamed.unwrap()["response"];
    assert_eq!(
        response["headers"],
        json!({"content-type": "text/event-stream"})
    );
    let chunks = response["chunks"].as_array().unwrap();
    assert!(
        chunks
            .iter()
            .all(|chunk| chunk[0].is_u64() && chunk[1].is_string())
    );
}

#[test]
fn gates_against_a_baseline_are_ignored_where_calls_are_replayed() {
    let server = model();
    let gates = "gates: [accuracy >= 0, no_regression(alpha=0.05)]\n";
    let project = project(&["ask one"], "", &upstream(&server), gates);
    run(&project, "run eval.yaml --record").exits(0);
    run(&project, "accept").exits(0);
    // `CI` alone says to replay.
    let ran = Ran::of(
        &project
            .command("run eval.yaml")
            .env("CI", "1")
            .output()
            .unwrap(),
    );
    ran.exits(0)
        .says("- no_regression(alpha=0.05)  recorded calls");
    let gates = project.last_json("summary.json")["gates"].clone();
    let verdicts: Vec<_> = gates
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["verdict"])
        .collect();
    assert_eq!(verdicts, ["passed", "ignored", "passed"]);
    // Others decide as usual.
    let spec = project.read("eval.yaml");
    project.write(
        "eval.yaml",
        spec.replace("accuracy >= 0,", "accuracy >= 1, latency_mean <= 9,"),
    );
    let ran = Ran::of(
        &project
            .command("run eval.yaml")
            .env("CI", "1")
            .output()
            .unwrap(),
    );
    ran.exits(3)
        .says("✗ accuracy >= 1")
        .says("model calls were replayed");
    project.write(
        "eval.yaml",
        spec.replace("answers: plain", "answers: plain, assert: correct"),
    );
    let ran = Ran::of(
        &project
            .command("run eval.yaml")
            .env("CI", "1")
            .output()
            .unwrap(),
    );
    ran.exits(1);
    // The default gates, too.
    project.write(
        "eval.yaml",
        spec.replace("gates: [accuracy >= 0, no_regression(alpha=0.05)]\n", ""),
    );
    let ran = Ran::of(
        &project
            .command("run eval.yaml")
            .env("CI", "1")
            .output()
            .unwrap(),
    );
    ran.exits(0).says("recorded calls");
    assert_eq!(server.requested().len(), 3);
}

#[test]
fn a_call_that_is_not_recorded_fails_the_sample_whatever_the_agent_does() {
    let server = model();
    let project = project(
        &["ask one", "ask two"],
        "",
        &upstream(&server),
        "gates: []\n",
    );
    run(&project, "run eval.yaml --record").exits(0);
    let asked = server.requested().len();
    let data = project.read("data.jsonl");
    project.write(
        "data.jsonl",
        data.replace("ask two", "ask four; ask again; ask again; ask again"),
    );
    let ran = run(&project, "run eval.yaml --replay").exits(3);
    // What is recorded for one sample is not for another, and each entry answers once.
    ran.says("differs at `/messages/0/content` (recorded `two`, now `four`)")
        .says("1 recorded call was not made in this replay, of `q1`")
        .says("cargo evaltest run eval.yaml --record");
    let records = project.last_lines("samples.jsonl");
    assert_eq!(records[0]["result"]["status"], "scored");
    let failed = &records[1]["result"];
    assert_eq!(failed["status"], "agent_failed");
    assert_eq!(failed["error"]["kind"], "not_recorded");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("2 more calls were not recorded"),
        "{message}"
    );
    assert_eq!(server.requested().len(), asked);
    // Even where a failure of the agent counts as a wrong answer.
    project.write(
        "eval.yaml",
        format!("errors: wrong\n{}", project.read("eval.yaml")),
    );
    run(&project, "run eval.yaml --replay").exits(3);
    assert_eq!(
        project.last_lines("samples.jsonl")[1]["result"]["status"],
        "agent_failed"
    );
}

#[test]
fn only_missing_calls_are_made_where_that_is_asked_for() {
    let server = model();
    let project = project(&["ask one"], "", &upstream(&server), "gates: []\n");
    run(&project, "run eval.yaml").exits(0);
    assert_eq!(server.requested().len(), 3);
    let first = answers(&project);
    run(&project, "run eval.yaml").exits(0);
    assert_eq!((server.requested().len(), answers(&project)), (3, first));
    let data = project.read("data.jsonl");
    project.write("data.jsonl", data.replace("ask one", "ask one; ask two"));
    run(&project, "run eval.yaml").exits(0);
    assert_eq!(server.requested().len(), 4);
    let numbers: Vec<_> = calls(&project, "q0")
        .iter()
        .map(|call| call["n"].clone())
        .collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    // What records anew replaces the file.
    project.write("data.jsonl", &data);
    run(&project, "run eval.yaml --record").exits(0);
    assert_eq!(
        (server.requested().len(), calls(&project, "q0").len()),
        (7, 3)
    );
}

#[test]
fn what_a_provider_refuses_for_now_is_not_recorded() {
    let server = model();
    let work = "ask limited; ask down; ask wrong; get /models?key=abc123def";
    let project = project(&[work], "", &upstream(&server), "gates: []\n");
    run(&project, "run eval.yaml --record").exits(0);
    let text = answers(&project)[0].as_str().unwrap().to_owned();
    assert!(
        text.contains("429: ") && text.contains("500: ") && text.contains("400: "),
        "{text}"
    );
    let calls = calls(&project, "q0");
    let statuses: Vec<_> = calls
        .iter()
        .map(|call| &call["response"]["status"])
        .collect();
    assert_eq!(statuses, [400, 200, 200, 200]);
    assert_eq!(calls[1]["request"]["path"], "/openai/models?key=[REDACTED]");
    assert_eq!(calls[1]["request"]["method"], "GET");
    // Nobody is there: the agent hears of it, and so does the reader.
    let gone = "upstream: { openai: \"http://127.0.0.1:9/v1\" }";
    let spec = project.read("eval.yaml").replace(&upstream(&server), gone);
    project.write("eval.yaml", spec);
    run(&project, "run eval.yaml --record").exits(0);
    assert!(answers(&project)[0].as_str().unwrap().contains("502: "));
}

#[test]
fn a_stream_that_broke_off_breaks_off_again() {
    let server = model();
    let project = project(&["stream break off"], "", &upstream(&server), "gates: []\n");
    run(&project, "run eval.yaml --record").exits(0);
    assert_eq!(
        calls(&project, "q0")[0]["response"]["broken_off"],
        "upstream"
    );
    let broken = answers(&project);
    assert!(broken[0].as_str().unwrap().contains("(cut)"));
    run(&project, "run eval.yaml --replay").exits(0);
    assert_eq!(answers(&project), broken);
    let asked = server.requested().len();
    // It is no success, so it is asked again where that is possible.
    run(&project, "run eval.yaml").exits(0);
    assert_eq!(server.requested().len(), asked + 1);
}

#[test]
fn a_prompt_with_a_date_has_one_key_where_the_spec_says_so() {
    let server = model();
    let rewrite = "rewrite: [{ pattern: '[0-9]{4}-[0-9]{2}-[0-9]{2}', with: DATE }]";
    let record = format!("{}, {rewrite}", upstream(&server));
    let project = project(&["day"], "", &record, "gates: []\n");
    run(&project, "run eval.yaml --record").exits(0);
    let mut later = project.command("run eval.yaml --replay");
    Ran::of(&later.env("DAY", "2027-01-02").output().unwrap()).exits(0);
    let spec = project
        .read("eval.yaml")
        .replace(rewrite, "ignore: [/messages/0/content]");
    project.write("eval.yaml", spec);
    run(&project, "run eval.yaml --record").exits(0);
    let mut later = project.command("run eval.yaml --replay");
    Ran::of(&later.env("DAY", "2027-01-02").output().unwrap()).exits(0);
}

#[test]
fn a_worker_gets_an_address_in_each_task() {
    let server = model();
    let project = project(&[WORK; 4], "", &upstream(&server), "gates: []\n");
    project.spec(
        &format!(
            "{{ type: worker, command: [{}, worker], in_flight: 2 }}",
            agent().display()
        ),
        &format!(
            "record: {{ {} }}\nscorer: includes\ngates: []\n",
            upstream(&server)
        ),
    );
    run(&project, "run eval.yaml --record").exits(0);
    let recorded = answers(&project);
    assert_eq!(
        (server.requested().len(), calls(&project, "q3").len()),
        (24, 6)
    );
    run(&project, "run eval.yaml --replay").exits(0);
    assert_eq!(
        (server.requested().len(), answers(&project)),
        (24, recorded)
    );
}
