//! How processes end, and that nothing is left of them.

use super::*;

/// Asks once and closes; gives how long the closing took.
fn close(project: &Project, script: &str) -> Duration {
    let worker = project.sh(script);
    check_text(&worker.answer(&task("a")), "4");
    let started = Instant::now();
    worker.close();
    started.elapsed()
}

#[test]
fn a_program_ends_by_itself_when_its_stdin_is_closed() {
    let project = Project::new();
    close(
        &project,
        "echo $$ > pid; while take; do answer $id; done; echo > farewell",
    );
    assert!(project.path("farewell").exists());
    project.assert_dead("pid");
}

#[test]
fn who_ignores_the_end_of_stdin_is_ended() {
    let project = Project::new();
    close(
        &project,
        "echo $$ > pid; trap 'echo > termed; exit' TERM; take; answer $id; while :; do sleep 0.01; done",
    );
    project.assert_dead("pid");
    assert!(project.path("termed").exists());
    // And who ignores SIGTERM is killed.
    let project = Project::new();
    close(
        &project,
        "echo $$ > pid; trap '' TERM; take; answer $id; while :; do sleep 0.01; done",
    );
    project.assert_dead("pid");
}

#[test]
fn children_do_not_outlive_their_parent() {
    let project = Project::new();
    let children = "sleep 60 & echo $! > child; setsid sh -c 'echo $$ > escaped; exec sleep 60' & \
        while [ ! -s escaped ]; do sleep 0.01; done";
    close(
        &project,
        &format!("{children}; while take; do answer $id; done"),
    );
    project.assert_dead("child");
    project.assert_dead("escaped");
    // Nor one that crashed, whose pipes they hold.
    let project = Project::new();
    let worker = project.sh(&format!("{children}; take; exit 1"));
    let (told, _) = ask_until_told(&worker, &task("a"));
    check_error(told, FailureKind::Exited, "exited with code 1");
    worker.close();
    project.assert_dead("child");
    project.assert_dead("escaped");
}

#[test]
fn who_closes_its_stdout_is_started_again() {
    let project = Project::new();
    let worker = project.sh("echo $$ > pid; take; exec >&-; sleep 60");
    let (told, lost) = ask_until_told(&worker, &task("a"));
    check_error(told, FailureKind::Exited, "closed its stdout");
    assert_eq!(lost, 1);
    project.assert_dead("pid");
}

#[test]
fn an_agent_that_is_dropped_leaves_nothing() {
    let project = Project::new();
    let worker =
        project.sh("trap '' TERM; echo $$ > pid; take; answer $id; while :; do sleep 0.01; done");
    check_text(&worker.answer(&task("a")), "4");
    drop(worker);
    project.assert_dead("pid");
}
