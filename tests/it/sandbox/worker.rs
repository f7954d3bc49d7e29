//! Programs that stay, each in a sandbox of its own.

use std::time::Instant;

use needs::needs;

use super::{TREASURE, answer, processes_with, run};
use crate::project::Project;
use crate::wait::{LONG, given_time, late, nap, until};

/// A worker in shell: runs the prompt of each task and answers with what that printed, in one line.
const WORKER: &str = r#"#!/bin/bash
while read -r line; do
    id=${line#*'"id":"'}; id=${id%%'"'*}
    file=${line#*'"path":"'}; export FILE=${file%%'"'*}
    case $id in
CASES
    esac > /tmp/said 2>&1
    printf '{"id":"%s","answer":"%s"}\n' "$id" "$(tr '\n"\\' '   ' < /tmp/said)"
done
"#;

/// A project in which each sample has an attachment with its id, and the worker does for it what the shell says.
fn project(samples: &[(&str, &str)], keys: &str, more: &str) -> Project {
    let project = Project::new();
    let row = |(id, _): &(&str, &str)| {
        project.write(&format!("{id}.txt"), format!("file of {id}\n"));
        format!(
            "{{\"task_id\":\"{id}\",\"Question\":\"?\",\"Level\":1,\"Final answer\":\"{TREASURE}\",\
             \"file_name\":\"{id}.txt\"}}"
        )
    };
    let rows: Vec<_> = samples.iter().map(row).collect();
    project.write("data.jsonl", rows.join("\n"));
    let cases: Vec<_> = samples
        .iter()
        .map(|(id, script)| format!("{id}) {script};;"))
        .collect();
    project.script("worker.sh", &WORKER.replace("CASES", &cases.join("\n")));
    project.write("secret.txt", TREASURE);
    project.spec(
        &format!("{{ type: worker, command: [./worker.sh], {keys} }}"),
        more,
    );
    project
}

#[needs(bwrap, bash)]
#[test]
fn a_hostile_worker_in_a_sandbox_finds_no_answer_and_no_file_of_another_process() {
    let script = format!(
        "grep -rlsa {TREASURE} $PWD /tmp /var/tmp /run --exclude=worker.sh; \
         cat data.jsonl eval.yaml secret.txt; ls -a . evaltest-runs; echo done"
    );
    // Both have their files at the same time, in two processes.
    let neighbour = "sleep 0.3; cat \"$FILE\"; cat ${FILE%/files/*}/../*/files/*/*.txt | wc -l; \
                     ls -d /proc/[0-9]*/root/proc/1 | wc -l; touch $FILE.x ${FILE%/*}/x && echo wrote; sleep 0.3";
    let project = project(
        &[
            ("one", neighbour),
            ("two", neighbour),
            ("look", &script),
            (
                "write",
                "echo x > $HOME/x && echo x > /tmp/x && cat $HOME/x; touch $PWD/x && echo wrote",
            ),
            ("gone", "ls ${FILE%/files/*}/files | wc -l"),
        ],
        "processes: 2, sandbox: { type: bwrap, network: off }",
        "limits: { timeout_s: 300 }\n",
    );
    run(&project);
    for id in ["one", "two"] {
        let reply = answer(&project, id);
        assert!(
            reply.starts_with(&format!("file of {id} 1 ")),
            "{id}: {reply}"
        );
        assert!(!reply.contains("wrote"), "{id}: {reply}");
    }
    let reply = answer(&project, "look");
    assert!(reply.ends_with("done"), "{reply}");
    assert!(
        !reply.contains(TREASURE) && !reply.contains("manifest"),
        "{reply}"
    );
    let found = ["data.jsonl", "secret.txt", "eval.yaml"];
    let found = found.iter().any(|name| {
        let places = reply.split(' ').filter(|word| word.ends_with(name));
        places.count() > 0 && !reply.contains("No such file")
    });
    assert!(!found, "{reply}");
    let reply = answer(&project, "write");
    assert!(reply.starts_with('x'), "{reply}");
    // In memory it may: whoever is no root owns what is made for it there.
    assert!(!project.file("x").exists());
    assert_eq!(
        answer(&project, "gone"),
        "1",
        "files of earlier tasks are gone"
    );
}

#[needs(bwrap, bash, setsid)]
#[test]
fn nothing_of_a_sandboxed_worker_stays_and_it_is_started_again() {
    let nap = nap(8);
    let daemon = format!("env -i setsid sleep {nap} >/dev/null 2>&1 & echo left");
    let hangs = format!("trap '' TERM; sleep {nap}");
    let samples = [
        ("daemon", &*daemon),
        ("dies", "kill -9 $$"),
        ("hangs", &hangs),
        ("good", "cat $FILE"),
    ];
    let started = Instant::now();
    let project = given_time(3.0, |timeout| {
        let project = project(
            &samples,
            "sandbox: bwrap, ulimits: { files: 41 }",
            &format!("limits: {{ timeout_s: {timeout}, retries: 0, concurrency: 1 }}\n"),
        );
        run(&project);
        (late(&project) == ["hangs"]).then_some(project)
    });
    assert!(started.elapsed() < LONG);
    assert_eq!(answer(&project, "daemon"), "left");
    assert_eq!(answer(&project, "good"), "file of good");
    let records = project.last_lines("samples.jsonl");
    let status = |place: usize| records[place]["result"]["status"].clone();
    assert_eq!(
        (status(1), status(2)),
        ("agent_failed".into(), "timed_out".into())
    );
    until("nobody is left", || processes_with(&nap).is_empty());
}

#[test]
fn the_kernel_keeps_limits_of_a_worker_without_a_sandbox_too() {
    let project = project(
        &[("a", "ulimit -n")],
        "ulimits: { files: 33 }, scratch: true",
        "",
    );
    run(&project);
    assert_eq!(answer(&project, "a"), "33");
}

#[test]
fn a_scratch_folder_outside_of_the_sandbox_is_refused() {
    let project = project(&[("a", "true")], "sandbox: bwrap, scratch: true", "");
    project
        .run("run eval.yaml")
        .exits(2)
        .says("a folder outside of the sandbox")
        .says("hint: remove `scratch`");
}

#[needs(bwrap)]
#[test]
fn a_program_of_the_system_runs_in_a_folder_of_which_nothing_is_seen() {
    let answer = r#"while read -r line; do id=${line#*'\"id\":\"'}; echo \"{\\\"id\\\":\\\"${id%%'\"'*}\\\",\\\"answer\\\":\\\"1\\\"}\"; done"#;
    for (kind, script) in [("worker", answer), ("command", "echo 1")] {
        let project = Project::with_eval(
            &[("a", 1, "?", "1")],
            &format!("{{ type: {kind}, command: [sh, -c, \"{script}\"], sandbox: bwrap }}"),
            "",
        );
        // Run directories elsewhere: not even they are below the folder.
        let elsewhere = Project::new();
        let root = elsewhere.path().display();
        project
            .run(&format!("run eval.yaml --output-root {root}"))
            .exits(0)
            .says("1 correct");
    }
}
