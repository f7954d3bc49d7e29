//! What a run that is killed leaves running: nothing.

use needs::needs;

use crate::project::Project;
use crate::sandbox::processes_with;
use crate::signals::{is_alive, send};
use crate::wait::{nap, until};

/// Runs an eval until its agent says so, kills it, and waits until nobody is left.
fn kill(agent: &str, script: &str, found: &[String]) {
    let project = Project::with_eval(&[("a", 1, "?", "1"), ("b", 1, "?", "1")], agent, "");
    project.script("agent.sh", script);
    let mut child = project.command("run eval.yaml").spawn().unwrap();
    for name in found {
        until("the agent runs", || !processes_with(name).is_empty());
    }
    send("KILL", &child);
    child.wait().unwrap();
    for name in found {
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

#[needs(setsid)]
#[test]
fn agents_that_hang_end_with_a_killed_run_and_so_do_their_daemons() {
    let naps = [nap(1), nap(2)];
    kill(
        "{ type: command, command: [./agent.sh] }",
        &format!(
            "#!/bin/sh\nsetsid sleep {} >/dev/null 2>&1 &\nexec sleep {}\n",
            naps[0], naps[1]
        ),
        &naps,
    );
}

#[test]
fn workers_that_ignore_their_closed_stdin_end_with_a_killed_run() {
    let nap = nap(3);
    kill(
        "{ type: worker, command: [./agent.sh] }",
        &format!("#!/bin/sh\ntrap '' TERM\nsleep {nap}\nsleep {nap}\n"),
        &[nap],
    );
}

#[needs(landlock)]
#[test]
fn nothing_of_a_worker_in_landlock_stays_when_its_run_is_killed() {
    let nap = nap(9);
    kill(
        "{ type: worker, command: [./agent.sh], sandbox: landlock }",
        &format!("#!/bin/sh\nsleep {nap}\n"),
        &[nap],
    );
}

#[needs(bwrap)]
#[test]
fn nothing_of_a_sandboxed_worker_stays_when_its_run_is_killed() {
    let nap = nap(4);
    kill(
        "{ type: worker, command: [./agent.sh], sandbox: bwrap }",
        &format!("#!/bin/sh\nsleep {nap}\n"),
        &[nap],
    );
}
