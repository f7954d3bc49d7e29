//! Time, size and interruption; and that no process is left.

use super::*;
use crate::tests::needs;

/// The timeout of an agent that hangs.
const SHORT: Duration = Duration::from_millis(500);

impl Project {
    fn task_for(&self, time: Duration) -> Task {
        Task {
            deadline: Some(Instant::now() + time),
            ..self.task("2+2?")
        }
    }

    /// Runs a script that hangs until its timeout, which is long enough to write these files first.
    #[track_caller]
    fn hang(&self, command: &Command, files: &[&str]) -> AgentError {
        let is_written =
            |file: &&str| fs::metadata(self.path(file)).is_ok_and(|file| file.len() > 0);
        let result = given_time(SHORT, |time| {
            for file in files {
                let _ = fs::remove_file(self.path(file));
            }
            let result = command.answer(&self.task_for(time));
            files.iter().all(is_written).then_some(result)
        });
        let error = result.unwrap_err();
        assert_eq!(error.kind, FailureKind::TimedOut);
        // The remaining time at the start depends on the machine.
        assert!(error.message.starts_with("did not answer in "), "{error:?}");
        error
    }
}

/// Waits for a file of a script, then ends; for scripts whose children write it.
fn until_written(file: &str) -> String {
    format!("while [ ! -s {file} ]; do sleep 0.01; done")
}

#[test]
fn an_agent_that_hangs_is_ended() {
    let project = Project::new();
    let command = project.sh("echo waiting >&2; echo $$ > pid; exec sleep 1000");
    let error = project.hang(&command, &["pid"]);
    assert_eq!(error.stderr_tail.as_deref(), Some("waiting\n"));
    project.assert_dead("pid");
}

#[test]
fn limits_are_reported_as_configured() {
    for (millis, expected) in [
        (30_000, "30 s"),
        (29_970, "30 s"),
        (1_500, "1.5 s"),
        (999, "1 s"),
        (197, "200 ms"),
    ] {
        assert_eq!(in_seconds(Duration::from_millis(millis)), expected);
    }
}

#[test]
fn no_remaining_time_starts_nothing() {
    let project = Project::new();
    let command = project.sh("echo > started; echo 4");
    check_error(
        command.answer(&project.task_for(Duration::ZERO)),
        FailureKind::TimedOut,
        "was not started: no time was left",
    );
    assert!(!project.path("started").exists());
}

#[test]
fn ignoring_sigterm_does_not_help() {
    let project = Project::new();
    let script = format!(
        "trap '' TERM; echo $$ > leader; sh -c 'echo $$ > child; while :; do sleep 1; done' & {}; wait",
        until_written("child")
    );
    let command = project.sh(&script).term_grace(Duration::from_millis(50));
    project.hang(&command, &["leader", "child"]);
    project.assert_dead("leader");
    project.assert_dead("child");
}

#[needs(setsid)]
#[test]
fn process_outside_the_group_is_killed_with_a_stopped_attempt() {
    let project = Project::new();
    let script = format!(
        "setsid sh -c 'echo $$ > escaped; while :; do sleep 1; done' & {}; sleep 1000",
        until_written("escaped")
    );
    let command = project.sh(&script).term_grace(Duration::from_millis(50));
    project.hang(&command, &["escaped"]);
    project.assert_dead("escaped");
}

#[test]
fn an_agent_under_a_wrapper_may_clean_up() {
    let project = Project::new();
    project.file(
        "agent",
        "#!/bin/sh\ntrap 'sleep 0.1; echo > cleaned; exit' TERM\necho > ready\nwhile :; do sleep 0.01; done",
        0o755,
    );
    let command = project.sh("./agent; true").term_grace(LONG);
    project.hang(&command, &["ready"]);
    assert!(project.path("cleaned").exists());
}

#[test]
fn children_do_not_outlive_an_agent_that_answers() {
    let project = Project::new();
    let script = format!(
        "sh -c 'trap \"\" TERM; echo $$ > child; while :; do sleep 1; done' & {}; echo 4",
        until_written("child")
    );
    let started = Instant::now();
    assert_eq!(project.text(&script), "4");
    assert!(started.elapsed() < LONG);
    project.assert_dead("child");
}

#[needs(setsid, timeout)]
#[test]
fn an_escaped_process_does_not_hold_us_up() {
    let project = Project::new();
    // It keeps stdout open and writes to stderr without end.
    let script = format!(
        "setsid timeout 1000 sh -c 'echo $$ > escaped; exec yes >&2' & {}; echo 4",
        until_written("escaped")
    );
    let started = Instant::now();
    let text = project.text(&script);
    let pid = fs::read_to_string(project.path("escaped")).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    // By now it may have ended on the closed pipe.
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    assert_eq!(text, "4");
    assert!(started.elapsed() < LONG);
}

