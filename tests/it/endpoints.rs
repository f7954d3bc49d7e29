//! The agents `openai` and `http` against endpoints that behave and misbehave.

use std::process::Stdio;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::project::{Project, Ran, json_lines};
use crate::server::{Answer, Server, chat, fine, refusal};
use crate::signals;
use crate::wait::{LONG, given_time, until};

mod apis;
mod broken;
mod http;
mod refused;

const THREE: [(&str, u32, &str, &str); 3] = [
    ("a", 1, "one", "ONE"),
    ("b", 1, "two", "TWO"),
    ("c", 2, "three", "THREE"),
];

fn run(project: &Project) -> Ran {
    project.run("run -v eval.yaml --output-root runs --run-id r --concurrency 2")
}

fn report(project: &Project) -> Ran {
    let run = run_dir(project);
    let run = run.to_str().unwrap();
    project.run_of(&["report", run]).exits(0)
}

/// The text of every file of the only run.
fn everything(project: &Project) -> String {
    let mut text = String::new();
    for file in std::fs::read_dir(run_dir(project)).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    text
}

fn run_dir(project: &Project) -> std::path::PathBuf {
    let runs = std::fs::read_dir(project.file("runs")).unwrap().flatten();
    let mut found: Vec<_> = runs
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() && !path.ends_with(".cache"))
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn record(project: &Project, id: &str) -> Value {
    let records = json_lines(&run_dir(project).join("samples.jsonl"));
    let found = records.into_iter().find(|record| record["sample_id"] == id);
    found.unwrap()
}

#[test]
fn the_smallest_openai_spec_works_and_tells_what_answered() {
    let server = Server::shouting();
    let project = Project::with_eval(
        &THREE,
        &server.openai(", price: { input: 1, output: 10 }"),
        "",
    );
    run(&project).exits(0).says("3 samples, 3 correct");
    let requested = server.requested();
    assert_eq!(requested.len(), 3);
    assert!(
        requested
            .iter()
            .all(|requested| requested.line == "POST /v1/chat/completions")
    );
    assert!(
        !requested[0].headers.contains("authorization"),
        "{}",
        requested[0].headers
    );
    let manifest: Value = serde_json::from_str(
        &std::fs::read_to_string(run_dir(&project).join("manifest.json")).unwrap(),
    )
    .unwrap();
    assert_eq!(manifest["models"], json!({"tiny-2026 (fp_1)": 3}));
    let result = &record(&project, "b")["result"];
    assert_eq!(result["output"]["metadata"]["finish_reason"], "stop");
    assert_eq!(
        result["usage"],
        json!({"input_tokens": 10, "output_tokens": 2, "cost_usd": 0.000_03})
    );
    let dir = run_dir(&project);
    project
        .run(&format!("show {} b", dir.display()))
        .exits(0)
        .says("model: tiny-2026")
        .says("system fingerprint: fp_1")
        .says("finish reason: stop");
}

#[test]
fn a_key_is_sent_and_stands_nowhere_else() {
    let key = "sk-of-this-test-4711";
    let server = Server::new(move |requested, _| {
        // Endpoints are known to repeat what they got.
        if requested.prompt() == "two" {
            return refusal("400 Bad Request", &format!("too long, says {key}"));
        }
        fine(&chat(&format!("{} {key}", requested.prompt())))
    });
    let agent =
        server.openai(", api_key_env: KEY_OF_TEST, headers: { X-Team: \"${TEAM_OF_TEST}\" }");
    let project = Project::with_eval(&THREE, &agent, "");
    project.write(
        ".env",
        format!("KEY_OF_TEST={key}\nTEAM_OF_TEST=team-secret-9\n"),
    );
    run(&project)
        .exits(3)
        .says_nothing_of(key)
        .says_nothing_of("team-secret-9");
    let requested = server.requested();
    assert!(
        requested[0]
            .headers
            .contains(&format!("authorization: bearer {key}"))
    );
    assert!(requested[0].headers.contains("x-team: team-secret-9"));
    let text = everything(&project);
    assert!(
        !text.contains(key) && !text.contains("team-secret-9"),
        "{text}"
    );
    assert!(text.contains("[REDACTED]"));
}

