//! How processes end, and that none is left.

use super::*;
use crate::tests::needs;

/// Asks once and closes.
fn close(worker: &Worker) {
    check_text(&worker.answer(&task("a")), "4");
    worker.close();
}

#[test]
fn a_program_ends_by_itself_when_its_stdin_is_closed() {
    let project = Project::new();
    close(&project.sh("echo $$ > pid; while take; do answer $id; done; echo > farewell"));
    assert!(project.path("farewell").exists());
    project.assert_dead("pid");
}

#[test]
fn who_ignores_the_end_of_stdin_is_ended() {
    let project = Project::new();
    let script = "echo $$ > pid; trap 'echo > termed; exit' TERM; take; answer $id; while :; do sleep 0.01; done";
    close(&project.sh(script).close_grace(SHORT));
    project.assert_dead("pid");
    assert!(project.path("termed").exists());
    // A process that ignores SIGTERM is killed.
    let project = Project::new();
    let script = "echo $$ > pid; trap '' TERM; take; answer $id; while :; do sleep 0.01; done";
    close(&project.stubborn(script));
    project.assert_dead("pid");
}

/// Starts a child and one that leaves the group, and waits until each has written its pid. Each process has its own
/// files, which a later one does not overwrite.
const CHILDREN: &str = "sleep 1000 & echo $! > child.$$; \
    setsid sh -c 'echo $$ > escaped.part.$1; mv escaped.part.$1 escaped.$1; exec sleep 1000' sh $$ & \
    while [ ! -e escaped.$$ ]; do sleep 0.01; done; echo $$ >> started";

/// Checks that the children of all processes are gone.
#[track_caller]
fn check_children(project: &Project, processes: usize) {
    assert_eq!(project.lines("started"), processes);
    for pid in project.read("started").lines() {
        project.assert_dead(&format!("child.{pid}"));
        project.assert_dead(&format!("escaped.{pid}"));
    }
}

#[needs(setsid)]
#[test]
fn children_do_not_outlive_their_parent() {
    let project = Project::new();
    close(&project.sh(&format!("{CHILDREN}; while take; do answer $id; done")));
    check_children(&project, 1);
    // Also for a crashed process, whose pipes they hold. It is retried, alone.
    let project = Project::new();
    let worker = project.sh(&format!("{CHILDREN}; take; exit 1"));
    let (reply, lost) = ask_until_replied(&worker, &task("a"));
    check_error(reply, FailureKind::Exited, "exited with code 1");
    worker.close();
    assert_eq!(lost, 1);
    check_children(&project, 2);
}

#[needs(setsid)]
#[test]
fn nor_do_those_that_never_stop_starting_others() {
    let project = Project::new();
    // Each starts the next one and ends, so that any found process is gone a moment later.
    let link = "#!/bin/sh\necho $$ >> links\nexec 2>/dev/null\n\
        [ -e over ] || [ $1 -gt 100000 ] || setsid ./link $(($1 + 1)) &\n";
    fs::write(project.path("link"), link).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(project.path("link"), executable).unwrap();
    close(&project.sh(
        "setsid ./link 1 & while [ ! -s links ]; do sleep 0.01; done; while take; do answer $id; done",
    ));
    let links = project.lines("links");
    std::thread::sleep(SHORT);
    let more = project.lines("links") - links;
    fs::write(project.path("over"), "").unwrap();
    assert_eq!(more, 0, "after {links}");
}

#[test]
fn who_closes_its_stdout_is_started_again() {
    let project = Project::new();
    let worker = project.sh("echo $$ > pid; take; exec >&-; sleep 1000");
    let (reply, lost) = ask_until_replied(&worker, &task("a"));
    check_error(reply, FailureKind::Exited, "closed its stdout");
    assert_eq!(lost, 1);
    project.assert_dead("pid");
}

#[test]
fn an_agent_that_is_dropped_leaves_nothing() {
    let project = Project::new();
    let worker = project
        .stubborn("trap '' TERM; echo $$ > pid; take; answer $id; while :; do sleep 0.01; done");
    check_text(&worker.answer(&task("a")), "4");
    drop(worker);
    project.assert_dead("pid");
}
