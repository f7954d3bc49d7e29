//! Flows that are killed or interrupted, and go on.

use std::time::Duration;

use serde_json::Value;

use super::state;
use crate::project::{Ran, all_files};
use crate::puzzles::{EASY, ITEMS, answer, contents, folder, project_of, twice};
use crate::server::Server;
use crate::signals::send;
use crate::wait::until;

#[test]
fn a_killed_flow_goes_on_and_asks_nothing_twice() {
    let whole = Server::new(|requested, _| answer(requested));
    let project = project_of(&whole, EASY);
    project
        .run("flow flow.yaml --run-id flow-x-000000")
        .exits(0);
    let expect = contents(&folder(&project));
    let all = whole.requested().len();
    assert_eq!(all, ITEMS * 4);
    // In each stage, and on its edges.
    for moment in [0, 2, ITEMS, ITEMS + 3, 2 * ITEMS, 2 * ITEMS + 5, all - 1] {
        let server = Server::new(|requested, _| {
            std::thread::sleep(Duration::from_millis(15));
            answer(requested)
        });
        let project = project_of(&server, EASY);
        let mut child = project
            .command("flow flow.yaml --run-id flow-x-000000")
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        until("the moment comes", || server.requested().len() > moment);
        send("KILL", &child);
        child.wait().unwrap();
        let folder = folder(&project);
        project
            .run_of(&["flow", "--resume", folder.to_str().unwrap()])
            .exits(0);
        assert_eq!(contents(&folder), expect, "killed at {moment}");
        // What was in flight is asked once more, nothing else.
        let again = twice(&server);
        assert!(again <= 1, "killed at {moment}: {again} asked twice");
        assert!(
            !all_files(&folder)
                .iter()
                .any(|path| path.extension().is_some_and(|end| end == "tmp"))
        );
    }
}

#[test]
fn an_interrupted_flow_says_what_to_type() {
    let server = Server::new(|requested, _| {
        std::thread::sleep(Duration::from_millis(40));
        answer(requested)
    });
    let project = project_of(&server, EASY);
    let child = project
        .command("flow flow.yaml")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    until("the judge is asked", || {
        server.requested().len() > ITEMS + 1
    });
    send("INT", &child);
    let output = child.wait_with_output().unwrap();
    let ran = Ran::of(&output).exits(130);
    ran.says("cargo evaltest flow --resume ");
    let folder = folder(&project);
    assert_eq!(state(&project)["exit_code"], Value::Null);
    project
        .run_of(&["flow", "--resume", folder.to_str().unwrap()])
        .exits(0);
    assert!(twice(&server) <= 1);
}