#[test]
fn a_key_in_the_address_is_sent_and_stands_nowhere_else() {
    let server = Server::new(|_, _| refusal("500 Internal Server Error", "no"));
    let url = server.url("/answer?key=k-1234567890");
    let agent = format!("{{ type: http, url: \"{url}\" }}");
    let project = Project::with_eval(&THREE[..1], &agent, "limits: { retries: 0 }\n");
    run(&project)
        .exits(3)
        .says("/answer?key=[REDACTED]")
        .says_nothing_of("k-1234567890");
    assert_eq!(server.requested()[0].line, "POST /answer?key=k-1234567890");
    assert!(!everything(&project).contains("k-1234567890"));
}

#[test]
fn a_key_that_is_missing_is_told_before_anything_is_asked() {
    let server = Server::shouting();
    for agent in [
        server.openai(", api_key_env: NO_SUCH_KEY_OF_TEST"),
        server.openai(", headers: { A: \"${NO_SUCH_KEY_OF_TEST}\" }"),
        format!(
            "{{ type: http, url: \"{}\", headers: {{ A: \"${{NO_SUCH_KEY_OF_TEST}}\" }} }}",
            server.url("/")
        ),
    ] {
        let project = Project::with_eval(&THREE, &agent, "");
        run(&project)
            .exits(2)
            .says("NO_SUCH_KEY_OF_TEST")
            .says("eval.yaml:4:")
            .says(": agent `")
            .says("is set neither in the environment nor in `.env`")
            .says("hint: write `NO_SUCH_KEY_OF_TEST=…` into `.env`");
    }
    assert_eq!(server.requested().len(), 0);
}

#[test]
fn a_busy_endpoint_is_asked_again_when_it_wants_to() {
    let server = Server::new(|requested, number| match number {
        0 => Answer::Status(
            "429 Too Many Requests",
            "Retry-After: 1\r\n".to_owned(),
            String::new(),
        ),
        1 => Answer::Status(
            "503 Service Unavailable",
            "retry-after-ms: 20\r\n".to_owned(),
            String::new(),
        ),
        _ => fine(&chat(&requested.prompt().to_uppercase())),
    });
    let project = Project::with_eval(
        &THREE[..1],
        &server.openai(""),
        "limits: { backoff_s: 0 }\n",
    );
    let started = Instant::now();
    run(&project).exits(0).says("1 sample, 1 correct");
    assert!(started.elapsed() >= Duration::from_secs(1));
    // Every request is in the record.
    assert_eq!(server.requested().len(), 3);
    assert_eq!(record(&project, "a")["result"]["attempts"], 3);
    let events = json_lines(&run_dir(&project).join("events.jsonl"));
    let failed: Vec<_> = events
        .iter()
        .filter(|event| event["kind"] == "failed")
        .collect();
    assert_eq!(failed[0]["error"]["http_status"], 429);
    assert_eq!(failed[0]["error"]["retry_after_s"], 1.0);
    assert_eq!(failed[1]["error"]["kind"], "busy");
}

#[test]
fn retries_end_and_an_outage_is_no_wrong_answer() {
    let server = Server::new(|_, _| refusal("500 Internal Server Error", "oh no"));
    let project = Project::with_eval(
        &THREE,
        &server.openai(""),
        "limits: { retries: 1, backoff_s: 0 }\n",
    );
    run(&project)
        .exits(3)
        .says("3 errors")
        .says("answered 500 Internal Server Error: oh no");
    assert_eq!(server.requested().len(), 6);
    let advice = "took more than one attempt";
    report(&project).says_nothing_of(advice);
    // What came at another attempt is another thing.
    let server = Server::new(|_, number| match number {
        0..2 => refusal("500 Internal Server Error", "oh no"),
        _ => fine(&chat("4")),
    });
    let project = Project::with_eval(
        &THREE,
        &server.openai(""),
        "limits: { retries: 4, backoff_s: 0 }\n",
    );
    run(&project);
    report(&project).says(advice);
    // Without a limit the agent has four of its own; a pause of hours is none of them.
    let server = Server::new(|_, number| match number {
        4 => Answer::Status(
            "429 Too Many Requests",
            "Retry-After: 7200\r\n".to_owned(),
            String::new(),
        ),
        _ => refusal("502 Bad Gateway", ""),
    });
    let project = Project::with_eval(
        &THREE[..1],
        &server.openai(""),
        "limits: { backoff_s: 0 }\n",
    );
    run(&project).exits(3).says("it asks to wait 7200 s");
    assert_eq!(server.requested().len(), 5);
}

