//! Runs that are told to stop.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use signal_hook::consts::SIGHUP;

use crate::project::{Project, Ran, json_lines, without_surroundings};
use crate::requested::{self, requested};
use crate::wait::{LONG, until};

/// Sends a signal to one process.
pub(crate) fn send(signal: &str, child: &Child) {
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-s", signal, &id])
            .status()
            .unwrap()
            .success()
    );
}

/// Whether a process is there and no zombie.
pub(crate) fn is_alive(id: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(id).join("stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| {
        let state = rest.trim_start().chars().next();
        state.is_some_and(|state| state != 'Z' && state != 'X')
    })
}

/// The first three samples are answered, the others hang, each with a child of its own.
const HANGS: &str = "case $EVALTEST_SAMPLE_ID in q000|q001|q002) ;; *) test -f go || \
    { sleep 600 & echo $! >> children; echo $$ >> children; wait; };; esac";

fn children(project: &Project) -> Vec<String> {
    let text = fs::read_to_string(project.file("children")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn stops(signal: &str) {
    let project = requested::project(
        12,
        HANGS,
        "limits: { concurrency: 3, retries: 2 }\ngates: [accuracy >= 0.3]\n",
    );
    let mut command = project.command("run eval.yaml");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("three hang", || children(&project).len() == 6);
    send(signal, &child);
    let sent = Instant::now();
    let mut out = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}: {out}");
    assert!(sent.elapsed() < LONG, "{signal}: {:?}", sent.elapsed());
    for id in children(&project) {
        until("its processes are gone", || !is_alive(&id));
    }
    assert_eq!(
        requested(&project).len(),
        6,
        "{signal}: no sample started after it"
    );

    let records = project.last_lines("samples.jsonl");
    for record in &records {
        // Also those that were cut off in the middle, or never asked.
        assert!(!record["prompt"].as_str().unwrap().is_empty(), "{record}");
        assert!(record["metadata"].get("Level").is_some(), "{record}");
    }
    let of = |status: &str| {
        records
            .iter()
            .filter(|record| record["result"]["status"] == status)
            .count()
    };
    assert_eq!((records.len(), of("scored"), of("skipped")), (12, 3, 9));
    let summary = project.last_json("summary.json");
    assert_eq!(
        (&summary["scored"], &summary["exit_code"]),
        (&3.into(), &130.into())
    );
    assert_eq!(summary["gates"][0]["verdict"], "inconclusive");
    let manifest = project.last_json("manifest.json");
    assert_eq!(
        (&manifest["status"], &manifest["stop_reason"]),
        (&"interrupted".into(), &"interrupted".into())
    );
    assert!(manifest["ended_at"].is_string());
    let dir = project.last_run();
    assert!(!dir.join("samples.jsonl.part").exists());
    project.run(&format!("gate {}", dir.display())).exits(130);
    project.run("accept").exits(2).says("did not finish");

    project.write("go", "");
    project
        .run(&format!("run --resume {}", dir.display()))
        .exits(0)
        .says("3 samples were answered before");
    assert_eq!(requested(&project).len(), 15);
    assert_eq!(project.last_json("manifest.json")["status"], "finished");
    assert_eq!(json_lines(&dir.join("samples.jsonl")).len(), 12);
    assert_eq!(project.last_json("summary.json")["correct"], 6);
}

#[test]
fn int_stops_a_run() {
    stops("INT");
}

#[test]
fn term_stops_a_run() {
    stops("TERM");
}

#[test]
fn hup_stops_a_run() {
    // Who runs the tests by `nohup` has it ignored, as every child has then; but what a process handles is as usual
    // again in its children. In a process of its own, so that the other tests keep what they were given.
    const ALONE: &str = "EVALTEST_HUP_ALONE";
    if std::env::var_os(ALONE).is_some() {
        signal_hook::flag::register(SIGHUP, Arc::default()).unwrap();
        return stops("HUP");
    }
    let mut tests = Command::new(std::env::current_exe().unwrap());
    let output = tests
        .args(["--exact", "signals::hup_stops_a_run", "--nocapture"])
        .env(ALONE, "")
        .output();
    let ran = Ran::of(&output.unwrap()).exits(0);
    ran.says("1 passed");
}

/// Four questions, one at a time, of which the second hangs until there is a file `go`; the agent wrote its pid to `hangs`.
/// It is ended a moment before its run, as Slurm and systemd do with the processes of a job.
#[track_caller]
pub(crate) fn ends_with_its_job(project: &Project) {
    let mut child = project
        .command("run eval.yaml")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = || fs::read_to_string(project.file("hangs")).unwrap_or_default();
    until("it hangs", || pid().ends_with('\n'));
    let killed = Command::new("kill")
        .args(["-s", "TERM", pid().trim()])
        .status();
    assert!(killed.unwrap().success());
    std::thread::sleep(Duration::from_millis(100));
    send("TERM", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(requested(project).len(), 2, "nobody was asked meanwhile");
    assert_eq!(project.last_json("summary.json")["errors"], 0);

    project.write("go", "");
    let dir = project.last_run();
    project
        .run(&format!("run --resume {}", dir.display()))
        .exits(0);
    assert_eq!(requested(project).len(), 5, "one of them once more");
}

#[test]
fn an_agent_that_ends_with_its_job_did_not_fail() {
    for hang in [
        "echo $$ > hangs; exec sleep 600",
        // A shell passes on that its program was ended.
        "sh -c 'echo $$ > hangs; exec sleep 600' || exit",
    ] {
        let then =
            format!("case $EVALTEST_SAMPLE_ID in q000) ;; *) test -f go || {{ {hang}; }};; esac");
        let limits = "limits: { concurrency: 1, retries: 0 }\n";
        ends_with_its_job(&requested::project(4, &then, limits));
    }
}

#[test]
fn the_second_signal_ends_agents_that_do_not_want_to() {
    let project = requested::project(2, "", "");
    // It is given ten minutes to end.
    project.spec(
        "{ type: worker, command: [./worker.sh], close_timeout_s: 600 }",
        "",
    );
    project.script(
        "worker.sh",
        r#"#!/bin/sh
trap '' TERM INT
sleep 1000 &
echo "$!" >> children
echo "$$" >> children
while read -r line; do
    id=${line#*'"id":"'}
    printf '{"id":"%s","answer":"1"}\n' "${id%%'"'*}"
done
echo > closed
while :; do sleep 1; done
"#,
    );
    let mut child = project
        .command("run eval.yaml")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("it is to end", || project.file("closed").exists());
    // Two that come at once may count as one.
    let mut status = None;
    until("the second signal ends it", || {
        send("INT", &child);
        std::thread::sleep(Duration::from_millis(50));
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().signal(), Some(2));
    assert_eq!(children(&project).len(), 2);
    for id in children(&project) {
        until("its processes are gone", || !is_alive(&id));
    }
}

#[test]
fn nohup_outlives_its_terminal() {
    let project = requested::project(1, "while test ! -f go; do sleep 0.02; done", "");
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' HUP; exec \"$0\" evaltest run eval.yaml"])
        .arg(env!("CARGO_BIN_EXE_cargo-evaltest"))
        .current_dir(project.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    without_surroundings(&mut command);
    let mut child = command.spawn().unwrap();
    until("it was asked", || requested(&project).len() == 1);
    send("HUP", &child);
    std::thread::sleep(Duration::from_millis(150));
    project.write("go", "");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn one_eval_that_stops_does_not_stop_the_next() {
    let project = requested::project(4, "case $EVALTEST_SAMPLE_ID in q000) exit 1;; esac", "");
    let spec = project.read("eval.yaml");
    let first =
        spec.replace("name: e", "name: first") + "limits: { fail_fast: true, concurrency: 1 }\n";
    project.write("first.yaml", first);
    let ran = project.run("run -v first.yaml eval.yaml").exits(3);
    ran.says("e: 4 samples, 1 correct")
        .says_nothing_of("interrupted");
}
