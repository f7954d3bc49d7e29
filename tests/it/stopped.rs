//! A run that is stopped for a while goes on as if it had not been.

use std::thread::sleep;
use std::time::Duration;

use crate::project::Project;
use crate::server::{Server, chat, fine};
use crate::signals::send;
use crate::wait::until;

/// Stops a run, but not its agent, for longer than an attempt may take. The agent goes on when the run does.
fn check(agent: &str) {
    check_started(agent, |project| project.file("begun").exists());
}

fn check_started(agent: &str, has_started: impl Fn(&Project) -> bool) {
    let limits = "limits: { timeout_s: 6, retries: 0 }\n";
    let project = Project::with_eval(&[("a", 1, "?", "1")], agent, limits);
    project.script(
        "agent.sh",
        "#!/bin/sh\ntouch begun; sleep 10; echo '{\"id\": \"a\", \"answer\": \"1\"}'\n",
    );
    let mut child = project.command("run eval.yaml").spawn().unwrap();
    until("the agent works", || has_started(&project));
    sleep(Duration::from_secs(1));
    send("STOP", &child);
    sleep(Duration::from_secs(8));
    send("CONT", &child);
    assert!(child.wait().unwrap().success());
    let sample = &project.last_lines("samples.jsonl")[0];
    assert_eq!(sample["result"]["status"], "scored", "{sample}");
    assert_eq!(sample["result"]["attempts"], 1, "{sample}");
}

#[test]
fn an_attempt_does_not_time_out_while_its_run_is_stopped() {
    check("{ type: command, command: [./agent.sh], output: json }");
}

#[test]
fn a_worker_does_not_time_out_while_its_run_is_stopped() {
    check("{ type: worker, command: [./agent.sh] }");
}

/// Endpoints that answer after ten seconds.
fn slow(reply: &str) -> Server {
    let reply = match reply {
        "chat" => chat("1"),
        _ => serde_json::json!({ "answer": "1" }),
    };
    Server::new(move |_, _| {
        sleep(Duration::from_secs(10));
        fine(&reply)
    })
}

#[test]
fn a_chat_does_not_time_out_while_its_run_is_stopped() {
    let server = slow("chat");
    check_started(&server.openai(""), |_| !server.requested().is_empty());
    assert_eq!(server.requested().len(), 1);
}

#[test]
fn a_request_does_not_time_out_while_its_run_is_stopped() {
    let server = slow("answer");
    let agent = format!(
        "{{ type: http, url: \"{}\", answer: /answer }}",
        server.url("/")
    );
    check_started(&agent, |_| !server.requested().is_empty());
    assert_eq!(server.requested().len(), 1);
}

/// A handshake that was under way goes on where it was, or begins anew.
#[test]
fn connecting_does_not_time_out_while_its_run_is_stopped() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let agent = format!("{{ type: http, url: \"{url}\", answer: /answer }}");
    let limits = "limits: { timeout_s: 6, retries: 0 }\n";
    let project = Project::with_eval(&[("a", 1, "?", "1")], &agent, limits);
    let mut child = project.command("run eval.yaml").spawn().unwrap();
    // Its handshake is never answered.
    let first = listener.accept().unwrap();
    send("STOP", &child);
    sleep(Duration::from_secs(8));
    send("CONT", &child);
    sleep(Duration::from_secs(3));
    assert!(child.try_wait().unwrap().is_none(), "it has time left");
    drop((first, listener));
    assert!(!child.wait().unwrap().success());
}
