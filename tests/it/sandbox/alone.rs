//! Bubblewrap where it is all there is: tests that find no `cargo-evaltest`, and an old version.

use std::env;
use std::path::Path;
use std::process::Command;

use needs::needs;

use super::kernel::{PLAIN, everybody_reaches, give, own_user};
use super::{TREASURE, answer, server};
use crate::project::{Project, Ran};
use crate::trials;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cargo-evaltest");
const NO_SHIM: &str = "bubblewrap confines the agent, but nothing here filters its system calls";
const NAMESPACES: &str = "to make namespaces of users: `bwrap --disable-userns` does not work here";

/// A project of which the tests ask an agent that says what it finds.
fn project(sandbox: &str) -> Project {
    let project = Project::new();
    project.questions(&[("a", 1, "Where?", TREASURE), ("b", 1, "Where?", TREASURE)]);
    project.script(
        "agent.sh",
        "#!/bin/sh\nexec 2>&1\ncat ../../data.jsonl\necho here > $TMPDIR/x && cat $TMPDIR/x\ngrep Seccomp: /proc/self/status\n",
    );
    project.spec(
        &format!("{{ type: command, command: [../../agent.sh], sandbox: {sandbox} }}"),
        "",
    );
    let spec = project.read("eval.yaml");
    project.write(trials::SPEC, spec.replace("data.jsonl", "../../data.jsonl"));
    project
}

/// The usual programs, but for the command, which may be put before them.
fn path(first: &[&Path]) -> std::ffi::OsString {
    let path = env::var_os("PATH").unwrap();
    let usual = env::split_paths(&path).filter(|folder| !folder.join("cargo-evaltest").exists());
    let first = first.iter().map(|folder| folder.to_path_buf());
    env::join_paths(first.chain(usual)).unwrap()
}

/// Runs the tests with these folders before the usual programs, perhaps as another user.
fn tests(project: &Project, first: &[&Path], user: Option<u32>) -> Ran {
    let plain = trials::command(project, "");
    let mut command = Command::new("env");
    if let Some(user) = user {
        give(project.path(), user);
        let [user, group] = ["--reuid", "--regid"].map(|option| format!("{option}={user}"));
        command.args(["setpriv", &user, &group, "--clear-groups"]);
    }
    command.arg(plain.get_program()).current_dir(project.path());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("PATH", path(first)).env("HOME", project.path());
    Ran::of(&command.output().unwrap())
}

#[needs(bwrap)]
#[test]
fn tests_without_the_command_have_bubblewrap_without_a_filter_and_say_so_once() {
    for kind in ["bwrap", "auto"] {
        let project = project(kind);
        let ran = tests(&project, &[], None).says(NO_SHIM);
        assert_eq!(ran.err.matches(NO_SHIM).count(), 1, "{}", ran.err);
        ran.says("`cargo install cargo-evaltest`");
        assert_eq!(project.last_json("manifest.json")["sandbox"], "bwrap");
        let reply = answer(&project, "b");
        assert!(
            !reply.contains(TREASURE) && reply.contains("here"),
            "{reply}"
        );
        assert!(reply.ends_with('0'), "{reply}");

        // With it there is a filter, and nothing to say.
        let command = Path::new(PROGRAM).parent().unwrap();
        tests(&project, &[command], None).says_nothing_of("bubblewrap");
        let reply = answer(&project, "b");
        assert!(reply.contains("here") && reply.ends_with('2'), "{reply}");
    }
}

#[needs(bwrap)]
#[test]
fn what_only_the_command_can_do_is_an_error_without_it() {
    for (sandbox, error) in [
        ("landlock", "Landlock is set up by the program"),
        (
            "{ type: bwrap, network: { loopback: [80] } }",
            "`network: { loopback: … }` is served by the program",
        ),
    ] {
        let project = project(sandbox);
        let ran = tests(&project, &[], None);
        ran.says(error)
            .says("hint: `cargo install cargo-evaltest`")
            .says_nothing_of("test a");
        assert!(project.runs().is_empty());
    }
    // It serves whoever starts it.
    let project = project(&format!(
        "{{ type: bwrap, network: {{ loopback: [{}] }} }}",
        server()
    ));
    let command = Path::new(PROGRAM).parent().unwrap();
    tests(&project, &[command], None);
    assert!(answer(&project, "a").contains("here"));
}

#[needs(bwrap)]
#[test]
fn a_bubblewrap_that_cannot_forbid_namespaces_is_told() {
    let user = (own_user() == 0).then_some(PLAIN);
    if user.is_some() && !everybody_reaches(PROGRAM.as_ref()) {
        return;
    }
    let command = Path::new(PROGRAM).parent().unwrap();
    for is_old in [true, false] {
        for (first, who) in [
            (Some(command), "the filter of system calls alone"),
            (None, "nothing"),
        ] {
            let project = project("bwrap");
            let bwrap = path(&[]);
            let bwrap = env::split_paths(&bwrap).map(|folder| folder.join("bwrap"));
            let bwrap = bwrap.into_iter().find(|file| file.exists()).unwrap();
            project.script(
                "old/bwrap",
                &format!(
                    "#!/bin/sh\ncase \" $* \" in *' --disable-userns '*)\n\
                     echo 'bwrap: Unknown option --disable-userns' >&2; exit 1;;\nesac\nexec {} \"$@\"\n",
                    bwrap.display()
                ),
            );
            let old = project.file("old");
            let mut before: Vec<&Path> = first.into_iter().collect();
            if is_old {
                before.insert(0, &old);
            }
            let ran = tests(&project, &before, user);
            let message = format!("{who} forbids the agent {NAMESPACES}");
            if is_old {
                ran.says(&message);
            } else {
                ran.says_nothing_of(NAMESPACES);
            }
            let reply = answer(&project, "a");
            assert!(
                !reply.contains(TREASURE) && reply.contains("here"),
                "{reply}"
            );
        }
    }
}
