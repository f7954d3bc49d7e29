//! A run that is stopped for a while goes on as if it had not been.

use std::thread::sleep;
use std::time::Duration;

use crate::patience::until;
use crate::project::Project;
use crate::signals::send;

/// Stops a run, but not its agent, for longer than an attempt may take. The agent goes on when the run does.
fn check(agent: &str) {
    let limits = "limits: { timeout_s: 6, retries: 0 }\n";
    let project = Project::with_eval(&[("a", 1, "?", "1")], agent, limits);
    project.script(
        "agent.sh",
        "#!/bin/sh\ntouch begun; sleep 10; echo '{\"id\": \"a\", \"answer\": \"1\"}'\n",
    );
    let mut child = project.command("run eval.yaml").spawn().unwrap();
    until("the agent works", || project.file("begun").exists());
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
