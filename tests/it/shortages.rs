//! What this machine has too little of is no failure of the agent.

use std::process::Command;
use std::time::{Duration, Instant};

use needs::needs;

use crate::project::{Project, Ran, json_lines, without_surroundings};
use crate::sandbox::kernel::give;
use crate::server::{Server, chat, fine};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cargo-evaltest");

/// A project of `count` questions whose answer is 1, at a concurrency of 300.
fn project(count: usize, agent: &str) -> Project {
    let ids: Vec<_> = (0..count).map(|number| format!("q{number}")).collect();
    let questions: Vec<_> = ids.iter().map(|id| (&**id, 1, "?", "1")).collect();
    Project::with_eval(
        &questions,
        agent,
        "limits: { concurrency: 300, retries: 0, timeout_s: 60 }\n",
    )
}

/// Runs the eval of a project by a shell that sets limits before.
fn run_under(project: &Project, limits: &str) -> Ran {
    let mut command = Command::new("sh");
    let script = format!("{limits}; exec \"$0\" evaltest run eval.yaml");
    command
        .args(["-c", &script, PROGRAM])
        .current_dir(project.path());
    without_surroundings(&mut command);
    Ran::of(&command.output().unwrap())
}

/// The same as a plain user, who may have so many processes and threads.
fn run_as_user(project: &Project, user: u32, processes: u32) -> Ran {
    // Every user comes as far as this.
    let program = project.file("program");
    if !program.exists() {
        std::fs::copy(PROGRAM, &program).unwrap();
    }
    give(project.path(), user);
    let [user, group] = ["--reuid", "--regid"].map(|option| format!("{option}={user}"));
    let mut command = Command::new("setpriv");
    // Shells disagree on the letter.
    let script = format!(
        "ulimit -u {processes} 2>/dev/null || ulimit -p {processes}; exec \"$0\" evaltest run eval.yaml"
    );
    command
        .args([&*user, &group, "--clear-groups", "sh", "-c", &script])
        .arg(program)
        .current_dir(project.path());
    without_surroundings(&mut command);
    command.env("HOME", project.path());
    Ran::of(&command.output().unwrap())
}

/// Asserts that all samples were answered, each by its first attempt, and that it was said once if fewer were in flight.
#[track_caller]
fn check(project: &Project, limits: &str, is_reported: bool) {
    let ran = run_under(project, limits).exits(0);
    let samples = project.last_lines("samples.jsonl");
    let wanted = json_lines(&project.file("data.jsonl"));
    assert_eq!(samples.len(), wanted.len());
    for sample in samples {
        assert_eq!(sample["result"]["status"], "scored", "{sample}");
        assert_eq!(sample["result"]["attempts"], 1, "{sample}");
    }
    let events = std::fs::read_to_string(project.last_run().join("events.jsonl")).unwrap();
    assert!(!events.contains("\"shortage\""), "{events}");
    // A resumed run would count each against its budget.
    let started = events.matches("\"kind\":\"started\"").count();
    assert_eq!(started, wanted.len());
    let notice = ran.err.matches("questions run in parallel").count();
    assert_eq!(notice, usize::from(is_reported), "{}", ran.err);
}

const AGENT: &str = "{ type: command, command: [sh, -c, 'sleep 0.05; echo 1'] }";

#[test]
fn a_soft_limit_of_descriptors_is_raised() {
    check(&project(1000, AGENT), "ulimit -S -n 256", false);
}

#[test]
fn a_hard_limit_of_descriptors_lets_fewer_attempts_run_at_once() {
    check(&project(1000, AGENT), "ulimit -n 256", true);
}

#[test]
fn a_limit_that_holds_no_attempt_is_refused_before_anybody_is_asked() {
    let project = project(4, AGENT);
    for limit in [16, 20, 24, 28] {
        let started = Instant::now();
        let ran = run_under(&project, &format!("ulimit -n {limit}")).exits(3);
        assert!(started.elapsed() < Duration::from_secs(20), "{limit}");
        let notice = format!("{limit} files may be open at the same time (`ulimit -n`)");
        assert!(ran.err.contains(&notice), "{}", ran.err);
        assert!(ran.err.contains("`ulimit -n 256`"), "{}", ran.err);
        assert!(!ran.err.contains("free some space"), "{}", ran.err);
        assert_eq!(project.runs().len(), 0, "nothing began");
    }
    // Here not even its own files have room.
    let ran = run_under(&project, "ulimit -n 5").exits(3);
    assert!(ran.err.contains("`ulimit -n 4096`"), "{}", ran.err);
}

#[needs(setpriv)]
#[test]
fn a_plain_user_with_few_processes_has_fewer_questions_in_flight() {
    let project = project(60, AGENT);
    let ran = run_as_user(&project, 61_723, 30)
        .exits(0)
        .says("60 correct");
    let notice = "too few processes may run at the same time here (`ulimit -u`)";
    assert_eq!(ran.err.matches(notice).count(), 1, "{}", ran.err);
}

#[needs(setpriv)]
#[test]
fn without_a_thread_to_be_had_nothing_panics() {
    let project = project(4, AGENT);
    for processes in 1..=3 {
        let ran = run_as_user(&project, 61_724, processes).says_nothing_of("panicked");
        assert_eq!(ran.code, Some(3), "{processes}: {}", ran.err);
        assert!(ran.err.contains("`ulimit -u"), "{}", ran.err);
    }
}

#[test]
fn a_hard_limit_of_descriptors_lets_fewer_connections_be_made() {
    let server = Server::new(|_, _| {
        std::thread::sleep(Duration::from_millis(20));
        fine(&chat("1"))
    });
    check(&project(300, &server.openai("")), "ulimit -n 64", true);
}

#[needs(python3)]
#[test]
fn workers_that_there_is_no_room_for_start_later() {
    let project = project(
        200,
        "{ type: worker, command: [python3, agent.py], processes: 40 }",
    );
    project.write(
        "agent.py",
        "import json, sys\nfor line in sys.stdin:\n    task = json.loads(line)\n    \
         print(json.dumps({'id': task['id'], 'answer': '1'}), flush=True)\n",
    );
    let ran = run_under(&project, "ulimit -n 100").exits(0);
    let samples = project.last_lines("samples.jsonl");
    let is_scored = |sample: &&serde_json::Value| sample["result"]["status"] == "scored";
    assert_eq!(samples.iter().filter(is_scored).count(), 200, "{}", ran.err);
}

#[test]
fn an_agent_gets_the_limit_that_the_run_was_given() {
    let agent = "{ type: command, command: [sh, -c, 'sleep 0.1; ulimit -n'] }";
    let project = Project::with_eval(&[("a", 1, "?", "256")], agent, "");
    run_under(&project, "ulimit -S -n 256")
        .exits(0)
        .says("1 correct");
}