#[test]
fn one_sample_for_each_way_to_misbehave() {
    let half = |body: &str| {
        format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}",
            body.len(),
            &body[..body.len() / 2]
        )
    };
    let server = Server::new(move |requested, _| match requested.prompt() {
        "garbage" => Answer::Status("200 OK", String::new(), "<html>no</html>".to_owned()),
        "no http" => Answer::Raw(b"SSH-2.0-x\r\n\r\n".to_vec()),
        "half" => Answer::Raw(half(&chat("HALF").to_string()).into_bytes()),
        "silence" => Answer::Raw(Vec::new()),
        "never" => Answer::Never(2 * LONG),
        "slowly" => Answer::Slowly(chat("SLOWLY"), Duration::from_secs(1)),
        "huge" => fine(&chat(&"x".repeat(2 << 20))),
        "too long" => refusal(
            "400 Bad Request",
            "This model's maximum context length is 3 tokens",
        ),
        "odd type" => Answer::Status(
            "200 OK",
            "Content-Type: text/plain\r\n".to_owned(),
            chat("ODD").to_string(),
        ),
        "closes" => Answer::ThenClose(chat("CLOSED")),
        _ => fine(&chat("FINE")),
    });
    let ways = [
        "garbage", "no http", "half", "silence", "never", "slowly", "huge", "too long", "odd type",
        "closes", "fine",
    ];
    let questions: Vec<_> = ways.iter().map(|way| (*way, 1, *way, "x")).collect();
    let project = given_time(2.0, |timeout| {
        let limits = format!("limits: {{ retries: 1, backoff_s: 0, timeout_s: {timeout} }}\n");
        let project = Project::with_eval(&questions, &server.openai(""), &limits);
        run(&project).exits(3);
        let records = json_lines(&run_dir(&project).join("samples.jsonl"));
        let is_late = |record: &&Value| record["result"]["error"]["kind"] == "timed_out";
        (records.iter().filter(is_late).count() == 2).then_some(project)
    });
    let check = |way: &str, status: &str, kind: Option<&str>, attempts: u32| {
        let result = &record(&project, way)["result"];
        assert_eq!(result["status"], status, "{way}: {result}");
        assert_eq!(result["error"]["kind"].as_str(), kind, "{way}");
        assert_eq!(result["attempts"], attempts, "{way}");
    };
    check("garbage", "agent_failed", Some("bad_output"), 2);
    check("no http", "agent_failed", Some("unreachable"), 2);
    check("half", "agent_failed", Some("unreachable"), 2);
    check("silence", "agent_failed", Some("unreachable"), 2);
    check("never", "timed_out", Some("timed_out"), 1);
    check("slowly", "timed_out", Some("timed_out"), 1);
    check("huge", "agent_failed", Some("output_too_large"), 1);
    check("too long", "agent_failed", Some("refused"), 1);
    for way in ["odd type", "closes", "fine"] {
        check(way, "scored", None, 1);
    }
}

