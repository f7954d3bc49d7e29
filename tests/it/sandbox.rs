//! A hostile agent in a sandbox: it gets nothing. And what an agent without one cannot leave behind.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Instant;

use needs::needs;
use serde_json::Value;

use crate::project::{Project, Ran};
use crate::wait::{LONG, given_time, late, nap, until};

mod alone;
pub(crate) mod kernel;
mod kinds;
mod worker;

/// What no agent may get hold of: the answer, in the dataset, the snapshots and the run directories.
const TREASURE: &str = "zanzibar-4711";

/// A project with one sample for each attack, which is a piece of shell. Its answers are in a baseline and in a run
/// directory already.
fn project(attacks: &[(&str, &str)], sandbox: &str, more: &str) -> Project {
    let questions: Vec<_> = attacks
        .iter()
        .map(|(id, _)| (*id, 1, "Where?", TREASURE))
        .collect();
    let project = Project::with_eval(
        &questions,
        &format!("{{ type: echo, text: {TREASURE} }}"),
        "",
    );
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    let cases: Vec<_> = attacks
        .iter()
        .map(|(id, script)| format!("{id}) {script};;"))
        .collect();
    let script = format!(
        "#!/bin/sh\nexec 2>&1\ncase $EVALTEST_SAMPLE_ID in\n{}\nesac\n",
        cases.join("\n")
    );
    project.script("agent.sh", &script);
    project.write("secret.txt", TREASURE);
    project.write("sub/tool.txt", "a tool");
    project.spec(
        &format!("{{ type: command, command: [./agent.sh], sandbox: {sandbox} }}"),
        more,
    );
    project
}

/// What the agent said about a sample.
#[track_caller]
fn answer(project: &Project, id: &str) -> String {
    let records = project.last_lines("samples.jsonl");
    let record = records.iter().find(|record| record["sample_id"] == id);
    let result = &record.unwrap()["result"];
    match &result["output"]["text"] {
        Value::String(text) => text.trim().to_owned(),
        _ => panic!("{id}: {result}"),
    }
}

fn run(project: &Project) -> Ran {
    let ran = project.run("run eval.yaml");
    assert!(matches!(ran.code, Some(0 | 1 | 3)), "{ran:?}");
    ran
}

/// Processes of which the command line has a text.
pub(crate) fn processes_with(text: &str) -> Vec<String> {
    let lines = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = lines.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(text))
        .collect()
}

#[needs(bwrap)]
#[test]
fn a_hostile_agent_in_a_sandbox_finds_no_answer() {
    // Each prints where it found the answer.
    let listing = |places: &str| {
        format!("grep -rlsa {TREASURE} {places} --exclude=agent.sh; ls {places}; echo done")
    };
    let attacks = [
        ("dataset", "cat data.jsonl eval.yaml secret.txt; ls -a .; echo done".to_owned()),
        ("folder", listing("$PWD")),
        ("snapshots", listing("$PWD/snapshots")),
        ("runs", listing("$PWD/evaltest-runs $EVALTEST_SCRATCH/../..")),
        ("tmp", listing("/tmp /var/tmp /dev/shm /run")),
        ("environment", "env | grep -v EVALTEST; echo done".to_owned()),
        (
            "proc",
            format!(
                "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -ao 'evaltest ru[n]'; \
                 ls -d /proc/[0-9]*/cwd/data.jsonl /proc/[0-9]*/root{0}/data.jsonl; echo done",
                "$PWD"
            ),
        ),
        (
            "neighbour",
            "echo x > $EVALTEST_SCRATCH/mine; ls $EVALTEST_SCRATCH/..; cat $EVALTEST_SCRATCH/../*/mine | wc -l; sleep 1"
                .to_owned(),
        ),
        (
            "neighbour-2",
            "echo x > $EVALTEST_SCRATCH/mine; sleep 0.3; cat $EVALTEST_SCRATCH/../*/mine | wc -l; sleep 1"
                .to_owned(),
        ),
        ("tool", "cat sub/tool.txt sub/../secret.txt; echo done".to_owned()),
    ];
    let attacks: Vec<_> = attacks
        .iter()
        .map(|(id, script)| (*id, &**script))
        .collect();
    let project = project(
        &attacks,
        "{ type: bwrap, network: off, read: [sub] }",
        "limits: { concurrency: 10, timeout_s: 300 }\nkeep_scratch: always\n",
    );
    run(&project);
    for (id, _) in &attacks {
        let answer = answer(&project, id);
        assert!(!answer.contains(TREASURE), "{id}: {answer}");
        let found = ["data.jsonl\n", ".snap", "samples.jsonl", "events.jsonl"];
        let found: Vec<_> = found
            .iter()
            .filter(|name| {
                answer
                    .lines()
                    .any(|line| format!("{line}\n").ends_with(*name) && !line.contains("No such"))
            })
            .collect();
        assert!(found.is_empty(), "{id} found {found:?}: {answer}");
    }
    assert!(!answer(&project, "proc").contains("evaltest run"));
    assert_eq!(answer(&project, "neighbour").lines().last(), Some("1"));
    assert_eq!(answer(&project, "neighbour-2").lines().last(), Some("1"));
    let tool = answer(&project, "tool");
    assert!(
        tool.starts_with("a tool"),
        "what `read` names is there: {tool}"
    );
}