#[test]
fn an_interrupted_run_ends_its_agents_at_once() {
    let project = Project::new();
    let task = project.task("");
    let cancel = task.cancel.clone();
    let pid = project.path("pid");
    let started = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            until("it runs", || {
                !fs::read_to_string(&pid).unwrap_or_default().is_empty()
            });
            cancel.cancel();
        });
        let command = project.sh("echo $$ > pid; exec sleep 1000");
        check_error(
            command.term_grace(LONG).answer(&task),
            FailureKind::Cancelled,
            "the run was interrupted",
        );
    });
    assert!(started.elapsed() < LONG);
    project.assert_dead("pid");
    // No further attempts are started.
    let again = project.sh("echo > started").answer(&task);
    assert_eq!(again.unwrap_err().kind, FailureKind::Cancelled);
    assert!(!project.path("started").exists());
}

#[test]
fn a_flood_is_stopped_at_the_limit() {
    let project = Project::new();
    let command = project
        .sh("echo $$ > pid; exec head -c 1073741824 /dev/zero")
        .max_output_bytes(1000);
    let seen: Arc<std::sync::atomic::AtomicUsize> = Arc::default();
    let counter = Arc::clone(&seen);
    let command = command.stream(Arc::new(move |_, bytes| {
        counter.fetch_add(bytes.len(), std::sync::atomic::Ordering::Relaxed);
    }));
    check_error(
        command.answer(&project.task("")),
        FailureKind::OutputTooLarge,
        "printed more than 1000 bytes to stdout; hint: raise `limits.max_output_bytes`",
    );
    // Output that was not read was not buffered either.
    assert!(seen.load(std::sync::atomic::Ordering::Relaxed) <= 64 * 1024);
    project.assert_dead("pid");
}

#[test]
fn exactly_the_limit_is_allowed() {
    let project = Project::new();
    let command = project.sh("printf 12345").max_output_bytes(5);
    assert_eq!(command.answer(&project.task("")), Ok("12345".into()));
    let command = project.sh("printf 123456").max_output_bytes(5);
    let error = command.answer(&project.task("")).unwrap_err();
    assert_eq!(error.kind, FailureKind::OutputTooLarge);
}

#[test]
fn tail_of_long_stderr_is_stored() {
    let project = Project::new();
    let script = "head -c 67108864 /dev/zero >&2; echo the end >&2; exit 1";
    let tail = project.run(script).unwrap_err().stderr_tail.unwrap();
    assert_eq!(tail.len(), 8 * 1024);
    assert!(tail.ends_with("\0the end\n"));
}

#[test]
fn a_big_answer_to_a_big_prompt() {
    let project = Project::new();
    let prompt = "0123456789abcdef".repeat(256 * 1024);
    let command = project.sh("cat").max_output_bytes(u64::MAX);
    let output = command.answer(&project.task(&prompt)).unwrap();
    assert!(output.text.as_deref() == Some(&prompt));
}

#[test]
fn a_big_prompt_that_nobody_reads() {
    let project = Project::new();
    let task = project.task(&"x".repeat(8 << 20));
    let run = |script: &str| project.sh(script).answer(&task);
    assert_eq!(run("echo 4"), Ok("4".into()));
    // Partly read, then closed while the agent continues.
    let script = "head -c 70000 >/dev/null; exec <&-; sleep 0.05; echo 4";
    assert_eq!(run(script), Ok("4".into()));
    let hanging = Task {
        deadline: Some(Instant::now() + SHORT),
        ..task.clone()
    };
    let result = project.sh("exec sleep 1000").answer(&hanging);
    assert_eq!(result.unwrap_err().kind, FailureKind::TimedOut);
}

#[test]
fn closing_its_outputs_does_not_end_an_agent() {
    let project = Project::new();
    let started = Instant::now();
    let result = project.run("exec >&- 2>&-; sleep 0.2");
    assert_eq!(result.unwrap_err().kind, FailureKind::NoOutput);
    assert!(started.elapsed() >= Duration::from_millis(200));
}

#[test]
fn a_callback_that_panics_leaves_nothing_behind() {
    let project = Project::new();
    let command = project
        .sh("echo $$ > pid; echo go; exec sleep 1000")
        .stream(Arc::new(|_, _| std::panic::resume_unwind(Box::new(()))));
    let answer = || command.answer(&project.task(""));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(answer)).is_err());
    project.assert_dead("pid");
}
