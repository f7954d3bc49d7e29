//! Runs whose agent is a program that stays.

use std::fs;
use std::process::{Command, Stdio};

use needs::needs;
use serde_json::Value;

use crate::project::{Project, Ran, root};
use crate::requested::{self, requested};
use crate::signals::{ends_with_its_job, is_alive, send};
use crate::wait::until;

/// Logs its pid and what it is asked, does what `then` says (a line of shell) and answers with the number in the id.
fn worker(project: &Project, then: &str) {
    let script = r#"#!/bin/sh
echo $$ >> pids
while read -r line; do
    id=${line#*'"id":"'}; id=${id%%'"'*}
    echo "$id" >> asked.log
    THEN
    printf '{"id":"%s","answer":"%s"}\n' "$id" "${id#q}"
done
"#;
    project.script("worker.sh", &script.replace("THEN", then));
}

fn project(number: u32, then: &str, keys: &str, more: &str) -> Project {
    let project = Project::new();
    requested::write_questions(&project, number);
    worker(&project, then);
    project.spec(
        &format!("{{ type: worker, command: [./worker.sh]{keys} }}"),
        more,
    );
    project
}

fn pids(project: &Project) -> Vec<String> {
    let text = fs::read_to_string(project.file("pids")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[track_caller]
fn assert_nobody_is_left(project: &Project) {
    assert!(!pids(project).is_empty());
    for pid in pids(project) {
        until("its processes are gone", || !is_alive(&pid));
    }
}

/// Runs an example of the fixtures on questions that it answers.
fn example(program: &str, file: &str) {
    let project = Project::new();
    let text = fs::read_to_string(root().join("fixtures/agents").join(file)).unwrap();
    let code = text.lines().filter(|line| !line.trim().is_empty());
    assert!(code.count() <= 20, "{file} is no longer short");
    project.write(file, text);
    let ids: Vec<_> = (0..40).map(|number| format!("q{number}")).collect();
    let questions: Vec<_> = ids
        .iter()
        .map(|id| (&**id, 1, "how \"much\"?\nü", "HOW \"MUCH\"?\nÜ"))
        .collect();
    project.questions(&questions);
    project.spec(
        &format!("{{ type: worker, command: [{program}, {file}], processes: 2, in_flight: 8 }}"),
        "gates: [accuracy >= 1.0]\n",
    );
    project.run("run eval.yaml").exits(0).says("40 correct");
}

#[needs(python3)]
#[test]
fn the_python_example_answers() {
    example("python3", "worker.py");
}

#[needs(node)]
#[test]
fn the_node_example_answers() {
    example("node", "worker.js");
}

#[test]
fn one_start_serves_all_samples() {
    let project = project(30, "", ", processes: 2, in_flight: 4", "");
    project.run("run -v eval.yaml").exits(0).says("15 correct");
    assert!(pids(&project).len() <= 2);
    assert_eq!(requested(&project).len(), 30);
    assert_nobody_is_left(&project);
}

#[test]
fn a_sample_that_crashes_the_program_fails_alone() {
    let then = "case $id in q004) echo no memory >&2; exit 9;; esac";
    let project = project(24, then, ", processes: 2, in_flight: 4", "");
    project.run("run -v eval.yaml").exits(0).says(", 1 error,");
    for record in project.last_lines("samples.jsonl") {
        let result = &record["result"];
        if record["sample_id"] == "q004" {
            let error = &result["error"];
            assert_eq!(result["status"], "agent_failed");
            assert_eq!(
                (&error["kind"], &error["message"], &error["exit_code"]),
                (&"exited".into(), &"exited with code 9".into(), &9.into())
            );
            assert_eq!(error["stderr_tail"], "no memory\n");
            assert_eq!(result["attempts"], 2);
        } else {
            assert_eq!(result["status"], "scored", "{record}");
        }
    }
    // The journal tells of the attempts that came to nothing.
    let events = project.last_lines("events.jsonl");
    let lost = |event: &&Value| event["error"]["kind"] == "lost";
    let lost: Vec<_> = events.iter().filter(lost).collect();
    assert!(!lost.is_empty() && lost.iter().all(|event| event["attempt"] == 1));
    assert_nobody_is_left(&project);
}

#[test]
fn killed_processes_lose_no_sample() {
    let project = project(60, "sleep 0.05", ", processes: 3, in_flight: 4", "");
    let mut command = project.command("run -v eval.yaml");
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for round in 1..=3 {
        until("more are asked", || requested(&project).len() >= round * 10);
        for pid in pids(&project) {
            let _ = Command::new("kill")
                .args(["-9", &pid])
                .stderr(Stdio::null())
                .status();
        }
    }
    let ran = Ran::of(&child.wait_with_output().unwrap());
    ran.exits(0)
        .says("e: 60 samples, 30 correct")
        .says("0 errors");
    assert_nobody_is_left(&project);
}

#[test]
fn an_interrupted_run_leaves_no_process_and_goes_on_later() {
    let then = "case $id in q000|q001|q002) ;; *) test -f go || { trap '' TERM; sleep 600 & echo $! >> pids; wait; };; esac";
    let project = project(12, then, ", processes: 2, in_flight: 2", "");
    let mut command = project.command("run eval.yaml");
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("both hang", || pids(&project).len() == 4);
    send("INT", &child);
    Ran::of(&child.wait_with_output().unwrap()).exits(130);
    assert_nobody_is_left(&project);
    let scored = |project: &Project| {
        let records = project.last_lines("samples.jsonl");
        let scored = records
            .iter()
            .filter(|record| record["result"]["status"] == "scored");
        scored.count()
    };
    let before = scored(&project);
    assert!(before <= 3);
    project.write("go", "");
    let dir = project.last_run();
    project
        .run(&format!("run --resume {}", dir.display()))
        .exits(0);
    assert_eq!(scored(&project), 12);
}

#[test]
fn a_process_that_ends_with_its_job_is_not_begun_again() {
    let hang = "case $id in q000) ;; *) test -f go || { echo $$ > hangs; exec sleep 600; };; esac";
    ends_with_its_job(&project(4, hang, "", "limits: { retries: 0 }\n"));
}

#[test]
fn a_program_that_cannot_be_used_is_told_of_once() {
    // Before anything is asked: it is not there, or says so in its greeting.
    let gone = project(3, "", "", "");
    gone.spec("{ type: worker, command: [./gone.sh] }", "");
    gone.run("run eval.yaml")
        .exits(2)
        .says("eval `e`: agent `worker`: command not found: `./gone.sh`");
    assert!(gone.runs().is_empty());
    let foreign = project(3, "", ", handshake: true", "");
    foreign.script(
        "worker.sh",
        "#!/bin/sh\necho '{\"type\":\"hello\",\"protocol\":7}'\ncat\n",
    );
    foreign
        .run("run eval.yaml")
        .exits(2)
        .says("`./worker.sh` speaks version 7 of the protocol, but this evaltest speaks version 1");
    assert!(foreign.runs().is_empty());
    // While it is asked.
    let broken = project(30, "echo no model >&2; exit 1", ", in_flight: 8", "");
    let ran = broken.run("run eval.yaml").exits(3);
    let reason = "stopped early: the program ended on 5 samples in a row; the last time it exited with code 1; \
        stderr ends with `no model`";
    ran.says(reason);
    assert!(pids(&broken).len() < 20);
    let records = broken.last_lines("samples.jsonl");
    let failed = records
        .iter()
        .filter(|record| record["result"]["status"] == "agent_failed");
    assert_eq!(failed.count(), 5);
}

#[test]
fn keys_that_make_no_sense_are_mistakes() {
    let project = project(1, "", "", "");
    for (agent, message) in [
        ("{ type: worker }", "agent.command is missing"),
        (
            "{ type: worker, command: [a], processes: 0 }",
            "agent.processes is not a whole number from 1 to 1024",
        ),
        (
            "{ type: worker, command: [a], start_timeout_s: 3 }",
            "agent.start_timeout_s does nothing without `handshake: true`",
        ),
        (
            "{ type: worker, command: [a], close_timeout_s: -1 }",
            "agent.close_timeout_s is not a number of seconds from 0 to 86400",
        ),
        ("{ type: worker, command: [a], inflight: 3 }", "in_flight"),
    ] {
        project.spec(agent, "");
        project
            .run("run eval.yaml")
            .exits(2)
            .says(message)
            .says("eval.yaml:4");
    }
}

#[test]
fn secrets_of_a_program_are_blanked_and_others_do_not_reach_it() {
    let key = "from-the-file-only";
    let then = r#"echo "key $MY_API_KEY, other ${OTHER_API_KEY-none}" >&2; sleep 0.1
    printf '{"id":"%s","error":"no model for %s"}\n' "$id" "$MY_API_KEY"; continue"#;
    let project = project(2, then, ", env: [MY_API_KEY]", "");
    project.write(".env", format!("MY_API_KEY={key}\n"));
    let ran = project
        .command("run eval.yaml --stream")
        .env("OTHER_API_KEY", "of-another")
        .output();
    Ran::of(&ran.unwrap())
        .exits(3)
        .says("no model for [REDACTED]")
        .says("key [REDACTED], other none")
        .says("not passed to the agent: `OTHER_API_KEY`")
        .says_nothing_of(key);
    for entry in fs::read_dir(project.last_run()).unwrap() {
        let text = fs::read(entry.unwrap().path()).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&text).contains(key));
    }
}