#[needs(bwrap, setsid)]
#[test]
fn a_hostile_agent_in_a_sandbox_does_no_harm() {
    let nap = nap(5);
    let daemon = format!("setsid sh -c 'sleep {nap}' >/dev/null 2>&1 & echo left");
    let attacks = [
        ("bomb", "bomb() { bomb | bomb & }; bomb; sleep 600"),
        ("daemon", &daemon),
        ("unset-daemon", &format!("env -i {daemon}")),
        (
            "disk",
            "for f in $EVALTEST_SCRATCH/big /tmp/big /dev/shm/big; do \
             dd if=/dev/zero of=$f bs=1M count=64 2>/dev/null; wc -c < $f; done",
        ),
        (
            "root",
            "touch x; for f in / /usr /etc /dev /run; do touch $f/x && echo wrote $f; done; echo done",
        ),
        (
            "parent",
            "p=$PPID; for i in 1 2 3 4 5 6; do kill -9 $p; p=$(awk '/^PPid/{print $2}' /proc/$p/status); done; echo done",
        ),
        ("good", "echo zanzibar-4711"),
    ];
    let started = Instant::now();
    // All but the bomb have time, though it takes some from them.
    let project = given_time(10.0, |timeout| {
        let project = project(
            &attacks,
            "{ type: bwrap, disk_mb: 8 }",
            &format!("limits: {{ concurrency: 4, timeout_s: {timeout}, retries: 0 }}\n"),
        );
        run(&project);
        late(&project)
            .iter()
            .all(|id| id == "bomb")
            .then_some(project)
    });
    assert!(started.elapsed() < LONG);
    let records = project.last_lines("samples.jsonl");
    let result = |id: &str| {
        let record = records.iter().find(|record| record["sample_id"] == id);
        record.unwrap()["result"].clone()
    };
    // Its own shell may be the one that can start nothing more.
    assert!(
        matches!(
            result("bomb")["status"].as_str(),
            Some("timed_out" | "agent_failed")
        ),
        "{}",
        result("bomb")
    );
    assert_eq!(result("good")["score"]["correct"], true);
    assert_eq!(answer(&project, "daemon"), "left");
    until("nobody is left", || processes_with(&nap).is_empty());
    let limit = 8 * 1024 * 1024;
    let disk = answer(&project, "disk");
    let sizes: Vec<u64> = disk
        .lines()
        .map(|line| line.trim().parse().unwrap())
        .collect();
    assert_eq!(sizes.len(), 3);
    assert!(
        sizes.iter().all(|&size| 0 < size && size <= limit),
        "{sizes:?}"
    );
    let root = answer(&project, "root");
    assert!(!root.contains("wrote"), "{root}");
    assert!(!project.file("x").exists());
    // It may have killed itself, and nobody else.
    assert!(matches!(
        result("parent")["status"].as_str(),
        Some("scored" | "agent_failed")
    ));
}

