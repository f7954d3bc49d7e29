//! The whole agent on small `/bin/sh` scripts. Decoding of lines is tested next to the code.

mod crashes;
mod ending;
mod faults;
mod talk;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use super::*;
use crate::data::Sample;
use crate::data::task::Visible;
use crate::tests::wait::{LONG, given_time, until, until_dead};

/// The timeout of a program that hangs.
const SHORT: Duration = Duration::from_millis(300);

/// A temporary folder, in which the programs of a test run.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A program that runs `each` for every line, whose id is in `$id`, and can `answer` an id.
    fn each(&self, each: &str) -> Worker {
        self.sh(&format!("while take; do {each}; done"))
    }

    /// A program with two functions: `take` reads a task, `answer` answers one.
    fn sh(&self, script: &str) -> Worker {
        let functions = r#"
            take() { read -r line || return 1; id=${line#*'"id":"'}; id=${id%%'"'*}; }
            answer() { printf '{"id":"%s","answer":"%s"}\n' "$1" "${2-4}"; }
        "#;
        let argv = ["sh", "-c", &format!("{functions}\n{script}")];
        let mut worker = Worker::new(argv, self.folder.path()).close_grace(LONG);
        worker.setup.term_grace = LONG;
        // The tester's own keys would appear in the messages.
        worker.program.environment.ambient =
            BTreeMap::from([("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())]);
        worker
    }

    /// A program that does not end by itself.
    fn stubborn(&self, script: &str) -> Worker {
        let mut worker = self.sh(script).close_grace(SHORT);
        worker.setup.term_grace = SHORT;
        worker
    }

    /// How often `echo >> FILE` was run.
    fn lines(&self, name: &str) -> usize {
        self.read(name).lines().count()
    }

    /// Waits until the process whose pid a file holds is dead.
    #[track_caller]
    fn assert_dead(&self, pid_file: &str) {
        until_dead(&self.path(pid_file));
    }
}

fn task_within(id: &str, time: Duration) -> Task {
    Task {
        visible: Arc::new(Visible::of(&Sample::new(id, "2+2?"))),
        deadline: Some(Instant::now() + time),
        ..Task::for_test("2+2?")
    }
}

fn task(id: &str) -> Task {
    task_within(id, LONG)
}

/// Asks all at once; the replies are in the order of the tasks.
fn ask_all(worker: &Worker, tasks: &[Task]) -> Vec<Result<Output, AgentError>> {
    std::thread::scope(|scope| {
        let ask = |task| scope.spawn(move || worker.answer(task));
        let requests: Vec<_> = tasks.iter().map(ask).collect();
        requests
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// Asks like the runner, which retries lost requests.
fn ask_until_replied(worker: &Worker, task: &Task) -> (Result<Output, AgentError>, u32) {
    let mut lost = 0;
    loop {
        match worker.answer(task) {
            Err(failure) if failure.kind == FailureKind::Lost => lost += 1,
            reply => return (reply, lost),
        }
    }
}

#[track_caller]
fn check_text(reply: &Result<Output, AgentError>, text: &str) {
    let answer = reply.as_ref().map(|output| output.text.as_deref());
    assert_eq!(answer, Ok(Some(text)));
}

/// Whether the time for a task was over, even before it was asked.
fn is_late(reply: &Result<Output, AgentError>) -> bool {
    reply
        .as_ref()
        .is_err_and(|failure| failure.kind == FailureKind::TimedOut)
}

/// Asks a program that hangs, with at least the time that it takes to be asked at all.
fn ask_in_vain(worker: &Worker, id: &str) -> Result<Output, AgentError> {
    given_time(SHORT, |time| {
        let reply = worker.answer(&task_within(id, time));
        let is_requested = !reply
            .as_ref()
            .is_err_and(|failure| failure.message.starts_with("was not started"));
        is_requested.then_some(reply)
    })
}

#[track_caller]
fn check_late(reply: Result<Output, AgentError>) {
    let failure = reply.unwrap_err();
    assert_eq!(failure.kind, FailureKind::TimedOut);
    // The remaining time at the hand-over depends on the machine.
    assert!(
        failure.message.starts_with("did not answer in "),
        "{failure:?}"
    );
}

#[track_caller]
fn check_error(reply: Result<Output, AgentError>, kind: FailureKind, message: &str) -> AgentError {
    let failure = reply.unwrap_err();
    assert_eq!((failure.kind, failure.message.as_str()), (kind, message));
    failure
}
