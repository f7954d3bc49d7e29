//! Runs whose scorer asks others: a program, an endpoint.

use std::fs;
use std::process::Stdio;

use crate::project::{Project, Ran};
use crate::requested;
use crate::signals::{is_alive, send};
use crate::wait::until;

const KEY: &str = "from-the-file-only";

/// Ends neither with its stdin nor by SIGTERM, and has a child; it breaks at 003, and gives its key away.
const JUDGE: &str = r#"#!/bin/sh
trap '' TERM
sleep 600 &
echo "$! $$" >> pids
while read -r line; do
    case $line in
        *'"prediction":"003"'*) echo "no model for $JUDGE_KEY" >&2; exit 7;;
        *'"prediction":"004"'*) echo "{\"correct\": true, \"details\": {\"key\": \"$JUDGE_KEY\"}}";;
        *) echo '{"correct": true, "value": 0.5}';;
    esac
done
while :; do sleep 600; done
"#;

const SCORER: &str =
    "scorer: { type: command, command: [./judge.sh], env: [JUDGE_KEY], processes: 2 }\n";

fn project(then: &str, more: &str) -> Project {
    let project = requested::project(6, then, &format!("{SCORER}{more}"));
    project.script("judge.sh", JUDGE);
    project.write(".env", format!("JUDGE_KEY={KEY}\n"));
    project
}

#[track_caller]
fn assert_nobody_is_left(project: &Project) {
    let pids = project.read("pids");
    assert!(pids.split_whitespace().count() >= 2);
    for pid in pids.split_whitespace() {
        until("its processes are gone", || !is_alive(pid));
    }
}

#[track_caller]
fn check_verdicts(project: &Project) {
    for record in project.last_lines("samples.jsonl") {
        let result = &record["result"];
        let id = record["sample_id"].as_str().unwrap();
        match id {
            "q003" => {
                assert_eq!(result["status"], "scorer_failed");
                let message = "scorer `command`: `./judge.sh` exited with code 7 before it replied, and so did the \
                    one before it; stderr ends with `no model for [REDACTED]`";
                assert_eq!(result["error"]["message"], message);
            }
            "q004" => assert_eq!(result["score"]["details"]["key"], "[REDACTED]"),
            _ => assert_eq!(result["score"]["value"], 0.5, "{id}"),
        }
    }
    let summary = project.last_json("summary.json");
    assert_eq!(
        (&summary["correct"], &summary["errors"]),
        (&5.into(), &1.into())
    );
    for entry in fs::read_dir(project.last_run()).unwrap() {
        let text = fs::read(entry.unwrap().path()).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&text).contains(KEY));
    }
}

#[test]
fn a_broken_judge_is_no_wrong_answer_and_leaves_nothing_behind() {
    let project = project("", "limits: { concurrency: 3 }\n");
    project.run("run eval.yaml").exits(3);
    check_verdicts(&project);
    assert_nobody_is_left(&project);
    // The same when the answers are scored again.
    let dir = project.last_run();
    project
        .run(&format!("rescore {}", dir.display()))
        .exits(0)
        .says_nothing_of(KEY);
    assert_eq!(project.runs().len(), 2);
    check_verdicts(&project);
    assert_nobody_is_left(&project);
}

#[test]
fn a_judge_of_an_interrupted_run_is_gone() {
    let project = project(
        "test $EVALTEST_SAMPLE_ID != q002 || sleep 600",
        "limits: { concurrency: 1 }\n",
    );
    let mut command = project.command("run eval.yaml");
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the third is asked", || {
        requested::requested(&project).len() == 3
    });
    send("INT", &child);
    Ran::of(&child.wait_with_output().unwrap()).exits(130);
    assert_nobody_is_left(&project);
}

#[test]
fn lines_are_judged_by_a_program() {
    let project = project("", "");
    project.write(
        "lines",
        "{\"prediction\": \"1\", \"ground_truth\": \"2\"}\n",
    );
    let scorer = "{ type: command, command: [./judge.sh] }";
    let ran = project
        .command_of(&["score", "--scorer", scorer, "lines"])
        .output()
        .unwrap();
    Ran::of(&ran)
        .exits(0)
        .says("\"value\":0.5,\"correct\":true,\"reason\":\"accepted\"");
    assert_nobody_is_left(&project);
    // Also when a line cannot be read.
    project.write(
        "lines",
        "{\"prediction\": \"1\", \"ground_truth\": \"2\"}\nno line\n",
    );
    for threads in ["1", "4"] {
        let ran = project
            .command_of(&["score", "--threads", threads, "--scorer", scorer, "lines"])
            .output()
            .unwrap();
        Ran::of(&ran).exits(2);
        assert_nobody_is_left(&project);
    }
    // A program that is not there is a mistake in the command line.
    let ran = project
        .command_of(&["score", "--scorer", "{ type: command, command: [./gone] }"])
        .output()
        .unwrap();
    Ran::of(&ran).exits(2).says("command not found: `./gone`");
}

#[test]
fn an_endpoint_that_is_not_there_is_no_wrong_answer() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let scorer = format!(
        "scorer: {{ type: semantic, base_url: '{url}', model: m, retries: 0, api_key_env: EMBED_KEY }}\n"
    );
    let project = requested::project(4, "", &scorer);
    let gone = project.run("run eval.yaml").exits(2);
    gone.says("`api_key_env: EMBED_KEY` is set neither in the environment nor in `.env`");
    assert!(
        requested::requested(&project).is_empty(),
        "before an agent is paid for"
    );
    project.write(".env", format!("EMBED_KEY={KEY}\n"));
    project.run("run eval.yaml").exits(3).says_nothing_of(KEY);
    for record in project.last_lines("samples.jsonl") {
        let result = &record["result"];
        // The agent says the number in the id, which is the ground truth of the even ones.
        if record["sample_id"] == "q000" || record["sample_id"] == "q002" {
            assert_eq!(result["score"]["reason"], "exact_match");
        } else {
            assert_eq!(result["status"], "scorer_failed");
            let message = result["error"]["message"].as_str().unwrap();
            let expect = format!("scorer `semantic`: `{url}/embeddings` cannot be reached: ");
            assert!(message.starts_with(&expect), "{message}");
        }
    }
}
