//! The whole agent on small `/bin/sh` scripts. Decoding of replies, passed variables and the stderr tail are tested
//! next to the code.

mod failures;
mod handover;
mod killed;
mod limits;
mod overhead;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::*;
use crate::tests::wait::{LONG, given_time, until, until_dead};

/// A temporary folder, in which the agents of a test run, and its scratch folder.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("scratch")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, content: &str, mode: u32) {
        fs::write(self.path(name), content).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn command(&self, argv: &[&str]) -> Command {
        let mut command = Command::new(argv.iter().copied(), self.folder.path());
        // The tester's own keys would appear in the messages.
        command.program.environment.ambient = BTreeMap::from([("PATH".into(), search_path())]);
        command
    }

    fn sh(&self, script: &str) -> Command {
        self.command(&["sh", "-c", script])
    }

    fn task(&self, prompt: &str) -> Task {
        Task {
            deadline: Some(Instant::now() + LONG),
            scratch: Some(self.path("scratch")),
            ..Task::for_test(prompt)
        }
    }

    fn run(&self, script: &str) -> Result<Output, AgentError> {
        self.sh(script).answer(&self.task("2+2?"))
    }

    /// The text of an agent that must answer.
    #[track_caller]
    fn text(&self, script: &str) -> String {
        self.run(script).unwrap().text.unwrap()
    }

    /// Waits until the process whose pid a file holds is dead.
    #[track_caller]
    fn assert_dead(&self, pid_file: &str) {
        until_dead(&self.path(pid_file));
    }
}

fn search_path() -> OsString {
    "/usr/local/bin:/usr/bin:/bin".into()
}

#[track_caller]
fn check_error(result: Result<Output, AgentError>, kind: FailureKind, message: &str) -> AgentError {
    let error = result.unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (kind, message));
    error
}