/// A server that says the answer to everyone.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut line = [0; 5];
                if stream.read_exact(&mut line).is_ok() {
                    let _ = stream.write_all(&[b"you said ", &line[..], b"\n"].concat());
                }
            });
        }
    });
    port
}

#[needs(bwrap, bash)]
#[test]
fn the_network_is_on_off_or_single_ports() {
    let (open, closed) = (server(), server());
    let ask = |port: u16| {
        format!(
            "bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && printf hello >&3 && cat <&3' 2>/dev/null || echo unreachable"
        )
    };
    let attacks = [("open", ask(open)), ("closed", ask(closed))];
    let attacks: Vec<_> = attacks
        .iter()
        .map(|(id, script)| (*id, &**script))
        .collect();
    let project = project(&attacks, "bwrap", "");
    for (network, expected) in [
        ("on".to_owned(), ["you said hello", "you said hello"]),
        ("off".to_owned(), ["unreachable", "unreachable"]),
        (
            format!("{{ loopback: [{open}] }}"),
            ["you said hello", "unreachable"],
        ),
    ] {
        project.spec(
            &format!(
                "{{ type: command, command: [./agent.sh], sandbox: {{ type: bwrap, network: {network} }} }}"
            ),
            "",
        );
        run(&project);
        let answers = [answer(&project, "open"), answer(&project, "closed")];
        assert_eq!(answers, expected, "network: {network}");
    }
}

#[needs(bwrap)]
#[test]
fn attachments_are_there_and_can_be_read() {
    let project = Project::new();
    project.write(
        "data.jsonl",
        "{\"task_id\":\"a\",\"Question\":\"?\",\"Level\":1,\"Final answer\":\"7 apples\",\"file_name\":\"box.txt\"}\n",
    );
    project.write("box.txt", "7 apples\n");
    project.script(
        "agent.sh",
        "#!/bin/sh\ncd $EVALTEST_SCRATCH && cat box.txt && echo more > notes\n",
    );
    project.spec(
        "{ type: command, command: [./agent.sh], sandbox: bwrap }",
        "",
    );
    project.run("run eval.yaml").exits(0).says("1 correct");
}

#[test]
fn a_system_without_bubblewrap_is_told_before_anything_is_asked() {
    let project = Project::with_eval(
        &[("a", 1, "?", "1")],
        "{ type: command, command: [/bin/sh, -c, 'echo 1'], sandbox: bwrap }",
        "",
    );
    let mut command = project.command("run eval.yaml");
    let output = command.env("PATH", project.path()).output().unwrap();
    Ran::of(&output)
        .exits(2)
        .says("needs bubblewrap")
        .says("apt install bubblewrap");
    assert!(project.runs().is_empty());
}

#[test]
fn wrong_keys_are_named() {
    let project = Project::with_eval(&[("a", 1, "?", "1")], "{ type: echo }", "");
    for (keys, expected) in [
        ("sandbox: docker", "bwrap"),
        ("sandbox: { type: bwrap, network: maybe }", "`on`, `off`"),
        (
            "sandbox: { type: bwrap, network: { loopback: [] } }",
            "names no port",
        ),
        ("sandbox: { type: bwrap, netwrk: on }", "network"),
        (
            "sandbox: { type: bwrap, disk_mb: 0 }",
            "sandbox.disk_mb must be at least 1",
        ),
        (
            "ulimits: { processes: 0 }",
            "ulimits.processes must be at least 1",
        ),
        ("ulimits: { process: 1 }", "processes"),
        (
            "sandbox: { type: bwrap, read: [data.jsonl, nope] }",
            "`nope` does not exist",
        ),
        (
            "sandbox: { type: bwrap, disk_mb: 999999999999999 }",
            "sandbox.disk_mb must be at most 134217728",
        ),
        (
            "ulimits: { memory_mb: 999999999999999 }",
            "ulimits.memory_mb must be at most 134217728",
        ),
        (
            "ulimits: { memory_mb: 1 }",
            "ulimits.memory_mb must be at least 4",
        ),
        (
            "ulimits: { cpu_s: 9999999999 }",
            "ulimits.cpu_s must be at most",
        ),
        ("env: [HOME, 'A=B']", "`A=…` is not the name of a variable"),
        ("env: ['']", "is not the name of a variable"),
    ] {
        for kind in ["command", "worker"] {
            project.spec(&format!("{{ type: {kind}, command: [true], {keys} }}"), "");
            project
                .run("run eval.yaml")
                .exits(2)
                .says(expected)
                .says("eval.yaml:4:")
                .says("hint: ")
                .says_nothing_of("=B");
        }
    }
}