#[test]
fn an_interrupt_does_not_wait_for_the_endpoint() {
    let server = Server::new(|_, _| Answer::Never(2 * LONG));
    let project = Project::with_eval(&THREE, &server.openai(""), "");
    let mut command = project.command("run eval.yaml --output-root runs");
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("all are asked", || server.requested().len() == 3);
    let started = Instant::now();
    signals::send("INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(started.elapsed() < LONG);
}

#[test]
fn tools_are_called_natively_or_in_words() {
    const ENTRY: &str = r#"{"id": "simple_python_0", "question": [[{"role": "user", "content": "How warm is Rome?"}]], "function": [{"name": "weather.get", "description": "Tells it.", "parameters": {"type": "dict", "required": ["city"], "properties": {"city": {"type": "string", "description": "Where."}}}}]}"#;
    const ANSWER: &str =
        r#"{"id": "simple_python_0", "ground_truth": [{"weather.get": {"city": ["Rome"]}}]}"#;
    let server = Server::new(|requested, _| {
        let tool = &requested.body["tools"][0]["function"]["name"];
        if tool.is_null() {
            assert!(
                requested
                    .prompt()
                    .contains("You should only return the function calls")
            );
            return fine(&chat("[weather.get(city='Rome')]"));
        }
        // With tools the question comes alone.
        assert_eq!(
            (requested.prompt(), tool),
            ("How warm is Rome?", &json!("weather_get"))
        );
        let call = json!({"name": tool, "arguments": "{\"city\": \"Rome\"}"});
        let mut reply = chat("");
        reply["choices"][0]["message"] = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": call}]});
        fine(&reply)
    });
    let project = Project::new();
    project.write("data/BFCL_v4_simple_python.json", ENTRY);
    project.write("data/possible_answer/BFCL_v4_simple_python.json", ANSWER);
    for tools in ["native", "prompt"] {
        let agent = server.openai(&format!(", tools: {tools}"));
        project.write(
            "eval.yaml",
            format!("benchmark: {{ type: bfcl, path: data }}\nagent: {agent}\n"),
        );
        project
            .run("run -v eval.yaml --output-root runs")
            .exits(0)
            .says("1 sample, 1 correct");
    }
    assert_eq!(server.requested().len(), 2);
}

#[test]
fn options_of_the_command_line_reach_the_body() {
    let server = Server::shouting();
    let project = Project::with_eval(&THREE[..1], "echo", "");
    let agent = server.openai(", temperature: 1, seed: 3");
    let arguments = [
        "run",
        "eval.yaml",
        "--output-root",
        "runs",
        "--agent",
        &agent,
        "--agent-option",
        "temperature=0",
    ];
    let output = project.command_of(&arguments).output().unwrap();
    Ran::of(&output).exits(0);
    let body = &server.requested()[0].body;
    assert_eq!(
        (&body["temperature"], &body["seed"]),
        (&json!(0), &json!(3))
    );
}

#[test]
fn an_outage_is_waited_for_and_costs_no_sample() {
    let questions: Vec<_> = (0..30).map(|number| format!("q{number:02}")).collect();
    let questions: Vec<_> = questions
        .iter()
        .map(|id| (id.as_str(), 1, "one", "ONE"))
        .collect();
    // It is out from its fifth request on, for longer than a sample's own retries take.
    let (began, lasts) = (OnceLock::new(), Duration::from_secs(2));
    let server = Server::new(move |requested, number| {
        let is_out = number >= 4 && began.get_or_init(Instant::now).elapsed() < lasts;
        if is_out {
            refusal("503 Service Unavailable", "restarting")
        } else {
            fine(&chat(&requested.prompt().to_uppercase()))
        }
    });
    let limits = "limits: { concurrency: 4, retries: 2, backoff_s: 0.4 }\n";
    let project = Project::with_eval(&questions, &server.openai(""), limits);
    project
        .run("run eval.yaml")
        .exits(0)
        .says("30 correct")
        .says("0 errors")
        .says("e: the agent does not answer; waiting, first for 1 s: ")
        .says("e: the agent answers again after ");
    // A few in vain, and then one at a time.
    assert!(server.requested().len() < 30 + 12);
}

#[test]
fn an_endpoint_that_is_not_there_stops_the_run() {
    let questions: Vec<_> = (0..30).map(|number| format!("q{number:02}")).collect();
    let questions: Vec<_> = questions
        .iter()
        .map(|id| (id.as_str(), 1, "one", "ONE"))
        .collect();
    let limits = "limits: { concurrency: 8, backoff_s: 0.01 }\n";
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let agent = format!("{{ type: openai, base_url: \"http://{address}/v1\", model: local }}");
    let project = Project::with_eval(&questions, &agent, limits);
    project
        .run("run -v eval.yaml --output-root runs --run-id r")
        .exits(3)
        .says("0 errors")
        .says("stopped early: the agent does not answer; last error: ")
        .says("cannot be reached")
        .says("(30 samples not asked)")
        // With nothing answered there is nothing to go on with.
        .says("next: cargo evaltest run eval.yaml");
    project
        .run("run eval.yaml")
        .exits(3)
        .says("? e: no verdict: no answer\n")
        .says_nothing_of("no gate");
}
