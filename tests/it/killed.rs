//! What a run that is killed leaves running: nothing.

use crate::project::Project;
use crate::sandbox::{can_sandbox, processes_with};
use crate::signals::{is_alive, send, until};

/// Runs an eval until its agent says so, kills it, and waits until nobody is left.
fn kill(agent: &str, script: &str, left: &[&str]) {
    let project = Project::with_eval(&[("a", 1, "?", "1"), ("b", 1, "?", "1")], agent, "");
    project.script("agent.sh", script);
    let mut child = project.command("run eval.yaml").spawn().unwrap();
    for name in left {
        until("the agent runs", || !processes_with(name).is_empty());
    }
    send("KILL", &child);
    child.wait().unwrap();
    for name in left {
        until("nobody is left", || processes_with(name).is_empty());
    }
    let id = child.id().to_string();
    assert!(!is_alive(&id));
    let begins = [format!("evaltest-worker-{id}-"), format!("evaltest-{id}-")];
    until("its temporary folders are gone", || {
        let names = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let mut names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        !names.any(|name| begins.iter().any(|begin| name.starts_with(begin)))
    });
}

#[test]
fn agents_that_hang_end_with_a_killed_run_and_so_do_their_daemons() {
    kill(
        "{ type: command, command: [./agent.sh] }",
        "#!/bin/sh\nsetsid sleep 98.8801 >/dev/null 2>&1 &\nexec sleep 98.8802\n",
        &["98.8801", "98.8802"],
    );
}

#[test]
fn workers_that_ignore_their_closed_stdin_end_with_a_killed_run() {
    kill(
        "{ type: worker, command: [./agent.sh] }",
        "#!/bin/sh\ntrap '' TERM\nsleep 98.8803\nsleep 98.8803\n",
        &["98.8803"],
    );
}

#[test]
fn nothing_of_a_sandboxed_worker_stays_when_its_run_is_killed() {
    if !can_sandbox() {
        return;
    }
    kill(
        "{ type: worker, command: [./agent.sh], sandbox: bwrap }",
        "#!/bin/sh\nsleep 98.8804\n",
        &["98.8804"],
    );
}