#[test]
fn limits_that_cannot_be_kept_here_end_the_run_before_anything_is_asked() {
    for kind in ["command", "worker"] {
        let project = Project::with_eval(
            &[("a", 1, "?", "1")],
            &format!("{{ type: {kind}, command: [cat], ulimits: {{ files: 2000000000 }} }}"),
            "",
        );
        project
            .run("run eval.yaml")
            .exits(2)
            .says("`ulimits`: no program runs here within these limits")
            .says("hint: ");
        assert!(project.runs().is_empty());
    }
}

#[test]
fn the_kernel_keeps_limits_without_a_sandbox_too() {
    let project = Project::with_eval(
        &[("a", 1, "?", "33")],
        "{ type: command, command: [./agent.sh], ulimits: { files: 33 } }",
        "",
    );
    project.script("agent.sh", "#!/bin/sh\nulimit -n\n");
    project.run("run eval.yaml").exits(0).says("1 correct");
}

/// Where nobody can adopt them, as on systems other than Linux.
#[needs(setsid, pgrep)]
#[test]
fn daemons_that_keep_their_mark_end_with_the_run_everywhere() {
    let project = Project::with_eval(
        &[("a", 1, "?", "left")],
        "{ type: command, command: [./agent.sh] }",
        "",
    );
    let marked = nap(8);
    project.script(
        "agent.sh",
        &format!("#!/bin/sh\n(setsid sleep {marked} >/dev/null 2>&1 &); echo left\n"),
    );
    let mut command = project.command("run eval.yaml");
    command.env("EVALTEST_PORTABLE", "1");
    Ran::of(&command.output().unwrap()).exits(0);
    assert_eq!(answer(&project, "a"), "left");
    until("nobody is left", || processes_with(&marked).is_empty());
}

#[needs(setsid, pgrep)]
#[test]
fn daemons_that_keep_their_mark_end_with_the_attempt_and_all_others_with_the_run() {
    let project = Project::with_eval(
        &[
            ("a", 1, "?", "left"),
            ("b", 1, "?", "left"),
            ("c", 1, "?", "1"),
        ],
        "{ type: command, command: [./agent.sh] }",
        "limits: { concurrency: 1 }\n",
    );
    let naps = [nap(6), nap(7)];
    let [marked, unmarked] = &naps;
    project.script(
        "agent.sh",
        &format!(
            "#!/bin/sh\ncase $EVALTEST_SAMPLE_ID in\n\
             a) (setsid sleep {marked} >/dev/null 2>&1 &); echo left;;\n\
             b) (env -i setsid sleep {unmarked} >/dev/null 2>&1 &); echo left;;\n\
             c) pgrep -f '^sleep {marked}' | wc -l;;\nesac\n"
        ),
    );
    run(&project);
    assert_eq!(answer(&project, "a"), "left");
    assert_eq!(
        answer(&project, "c"),
        "0",
        "the first is gone when the next is asked"
    );
    for nap in &naps {
        until("nobody is left", || processes_with(nap).is_empty());
    }
}
